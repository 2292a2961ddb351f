"""GET /v1/badge/explain: the rooms that it lists add up to the badge."""

import random

from harness.client import new_id
from harness.people import Person, Room, walk
from harness.times import later

EXPLAIN = "/v1/badge/explain"


def explained(person: Person, limit: int = 200) -> list[dict]:
    """All rooms that make up the badge, after checking that they add up to it."""
    rooms = walk(person, EXPLAIN, "rooms", limit=limit)
    badge = person.get("/v1/badge")
    assert person.get(EXPLAIN)["badge"] == badge["unreadCount"]
    assert sum(room["unreadCount"] for room in rooms) == badge["unreadCount"]
    assert sum(room["mentionCount"] for room in rooms) == badge["mentionCount"]
    assert len({room["roomId"] for room in rooms}) == len(rooms)
    return rooms


def test_each_room_has_its_counts_and_its_first_unread_message(world, anna, ben, room):
    assert ben.get(EXPLAIN) == {"badge": 0, "rooms": [], "nextCursor": None, "position": world.head}
    first, second = anna.send(room, "one"), anna.send(room, "two")
    anna.put(room.message(new_id()), {"text": "Ben!", "mentions": {"users": [ben.id]}})
    expected = {
        "roomId": room.id, "name": "Tea", "unreadCount": 3, "mentionCount": 1,
        "firstUnread": {"messageId": first["id"], "sentAt": first["sentAt"]},
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
                explained(person, limit=source.choice([1, 2, 200]))
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
        person.put(f"{room.path}/notifications", {"level": source.choice(["none", None])})
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
