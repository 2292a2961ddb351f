"""Roles, ownership, bans, silenced members, the join history, and deleted rooms."""

import sqlite3

import pytest

from harness.client import new_id
from harness.command import hansard
from harness.people import walk
from harness.times import in_time, later, wait_past


@pytest.fixture
def tea(world, anna):
    """Anna's room, with Bill as an administrator and Carla as a member."""
    room = anna.room("Tea")
    bill, carla = world.users("Bill", "Carla")
    for person in (bill, carla):
        anna.put(f"{room.path}/members/{person.id}")
    anna.put(f"{room.path}/members/{bill.id}/role", {"role": "administrator"})
    return room, bill, carla


def test_name_topic_and_picture(anna, tea):
    room, bill, carla = tea
    picture = bill.post("/v1/media", data=b"a picture")["id"]
    changed = bill.patch(room.path, {"topic": "Oolong", "picture": picture})
    assert (changed["name"], changed["topic"], changed["picture"]) == ("Tea", "Oolong", picture)
    seen = carla.see(room)
    assert (seen["topic"], seen["picture"]) == ("Oolong", picture)
    invite = anna.post(f"{room.path}/invites", {})
    preview = carla.get(f"/v1/invites/{invite['token']}")
    assert (preview["topic"], preview["picture"]) == ("Oolong", picture)
    changed = anna.patch(room.path, {"topic": "", "picture": ""})
    assert (changed["topic"], changed["picture"]) == (None, None)
    assert carla.see(room)["topic"] is None
    anna.refused("invalid_field", "PATCH", room.path, {})
    anna.refused("invalid_field", "PATCH", room.path, {"picture": "cup.png"})
    anna.refused("topic_too_long", "PATCH", room.path, {"topic": "x" * 1025})


def test_roles_and_ownership(anna, tea):
    room, bill, carla = tea

    def role_of(person):
        return f"{room.path}/members/{person.id}/role"

    bill.put(role_of(carla), {"role": "administrator"})
    assert carla.see(room)["role"] == "administrator"
    carla.refused("forbidden", "PUT", role_of(bill), {"role": "member"})
    bill.refused("forbidden", "PUT", role_of(anna), {"role": "member"})
    anna.refused("role_not_allowed", "PUT", role_of(bill), {"role": "owner"})
    anna.refused("owner_must_transfer", "PUT", role_of(anna), {"role": "member"})
    anna.refused("invalid_field", "PUT", role_of(bill), {"role": "guest"})
    anna.refused("member_not_found", "PUT", f"{room.path}/members/{new_id()}/role", {"role": "member"})
    anna.refused("owner_must_transfer", "POST", f"{room.path}/leave")
    bill.refused("forbidden", "POST", f"{room.path}/transfer", {"userId": carla.id})
    anna.refused("role_not_allowed", "POST", f"{room.path}/transfer", {"userId": anna.id})
    anna.post(f"{room.path}/transfer", {"userId": carla.id})
    assert (carla.see(room)["role"], anna.see(room)["role"]) == ("owner", "administrator")
    anna.post(f"{room.path}/leave")


def test_a_banned_user_cannot_join_in_any_way(world, anna, tea):
    room, bill, carla = tea
    invite = anna.post(f"{room.path}/invites", {})
    stranger = world.user("Stranger")
    for person in (carla, stranger):
        banned = bill.put(f"{room.path}/bans/{person.id}")
        assert banned == {"roomId": room.id, "userId": person.id, "position": world.head}
        assert bill.put(f"{room.path}/bans/{person.id}", expect=200) == banned
        person.refused("room_not_found", "GET", room.path)
        person.refused("banned", "GET", f"/v1/invites/{invite['token']}")
        person.refused("banned", "POST", f"/v1/invites/{invite['token']}/accept")
        anna.refused("banned", "PUT", f"{room.path}/members/{person.id}")
        world.acting_as(person.id).refused("banned", "POST", f"{room.path}/join")
    bill.refused("forbidden", "PUT", f"{room.path}/bans/{anna.id}")
    bill.refused("user_not_found", "PUT", f"{room.path}/bans/{new_id()}")
    for limit in (1, 2, 3):
        bans = walk(anna, f"{room.path}/bans", "bans", limit=limit)
        assert [ban["user"]["nickname"] for ban in bans] == ["Stranger", "Carla"]
    assert bans[0]["bannedBy"] == {"id": bill.id, "nickname": "Bill", "picture": None}
    bill.delete(f"{room.path}/bans/{carla.id}")
    bill.refused("ban_not_found", "DELETE", f"{room.path}/bans/{carla.id}")
    carla.post(f"/v1/invites/{invite['token']}/accept")
    carla.refused("forbidden", "GET", f"{room.path}/bans")
    carla.refused("forbidden", "PUT", f"{room.path}/bans/{stranger.id}")


def test_a_late_retry_does_not_confirm_the_membership_of_a_banned_user(world, anna, ben, tea):
    room, _, _ = tea
    office = anna.workspace("Office")
    office.take_in(world, ben)
    news, key = anna.channel(office, "News"), new_id()
    accept = f"/v1/invites/{anna.post(f'{room.path}/invites', {'maxUses': 1})['token']}/accept"
    guest = world.user("Guest")
    # For each: the caller, the path, and the room.
    ways = [
        (guest, accept, room), (ben, f"{news.path}/join", news),
        (world.acting_as(world.user("Brought").id), f"{room.path}/join", room),
    ]
    for caller, way, place in ways:
        came = caller.post(way, key=key)
        assert caller.post(way, key=key, expect=200) == came
        anna.put(f"{place.path}/bans/{came['userId']}")
        caller.refused("banned", "POST", way, key=key)
        anna.delete(f"{place.path}/bans/{came['userId']}")
        # It is the first response again, and does not add anybody to the room.
        assert caller.post(way, key=key, expect=200) == came
        caller.refused("room_not_found", "GET", f"{place.path}/messages")


def test_a_silenced_member_can_read_and_not_write(anna, tea):
    room, bill, carla = tea
    said = carla.send(room, "hello")

    def silence(until):
        before = carla.texts(room)
        bill.put(f"{room.path}/members/{carla.id}/silence", {"until": until})
        assert carla.see(room)["silencedUntil"] is not None
        assert anna.see(room)["silencedUntil"] is None
        members = anna.get(f"{room.path}/members")["members"]
        listed = {each["user"]["nickname"]: each["silencedUntil"] for each in members}
        assert listed["Carla"] is not None and listed["Anna"] is listed["Bill"] is None
        carla.refused("member_silenced", "PUT", room.message(new_id()), {"text": "hm"})
        carla.refused("member_silenced", "PATCH", room.message(said["id"]), {"text": "hm"})
        assert carla.texts(room) == before

    until, _ = in_time(silence)
    wait_past(until, 0.1)
    carla.send(room, "again")
    bill.put(f"{room.path}/members/{carla.id}/silence", {"until": later(days=1)})
    # Leaving and rejoining does not end the silence.
    carla.post(f"{room.path}/leave")
    anna.put(f"{room.path}/members/{carla.id}")
    carla.refused("member_silenced", "PUT", room.message(new_id()), {"text": "hm"})
    carla.delete(room.message(said["id"]))
    bill.put(f"{room.path}/members/{carla.id}/silence", {})
    carla.send(room, "at last")
    bill.refused("forbidden", "PUT", f"{room.path}/members/{anna.id}/silence", {})
    carla.refused("forbidden", "PUT", f"{room.path}/members/{bill.id}/silence", {})


def test_the_join_history_lists_joins_and_departures(world, anna, tea):
    room, bill, carla = tea
    guest = world.user("Guest")
    invite = anna.post(f"{room.path}/invites", {})
    guest.post(f"/v1/invites/{invite['token']}/accept")
    guest.post(f"{room.path}/leave")
    bill.delete(f"{room.path}/members/{carla.id}")
    bill.put(f"{room.path}/bans/{guest.id}")
    bill.delete(f"{room.path}/bans/{guest.id}")
    expected = [
        ("unbanned", "Guest", None, "Bill"), ("banned", "Guest", None, "Bill"), ("removed", "Carla", None, "Bill"),
        ("left", "Guest", None, "Guest"), ("joined", "Guest", "member", "Guest"),
        ("role_changed", "Bill", "administrator", "Anna"), ("added", "Carla", "member", "Anna"),
        ("added", "Bill", "member", "Anna"), ("joined", "Anna", "owner", "Anna"),
    ]
    for limit in (1, 4, 9, 10):
        changes = walk(bill, f"{room.path}/join-history", "changes", limit=limit)
        assert [
            (each["change"], each["user"]["nickname"], each["role"], each["by"]["nickname"]) for each in changes
        ] == expected
    positions = [each["position"] for each in changes]
    assert positions == sorted(positions, reverse=True)
    dora = world.user("Dora")
    anna.put(f"{room.path}/members/{dora.id}")
    dora.refused("forbidden", "GET", f"{room.path}/join-history")


def test_an_archived_room_is_opened_again(anna, tea):
    room, bill, carla = tea
    bill.post(f"{room.path}/archive")
    carla.refused("room_archived", "PUT", room.message(new_id()), {"text": "late"})
    assert room.id not in [each["id"] for each in carla.get("/v1/rooms")["rooms"]]
    carla.refused("forbidden", "POST", f"{room.path}/unarchive")
    assert bill.post(f"{room.path}/unarchive")["archivedAt"] is None
    bill.post(f"{room.path}/unarchive", expect=200)
    carla.send(room, "open again")
    assert room.id in [each["id"] for each in carla.get("/v1/rooms")["rooms"]]


def test_a_deleted_room_remains_only_in_the_log(own_world):
    world = own_world
    anna, ben = world.users("Anna", "Ben")
    kept, room = anna.room("Kept", ben), anna.room("Vanilla room", ben)
    secret = "vanilla-secret"
    sent = ben.send(room, secret)
    anna.send(kept, "stays")
    anna.patch(room.path, {"topic": secret})
    invite = anna.post(f"{room.path}/invites", {})
    ben.refused("forbidden", "DELETE", room.path)
    key = new_id()
    deleted = anna.delete(room.path, key=key)
    assert deleted == {"roomId": room.id, "position": world.head}
    for _ in range(2):
        assert anna.delete(room.path, key=key, expect=200) == deleted
        anna.refused("room_not_found", "DELETE", room.path, key=new_id())
        for person in (anna, ben):
            for method, path, body in (
                ("GET", room.path, None), ("GET", f"{room.path}/messages", None),
                ("GET", room.message(sent["id"]), None), ("PUT", room.message(new_id()), {"text": "late"}),
                ("GET", f"{room.path}/members", None), ("POST", f"{room.path}/unarchive", None),
            ):
                person.refused("room_not_found", method, path, body)
            assert [each["id"] for each in person.get("/v1/rooms")["rooms"]] == [kept.id]
        ben.refused("invite_not_found", "POST", f"/v1/invites/{invite['token']}/accept")
        anna.refused("room_not_found", "POST", "/v1/rooms", {"id": room.id, "name": "Vanilla room"})
        anna.refused("id_in_use", "POST", "/v1/rooms", {"id": room.id, "name": "Other room"})
        world.server.restart()
    assert ben.texts(kept) == ["stays"]
    world.server.stop()
    hansard("replay", "--data", world.server.data, "--verify")
    # Other tests cover what search forgets. Its tables cannot be read without the server's tokenizer.
    for file in set((world.server.data / "views").glob("*.sqlite")) - set((world.server.data / "views").glob("search*")):
        database = sqlite3.connect(file)
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for row in database.execute(f"SELECT * FROM {table}").fetchall():
                assert not any(isinstance(cell, str) and secret in cell for cell in row), f"{file.name} {table}"
        database.close()
