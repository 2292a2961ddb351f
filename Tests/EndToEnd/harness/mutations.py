"""Every mutation of the API as a case."""

from .cases import Case, hand_over, leave, log_out, over_http, two
from .client import new_id
from .identity_mutations import OVER_IDENTITY
from .people import PASSWORD, Person, Room, World
from .room_mutations import OVER_ROOMS
from .message_mutations import OVER_MESSAGES
from .times import later

# Later than any run of the tests, and within the one year for which a message can be scheduled ahead.
_SOON, _LATER = later(days=30), later(days=60)


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
    anna, ben, room = two(world)
    return Case(
        over_http(anna, "PATCH", room.path, {"name": "First"}, new_id()),
        lambda: anna.patch(room.path, {"name": "Newer"}),
        lambda: ben.see(room)["name"], hand_over(anna, room, ben), "room_not_found",
    )


def archive_room(world: World) -> Case:
    anna, ben, room = two(world)
    return Case(
        over_http(anna, "POST", f"{room.path}/archive", key=new_id()), lambda: anna.post(f"{room.path}/unarchive"),
        lambda: ben.see(room)["archivedAt"], log_out(anna), "session_ended",
    )


def mute_room(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/mute"
    return Case(
        over_http(ben, "PUT", path, {"until": "2090-01-01T00:00:00Z"}, new_id()),
        lambda: ben.put(path, {"until": "2095-01-01T00:00:00Z"}),
        lambda: ben.see(room)["mutedUntil"], leave(ben, room), "room_not_found",
    )


def set_room_notifications(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/notifications"
    return Case(
        over_http(ben, "PUT", path, {"level": "mentions"}, new_id()),
        lambda: ben.put(path, {"level": None}),
        lambda: ben.see(room)["notifications"], leave(ben, room), "room_not_found",
    )


def hide_room(world: World) -> Case:
    anna, ben = world.users("Anna", "Ben")
    room = anna.direct(ben)
    path = f"{room.path}/hidden"
    return Case(
        over_http(ben, "PUT", path, {"isHidden": True}, new_id()),
        lambda: ben.put(path, {"isHidden": False}),
        lambda: ben.see(room)["isHidden"], log_out(ben), "session_ended",
    )


def members_of(person: Person, room: Room):
    return lambda: [member["user"]["id"] for member in person.get(f"{room.path}/members")["members"]]


def add_member(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/members/{world.user('Carla').id}"
    return Case(
        over_http(anna, "PUT", path, key=new_id()), lambda: anna.delete(path),
        members_of(ben, room), hand_over(anna, room, ben), "room_not_found",
    )


def remove_member(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/members/{world.user('Carla').id}"
    anna.put(path)
    return Case(
        over_http(anna, "DELETE", path, key=new_id()), lambda: anna.put(path),
        members_of(ben, room), hand_over(anna, room, ben), "room_not_found",
    )


def leave_room(world: World) -> Case:
    anna, ben, room = two(world)
    return Case(
        over_http(ben, "POST", f"{room.path}/leave", key=new_id()),
        lambda: anna.put(f"{room.path}/members/{ben.id}"),
        members_of(anna, room), log_out(ben), "session_ended",
    )


def create_invite(world: World) -> Case:
    anna, ben, room = two(world)
    id = new_id()
    return Case(
        over_http(anna, "POST", f"{room.path}/invites", {"id": id, "maxUses": 3}),
        lambda: anna.delete(f"{room.path}/invites/{id}"),
        lambda: [(invite["id"], invite["revokedAt"]) for invite in anna.get(f"{room.path}/invites")["invites"]],
        hand_over(anna, room, ben), "room_not_found",
    )


def revoke_invite(world: World) -> Case:
    anna, ben, room = two(world)
    id = anna.post(f"{room.path}/invites", {})["id"]
    return Case(
        over_http(anna, "DELETE", f"{room.path}/invites/{id}", key=new_id()),
        lambda: anna.post(f"{room.path}/invites", {}),
        lambda: [(invite["id"], invite["revokedAt"]) for invite in anna.get(f"{room.path}/invites")["invites"]],
        hand_over(anna, room, ben), "room_not_found",
    )


def accept_invite(world: World) -> Case:
    anna, ben, room = two(world)
    token, carla = anna.post(f"{room.path}/invites", {"maxUses": 1})["token"], world.user("Carla")
    return Case(
        over_http(carla, "POST", f"/v1/invites/{token}/accept", key=new_id()), leave(carla, room),
        members_of(anna, room), lambda: anna.put(f"{room.path}/bans/{carla.id}"), "banned",
    )


def send_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = room.message(new_id())
    return Case(
        over_http(ben, "PUT", path, {"text": "first"}), lambda: ben.patch(path, {"text": "newer"}),
        lambda: anna.get(f"{room.path}/messages"), leave(ben, room), "room_not_found",
    )


def edit_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = room.message(ben.send(room, "zero")["id"])
    return Case(
        over_http(ben, "PATCH", path, {"text": "first"}, new_id()), lambda: ben.patch(path, {"text": "newer"}),
        lambda: anna.get(path), leave(ben, room), "room_not_found",
    )


def delete_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = room.message(ben.send(room, "zero")["id"])
    return Case(
        over_http(ben, "DELETE", path, key=new_id()), lambda: ben.send(room, "newer"),
        lambda: anna.get(f"{room.path}/messages"), leave(ben, room), "room_not_found",
    )


def move_read_marker(world: World) -> Case:
    anna, ben, room = two(world)
    sent = [anna.send(room, f"{number}") for number in range(4)]
    return Case(
        over_http(ben, "PUT", f"{room.path}/read-marker", {"messageId": sent[1]["id"]}, new_id()),
        lambda: ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]}),
        lambda: ben.unread(room),
        leave(ben, room), "room_not_found",
    )


def mark_unread(world: World) -> Case:
    anna, ben, room = two(world)
    sent = [anna.send(room, f"{number}") for number in range(4)]
    return Case(
        over_http(ben, "PUT", f"{room.path}/unread-mark", {"messageId": sent[1]["id"]}, new_id()),
        lambda: ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]}),
        lambda: (ben.unread(room), ben.see(room)["unreadMark"]),
        leave(ben, room), "room_not_found",
    )


def update_preferences(world: World) -> Case:
    ben = world.user("Ben")
    return Case(
        over_http(ben, "PATCH", "/v1/me/preferences", {"sharesReadMarkers": False}, new_id()),
        lambda: ben.patch("/v1/me/preferences", {"sharesReadMarkers": True, "acceptsDirectMessages": False}),
        lambda: ben.get("/v1/me/preferences"), log_out(ben), "session_ended",
    )


def schedule_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/scheduled-messages/{new_id()}"
    return Case(
        over_http(ben, "PUT", path, {"text": "first", "sendAt": _SOON}),
        lambda: ben.patch(path, {"text": "newer"}),
        lambda: ben.get(f"{room.path}/scheduled-messages"), leave(ben, room), "room_not_found",
    )


def change_scheduled_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/scheduled-messages/{new_id()}"
    ben.put(path, {"text": "zero", "sendAt": _SOON})
    return Case(
        over_http(ben, "PATCH", path, {"text": "first"}, new_id()),
        lambda: ben.patch(path, {"text": "newer", "sendAt": _LATER}),
        lambda: ben.get(f"{room.path}/scheduled-messages"), leave(ben, room), "room_not_found",
    )


def cancel_scheduled_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/scheduled-messages"
    id = ben.put(f"{path}/{new_id()}", {"text": "zero", "sendAt": _SOON})["id"]
    return Case(
        over_http(ben, "DELETE", f"{path}/{id}", key=new_id()),
        lambda: ben.put(f"{path}/{new_id()}", {"text": "newer", "sendAt": _LATER}),
        lambda: ben.get(path), lambda: anna.delete(room.path), "room_not_found",
    )


OVER_HTTP = [
    create_account, create_session, refresh_session, end_session, update_me, put_device, delete_device, create_room,
    update_room, archive_room, mute_room, set_room_notifications, hide_room, add_member, remove_member, leave_room,
    create_invite, revoke_invite,
    accept_invite, send_message, edit_message, delete_message, move_read_marker,
    mark_unread, update_preferences, schedule_message, change_scheduled_message, cancel_scheduled_message,
    *OVER_IDENTITY, *OVER_ROOMS, *OVER_MESSAGES,
]
