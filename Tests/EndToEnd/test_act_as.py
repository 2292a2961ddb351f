"""A service acts as a user: it has the rights of the user, and the log names both."""

import stat as modes

from harness.client import Api, new_id
from harness.command import audit, settle
from harness.people import World


def test_the_log_names_the_true_actor(world, anna, ben, room):
    service = world.acting_as(ben.id)
    sent = service.put(room.message(new_id()), {"text": "for Ben"})
    assert sent["senderId"] == ben.id
    own = ben.send(room, "by Ben")
    settle(world.server)
    rows = {row["position"]: row for row in audit(world.server.data, "--room", room.id)}
    by_service, by_ben = rows[sent["position"]], rows[own["position"]]
    assert by_service["actor"] == by_ben["actor"] == ben.id
    assert by_service["service"] is not None and by_ben["service"] is None
    # The message itself is the same whether a service or the user sent it.
    assert {key for key in sent} == {key for key in own}


def test_a_service_acting_as_a_user_has_the_users_rights(world, anna, room):
    stranger = world.user("Stranger")
    service = world.acting_as(stranger.id)
    service.refused("room_not_found", "GET", room.path)
    service.refused("room_not_found", "PUT", room.message(new_id()), {"text": "x"})
    message = anna.send(room, "hello")
    anna.put(f"{room.path}/members/{stranger.id}")
    service.refused("forbidden", "PATCH", room.message(message["id"]), {"text": "x"})
    service.refused("forbidden", "PATCH", room.path, {"name": "x"})


def test_everything_of_a_user_can_be_done_for_it(world, anna, ben, room):
    service = world.acting_as(anna.id)
    assert service.get("/v1/me")["id"] == anna.id
    assert [entry["id"] for entry in service.get("/v1/rooms")["rooms"]] == [room.id]
    service.patch(room.path, {"name": "Renamed"})
    service.put(f"/v1/devices/{new_id()}", {"name": "phone"})
    assert [session["isCurrent"] for session in service.get("/v1/sessions")["sessions"]] == [False]
    service.refused("session_not_found", "DELETE", "/v1/sessions/current")


def test_keys_of_user_and_service_are_the_users(world, anna):
    """The key belongs to the user for whom it is used, whichever token the request carries."""
    key, path = new_id(), f"/v1/devices/{new_id()}"
    anna.put(path, {"name": "phone"}, key=key)
    world.acting_as(anna.id).put(path, {"name": "phone"}, key=key, expect=200)
    world.acting_as(anna.id).refused("idempotency_key_reused", "PUT", path, {"name": "other"}, key=key)


def test_a_service_makes_rooms_of_its_own(world, anna):
    made = world.admin.post("/v1/rooms", {"id": new_id(), "name": "Everybody", "kind": "channel"})
    assert (made["role"], made["memberCount"]) == (None, 0)
    anna.refused("room_not_found", "GET", f"/v1/rooms/{made['id']}")
    world.admin.ingest_all([{"op": "member.join", "as": anna.id, "roomId": made["id"]}])
    assert anna.get(f"/v1/rooms/{made['id']}")["role"] == "member"


def test_the_token_is_for_its_owner_alone(own_server):
    file = own_server.data / "admin-token"
    assert modes.S_IMODE(file.stat().st_mode) == 0o600
    token = own_server.token
    own_server.restart()
    assert own_server.token == token, "a restart made a new token"
    assert World(own_server).user("Anna").get("/v1/me")["nickname"] == "Anna"
    for path in own_server.data.rglob("*"):
        if path.is_file():
            assert modes.S_IMODE(path.stat().st_mode) & 0o077 == 0, f"{path} can be read by others"
    Api(own_server, token + "x").refused("access_token_invalid", "GET", "/v1/admin/users?externalId=x")
