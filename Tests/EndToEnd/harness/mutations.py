"""Every mutation of the API as a case: how to do it, what comes between, how to lose the right to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .client import Api, new_id
from .people import PASSWORD, Person, Room, World


@dataclass
class Case:
    # Does the mutation; the same each time. Gives (status, position or None, code or None).
    do: Callable[[], tuple[int, int | None, str | None]]
    # Something newer that a retry must leave alone.
    intervene: Callable[[], Any]
    # What the mutation and the newer act show of themselves.
    state: Callable[[], Any]
    # Takes the right to the mutation away; None where it cannot be lost.
    lose: Callable[[], Any] | None = None
    # What a retry without the right comes to.
    refusal: str | None = None


def over_http(api: Api, method: str, path: str, body=None, key: str | None = None):
    def do():
        response = api.request(method, path, body, key=key)
        answer = response.json()
        # A message shows as `position` where it was sent, and as `revision` where it was last written.
        return response.status_code, answer.get("revision", answer.get("position")), answer.get("code")

    return do


def over_ingest(api: Api, line: dict):
    def do():
        (result,) = api.ingest([line])
        return result["status"], result.get("position"), result.get("code")

    return do


def log_out(person: Person):
    return lambda: person.delete("/v1/sessions/current")


def leave(person: Person, room: Room):
    return lambda: person.post(f"{room.path}/leave")


def _two(world: World) -> tuple[Person, Person, Room]:
    anna, ben = world.users("Anna", "Ben")
    return anna, ben, anna.room("Tea", ben)


def create_account(world: World) -> Case:
    body = {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna"}
    service = world.acting_as(body["id"])
    return Case(
        over_http(world.nobody, "POST", "/v1/accounts", body),
        lambda: service.patch("/v1/me", {"nickname": "Newer"}),
        lambda: service.get("/v1/me")["nickname"],
    )


def create_session(world: World) -> Case:
    anna = world.account()
    body = {"id": new_id(), "email": anna.email, "password": PASSWORD}
    return Case(
        over_http(world.nobody, "POST", "/v1/sessions", body),
        lambda: world.login(anna.email),
        lambda: [session["id"] for session in anna.get("/v1/sessions")["sessions"]],
        lambda: anna.delete(f"/v1/sessions/{body['id']}"), "session_ended",
    )


def refresh_session(world: World) -> Case:
    anna = world.user()
    return Case(
        over_http(world.nobody, "POST", "/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]}),
        lambda: anna.patch("/v1/me", {"nickname": "Newer"}),
        lambda: len(anna.get("/v1/sessions")["sessions"]),
        log_out(anna), "session_ended",
    )


def end_session(world: World) -> Case:
    anna = world.account()
    observer = world.acting_as(anna.id)
    return Case(
        over_http(anna, "DELETE", "/v1/sessions/current", key=new_id()),
        lambda: world.login(anna.email),
        lambda: [session["id"] for session in observer.get("/v1/sessions")["sessions"]],
    )


def update_me(world: World) -> Case:
    anna = world.user()
    return Case(
        over_http(anna, "PATCH", "/v1/me", {"nickname": "First"}, new_id()),
        lambda: anna.patch("/v1/me", {"nickname": "Newer"}),
        lambda: anna.get("/v1/me")["nickname"], log_out(anna), "session_ended",
    )


def put_device(world: World) -> Case:
    anna, path = world.user(), f"/v1/devices/{new_id()}"
    return Case(
        over_http(anna, "PUT", path, {"name": "first", "apnsToken": "one"}, new_id()),
        lambda: anna.put(path, {"name": "newer", "fcmToken": "two"}),
        lambda: anna.get(path), log_out(anna), "session_ended",
    )


def delete_device(world: World) -> Case:
    anna, path = world.user(), f"/v1/devices/{new_id()}"
    anna.put(path, {"name": "first"})
    return Case(
        over_http(anna, "DELETE", path, key=new_id()), lambda: anna.put(path, {"name": "newer"}),
        lambda: anna.get("/v1/devices"), log_out(anna), "session_ended",
    )


def create_room(world: World) -> Case:
    anna, room = world.user(), Room(new_id())
    return Case(
        over_http(anna, "POST", "/v1/rooms", {"id": room.id, "name": "First"}),
        lambda: anna.patch(room.path, {"name": "Newer"}),
        lambda: anna.see(room)["name"], log_out(anna), "session_ended",
    )


def update_room(world: World) -> Case:
    anna, ben, room = _two(world)
    return Case(
        over_http(anna, "PATCH", room.path, {"name": "First"}, new_id()),
        lambda: anna.patch(room.path, {"name": "Newer"}),
        lambda: ben.see(room)["name"], leave(anna, room), "room_not_found",
    )


def archive_room(world: World) -> Case:
    anna, ben, room = _two(world)
    return Case(
        over_http(anna, "DELETE", room.path, key=new_id()), lambda: ben.patch("/v1/me", {"nickname": "Newer"}),
        lambda: ben.see(room)["archivedAt"], log_out(anna), "session_ended",
    )


def mute_room(world: World) -> Case:
    anna, ben, room = _two(world)
    path = f"{room.path}/mute"
    return Case(
        over_http(ben, "PUT", path, {"until": "2090-01-01T00:00:00Z"}, new_id()),
        lambda: ben.put(path, {"until": "2095-01-01T00:00:00Z"}),
        lambda: ben.see(room)["mutedUntil"], leave(ben, room), "room_not_found",
    )


def members_of(person: Person, room: Room):
    return lambda: [member["user"]["id"] for member in person.get(f"{room.path}/members")["members"]]


def add_member(world: World) -> Case:
    anna, ben, room = _two(world)
    path = f"{room.path}/members/{world.user('Carla').id}"
    return Case(
        over_http(anna, "PUT", path, key=new_id()), lambda: anna.delete(path),
        members_of(ben, room), leave(anna, room), "room_not_found",
    )


def remove_member(world: World) -> Case:
    anna, ben, room = _two(world)
    path = f"{room.path}/members/{world.user('Carla').id}"
    anna.put(path)
    return Case(
        over_http(anna, "DELETE", path, key=new_id()), lambda: anna.put(path),
        members_of(ben, room), leave(anna, room), "room_not_found",
    )


def leave_room(world: World) -> Case:
    anna, ben, room = _two(world)
    return Case(
        over_http(ben, "POST", f"{room.path}/leave", key=new_id()),
        lambda: anna.put(f"{room.path}/members/{ben.id}"),
        members_of(anna, room), log_out(ben), "session_ended",
    )


def create_invite(world: World) -> Case:
    anna, ben, room = _two(world)
    id = new_id()
    return Case(
        over_http(anna, "POST", f"{room.path}/invites", {"id": id, "maxUses": 3}),
        lambda: anna.delete(f"{room.path}/invites/{id}"),
        lambda: [(invite["id"], invite["revokedAt"]) for invite in anna.get(f"{room.path}/invites")["invites"]],
        leave(anna, room), "room_not_found",
    )


def revoke_invite(world: World) -> Case:
    anna, ben, room = _two(world)
    id = anna.post(f"{room.path}/invites", {})["id"]
    return Case(
        over_http(anna, "DELETE", f"{room.path}/invites/{id}", key=new_id()),
        lambda: anna.post(f"{room.path}/invites", {}),
        lambda: [(invite["id"], invite["revokedAt"]) for invite in anna.get(f"{room.path}/invites")["invites"]],
        leave(anna, room), "room_not_found",
    )


def accept_invite(world: World) -> Case:
    anna, ben, room = _two(world)
    token, carla = anna.post(f"{room.path}/invites", {"maxUses": 1})["token"], world.user("Carla")
    return Case(
        over_http(carla, "POST", f"/v1/invites/{token}/accept", key=new_id()), leave(carla, room),
        members_of(anna, room), log_out(carla), "session_ended",
    )


def send_message(world: World) -> Case:
    anna, ben, room = _two(world)
    path = room.message(new_id())
    return Case(
        over_http(ben, "PUT", path, {"text": "first"}), lambda: ben.patch(path, {"text": "newer"}),
        lambda: anna.get(f"{room.path}/messages"), leave(ben, room), "room_not_found",
    )


def edit_message(world: World) -> Case:
    anna, ben, room = _two(world)
    path = room.message(ben.send(room, "zero")["id"])
    return Case(
        over_http(ben, "PATCH", path, {"text": "first"}, new_id()), lambda: ben.patch(path, {"text": "newer"}),
        lambda: anna.get(path), leave(ben, room), "room_not_found",
    )


def delete_message(world: World) -> Case:
    anna, ben, room = _two(world)
    path = room.message(ben.send(room, "zero")["id"])
    return Case(
        over_http(ben, "DELETE", path, key=new_id()), lambda: ben.send(room, "newer"),
        lambda: anna.get(f"{room.path}/messages"), leave(ben, room), "room_not_found",
    )


def move_read_marker(world: World) -> Case:
    anna, ben, room = _two(world)
    sent = [anna.send(room, f"{number}") for number in range(4)]
    return Case(
        over_http(ben, "PUT", f"{room.path}/read-marker", {"messageId": sent[1]["id"]}, new_id()),
        lambda: ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]}),
        lambda: ben.unread(room),
        leave(ben, room), "room_not_found",
    )


OVER_HTTP = [
    create_account, create_session, refresh_session, end_session, update_me, put_device, delete_device, create_room,
    update_room, archive_room, mute_room, add_member, remove_member, leave_room, create_invite, revoke_invite,
    accept_invite, send_message, edit_message, delete_message, move_read_marker,
]
