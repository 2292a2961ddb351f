"""Unread counts: from the read marker, from the join, and without deleted messages."""

import random

from harness.client import new_id


def test_sending_moves_the_senders_marker(anna, ben, room):
    for number in range(3):
        anna.send(room, f"{number}")
    assert (anna.unread(room), ben.unread(room)) == (0, 3)
    ben.send(room, "mine")
    assert (anna.unread(room), ben.unread(room)) == (1, 0)


def test_a_marker_moves_forward_only(world, anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(5)]
    moved = ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]})
    assert moved == {"roomId": room.id, "messageId": sent[2]["id"], "position": world.head}
    assert ben.unread(room) == 2
    head = world.head
    back = ben.put(f"{room.path}/read-marker", {"messageId": sent[0]["id"]}, expect=200)
    assert back["position"] == sent[0]["position"]
    ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]}, expect=200)
    assert (ben.unread(room), world.head) == (2, head)
    ben.put(f"{room.path}/read-marker", {"messageId": sent[4]["id"]})
    assert ben.unread(room) == 0
    ben.refused("message_not_found", "PUT", f"{room.path}/read-marker", {"messageId": new_id()})


def test_unread_starts_at_the_join(world, anna, room):
    for number in range(4):
        anna.send(room, f"before {number}")
    carla = world.user("Carla")
    anna.put(f"{room.path}/members/{carla.id}")
    assert carla.unread(room) == 0
    anna.send(room, "after")
    assert carla.unread(room) == 1
    assert len(carla.texts(room)) == 5, "history is there to be read"
    carla.post(f"{room.path}/leave")
    for number in range(3):
        anna.send(room, f"while away {number}")
    anna.put(f"{room.path}/members/{carla.id}")
    assert carla.unread(room) == 0


def test_a_deleted_message_leaves_the_count(anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(6)]
    anna.delete(room.message(sent[1]["id"]))
    anna.delete(room.message(sent[5]["id"]))
    assert ben.unread(room) == 4
    ben.put(f"{room.path}/read-marker", {"messageId": sent[3]["id"]})
    assert ben.unread(room) == 1
    anna.delete(room.message(sent[0]["id"]))
    assert ben.unread(room) == 1, "what was read is not taken off twice"
    anna.delete(room.message(sent[4]["id"]))
    assert ben.unread(room) == 0


def test_an_edit_counts_once(anna, ben, room):
    sent = anna.send(room, "helo")
    anna.patch(room.message(sent["id"]), {"text": "hello"})
    assert ben.unread(room) == 1


def test_the_badge_is_the_sum_of_the_list(world, anna, ben):
    rooms = [anna.room(f"Room {number}", ben) for number in range(4)]
    for number, room in enumerate(rooms):
        for _ in range(number + 1):
            anna.send(room, "x")
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["mentionCount"], badge["position"]) == (10, 0, world.head)
    ben.put(f"{rooms[3].path}/mute", {"until": "2100-01-01T00:00:00Z"})
    assert ben.get("/v1/badge")["unreadCount"] == 6
    assert ben.unread(rooms[3]) == 4
    anna.post(f"{rooms[2].path}/archive")
    assert ben.get("/v1/badge")["unreadCount"] == 3
    ben.put(f"{rooms[3].path}/mute", {"until": None})
    assert ben.get("/v1/badge")["unreadCount"] == 7
    ben.post(f"{rooms[0].path}/leave")
    assert ben.get("/v1/badge")["unreadCount"] == 6


def test_the_badge_of_a_user_without_rooms(world):
    assert world.user("New").get("/v1/badge")["unreadCount"] == 0


def test_the_badge_is_not_cut_off_at_a_page(world, anna, ben):
    for number in range(45):
        anna.send(anna.room(f"Room {number}", ben), "x")
    assert ben.get("/v1/badge")["unreadCount"] == 45


def test_counts_equal_a_recount_after_many_random_commands(world, anna, ben, room):
    """Compares deletions at the borders of the counting tree, markers and joins at random with a simple model."""
    source = random.Random(7)
    people = [anna, ben, *world.users("Carla", "Dora")]
    members = {anna.id: 0, ben.id: 0}
    messages: list[dict] = []
    alive: list[bool] = []
    for _ in range(420):
        person = source.choice(people)
        act = source.random()
        if person.id not in members:
            anna.put(f"{room.path}/members/{person.id}")
            members[person.id] = len(messages)
        elif act < 0.66 or len(messages) < 3:
            messages.append(person.send(room, "word"))
            alive.append(True)
            members[person.id] = len(messages)
        elif act < 0.84:
            number = source.randrange(len(messages))
            anna.delete(room.message(messages[number]["id"]), expect=None if alive[number] else 200)
            alive[number] = False
        elif act < 0.95:
            number = source.randrange(len(messages))
            forward = number + 1 > members[person.id]
            body = {"messageId": messages[number]["id"]}
            person.put(f"{room.path}/read-marker", body, expect=None if forward else 200)
            members[person.id] = max(members[person.id], number + 1)
        elif person is not anna:
            person.post(f"{room.path}/leave")
            del members[person.id]
        for other in people:
            if other.id in members and source.random() < 0.3:
                assert other.unread(room) == sum(alive[members[other.id] :])
    for other in people:
        if other.id in members:
            assert other.unread(room) == sum(alive[members[other.id] :])
