"""Replies show the beginning of the message that they reply to."""

import pytest

from harness.client import new_id
from harness.images import encoded
from harness.live_streams import LiveClient
from harness.mirror import SyncClient
from harness.waiting import wait_until

TEXT_BYTES = 256


def reply(person, room, target: str, text: str = "yes", **part) -> dict:
    return person.put(room.message(new_id()), {"text": text, "replyTo": target} | part)


def quote(sender, text: str, cut: bool = False, **part) -> dict:
    return {"senderId": sender.id, "text": text, "isCut": cut} | part


def search(person, room, q: str) -> list[dict]:
    """Waits until the search finds something. A new index responds 503 until it is complete."""
    def results() -> list[dict]:
        response = person.request("GET", "/v1/search", params={"q": q, "roomId": room.id})
        assert response.status_code in (200, 503), response.text
        return response.json()["results"] if response.status_code == 200 else []

    return wait_until(results, f"the search does not find {q}")


def test_a_reply_has_the_same_quote_wherever_it_is_shown(anna, ben, room):
    asked = anna.send(room, "Is the kettle on")
    expected = quote(anna, "Is the kettle on")
    sent = reply(ben, room, asked["id"])
    assert sent["replyTo"] == asked["id"] and sent["quote"] == expected
    assert anna.get(room.message(sent["id"])) == sent
    page = anna.get(f"{room.path}/messages")
    assert page["messages"][-1] == sent and "quote" not in page["messages"][-2]
    assert [each["message"] for each in search(anna, room, "yes")] == [sent]
    assert ben.put(room.message(sent["id"]), {"text": "yes", "replyTo": asked["id"]}, expect=200) == sent
    assert ben.patch(room.message(sent["id"]), {"text": "yes, it is"})["quote"] == expected
    anna.put(f"{room.path}/pins/{sent['id']}")
    assert anna.get(f"{room.path}/pins")["pins"][0]["message"]["quote"] == expected
    # The list of rooms shows the message without what belongs to other messages.
    assert "quote" not in anna.see(room)["lastMessage"]
    deleted = ben.delete(room.message(sent["id"]))
    assert "quote" not in deleted and "replyTo" not in deleted


def test_a_page_shows_who_is_quoted(world, anna, ben, room):
    cleo = world.user("Cleo")
    anna.put(f"{room.path}/members/{cleo.id}")
    reply(ben, room, cleo.send(room, "before everybody else")["id"])
    page = anna.get(f"{room.path}/messages", limit=1)
    assert {user["nickname"] for user in page["users"]} == {ben.nickname, "Cleo"}


def test_a_quote_in_a_thread(anna, ben, room):
    root = anna.send(room, "the root")
    first = ben.put(room.message(new_id()), {"text": "first", "threadId": root["id"]})
    of_root = reply(anna, room, root["id"], threadId=root["id"])
    of_first = reply(anna, room, first["id"], threadId=root["id"])
    assert of_root["quote"] == quote(anna, "the root") and of_first["quote"] == quote(ben, "first")
    assert anna.get(f"{room.message(root['id'])}/thread")["messages"] == [first, of_root, of_first]


def test_a_quote_follows_its_message(anna, ben, room):
    asked = anna.send(room, "Is it on")
    sent = reply(ben, room, asked["id"])
    anna.patch(room.message(asked["id"]), {"text": "Is the kettle on"})
    assert ben.get(room.message(sent["id"])) == sent | {"quote": quote(anna, "Is the kettle on")}
    anna.delete(room.message(asked["id"]))
    after = ben.get(room.message(sent["id"]))
    assert after == {name: value for name, value in sent.items() if name != "quote"}
    assert "quote" not in reply(anna, room, asked["id"])


@pytest.mark.parametrize("text, shown", [
    ("x" * 255, "x" * 255), ("x" * 256, "x" * 256), ("x" * 257, "x" * 256), ("차" * 85, "차" * 85), ("차" * 86, "차" * 85),
    ("x" * 250 + "👨‍👩‍👧‍👦", "x" * 250),
], ids=["below", "at", "above", "Korean below", "Korean above", "between characters"])
def test_a_long_text_is_cut(anna, room, text, shown):
    asked = anna.send(room, text)
    assert reply(anna, room, asked["id"])["quote"] == quote(anna, shown, cut=shown != text)
    assert len(shown.encode()) <= TEXT_BYTES


def test_a_message_without_a_text_is_quoted_by_its_file_or_type(anna, room):
    picture = anna.request("POST", "/v1/media", data=encoded("PNG")).json()
    shown = anna.put(room.message(new_id()), {"attachments": [{"mediaId": picture["id"], "name": "tea.png"}]})
    assert reply(anna, room, shown["id"])["quote"] == quote(anna, "", attachment=shown["attachments"][0])
    event = anna.put(room.message(new_id()), {"type": "order.shipped", "data": {"order": 17}})
    assert reply(anna, room, event["id"])["quote"] == quote(anna, "", type="order.shipped")


def test_quotes_in_ingest_and_sync(world, anna, ben, room):
    """A changed quote is not an item of its own: the item of the quoted message says what changed."""
    asked = anna.send(room, "Is it on")
    client, stream = SyncClient(anna.again()), LiveClient(anna.again()).begin()
    client.catch_up()
    ids = [new_id(), reply(ben, room, asked["id"])["id"]]
    world.admin.ingest_all([{
        "op": "message.send", "as": ben.id, "roomId": room.id, "id": ids[0], "text": "no", "replyTo": asked["id"]}])
    client.check()
    stream.follow()
    for mirror in (client.mirror, stream.mirror):
        replies = [message for message in mirror.of_type("message").values() if message["id"] in ids]
        assert [message["quote"] for message in replies] == [quote(anna, "Is it on")] * 2
    anna.patch(room.message(asked["id"]), {"text": "Is the kettle on"})
    items = client.check()
    assert [item["message"]["text"] for item in items if item["type"] == "message"] == ["Is the kettle on"]
    stream.check()
