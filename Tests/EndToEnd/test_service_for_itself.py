"""A service acts as itself: it has the rights of an owner, and can remove an owner."""

import pytest

from harness.client import new_id
from harness.times import later


@pytest.fixture
def tea(world, anna):
    """Anna's room, with Bill as an administrator and Carla as a member."""
    room = anna.room("Tea")
    bill, carla = world.users("Bill", "Carla")
    for person in (bill, carla):
        anna.put(f"{room.path}/members/{person.id}")
    anna.put(f"{room.path}/members/{bill.id}/role", {"role": "administrator"})
    return room, bill, carla


def test_it_changes_a_room_and_sees_it_without_its_messages(world, anna, tea):
    room, _, carla = tea
    carla.send(room, "secret")
    key = new_id()
    edited = world.admin.patch(room.path, {"name": "Coffee", "topic": "Beans"}, key=key)
    assert (edited["name"], edited["topic"], edited["memberCount"]) == ("Coffee", "Beans", 3)
    assert (edited["role"], edited["lastMessage"]) == (None, None)
    anna.patch(room.path, {"name": "Water"})
    head = world.head
    again = world.admin.patch(room.path, {"name": "Coffee", "topic": "Beans"}, key=key, expect=200)
    assert again["position"] == edited["position"] and world.head == head
    assert anna.see(room)["name"] == "Water"
    archived = world.admin.post(f"{room.path}/archive")
    assert archived["archivedAt"] is not None
    assert world.admin.post(f"{room.path}/unarchive")["archivedAt"] is None
    anna.send(room, "open again")


def test_it_moderates(world, anna, tea):
    room, bill, carla = tea
    dora = world.user("Dora")
    member = f"{room.path}/members/{carla.id}"
    assert world.admin.put(f"{room.path}/members/{dora.id}")["userId"] == dora.id
    world.admin.put(f"{member}/role", {"role": "administrator"})
    assert carla.see(room)["role"] == "administrator"
    world.admin.put(f"{member}/silence", {"until": later(minutes=1)})
    carla.refused("member_silenced", "PUT", room.message(new_id()), {"text": "x"})
    world.admin.delete(member)
    carla.refused("room_not_found", "GET", room.path)
    world.admin.put(f"{room.path}/bans/{dora.id}")
    dora.refused("room_not_found", "GET", room.path)
    world.admin.delete(f"{room.path}/bans/{dora.id}")
    # Only a service can remove an owner. The room then passes to the next member.
    bill.refused("forbidden", "DELETE", f"{room.path}/members/{anna.id}")
    world.admin.delete(f"{room.path}/members/{anna.id}")
    assert bill.see(room)["role"] == "owner"
    world.admin.refused("member_not_found", "DELETE", f"{room.path}/members/{anna.id}")


def test_it_gives_ownership_and_ends_a_room(world, anna, tea):
    room, bill, _ = tea
    world.admin.post(f"{room.path}/transfer", {"userId": bill.id})
    assert (bill.see(room)["role"], anna.see(room)["role"]) == ("owner", "administrator")
    invite = world.admin.post(f"{room.path}/invites", {"role": "administrator"})
    assert world.admin.delete(f"{room.path}/invites/{invite['id']}")["revokedAt"] is not None
    key = new_id()
    deleted = world.admin.delete(room.path, key=key)
    assert world.admin.delete(room.path, key=key, expect=200) == deleted
    bill.refused("room_not_found", "GET", room.path)
    # The repeated creation is recognized, but the room is gone.
    anna.refused("room_not_found", "POST", "/v1/rooms", {"id": room.id, "name": "Tea"})
    anna.refused("id_in_use", "POST", "/v1/rooms", {"id": room.id, "name": "Coffee"})


def test_it_deletes_a_message(world, anna, tea):
    room, _, carla = tea
    sent = carla.send(room, "rude")
    deleted = world.admin.delete(room.message(sent["id"]))
    assert (deleted["text"], deleted["senderId"]) == ("", carla.id) and deleted["deletedAt"] is not None
    again = world.admin.delete(room.message(sent["id"]), expect=200)
    assert again["revision"] == deleted["revision"]
    assert anna.get(room.message(sent["id"]))["deletedAt"] == deleted["deletedAt"]
    world.admin.refused("message_not_found", "DELETE", room.message(new_id()))


def test_it_changes_a_workspace(world, anna):
    office = anna.workspace("Office")
    bill, dora = world.users("Bill", "Dora")
    office.take_in(world, bill)
    edited = world.admin.patch(office.path, {"name": "Home", "topic": "Tea"})
    assert (edited["name"], edited["topic"], edited["memberCount"], edited["role"]) == ("Home", "Tea", 2, None)
    world.admin.put(f"{office.path}/members/{bill.id}/role", {"role": "guest"})
    world.admin.put(f"{office.path}/invitations/{dora.id}", {"role": "member"})
    world.admin.delete(f"{office.path}/invitations/{dora.id}")
    link = world.admin.post(f"{office.path}/invites", {"role": "administrator"})
    dora.post(f"/v1/invites/{link['token']}/accept")
    assert dora.get(office.path)["role"] == "administrator"
    world.admin.delete(f"{office.path}/invites/{link['id']}")
    world.admin.refused("owner_must_transfer", "DELETE", f"{office.path}/members/{anna.id}")
    world.admin.post(f"{office.path}/transfer", {"userId": dora.id})
    world.admin.delete(f"{office.path}/members/{anna.id}")
    anna.refused("workspace_not_found", "GET", office.path)
    world.admin.delete(office.path)
    dora.refused("workspace_not_found", "GET", office.path)


def test_operations_that_need_a_user_still_do(world, anna, tea):
    room, _, _ = tea
    for method, path in (
        ("GET", room.path), ("POST", f"{room.path}/join"), ("POST", f"{room.path}/leave"),
        ("GET", f"{room.path}/members"), ("GET", f"{room.path}/messages"),
    ):
        world.admin.refused("acting_user_required", method, path)


def test_a_user_who_joins_an_empty_room_owns_it(world, anna):
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {})
    anna.post(f"{room.path}/leave")
    bill = world.user("Bill")
    bill.post(f"/v1/invites/{invite['token']}/accept")
    assert bill.see(room)["role"] == "owner"
    office = bill.workspace("Office")
    cleo = world.user("Cleo")
    office.take_in(world, cleo)
    channel = cleo.channel(office, "News")
    cleo.post(f"{office.path}/leave")
    bill.post(f"{channel.path}/join")
    assert bill.see(channel)["role"] == "owner"


def test_a_removed_user_rejoins_through_their_own_link_as_a_member(world, anna, tea):
    room, bill, _ = tea
    invite = bill.post(f"{room.path}/invites", {"role": "administrator"})
    assert anna.get(f"/v1/invites/{invite['token']}")["role"] == "administrator"
    anna.delete(f"{room.path}/members/{bill.id}")
    assert bill.get(f"/v1/invites/{invite['token']}")["role"] == "member"
    bill.post(f"/v1/invites/{invite['token']}/accept")
    assert bill.see(room)["role"] == "member"


def test_invites_come_in_pages(anna):
    room, office = anna.room("Tea"), anna.workspace("Office")
    for place in (room, office):
        made = [anna.post(f"{place.path}/invites", {})["id"] for _ in range(5)][::-1]
        for limit in (1, 4, 5, 6):
            found, params = [], {"limit": limit}
            while True:
                page = anna.get(f"{place.path}/invites", **params)
                found += [invite["id"] for invite in page["invites"]]
                if page["nextCursor"] is None:
                    break
                params["cursor"] = page["nextCursor"]
            assert found == made
        anna.refused("invalid_cursor", "GET", f"{place.path}/invites?cursor=x")


def test_a_caption_is_taken_away(anna):
    room = anna.room("Tea")
    sent = anna.put(room.message(new_id()), {"text": "look", "type": "order.shipped", "data": {"number": 1}})
    assert anna.patch(room.message(sent["id"]), {"text": ""})["text"] == ""
    assert anna.get(room.message(sent["id"]))["type"] == "order.shipped"
    plain = anna.send(room, "look")
    anna.refused("empty_text", "PATCH", room.message(plain["id"]), {"text": ""})
