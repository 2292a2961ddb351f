"""Adding, removing, counting and listing reactions."""

import urllib.parse

import pytest

from harness.client import new_id
from harness.command import audit, settle
from harness.people import walk

THUMB, HEART, FAMILY = "👍", "❤️", "👩‍👩‍👧‍👦"


def path(room, message, emoji):
    return f"{room.message(message)}/reactions/{urllib.parse.quote(emoji, safe='')}"


def shown(person, room, message):
    return [(r["emoji"], r["count"], r["me"]) for r in person.get(room.message(message)).get("reactions", [])]


@pytest.fixture
def message(anna, room):
    return anna.send(room, "hello")["id"]


def test_reactions_are_counted(anna, ben, room, message):
    receipt = ben.put(path(room, message, THUMB))
    assert (receipt["roomId"], receipt["messageId"], receipt["emoji"]) == (room.id, message, THUMB)
    assert shown(anna, room, message) == [(THUMB, 1, False)]
    anna.put(path(room, message, HEART))
    anna.put(path(room, message, THUMB))
    ben.put(path(room, message, THUMB))
    assert shown(anna, room, message) == [(THUMB, 2, True), (HEART, 1, True)]
    assert shown(ben, room, message) == [(THUMB, 2, True), (HEART, 1, False)]
    page = ben.get(f"{room.path}/messages")["messages"]
    assert page[0]["reactions"] == ben.get(room.message(message))["reactions"]
    ben.delete(path(room, message, THUMB))
    # Ordered by the first reaction that is left.
    assert shown(anna, room, message) == [(HEART, 1, True), (THUMB, 1, True)]
    anna.delete(path(room, message, THUMB))
    assert shown(anna, room, message) == [(HEART, 1, True)]
    ben.delete(path(room, message, HEART))
    assert shown(anna, room, message) == [(HEART, 1, True)]


@pytest.mark.parametrize("emoji", [THUMB, HEART, FAMILY, "a", "길", ":party_parrot:", ":+1:", ":" + "a" * 62 + ":"])
def test_what_a_reaction_is(anna, room, message, emoji):
    anna.put(path(room, message, emoji))
    assert shown(anna, room, message) == [(emoji, 1, True)]


@pytest.mark.parametrize("emoji", [THUMB * 2, "ok", " ", "::", ":a b:", ":길:", "\n", ":" + "a" * 63 + ":"])
def test_what_is_not_a_reaction(anna, room, message, emoji):
    anna.refused("emoji_malformed", "PUT", path(room, message, emoji))
    anna.refused("emoji_malformed", "DELETE", path(room, message, emoji))


def test_who_reacted(world, anna, ben, room, message):
    people = [anna, ben] + [world.user(f"P{number}") for number in range(5)]
    for person in people[2:]:
        anna.put(f"{room.path}/members/{person.id}")
    for person in people:
        person.put(path(room, message, THUMB))
    ben.put(path(room, message, HEART))
    expected = [(THUMB, person.id) for person in people] + [(HEART, ben.id)]
    listing = f"{room.message(message)}/reactions"
    for limit in (3, 200):
        found = [(r["emoji"], r["user"]["id"]) for r in walk(anna, listing, "reactions", limit=limit)]
        assert found == expected
    assert anna.get(listing)["reactions"][1]["user"]["nickname"] == "Ben"
    other = anna.send(room, "other")["id"]
    cursor = anna.get(listing, limit=2)["nextCursor"]
    anna.refused("invalid_cursor", "GET", f"{room.message(other)}/reactions", params={"cursor": cursor})


def test_how_many_kinds_a_message_has(world, anna, ben, room, message):
    cleo = world.user("Cleo")
    anna.put(f"{room.path}/members/{cleo.id}")
    kinds = [f":kind_{number}:" for number in range(51)]
    for person, own in ((anna, kinds[:20]), (ben, kinds[20:40]), (cleo, kinds[40:50])):
        for kind in own:
            person.put(path(room, message, kind))
    for person in (anna, ben, cleo):
        person.refused("too_many_reactions", "PUT", path(room, message, kinds[50]))
    anna.put(path(room, message, kinds[0]))
    anna.refused("too_many_reactions", "PUT", path(room, message, kinds[40]))
    cleo.put(path(room, message, kinds[0]))
    # No kind of reaction hides another.
    assert [kind for kind, _, _ in shown(anna, room, message)] == kinds[:50]
    assert len(walk(anna, f"{room.message(message)}/reactions", "reactions", limit=200)) == 51
    anna.delete(path(room, message, kinds[1]))
    cleo.put(path(room, message, kinds[50]))


def test_a_deletion_removes_reactions(anna, ben, room, message):
    ben.put(path(room, message, THUMB))
    assert "reactions" not in anna.delete(room.message(message))
    assert "reactions" not in anna.get(room.message(message))
    assert anna.get(f"{room.message(message)}/reactions")["reactions"] == []
    ben.refused("message_deleted", "PUT", path(room, message, THUMB))
    ben.refused("message_deleted", "DELETE", path(room, message, THUMB))


def test_in_threads_and_where_there_is_nothing(world, anna, ben, room, message):
    reply = ben.put(room.message(new_id()), {"text": "yes", "threadId": message})["id"]
    anna.put(path(room, reply, THUMB))
    assert shown(ben, room, reply) == [(THUMB, 1, False)]
    assert shown(ben, room, message) == []
    thread = ben.get(f"{room.message(message)}/thread")["messages"]
    assert thread[0]["reactions"] == [{"emoji": THUMB, "count": 1, "me": False}]
    anna.refused("message_not_found", "PUT", path(room, new_id(), THUMB))
    eve = world.user("Eve")
    eve.refused("room_not_found", "PUT", path(room, message, THUMB))
    eve.refused("room_not_found", "GET", f"{room.message(message)}/reactions")
    anna.post(f"{room.path}/archive")
    anna.refused("room_archived", "PUT", path(room, message, THUMB))


def test_every_retry_gets_the_first_response(world, anna, room, message):
    key = new_id()
    first = anna.put(path(room, message, THUMB), key=key)
    anna.delete(path(room, message, THUMB))
    head = world.head
    assert anna.put(path(room, message, THUMB), key=key, expect=200) == first
    assert shown(anna, room, message) == [] and world.head == head
    anna.refused("idempotency_key_reused", "PUT", path(room, message, HEART), key=key)
    anna.refused("idempotency_key_reused", "DELETE", path(room, message, THUMB), key=key)


def test_the_log_names_the_author_of_the_message(world, anna, ben, room, message):
    """Push needs it: the author is notified of the reaction."""
    ben.put(path(room, message, THUMB))
    ben.delete(path(room, message, THUMB))
    settle(world.server)
    added, removed = audit(
        world.server.data, "--type", "reaction.added", "--type", "reaction.removed", "--room", room.id)
    assert (added["actor"], added["detail"]["messageAuthor"]) == (ben.id, anna.id)
    assert "messageAuthor" not in removed["detail"]
