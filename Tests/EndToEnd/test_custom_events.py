"""Custom events: an app's own events among the messages, and files that a message names."""

import json

import pytest

from harness.client import new_id
from harness.times import later

TYPE_BYTES = 128
BODY_BYTES = 64 * 1024
ATTACHMENTS = 10
NAME_BYTES = 256

VALUES = [
    {"order": 17, "lines": [{"sku": "tea", "count": 2}], "paid": True, "note": None}, [], {}, "text", 0, -1, 1.5, True, None,
    9007199254740993, 12345678901234567890, 0.1, "한글 👍 \" \\ \u2028", {"b": 1, "a": {"d": [1, [2, [3]]], "c": ""}},
    1e300, [None, None], {"": ""}, "\u0000",
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
def test_any_json_comes_back(anna, ben, room, value):
    id = new_id()
    sent = anna.put(room.message(id), {"type": "app.event", "data": value})
    assert (sent["type"], sent["data"], sent["text"]) == ("app.event", value, "")
    assert ben.get(room.message(id)) == sent
    assert ben.get(f"{room.path}/messages")["messages"] == [sent]
    assert ben.see(room)["lastMessage"] == sent


def test_a_custom_event_is_a_message(world, anna, ben, room):
    anna.send(room, "before")
    shipped = anna.put(room.message(new_id()), {"type": "order.shipped", "data": {"order": 17}, "text": "Your order is on its way"})
    ben.put(room.message(new_id()), {"type": "ping"})
    kinds = [(message.get("type"), message["text"]) for message in anna.get(f"{room.path}/messages")["messages"]]
    assert kinds == [(None, "before"), ("order.shipped", "Your order is on its way"), ("ping", "")]
    assert ben.unread(room) == 0 and anna.unread(room) == 1
    edited = anna.patch(room.message(shipped["id"]), {"text": "Shipped"})
    assert (edited["type"], edited["data"], edited["text"]) == ("order.shipped", {"order": 17}, "Shipped")
    assert anna.get(room.message(shipped["id"])) == edited
    deleted = anna.delete(room.message(shipped["id"]))
    assert "type" not in deleted and "data" not in deleted and deleted["text"] == ""


def test_a_retry_may_write_its_json_in_another_way(world, anna, room):
    id = new_id()
    sent = anna.put(room.message(id), data=b'{"type":"a","data":{"x":1,"y":[1.50, "\\u0041"]}}')
    head = world.head
    again = anna.put(room.message(id), data=b'{ "data": {"y": [1.5,"A"], "x": 1 }, "type": "a", "text": "" }', expect=200)
    assert again == sent and world.head == head
    for other in ({"type": "a", "data": {"x": 2}}, {"type": "b", "data": {"x": 1, "y": [1.5, "A"]}}, {"text": "a"}):
        anna.refused("id_in_use", "PUT", room.message(id), other)


def test_a_message_needs_some_content(anna, room):
    anna.refused("invalid_field", "PUT", room.message(new_id()), {})
    anna.refused("invalid_field", "PUT", room.message(new_id()), {"data": {}})
    anna.refused("invalid_field", "PUT", room.message(new_id()), {"text": "x", "data": {}})
    anna.refused("empty_text", "PUT", room.message(new_id()), {"text": "", "mentions": {"everyone": True}})
    anna.refused("custom_type_malformed", "PUT", room.message(new_id()), {"type": ""})
    anna.refused("custom_type_malformed", "PUT", room.message(new_id()), {"type": "a\u0007"})
    anna.refused("unknown_field", "PUT", room.message(new_id()), {"text": "x", "body": {}})


@pytest.mark.parametrize("size", [TYPE_BYTES - 1, TYPE_BYTES, TYPE_BYTES + 1])
def test_length_of_a_type(anna, room, size):
    path, body = room.message(new_id()), {"type": "길" * (size // 3) + "x" * (size % 3)}
    anna.refused("custom_type_malformed", "PUT", path, body) if size > TYPE_BYTES else anna.put(path, body)


@pytest.mark.parametrize("size", [BODY_BYTES - 1, BODY_BYTES, BODY_BYTES + 1])
def test_length_of_a_body(anna, room, size):
    path, value = room.message(new_id()), "b" * (size - 2)
    assert len(json.dumps(value)) == size
    body = {"type": "a", "data": value}
    anna.refused("custom_body_too_long", "PUT", path, body) if size > BODY_BYTES else anna.put(path, body)


def test_a_file_that_nobody_uploaded(anna, ben, room):
    path = room.message(new_id())
    anna.refused("media_not_found", "PUT", path, {"attachments": [{"mediaId": new_id()}]})
    anna.refused("media_not_found", "PUT", path, {"text": "look", "attachments": [{"mediaId": new_id(), "name": "a.png"}]})
    anna.refused("unknown_field", "PUT", path, {"attachments": [{"mediaId": new_id(), "size": 1}]})
    anna.refused("invalid_field", "PUT", path, {"attachments": [{"name": "a.png"}]})
    many = [{"mediaId": new_id()} for _ in range(ATTACHMENTS + 1)]
    anna.refused("too_many_attachments", "PUT", path, {"attachments": many})
    named = {"attachments": [{"mediaId": new_id(), "name": "n" * (NAME_BYTES + 1)}]}
    anna.refused("attachment_name_too_long", "PUT", path, named)
    assert ben.texts(room) == []


def test_in_bulk(world, anna, ben, room):
    root, custom, reply = new_id(), new_id(), new_id()
    lines = [
        {"op": "message.send", "roomId": room.id, "id": root, "text": "root", "mentions": {"everyone": True}},
        {"op": "message.send", "roomId": room.id, "id": custom, "type": "a", "data": [1]},
        {"op": "message.send", "roomId": room.id, "id": reply, "text": "yes", "threadId": root, "replyTo": root},
        {"op": "message.edit", "roomId": room.id, "id": root, "text": "Ben", "mentions": {"users": [ben.id]}},
        {"op": "reaction.add", "roomId": room.id, "messageId": root, "emoji": "👍"},
        {"op": "reaction.add", "roomId": room.id, "messageId": custom, "emoji": "👎"},
        {"op": "reaction.remove", "roomId": room.id, "messageId": custom, "emoji": "👎"},
        {"op": "message.pin", "roomId": room.id, "messageId": root},
        {"op": "message.pin", "roomId": room.id, "messageId": reply},
        {"op": "message.unpin", "roomId": room.id, "messageId": reply},
    ]
    bad = [
        {"op": "message.send", "roomId": room.id, "id": new_id()},
        {"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x", "emoji": "x"},
        {"op": "message.send", "roomId": room.id, "id": new_id(), "attachments": [{"mediaId": new_id()}]},
        {"op": "reaction.add", "roomId": room.id, "messageId": root, "emoji": "ok"},
    ]
    results = anna.ingest(lines + bad)
    assert [result["status"] for result in results] == [
        200 if line["op"] in ("message.edit", "reaction.remove", "message.unpin") else 201 for line in lines
    ] + [400, 400, 404, 422]
    assert [result.get("code") for result in results[len(lines):]] == [
        "invalid_field", "unknown_field", "media_not_found", "emoji_malformed",
    ]
    shown = ben.get(room.message(root))
    assert shown["mentions"] == {"users": [ben.id], "everyone": False} and shown["pinned"] is True
    assert shown["reactions"] == [{"emoji": "👍", "count": 1, "me": False}] and shown["thread"]["replyCount"] == 1
    assert ben.get(room.message(custom))["data"] == [1] and "reactions" not in ben.get(room.message(custom))
    assert ben.get(room.message(reply))["replyTo"] == root and "pinned" not in ben.get(room.message(reply))
    assert [result["status"] for result in anna.ingest(lines[:3])] == [200, 200, 200]


def test_the_author_changes_the_data(world, anna, ben, room):
    sent = anna.put(room.message(new_id()), {"type": "order", "data": {"state": "packed"}, "text": "Your order", "mentions": {"users": [ben.id]}})
    path, key = room.message(sent["id"]), new_id()
    changed = anna.patch(path, {"data": {"state": "shipped", "at": [1, 2]}}, key=key)
    assert (changed["data"], changed["type"]) == ({"state": "shipped", "at": [1, 2]}, "order")
    assert (changed["text"], changed["mentions"]) == ("Your order", sent["mentions"])
    assert changed["editedAt"] and changed["revision"] > sent["revision"] == sent["position"] == changed["position"]
    assert ben.get(path) == changed and ben.see(room)["lastMessage"] == changed
    assert (ben.unread(room), ben.see(room)["mentionCount"]) == (1, 1)
    both = anna.patch(path, {"text": "Here", "data": 7})
    assert (both["text"], both["data"], "mentions" in both) == ("Here", 7, False)
    assert ben.see(room)["mentionCount"] == 0
    # The late retry repeats the first response and changes nothing.
    head = world.head
    assert anna.patch(path, {"data": {"at": [1, 2], "state": "shipped"}}, key=key, expect=200)["revision"] == changed["revision"]
    assert world.head == head and ben.get(path) == both
    versions = ben.get(f"{path}/history")["versions"]
    assert [(version["text"], version["data"]) for version in versions] == [
        ("Your order", {"state": "packed"}), ("Your order", {"state": "shipped", "at": [1, 2]}), ("Here", 7)]
    assert [version.get("mentions") for version in versions] == [sent["mentions"], sent["mentions"], None]


def test_who_may_change_data_and_of_what(world, anna, ben, room):
    event = anna.put(room.message(new_id()), {"type": "order", "data": 1})
    plain = anna.send(room, "plain")
    head = world.head
    path = room.message(event["id"])
    ben.refused("forbidden", "PATCH", path, {"data": 2})
    anna.refused("custom_type_missing", "PATCH", room.message(plain["id"]), {"data": 2})
    anna.refused("custom_body_too_long", "PATCH", path, {"data": "b" * (BODY_BYTES - 1)})
    anna.refused("revision_mismatch", "PATCH", path, {"data": 2}, headers={"If-Match": '"1"'})
    for body in ({}, {"text": None}, {"mentions": {"everyone": True}}, {"data": 2, "mentions": {"everyone": True}}):
        anna.refused("invalid_field", "PATCH", path, body)
    anna.refused("unknown_field", "PATCH", path, {"data": 2, "type": "other"})
    anna.refused("unknown_field", "PATCH", path, {"data": 2, "silent": True})
    assert world.head == head
    anna.patch(path, {"data": "b" * (BODY_BYTES - 2)})
    assert anna.patch(path, {"data": None})["data"] is None and ben.get(path)["data"] is None
    anna.delete(path)
    anna.refused("message_deleted", "PATCH", path, {"data": 2})


def test_a_silent_event_does_not_count(world, anna, ben, room):
    anna.send(room, "counts")
    badge = ben.get("/v1/badge")
    silent = anna.put(room.message(new_id()), {"type": "position", "data": [1, 2], "silent": True, "mentions": {"everyone": True}})
    assert silent["silent"] is True and ben.get(room.message(silent["id"])) == silent
    assert ben.see(room)["lastMessage"] == silent
    seen = ben.see(room)
    assert (seen["unreadCount"], seen["mentionCount"]) == (1, 0)
    after = ben.get("/v1/badge")
    assert {name: after[name] for name in ("unreadCount", "mentionCount")} == {name: badge[name] for name in ("unreadCount", "mentionCount")}
    moved = anna.patch(room.message(silent["id"]), {"data": [3, 4], "text": "", "mentions": {"users": [ben.id]}})
    assert moved["silent"] is True and moved["data"] == [3, 4]
    assert (ben.unread(room), ben.see(room)["mentionCount"]) == (1, 0)
    anna.delete(room.message(silent["id"]))
    assert ben.unread(room) == 1
    ben.put(f"{room.path}/read-marker", {"messageId": silent["id"]})
    assert ben.unread(room) == 0
    again = anna.put(room.message(new_id()), {"type": "position", "silent": True})
    assert ben.unread(room) == 0 and again["data"] is None


def test_only_an_event_of_an_app_is_silent(anna, room):
    anna.refused("invalid_field", "PUT", room.message(new_id()), {"text": "hush", "silent": True})
    anna.refused("invalid_field", "PUT", room.message(new_id()), {"type": "a", "silent": "yes"})
    spoken = anna.put(room.message(new_id()), {"text": "hello", "silent": False})
    assert "silent" not in spoken
    id = new_id()
    anna.put(room.message(id), {"type": "a", "silent": True})
    anna.put(room.message(id), {"type": "a", "silent": True}, expect=200)
    anna.refused("id_in_use", "PUT", room.message(id), {"type": "a"})


def test_changes_and_silent_events_in_bulk(anna, ben, room):
    id = new_id()
    lines = [
        {"op": "message.send", "roomId": room.id, "id": id, "type": "position", "data": 1, "silent": True},
        {"op": "message.edit", "roomId": room.id, "id": id, "data": 2},
        {"op": "message.edit", "roomId": room.id, "id": id},
        {"op": "message.delete", "roomId": room.id, "id": id, "silent": True},
    ]
    results = anna.ingest(lines)
    assert [result["status"] for result in results] == [201, 200, 400, 400]
    assert [result.get("code") for result in results[2:]] == ["invalid_field", "unknown_field"]
    shown = ben.get(room.message(id))
    assert (shown["data"], shown["silent"], ben.unread(room)) == (2, True, 0)


def test_null_is_data_in_an_edit_in_bulk_and_elsewhere_the_same_as_none(anna, room):
    id = new_id()
    results = anna.ingest([
        {"op": "message.send", "roomId": room.id, "id": id, "type": "position", "data": 1},
        {"op": "message.edit", "roomId": room.id, "id": id, "data": None},
        {"op": "message.send", "roomId": room.id, "id": new_id(), "text": "tea", "data": None},
    ])
    assert [result["status"] for result in results] == [201, 200, 201]
    assert anna.get(room.message(id))["data"] is None


def test_the_author_changes_the_data_of_a_scheduled_message(anna, room):
    event, plain = (f"{room.path}/scheduled-messages/{new_id()}" for _ in range(2))
    anna.put(event, {"type": "order", "data": {"state": "new"}, "sendAt": later(hours=1)})
    anna.put(plain, {"text": "tea", "sendAt": later(hours=1)})
    assert anna.patch(event, {"data": {"state": "paid"}})["data"] == {"state": "paid"}
    assert anna.get(event)["data"] == {"state": "paid"}
    anna.patch(event, {"data": None})
    assert anna.get(event)["data"] is None
    anna.refused("custom_type_missing", "PATCH", plain, {"data": 1})
