"""GET /v1/badge/explain: the rooms and messages that it lists add up to the badge."""

import random

from harness.client import new_id
from harness.people import Person, Room, walk
from harness.times import later

EXPLAIN = "/v1/badge/explain"
# What a page lists of one room, and of all rooms before it lists only the first message of each.
MESSAGES_OF_ROOM = 20
MESSAGES = 200


def explained(person: Person, limit: int = 200) -> list[dict]:
    """All rooms that make up the badge, after checking that they add up to it."""
    rooms = walk(person, EXPLAIN, "rooms", limit=limit)
    badge = person.get("/v1/badge")
    assert person.get(EXPLAIN)["badge"] == badge["unreadCount"]
    assert sum(room["unreadCount"] for room in rooms) == badge["unreadCount"]
    assert sum(room["mentionCount"] for room in rooms) == badge["mentionCount"]
    assert len({room["roomId"] for room in rooms}) == len(rooms)
    for room in rooms:
        check_messages(person, room)
    if not any(room["more"] for room in rooms):
        assert sum(len(room["messages"]) for room in rooms) == badge["unreadCount"]
    return rooms


def check_messages(person: Person, room: dict) -> None:
    """The messages of a room are the first ones that count."""
    messages, unread = room["messages"], room["unreadCount"]
    assert 1 <= len(messages) <= min(MESSAGES_OF_ROOM, unread) and room["more"] == (unread > len(messages))
    assert messages[0] == room["firstUnread"]
    positions = [each["position"] for each in messages]
    assert positions == sorted(set(positions)), "not oldest first, or not once"
    timeline = person.get(f"{Room(room['roomId']).path}/messages", limit=200)["messages"]
    counting = {each["id"]: each for each in timeline if each["deletedAt"] is None and "silent" not in each}
    assert messages == [named(counting[each["messageId"]]) for each in messages]


def named(message: dict) -> dict:
    """A message as an explanation lists it."""
    return {
        "messageId": message["id"], "senderId": message["senderId"], "sentAt": message["sentAt"],
        "position": message["position"]}


def test_each_room_has_its_counts_and_its_first_unread_message(world, anna, ben, room):
    assert ben.get(EXPLAIN) == {"badge": 0, "rooms": [], "nextCursor": None, "position": world.head}
    first, second = anna.send(room, "one"), anna.send(room, "two")
    third = anna.put(room.message(new_id()), {"text": "Ben!", "mentions": {"users": [ben.id]}})
    expected = {
        "roomId": room.id, "name": "Tea", "unreadCount": 3, "mentionCount": 1,
        "firstUnread": named(first), "messages": [named(each) for each in (first, second, third)], "more": False,
    }
    assert ben.get(EXPLAIN) == {"badge": 3, "rooms": [expected], "nextCursor": None, "position": world.head}
    anna.delete(room.message(first["id"]))
    (shown,) = explained(ben)
    assert (shown["unreadCount"], shown["firstUnread"]["messageId"]) == (2, second["id"])
    ben.put(f"{room.path}/read-marker", {"messageId": second["id"]})
    assert [each["unreadCount"] for each in explained(ben)] == [1]
    ben.put(f"{room.path}/unread-mark", {"messageId": second["id"]})
    assert explained(ben)[0]["firstUnread"]["messageId"] == second["id"]
    assert explained(anna) == []


def test_muted_and_archived_rooms_are_not_listed(world, anna, ben):
    rooms = [anna.room(name, ben) for name in ("Tea", "Coffee", "Milk")]
    for room in rooms:
        anna.send(room, "hello")
    assert [each["name"] for each in explained(ben)] == ["Milk", "Coffee", "Tea"]
    ben.put(f"{rooms[0].path}/mute", {"until": later(days=1)})
    anna.post(f"{rooms[1].path}/archive")
    assert [each["name"] for each in explained(ben)] == ["Milk"]
    ben.put(f"{rooms[0].path}/mute", {})
    ben.put(f"{rooms[2].path}/notifications", {"level": "none"})
    assert [each["name"] for each in explained(ben)] == ["Milk", "Tea"], "a level is not a mute"


def test_what_does_not_count_is_not_the_first_unread_message(world, anna, ben):
    carla = world.user("Carla")
    room = anna.room("Tea", ben, carla)
    ben.put(f"/v1/me/blocked-users/{carla.id}")
    carla.send(room, "unseen")
    heard = anna.send(room, "heard")
    (shown,) = explained(ben)
    assert (shown["unreadCount"], shown["firstUnread"]["messageId"]) == (1, heard["id"])
    anna.put(room.message(new_id()), {"type": "position", "silent": True})
    deleted, last = anna.send(room, "deleted"), anna.send(room, "last")
    anna.delete(room.message(deleted["id"]))
    (shown,) = explained(ben)
    assert shown["messages"] == [named(heard), named(last)] and not shown["more"]


def test_a_level_changes_nothing_and_replies_in_threads_are_not_listed(world, anna, ben):
    rooms = [anna.room(name, ben) for name in ("Tea", "Coffee")]
    ben.put(f"{rooms[0].path}/notifications", {"level": "mentions"})
    expected = []
    for room in rooms:
        root = ben.send(room, "root")
        sent = [anna.send(room, "plain")]
        sent.append(anna.put(room.message(new_id()), {"text": "Ben!", "mentions": {"users": [ben.id]}}))
        for text in ("reply", "another reply"):
            anna.put(room.message(new_id()), {"text": text, "threadId": root["id"]})
        sent.append(anna.send(room, "plain again"))
        expected.insert(0, [named(each) for each in sent])
    shown = explained(ben)
    assert [each["messages"] for each in shown] == expected
    assert [(each["unreadCount"], each["mentionCount"]) for each in shown] == [(3, 1)] * 2
    badge = ben.get("/v1/badge")
    assert (badge["unreadCount"], badge["threadUnreadCount"]) == (6, 4)


def test_messages_marked_as_unread_are_listed_also_own_ones(anna, ben, room):
    sent = [anna.send(room, "one"), ben.send(room, "two"), anna.send(room, "three")]
    ben.put(f"{room.path}/unread-mark", {"messageId": sent[0]["id"]})
    (shown,) = explained(ben)
    assert shown["messages"] == [named(each) for each in sent]


def test_the_number_of_listed_messages_is_limited(world, anna, ben):
    rooms = [anna.room(f"Room {number}", ben) for number in range(12)]
    for room in rooms:
        for number in range(MESSAGES_OF_ROOM + 1):
            anna.send(room, f"{number}")
    shown = explained(ben)
    full = MESSAGES // MESSAGES_OF_ROOM
    assert [len(each["messages"]) for each in shown] == [MESSAGES_OF_ROOM] * full + [1] * (len(rooms) - full)
    assert all(each["more"] for each in shown)
    # A smaller page lists as many of each room.
    assert {len(each["messages"]) for each in explained(ben, limit=6)} == {MESSAGES_OF_ROOM}
    last = shown[0]["messages"][-1]["messageId"]
    rest = ben.get(f"{Room(shown[0]['roomId']).path}/messages", after=last)["messages"]
    assert [each["text"] for each in rest] == [f"{MESSAGES_OF_ROOM}"]
    for room in rooms:
        ben.put(f"{room.path}/read-marker", {"messageId": ben.get(f"{room.path}/messages", limit=20)["messages"][0]["id"]})
    assert all(len(each["messages"]) == MESSAGES_OF_ROOM - 1 and not each["more"] for each in explained(ben, limit=6))


def test_pages(anna, ben):
    rooms = [anna.room(f"Room {number}", ben) for number in range(7)]
    for room in rooms:
        anna.send(room, "hello")
    names = [f"Room {number}" for number in reversed(range(7))]
    for limit in (1, 3, 7, 200):
        assert [each["name"] for each in explained(ben, limit)] == names
    page = ben.get(EXPLAIN, limit=3)
    assert len(page["rooms"]) == 3 and page["badge"] == 7
    anna.refused("invalid_cursor", "GET", f"{EXPLAIN}?cursor={page['nextCursor']}")
    ben.refused("invalid_cursor", "GET", f"{EXPLAIN}?cursor=x")
    ben.refused("invalid_query", "GET", f"{EXPLAIN}?limit=201")
    ben.refused("invalid_query", "GET", f"{EXPLAIN}?archived=true")


def test_the_rooms_add_up_after_random_actions(world):
    people = world.users("Anna", "Ben", "Carla")
    anna, ben, carla = people
    rooms = [anna.room(f"Room {number}", ben, carla) for number in range(5)]
    sent: dict[str, list[dict]] = {room.id: [] for room in rooms}
    source = random.Random(13)
    for number in range(300):
        act(source, people, source.choice(rooms), sent)
        if number % 20 == 0:
            for person in people:
                explained(person, limit=source.choice([1, 2, 5, 200]))
    assert any(explained(person) for person in people), "the actions leave nothing unread"


def act(source: random.Random, people: list[Person], room: Room, sent: dict[str, list[dict]]) -> None:
    person, messages = source.choice(people), sent[room.id]
    kind = source.choice(["send"] * 6 + ["read", "mark", "delete", "mute", "archive", "block", "level"])
    if kind == "send":
        mentions = {"users": source.sample([each.id for each in people], 1), "everyone": source.random() < 0.2}
        response = person.request("PUT", room.message(new_id()), {"text": "hello", "mentions": mentions})
        if response.status_code == 201:
            messages.append(response.json() | {"by": person})
    elif kind == "mute":
        person.put(f"{room.path}/mute", {"until": source.choice([later(days=1), None])})
    elif kind == "level":
        person.put(f"{room.path}/notifications", {"level": source.choice(["none", "mentions", None])})
    elif kind == "archive":
        path = f"{room.path}/{source.choice(['archive', 'unarchive', 'unarchive'])}"
        assert people[0].request("POST", path).status_code in (200, 201)
    elif kind == "block":
        other = source.choice([each for each in people if each is not person])
        method = source.choice(["PUT", "DELETE"])
        assert person.request(method, f"/v1/me/blocked-users/{other.id}").status_code in (200, 201, 404)
    elif messages:
        about(kind, source, person, room, messages)


def about(kind: str, source: random.Random, person: Person, room: Room, messages: list[dict]) -> None:
    message = source.choice(messages)
    if kind == "read":
        person.request("PUT", f"{room.path}/read-marker", {"messageId": message["id"]})
    elif kind == "mark":
        person.request("PUT", f"{room.path}/unread-mark", {"messageId": message["id"]})
    else:
        message["by"].request("DELETE", room.message(message["id"]))
