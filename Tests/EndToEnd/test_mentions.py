"""Mentions: whom a message mentions, and what counts as a mention."""

import pytest

from harness.client import new_id

MENTIONS = 50


def send(person, room, text, users=(), everyone=False, id=None, expect=201, **more):
    body = {"text": text, "mentions": {"users": [user.id for user in users], "everyone": everyone}} | more
    return person.put(room.message(id or new_id()), body, expect=expect)


def mentions(person, room):
    return person.see(room)["mentionCount"]


def test_a_message_mentions_users_and_everyone(anna, ben, room):
    sent = send(anna, room, "Ben", [ben, anna, ben])
    assert sent["mentions"] == {"users": sorted([anna.id, ben.id]), "everyone": False}
    assert ben.get(room.message(sent["id"])) == sent
    assert ben.see(room)["lastMessage"]["mentions"] == sent["mentions"]
    page = ben.get(f"{room.path}/messages")
    assert {user["id"] for user in page["users"]} == {anna.id, ben.id}
    assert mentions(ben, room) == 1 and mentions(anna, room) == 0
    send(anna, room, "all", everyone=True)
    send(anna, room, "all, and Ben", [ben], everyone=True)
    anna.send(room, "nobody")
    assert (mentions(ben, room), ben.unread(room)) == (3, 4)
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["mentionCount"]) == (4, 3)
    assert "mentions" not in send(anna, room, "x")


def test_reading_clears_mentions(anna, ben, room):
    ids = [send(anna, room, f"{number}", [ben], everyone=number % 2 == 0)["id"] for number in range(6)]
    for number, id in enumerate(ids):
        assert mentions(ben, room) == 6 - number
        ben.put(f"{room.path}/read-marker", {"messageId": id})
    send(anna, room, "again", [ben])
    ben.send(room, "I am here")
    assert mentions(ben, room) == 0


def test_a_later_member_was_not_mentioned_with_everyone(world, anna, ben, room):
    """Not even if the user marks the earlier messages as unread."""
    carla = world.user("Carla")
    before = send(anna, room, "all hands", everyone=True)
    anna.put(f"{room.path}/members/{carla.id}")
    after = send(anna, room, "all hands again", everyone=True)
    carla.put(f"{room.path}/unread-mark", {"messageId": before["id"]})
    assert (mentions(carla, room), carla.unread(room), carla.get("/v1/badge")["mentionCount"]) == (1, 2, 1)
    ben.put(f"{room.path}/read-marker", {"messageId": after["id"]})
    ben.put(f"{room.path}/unread-mark", {"messageId": before["id"]})
    assert mentions(ben, room) == 2


def test_a_deleted_message_mentions_nobody(anna, ben, room):
    named, all_ = send(anna, room, "Ben", [ben]), send(anna, room, "all", everyone=True)
    assert mentions(ben, room) == 2
    for message in (named, all_):
        assert "mentions" not in anna.delete(room.message(message["id"]))
    assert mentions(ben, room) == 0
    assert ben.get("/v1/badge")["mentionCount"] == 0


def test_an_edit_mentions_others(world, anna, ben, room):
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    sent = send(anna, room, "Ben", [ben])
    path = room.message(sent["id"])
    edited = anna.patch(path, {"text": "Carla", "mentions": {"users": [carla.id]}})
    assert edited["mentions"] == {"users": [carla.id], "everyone": False}
    assert ben.get(path) == edited
    assert (mentions(ben, room), mentions(carla, room)) == (0, 1)
    anna.patch(path, {"text": "all", "mentions": {"everyone": True}})
    assert (mentions(ben, room), mentions(carla, room)) == (1, 1)
    assert "mentions" not in anna.patch(path, {"text": "nobody"})
    assert (mentions(ben, room), mentions(carla, room)) == (0, 0)


def test_a_user_who_is_not_a_member_is_not_mentioned(world, anna, ben, room):
    carla = world.user("Carla")
    sent = send(anna, room, "Carla and Ben", [carla, ben])
    assert sent["mentions"]["users"] == sorted([carla.id, ben.id])
    send(anna, room, "all", everyone=True)
    anna.put(f"{room.path}/members/{carla.id}")
    assert mentions(carla, room) == 0 and mentions(ben, room) == 2
    send(anna, room, "all", everyone=True)
    send(anna, room, "Carla", [carla])
    assert mentions(carla, room) == 2
    carla.post(f"{room.path}/leave")
    anna.put(f"{room.path}/members/{carla.id}")
    assert mentions(carla, room) == 0


def test_muted_and_archived_rooms_leave_the_badge(anna, ben, room):
    send(anna, room, "Ben", [ben])
    assert ben.get("/v1/badge")["mentionCount"] == 1
    ben.put(f"{room.path}/mute", {"until": "2100-01-01T00:00:00.000Z"})
    assert ben.get("/v1/badge")["mentionCount"] == 0
    assert mentions(ben, room) == 1


def test_mentions_in_a_thread_count_in_the_thread(world, anna, ben, room):
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    root = anna.send(room, "root")["id"]
    carla.send(room, "caught up")
    send(ben, room, "Carla", [carla], threadId=root)
    send(ben, room, "all", everyone=True, threadId=root)
    ben.put(room.message(new_id()), {"text": "plain", "threadId": root})

    def thread(person):
        entries = [entry for entry in person.get("/v1/threads")["threads"] if entry["root"]["id"] == root]
        return [(entry["unreadCount"], entry["mentionCount"]) for entry in entries]

    assert (thread(anna), thread(ben), thread(carla)) == ([(3, 1)], [(0, 0)], [(3, 2)])
    assert mentions(carla, room) == 0 and mentions(anna, room) == 0


@pytest.mark.parametrize("size", [MENTIONS - 1, MENTIONS, MENTIONS + 1])
def test_the_limit_of_mentions_of_a_message(anna, room, size):
    body = {"text": "x", "mentions": {"users": [new_id() for _ in range(size)]}}
    if size > MENTIONS:
        anna.refused("too_many_mentions", "PUT", room.message(new_id()), body)
        sent = anna.send(room, "x")
        anna.refused("too_many_mentions", "PATCH", room.message(sent["id"]), body)
    else:
        anna.put(room.message(new_id()), body)


def test_a_retry_names_them_in_any_order(world, anna, ben, room):
    id, others = new_id(), [world.user(name) for name in "abc"]
    sent = send(anna, room, "x", others, id=id)
    head = world.head
    assert send(anna, room, "x", others[::-1] + others, id=id, expect=200) == sent
    anna.refused("id_in_use", "PUT", room.message(id), {"text": "x"})
    assert world.head == head


def test_malformed_mentions_are_refused(anna, room):
    for wrong in ({"user": []}, {"users": "x"}, {"users": ["x"]}, {"everyone": 1}, [], "everyone"):
        code = "unknown_field" if wrong == {"user": []} else "invalid_field"
        anna.refused(code, "PUT", room.message(new_id()), {"text": "x", "mentions": wrong})
