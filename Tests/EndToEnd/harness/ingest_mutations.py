"""Every `op` of bulk ingest as a case, like those of `mutations`."""

from .client import new_id
from .cases import Case, leave, over_ingest
from .mutations import members_of
from .people import Room, World
from .message_mutations import THUMB, reaction_path


def _two(world: World):
    anna, ben = world.users("Anna", "Ben")
    return anna, ben, anna.room("Tea", ben)


def user_register(world: World) -> Case:
    id = new_id()
    service = world.acting_as(id)
    return Case(
        over_ingest(world.admin, {"op": "user.register", "id": id, "nickname": "First", "externalId": id}),
        lambda: service.patch("/v1/me", {"nickname": "Newer"}), lambda: service.get("/v1/me")["nickname"],
    )


def room_create(world: World) -> Case:
    anna, room = world.user(), Room(new_id())
    return Case(
        over_ingest(world.admin, {"op": "room.create", "id": room.id, "name": "First", "as": anna.id}),
        lambda: anna.patch(room.path, {"name": "Newer"}), lambda: anna.see(room)["name"],
    )


def member_join(world: World) -> Case:
    anna, _, room = _two(world)
    carla = world.user("Carla")
    return Case(
        over_ingest(world.admin, {"op": "member.join", "as": carla.id, "roomId": room.id}),
        lambda: carla.patch("/v1/me", {"nickname": "Newer"}), members_of(anna, room),
    )


def member_leave(world: World) -> Case:
    anna, ben, room = _two(world)
    return Case(
        over_ingest(ben, {"op": "member.leave", "roomId": room.id, "key": new_id()}),
        lambda: anna.put(f"{room.path}/members/{ben.id}"), members_of(anna, room),
    )


def message_send(world: World) -> Case:
    anna, ben, room = _two(world)
    id = new_id()
    return Case(
        over_ingest(ben, {"op": "message.send", "roomId": room.id, "id": id, "text": "first"}),
        lambda: ben.patch(room.message(id), {"text": "newer"}),
        lambda: anna.get(f"{room.path}/messages"), leave(ben, room), "room_not_found",
    )


def message_edit(world: World) -> Case:
    anna, ben, room = _two(world)
    id = ben.send(room, "zero")["id"]
    line = {"op": "message.edit", "roomId": room.id, "id": id, "text": "first", "key": new_id()}
    return Case(
        over_ingest(ben, line), lambda: ben.patch(room.message(id), {"text": "newer"}),
        lambda: anna.get(room.message(id)), leave(ben, room), "room_not_found",
    )


def message_delete(world: World) -> Case:
    anna, ben, room = _two(world)
    id = ben.send(room, "zero")["id"]
    return Case(
        over_ingest(ben, {"op": "message.delete", "roomId": room.id, "id": id, "key": new_id()}),
        lambda: ben.send(room, "newer"), lambda: anna.get(f"{room.path}/messages"), leave(ben, room), "room_not_found",
    )


def read_marker_move(world: World) -> Case:
    anna, ben, room = _two(world)
    sent = [anna.send(room, f"{number}") for number in range(4)]
    return Case(
        over_ingest(ben, {"op": "read-marker.move", "roomId": room.id, "messageId": sent[1]["id"], "key": new_id()}),
        lambda: ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]}),
        lambda: ben.unread(room),
        leave(ben, room), "room_not_found",
    )


def reaction_add(world: World) -> Case:
    anna, ben, room = _two(world)
    message = anna.send(room, "zero")["id"]
    return Case(
        over_ingest(ben, _reaction("add", room, message)),
        lambda: ben.delete(reaction_path(room, message, THUMB)),
        lambda: anna.get(room.message(message)).get("reactions", []), leave(ben, room), "room_not_found",
    )


def reaction_remove(world: World) -> Case:
    anna, ben, room = _two(world)
    message = anna.send(room, "zero")["id"]
    path = reaction_path(room, message, THUMB)
    ben.put(path)
    return Case(
        over_ingest(ben, _reaction("remove", room, message)), lambda: ben.put(path),
        lambda: anna.get(room.message(message)).get("reactions", []), leave(ben, room), "room_not_found",
    )


def _reaction(what: str, room: Room, message: str) -> dict:
    return {"op": f"reaction.{what}", "roomId": room.id, "messageId": message, "emoji": THUMB, "key": new_id()}


def message_pin(world: World) -> Case:
    anna, ben, room = _two(world)
    message = anna.send(room, "zero")["id"]
    return Case(
        over_ingest(ben, {"op": "message.pin", "roomId": room.id, "messageId": message, "key": new_id()}),
        lambda: ben.delete(f"{room.path}/pins/{message}"), lambda: anna.get(f"{room.path}/pins")["pins"],
        leave(ben, room), "room_not_found",
    )


def message_unpin(world: World) -> Case:
    anna, ben, room = _two(world)
    message = anna.send(room, "zero")["id"]
    anna.put(f"{room.path}/pins/{message}")
    return Case(
        over_ingest(ben, {"op": "message.unpin", "roomId": room.id, "messageId": message, "key": new_id()}),
        lambda: ben.put(f"{room.path}/pins/{message}"), lambda: anna.get(f"{room.path}/pins")["pins"],
        leave(ben, room), "room_not_found",
    )


OVER_INGEST = [
    user_register, room_create, member_join, member_leave, message_send, message_edit, message_delete, read_marker_move,
    reaction_add, reaction_remove, message_pin, message_unpin,
]
