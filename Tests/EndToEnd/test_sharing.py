"""Invites: links to join a room."""

import concurrent.futures
import datetime
import time

from harness.client import Api, new_id
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.times import in_time, later, now, parse, wait_past


def test_anyone_with_the_link_can_join(world, anna):
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {"expiresAt": later(days=1), "maxUses": 2})
    assert (invite["roomId"], invite["role"], invite["uses"], invite["maxUses"]) == (room.id, "member", 0, 2)
    guest = world.user("Guest")
    preview = guest.get(f"/v1/invites/{invite['token']}")
    assert (preview["roomId"], preview["name"], preview["memberCount"]) == (room.id, "Tea", 1)
    assert (preview["workspaceId"], preview["topic"], preview["picture"]) == (None, None, None)
    assert preview["inviter"] == {"id": anna.id, "nickname": "Anna", "picture": None}
    assert invite["link"] == f"hansard://invite/{invite['token']}"
    assert preview["expiresAt"] == invite["expiresAt"]
    joined = guest.post(f"/v1/invites/{invite['token']}/accept")
    assert joined == {"roomId": room.id, "workspaceId": None, "userId": guest.id, "position": world.head}
    assert guest.see(room)["role"] == "member"
    head = world.head
    assert guest.post(f"/v1/invites/{invite['token']}/accept", expect=200) == joined
    assert world.head == head
    (listed,) = anna.get(f"{room.path}/invites")["invites"]
    assert (listed["id"], listed["uses"]) == (invite["id"], 1)


def test_an_invite_is_used_up(world, anna):
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {"maxUses": 1})
    first, second = world.users("First", "Second")
    accept = f"/v1/invites/{invite['token']}/accept"
    first.post(accept)
    head = world.head
    second.refused("invite_used_up", "POST", accept)
    second.refused("invite_used_up", "GET", f"/v1/invites/{invite['token']}")
    assert world.head == head
    first.post(accept, expect=200)
    assert first.get(f"/v1/invites/{invite['token']}")["roomId"] == room.id, "who is in is shown where it leads"
    first.post(f"{room.path}/leave")
    first.refused("invite_used_up", "GET", f"/v1/invites/{invite['token']}")


def test_an_invite_expires(world, anna):
    room, late = anna.room("Tea"), world.user("Late")

    def accept(moment):
        early = world.user("Early")
        invite = anna.post(f"{room.path}/invites", {"expiresAt": moment})
        early.post(f"/v1/invites/{invite['token']}/accept")
        return invite

    moment, invite = in_time(accept)
    wait_past(moment, 0.1)
    late.refused("invite_expired", "GET", f"/v1/invites/{invite['token']}")
    late.refused("invite_expired", "POST", f"/v1/invites/{invite['token']}/accept")


def test_an_invite_that_never_expires_needs_the_operators_permission(world, anna):
    room, office = anna.room("Tea"), anna.workspace("Office")
    for space in (room, office):
        problem = anna.refused("invite_expiry_required", "POST", f"{space.path}/invites", {"expiresAt": None})
        assert problem["field"] == "/expiresAt"
        assert anna.post(f"{space.path}/invites", {})["expiresAt"] is not None


def test_an_invite_never_expires(tmp_path):
    environment = UNLIMITED | {"HANSARD_INVITES_ALLOW_NO_EXPIRY": "true"}
    server = Server(tmp_path / "data", environment=environment).start()
    world = World(server)
    anna, guest = world.users("Anna", "Guest")
    room, office = anna.room("Tea"), anna.workspace("Office")
    kept = []
    for space in (room, office):
        body = {"id": new_id(), "expiresAt": None, "maxUses": 2}
        made = anna.post(f"{space.path}/invites", body)
        assert made["expiresAt"] is None
        assert anna.post(f"{space.path}/invites", body, expect=200) == made
        anna.refused("id_in_use", "POST", f"{space.path}/invites", {"id": body["id"], "maxUses": 2})
        assert anna.get(f"{space.path}/invites")["invites"] == [made]
        assert guest.get(f"/v1/invites/{made['token']}")["expiresAt"] is None
        kept.append((space, body, made))
    # Invites and retries survive a restart and a change of the setting.
    server.stop()
    server.environment = UNLIMITED
    server.start()
    for space, body, made in kept:
        assert anna.post(f"{space.path}/invites", body, expect=200) == made
        anna.refused("invite_expiry_required", "POST", f"{space.path}/invites", {"expiresAt": None})
        guest.post(f"/v1/invites/{made['token']}/accept")
        anna.delete(f"{space.path}/invites/{made['id']}")
        world.user("Late").refused("invite_revoked", "GET", f"/v1/invites/{made['token']}")
    server.stop()


def test_an_expired_invite_is_still_recognised_as_made(world, anna):
    room = anna.room("Tea")

    def make(moment):
        body = {"id": new_id(), "expiresAt": moment}
        return body, anna.post(f"{room.path}/invites", body)

    moment, (body, made) = in_time(make)
    wait_past(moment, 0.1)
    again = anna.post(f"{room.path}/invites", body, expect=200)
    assert (again["token"], again["position"]) == (made["token"], made["position"])


def test_an_invite_is_revoked(world, anna):
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {})
    revoked = anna.delete(f"{room.path}/invites/{invite['id']}")
    assert revoked["revokedAt"] is not None
    again = anna.delete(f"{room.path}/invites/{invite['id']}", expect=200)
    assert again["position"] == revoked["position"]
    guest = world.user("Guest")
    guest.refused("invite_revoked", "GET", f"/v1/invites/{invite['token']}")
    guest.refused("invite_revoked", "POST", f"/v1/invites/{invite['token']}/accept")
    anna.refused("invite_not_found", "DELETE", f"{room.path}/invites/{new_id()}")


def test_a_retry_gives_the_same_token(world, anna):
    room = anna.room("Tea")
    body = {"id": new_id()}
    made = anna.post(f"{room.path}/invites", body)
    lifetime = parse(made["expiresAt"]) - now()
    assert datetime.timedelta(days=6, hours=23) < lifetime <= datetime.timedelta(days=7)
    time.sleep(0.05)
    head = world.head
    again = anna.post(f"{room.path}/invites", body, expect=200)
    assert again == made
    assert world.head == head
    anna.refused("id_in_use", "POST", f"{room.path}/invites", body | {"maxUses": 3})
    assert anna.get(f"{room.path}/invites")["invites"] == [made]


def test_who_may_share(world, anna, ben, room):
    ben.refused("forbidden", "POST", f"{room.path}/invites", {})
    ben.refused("forbidden", "GET", f"{room.path}/invites")
    invite = anna.post(f"{room.path}/invites", {"role": "administrator"})
    ben.refused("forbidden", "DELETE", f"{room.path}/invites/{invite['id']}")
    carla = world.user("Carla")
    carla.post(f"/v1/invites/{invite['token']}/accept")
    assert carla.see(room)["role"] == "administrator"
    carla.post(f"{room.path}/invites", {"role": "administrator"})
    carla.delete(f"{room.path}/members/{ben.id}")


def test_roles_that_an_invite_does_not_give(anna):
    room = anna.room("Tea")
    anna.refused("invite_role_not_allowed", "POST", f"{room.path}/invites", {"role": "owner"})
    for role in ("emperor", ""):
        anna.refused("invalid_field", "POST", f"{room.path}/invites", {"role": role})


def test_invites_are_listed_the_newest_first(anna):
    room = anna.room("Tea")
    made = [anna.post(f"{room.path}/invites", {})["id"] for _ in range(4)]
    assert [invite["id"] for invite in anna.get(f"{room.path}/invites")["invites"]] == made[::-1]


def test_a_wrong_token_is_not_found(world, anna):
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {})
    token = invite["token"]
    changed = ("A" if token[0] != "A" else "B") + token[1:]
    for wrong in (changed, token[:-2], "x", invite["id"]):
        anna.refused("invite_not_found", "GET", f"/v1/invites/{wrong}")
        anna.refused("invite_not_found", "POST", f"/v1/invites/{wrong}/accept")


def test_an_archived_room_admits_nobody(world, anna):
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {})
    anna.post(f"{room.path}/archive")
    world.user("Guest").refused("room_archived", "POST", f"/v1/invites/{invite['token']}/accept")
    anna.refused("room_archived", "POST", f"{room.path}/invites", {})


def test_a_user_who_left_can_rejoin_but_not_by_a_late_retry(world, anna):
    room = anna.room("Tea")
    accept, key = f"/v1/invites/{anna.post(f'{room.path}/invites', {})['token']}/accept", new_id()
    guest = world.user("Guest")
    guest.post(accept, key=key)
    guest.post(f"{room.path}/leave")
    guest.post(accept, key=key, expect=200)
    guest.refused("room_not_found", "GET", room.path)
    guest.post(accept)
    guest.get(room.path)


def test_two_who_accept_the_last_use_at_once(world, anna):
    room = anna.room("Tea")
    accept = f"/v1/invites/{anna.post(f'{room.path}/invites', {'maxUses': 3})['token']}/accept"
    guests = world.users(*(f"Guest {number}" for number in range(12)))
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        responses = list(pool.map(lambda guest: Api(world.server, guest.token).request("POST", accept), guests))
    assert sorted(response.status_code for response in responses) == [201] * 3 + [410] * 9
    assert anna.see(room)["memberCount"] == 4
