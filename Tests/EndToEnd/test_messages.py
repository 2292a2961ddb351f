"""Sending, editing and deleting messages."""

import pytest

from harness.client import new_id
from harness.times import now, parse

TEXTS = [
    "hello", "점심 먹었어?", "👩‍👩‍👧‍👦🇰🇷", 'quotes " and \\ and / and \u2028', "line\nbreak\r\nand tab\t",
    "\u0000 zero", "\u0007\u001b[31m", "\u1112\u1161\u11ab (decomposed)", " ", "\u202eabc", "𝔘𝔫𝔦", "\ufeffmark",
    "null", "{}", "x" * 16_384,
]


def test_a_message_is_sent_once(world, anna, ben, room):
    id = new_id()
    sent = anna.send(room, "hello", id)
    assert (sent["id"], sent["roomId"], sent["senderId"], sent["text"]) == (id, room.id, anna.id, "hello")
    assert sent["position"] == sent["revision"] == world.head
    assert (sent["editedAt"], sent["deletedAt"]) == (None, None)
    assert abs((parse(sent["sentAt"]) - now()).total_seconds()) < 60
    head = world.head
    assert anna.send(room, "hello", id, expect=200) == sent
    assert anna.send(room, "hello", id.upper(), expect=200) == sent
    assert world.head == head
    anna.refused("id_in_use", "PUT", room.message(id), {"text": "other"})
    ben.refused("id_in_use", "PUT", room.message(id), {"text": "hello"})
    assert ben.get(room.message(id)) == sent


def test_the_same_id_in_another_room_is_another_message(anna, ben, room):
    id, other = new_id(), anna.room("Other")
    anna.send(room, "hello", id)
    anna.send(other, "elsewhere", id)
    assert (anna.get(room.message(id))["text"], anna.get(other.message(id))["text"]) == ("hello", "elsewhere")


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:20]))
def test_a_text_comes_back_as_it_was_sent(anna, ben, room, text):
    id = new_id()
    anna.send(room, text, id)
    assert ben.get(room.message(id))["text"] == text
    assert ben.texts(room) == [text]
    assert ben.see(room)["lastMessage"]["text"] == text


def test_an_edit(world, anna, ben, room):
    sent = anna.send(room, "helo")
    edited = anna.patch(room.message(sent["id"]), {"text": "hello"})
    assert (edited["text"], edited["position"], edited["revision"]) == ("hello", sent["position"], world.head)
    assert edited["sentAt"] == sent["sentAt"] and edited["editedAt"] is not None
    assert ben.get(room.message(sent["id"])) == edited
    assert ben.texts(room) == ["hello"]
    assert ben.see(room)["lastMessage"] == edited
    ben.refused("forbidden", "PATCH", room.message(sent["id"]), {"text": "mine"})
    anna.refused("message_not_found", "PATCH", room.message(new_id()), {"text": "x"})
    anna.refused("empty_text", "PATCH", room.message(sent["id"]), {"text": ""})


def test_a_deletion_keeps_the_ordinal_and_removes_the_text(world, anna, ben, room):
    sent = [anna.send(room, f"word {number}") for number in range(3)]
    deleted = anna.delete(room.message(sent[2]["id"]))
    assert (deleted["text"], deleted["position"], deleted["revision"]) == ("", sent[2]["position"], world.head)
    assert deleted["deletedAt"] is not None
    assert anna.delete(room.message(sent[2]["id"]), expect=200) == deleted
    assert ben.texts(room) == ["word 0", "word 1", ""]
    assert ben.see(room)["lastMessage"] == deleted
    anna.refused("message_deleted", "PATCH", room.message(sent[2]["id"]), {"text": "back"})
    # A late retry gets the first response, and restores nothing.
    assert anna.send(room, "word 2", sent[2]["id"], expect=200)["position"] == sent[2]["position"]
    assert ben.get(room.message(sent[2]["id"])) == deleted
    anna.refused("message_not_found", "DELETE", room.message(new_id()))


def test_who_may_delete(world, anna, ben, room):
    annas, bens = anna.send(room, "anna's"), ben.send(room, "ben's")
    ben.refused("forbidden", "DELETE", room.message(annas["id"]))
    anna.delete(room.message(bens["id"]))
    assert ben.texts(room) == ["anna's", ""]


def test_a_text_is_needed(anna, room):
    anna.refused("empty_text", "PUT", room.message(new_id()), {"text": ""})
    anna.refused("message_not_found", "GET", room.message(new_id()))


def test_a_write_is_visible_to_every_read_after_its_response(anna, ben, room):
    other = anna.again()
    for number in range(50):
        id = new_id()
        anna.send(room, f"{number}", id)
        assert other.get(room.message(id))["text"] == f"{number}"
        assert ben.texts(room, limit=1) == [f"{number}"]
        assert ben.see(room)["lastMessage"]["id"] == id
        assert ben.unread(room) == number + 1


def test_messages_bring_their_senders_along(world, anna, ben, room):
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    for person in (anna, ben, anna, carla):
        person.send(room, person.nickname)
    ben.post(f"{room.path}/leave")
    page = anna.get(f"{room.path}/messages")
    assert sorted((user["id"], user["nickname"]) for user in page["users"]) == sorted(
        (person.id, person.nickname) for person in (anna, ben, carla)
    )
    assert [message["senderId"] for message in page["messages"]] == [anna.id, ben.id, anna.id, carla.id]
