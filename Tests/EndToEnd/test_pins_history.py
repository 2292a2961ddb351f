"""Pins, the edit history, and what remains of a deleted message."""

import time

import pytest

from harness.client import new_id
from harness.people import World, walk
from harness.server import Server

PINS = 100
# The time within which a deleted text is gone from every file of an idle server.
ERASED_SECONDS = 120


def pinned(person, room):
    return [entry["message"]["id"] for entry in person.get(f"{room.path}/pins")["pins"]]


def pin(room, message):
    return f"{room.path}/pins/{message}"


# MARK: Pins


def test_pins(anna, ben, room):
    ids = [anna.send(room, f"{number}")["id"] for number in range(3)]
    assert pinned(anna, room) == []
    receipt = ben.put(pin(room, ids[1]))
    assert (receipt["roomId"], receipt["messageId"]) == (room.id, ids[1])
    anna.put(pin(room, ids[0]))
    assert pinned(ben, room) == [ids[0], ids[1]]
    listing = ben.get(f"{room.path}/pins")
    assert [entry["pinnedBy"] for entry in listing["pins"]] == [anna.id, ben.id]
    assert {user["id"] for user in listing["users"]} == {anna.id, ben.id}
    assert [message.get("pinned") for message in ben.get(f"{room.path}/messages")["messages"]] == [True, True, None]
    assert ben.put(pin(room, ids[1]), expect=200) == receipt
    ben.delete(pin(room, ids[0]))
    ben.delete(pin(room, ids[0]))
    assert pinned(anna, room) == [ids[1]]
    reply = ben.put(room.message(new_id()), {"text": "in a thread", "threadId": ids[2]})["id"]
    anna.put(pin(room, reply))
    assert pinned(anna, room) == [reply, ids[1]]
    assert anna.get(f"{room.path}/pins")["pins"][0]["message"]["threadId"] == ids[2]
    anna.delete(room.message(ids[1]))
    assert pinned(anna, room) == [reply]
    anna.refused("message_deleted", "PUT", pin(room, ids[1]))
    anna.refused("message_not_found", "PUT", pin(room, new_id()))
    anna.refused("message_not_found", "DELETE", pin(room, new_id()))


def test_pins_include_the_names_of_mentioned_users(world, anna, ben, room):
    carla, dora = world.users("Carla", "Dora")
    for person in (carla, dora):
        anna.put(f"{room.path}/members/{person.id}")
    sent = anna.put(room.message(new_id()), {"text": "Carla!", "mentions": {"users": [carla.id]}})["id"]
    anna.put(room.message(new_id()), {"text": "me", "threadId": sent})
    dora.put(room.message(new_id()), {"text": "me too", "threadId": sent})
    ben.put(pin(room, sent))
    users = {user["id"]: user["nickname"] for user in anna.get(f"{room.path}/pins")["users"]}
    assert users == {person.id: person.nickname for person in (anna, ben, carla, dora)}
    listed = {user["id"] for user in dora.get("/v1/threads")["users"]}
    assert listed == {anna.id, carla.id, dora.id}


def test_strangers_pin_nothing(world, anna, room):
    sent = anna.send(room, "x")["id"]
    eve = world.user("Eve")
    eve.refused("room_not_found", "PUT", pin(room, sent))
    eve.refused("room_not_found", "GET", f"{room.path}/pins")


def test_a_hundred_pins_and_a_restart(own_world):
    anna = own_world.user("Anna")
    room = anna.room("Tea")
    ids = [anna.send(room, f"{number}")["id"] for number in range(PINS + 1)]
    for id in ids[:PINS]:
        anna.put(pin(room, id))
    anna.refused("too_many_pins", "PUT", pin(room, ids[PINS]))
    own_world.server.stop()
    own_world.server.start()
    anna.refused("too_many_pins", "PUT", pin(room, ids[PINS]))
    anna.put(pin(room, ids[0]), expect=200)
    anna.delete(pin(room, ids[0]))
    anna.put(pin(room, ids[PINS]))
    assert pinned(anna, room) == [ids[PINS]] + ids[1:PINS][::-1]


def test_a_late_retry_of_a_pin_restores_nothing(world, anna, room):
    sent, key, other = anna.send(room, "x")["id"], new_id(), new_id()
    first = anna.put(pin(room, sent), key=key)
    gone = anna.delete(pin(room, sent), key=other)
    head = world.head
    assert anna.put(pin(room, sent), key=key, expect=200) == first
    assert pinned(anna, room) == []
    anna.put(pin(room, sent))
    assert anna.delete(pin(room, sent), key=other, expect=200) == gone
    assert pinned(anna, room) == [sent]
    assert world.head == head + 1
    anna.refused("idempotency_key_reused", "DELETE", pin(room, sent), key=key)


# MARK: History


def test_the_history_of_edits(anna, ben, room):
    sent = anna.send(room, "one")
    path = room.message(sent["id"])
    edits = [anna.patch(path, {"text": text, "mentions": {"users": users}}) for text, users in (("two", [ben.id]), ("three", []))]
    versions = walk(ben, f"{path}/history", "versions")
    assert [version["text"] for version in versions] == ["one", "two", "three"]
    assert [version["writtenAt"] for version in versions] == [sent["sentAt"]] + [edit["editedAt"] for edit in edits]
    assert [version["position"] for version in versions] == [sent["position"]] + [edit["revision"] for edit in edits]
    assert [version.get("mentions") for version in versions] == [None, {"users": [ben.id], "everyone": False}, None]
    assert walk(ben, f"{path}/history", "versions", limit=1) == versions
    assert walk(ben, f"{path}/history", "versions", limit=2) == versions
    anna.delete(path)
    assert ben.get(f"{path}/history") == {"versions": [], "nextCursor": None}
    plain = anna.send(room, "never edited")
    assert [v["text"] for v in ben.get(f"{room.message(plain['id'])}/history")["versions"]] == ["never edited"]


def test_strangers_read_no_history(world, anna, room):
    path = f"{room.message(anna.send(room, 'x')['id'])}/history"
    world.user("Eve").refused("room_not_found", "GET", path)
    anna.refused("message_not_found", "GET", f"{room.message(new_id())}/history")
    anna.refused("invalid_cursor", "GET", path, params={"cursor": "x"})


# MARK: What remains after a deletion


@pytest.fixture
def pushing_world(tmp_path):
    """A server with every read model, including the push outbox."""
    server = Server(tmp_path / "data", "--push-file", tmp_path / "notifications.jsonl").start()
    yield World(server)
    server.end()


def test_a_deleted_text_is_gone_from_every_file(pushing_world):
    anna, ben = pushing_world.users("Anna", "Ben")
    ben.put(f"/v1/devices/{new_id()}", {"apnsToken": new_id()})
    room = anna.room("Tea", ben)
    root = anna.send(room, "the root stays")["id"]
    secrets = {name: f"hushhush{name}{new_id().replace('-', '')}" for name in ("Text", "Edit", "Custom", "Long", "Thread")}
    kept = f"keepkeep{new_id().replace('-', '')}"
    anna.send(room, kept)
    first = anna.send(room, secrets["Text"])["id"]
    anna.patch(room.message(first), {"text": secrets["Edit"]})
    custom = anna.put(room.message(new_id()), {"type": "secret", "data": {"what": secrets["Custom"]}})["id"]
    long = anna.send(room, (secrets["Long"] + " ") * 200)["id"]
    reply = ben.put(room.message(new_id()), {"text": secrets["Thread"], "threadId": root})["id"]
    for message in (first, custom, long, reply):
        anna.delete(room.message(message))
        assert anna.get(room.message(message))["text"] == ""

    def holding(text):
        files = [file for file in (pushing_world.server.data / "views").iterdir() if file.is_file()]
        return [file.name for file in files if text.encode() in file.read_bytes()]

    deadline = time.monotonic() + ERASED_SECONDS
    while any(holding(secret) for secret in secrets.values()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert {name: holding(secret) for name, secret in secrets.items()} == {name: [] for name in secrets}
    assert holding(kept) != [] and list((pushing_world.server.data / "views").glob("push-v*"))
