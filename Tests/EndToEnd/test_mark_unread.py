"""Marking as unread sets a separate mark, which the next move of the read marker removes. The read marker stays in
place."""

import random

from harness.client import new_id


def mark(person, room, message, **options):
    return person.put(f"{room.path}/unread-mark", {"messageId": message["id"]}, **options)


def read(person, room, message, expect=None):
    return person.put(f"{room.path}/read-marker", {"messageId": message["id"]}, expect=expect)


def test_the_count_begins_at_the_marked_message(world, anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(5)]
    read(ben, room, sent[4])
    marked = mark(ben, room, sent[2])
    assert marked == {"roomId": room.id, "messageId": sent[2]["id"], "position": world.head}
    seen = ben.see(room)
    assert (seen["unreadCount"], seen["unreadMark"]) == (3, sent[2]["id"])
    assert seen["readMarker"]["messageId"] == sent[4]["id"], "the marker stays"
    assert ben.get("/v1/badge")["unreadCount"] == 3
    assert ben.get("/v1/rooms")["rooms"][0]["unreadCount"] == 3
    rows = anna.get(f"{room.path}/read-markers")["readMarkers"]
    assert rows[1]["messageId"] == sent[4]["id"], "others see the marker and not the mark"
    anna.send(room, "one more")
    assert ben.unread(room) == 4
    anna.delete(room.message(sent[3]["id"]))
    assert ben.unread(room) == 3


def test_moving_to_the_mark_or_beyond_clears_it(world, anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(5)]
    read(ben, room, sent[4])
    mark(ben, room, sent[2])
    head = world.head
    read(ben, room, sent[1], expect=200)
    assert (ben.unread(room), world.head) == (3, head), "a move before the mark changes nothing"
    read(ben, room, sent[3])
    seen = ben.see(room)
    assert (seen["unreadCount"], seen["unreadMark"]) == (0, None), "the marker had been at the end all along"
    read(ben, room, sent[3], expect=200)


def test_sending_a_message_clears_the_mark(anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(3)]
    read(ben, room, sent[2])
    mark(ben, room, sent[0])
    assert ben.unread(room) == 3
    ben.send(room, "mine")
    assert (ben.unread(room), ben.see(room)["unreadMark"]) == (0, None)


def test_a_mark_beyond_the_marker_hides_nothing(anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(4)]
    read(ben, room, sent[0])
    mark(ben, room, sent[3])
    assert ben.unread(room) == 3


def test_the_first_message_and_one_from_before_the_join(world, anna, room):
    sent = [anna.send(room, f"{number}") for number in range(3)]
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    assert carla.unread(room) == 0
    mark(carla, room, sent[0])
    assert carla.unread(room) == 3


def test_a_late_retry_does_not_bring_the_mark_back(anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(3)]
    read(ben, room, sent[2])
    key = new_id()
    first = mark(ben, room, sent[1], key=key)
    read(ben, room, sent[2])
    assert mark(ben, room, sent[1], key=key, expect=200) == first
    assert ben.unread(room) == 0
    ben.refused(
        "idempotency_key_reused", "PUT", f"{room.path}/unread-mark", {"messageId": sent[0]["id"]}, key=key)


def test_what_is_not_there_is_not_marked(world, anna, ben, room):
    sent = anna.send(room, "x")
    ben.refused("message_not_found", "PUT", f"{room.path}/unread-mark", {"messageId": new_id()})
    world.user("Carla").refused("room_not_found", "PUT", f"{room.path}/unread-mark", {"messageId": sent["id"]})


def test_counts_equal_a_recount_with_marks(anna, ben, room):
    source = random.Random(11)
    alive: list[bool] = []
    sent: list[dict] = []
    marker, unread_from = 0, None
    for _ in range(150):
        act = source.random()
        if act < 0.45 or len(sent) < 3:
            sent.append(anna.send(room, "word"))
            alive.append(True)
        elif act < 0.55:
            sent.append(ben.send(room, "mine"))
            alive.append(True)
            marker, unread_from = len(sent), None
        elif act < 0.7:
            number = source.randrange(len(sent))
            anna.delete(room.message(sent[number]["id"]), expect=None if alive[number] else 200)
            alive[number] = False
        elif act < 0.85:
            number = source.randrange(len(sent))
            mark(ben, room, sent[number])
            unread_from = number
        else:
            number = source.randrange(len(sent))
            moves = number + 1 > marker or (unread_from is not None and number >= unread_from)
            read(ben, room, sent[number], expect=None if moves else 200)
            if moves:
                marker, unread_from = max(marker, number + 1), None
        start = marker if unread_from is None else min(marker, unread_from)
        assert ben.unread(room) == sum(alive[start:])


def test_mentions_count_from_the_mark_on(anna, ben, room):
    calls = [
        anna.put(room.message(new_id()), {"text": f"{number}", "mentions": mentions})
        for number, mentions in enumerate([{"users": [ben.id]}, {"everyone": True}, {}, {"users": [ben.id]}])
    ]
    assert ben.see(room)["mentionCount"] == 3
    read(ben, room, calls[3])
    assert ben.see(room)["mentionCount"] == 0
    mark(ben, room, calls[1])
    assert (ben.unread(room), ben.see(room)["mentionCount"]) == (3, 2)
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["mentionCount"]) == (3, 2)


def test_counts_are_told_by_workspace(world, anna, ben):
    guilds = [anna.post("/v1/workspaces", {"id": new_id(), "name": name})["id"] for name in ("Tea", "Coffee")]
    rooms = []
    for guild in guilds:
        world.acting_as(ben.id).post(f"/v1/workspaces/{guild}/join")
        for name in ("general", "random"):
            room = anna.post("/v1/rooms", {"id": new_id(), "name": name, "kind": "channel", "workspaceId": guild})
            anna.put(f"/v1/rooms/{room['id']}/members/{ben.id}")
            rooms.append(room["id"])
    for number, room in enumerate(rooms):
        for _ in range(number + 1):
            anna.put(f"/v1/rooms/{room}/messages/{new_id()}", {"text": "x", "mentions": {"users": [ben.id]}})

    def counts():
        found = ben.get("/v1/workspaces")["workspaces"]
        assert [ben.get(f"/v1/workspaces/{row['id']}") for row in found] == found
        return {row["id"]: (row["unreadCount"], row["mentionCount"]) for row in found}

    assert counts() == {guilds[0]: (3, 3), guilds[1]: (7, 7)}
    assert ben.get("/v1/badge")["unreadCount"] == 10
    ben.put(f"/v1/rooms/{rooms[1]}/mute", {"until": "2100-01-01T00:00:00Z"})
    anna.post(f"/v1/rooms/{rooms[2]}/archive")
    assert counts() == {guilds[0]: (1, 1), guilds[1]: (4, 4)}
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["mentionCount"]) == (5, 5)
