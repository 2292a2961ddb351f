"""The mutations of threads, reactions and pins, as cases."""

import urllib.parse

from .cases import Case, leave, over_http, two
from .client import new_id
from .people import Person, Room, World

THUMB, HEART = "👍", "❤️"


def reaction_path(room: Room, message: str, emoji: str) -> str:
    return f"{room.message(message)}/reactions/{urllib.parse.quote(emoji, safe='')}"


def _reactions(person: Person, room: Room, message: str):
    return lambda: person.get(room.message(message)).get("reactions", [])


def _pins(person: Person, room: Room):
    return lambda: [pin["message"]["id"] for pin in person.get(f"{room.path}/pins")["pins"]]


def _thread(world: World, replies: int = 2) -> tuple[Person, Person, Room, str, list[str]]:
    """A thread under Ben's message, with Anna's replies."""
    anna, ben, room = two(world)
    root = ben.send(room, "zero")["id"]
    ids = [new_id() for _ in range(replies)]
    for id in ids:
        anna.put(room.message(id), {"text": "reply", "threadId": root})
    return anna, ben, room, root, ids


def move_thread_marker(world: World) -> Case:
    _, ben, room, root, (first, second) = _thread(world)
    path = f"{room.message(root)}/thread/read-marker"
    return Case(
        over_http(ben, "PUT", path, {"messageId": first}, new_id()),
        lambda: ben.put(path, {"messageId": second}),
        lambda: ben.get("/v1/badge")["threadUnreadCount"], leave(ben, room), "room_not_found",
    )


def follow_thread(world: World) -> Case:
    _, ben, room, root, _ = _thread(world)
    path = f"{room.message(root)}/thread/following"
    return Case(
        over_http(ben, "PUT", path, {"follows": False}, new_id()), lambda: ben.put(path, {"follows": True}),
        lambda: len(ben.get("/v1/threads")["threads"]), leave(ben, room), "room_not_found",
    )


def add_reaction(world: World) -> Case:
    anna, ben, room = two(world)
    message = anna.send(room, "zero")["id"]
    path = reaction_path(room, message, THUMB)
    return Case(
        over_http(ben, "PUT", path, key=new_id()), lambda: ben.delete(path), _reactions(anna, room, message),
        leave(ben, room), "room_not_found",
    )


def remove_reaction(world: World) -> Case:
    anna, ben, room = two(world)
    message = anna.send(room, "zero")["id"]
    path = reaction_path(room, message, HEART)
    ben.put(path)
    return Case(
        over_http(ben, "DELETE", path, key=new_id()), lambda: ben.put(path), _reactions(anna, room, message),
        leave(ben, room), "room_not_found",
    )


def pin_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/pins/{anna.send(room, 'zero')['id']}"
    return Case(
        over_http(ben, "PUT", path, key=new_id()), lambda: ben.delete(path), _pins(anna, room),
        leave(ben, room), "room_not_found",
    )


def unpin_message(world: World) -> Case:
    anna, ben, room = two(world)
    path = f"{room.path}/pins/{anna.send(room, 'zero')['id']}"
    anna.put(path)
    return Case(
        over_http(ben, "DELETE", path, key=new_id()), lambda: ben.put(path), _pins(anna, room),
        leave(ben, room), "room_not_found",
    )


OVER_MESSAGES = [move_thread_marker, follow_thread, add_reaction, remove_reaction, pin_message, unpin_message]
