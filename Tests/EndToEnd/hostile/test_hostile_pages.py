"""Pages end before they hold too much, and the next page continues there: nothing is skipped and nothing comes
twice."""

import datetime
import json

import pytest

from harness.client import new_id
from harness.cost import costs_at_most, responds, thread_seconds, until_idle
from test_search import follow

MESSAGES = 40
PAGE_BYTES = 1024 * 1024
DATA_BYTES = 59_000
DATA = "b" * (DATA_BYTES - 2)
# This many fit a page.
FITTING = PAGE_BYTES // DATA_BYTES
# The items of a long page, and how often it is requested.
LONG_PAGE_ITEMS, LONG_PAGE_REQUESTS = 60, 60


@pytest.fixture(scope="module")
def scenario(shared_world):
    """A room, and a thread in it, each with forty messages of 59 KB."""
    anna = shared_world.user("Anna")
    room = anna.room("Tea")
    root = anna.send(room, "root")["id"]
    body = {"type": "x", "data": DATA, "text": "findme"}
    sent = [root] + [anna.put(room.message(new_id()), body)["id"] for _ in range(MESSAGES)]
    replies = [anna.put(room.message(new_id()), body | {"threadId": root})["id"] for _ in range(MESSAGES)]
    until_idle(shared_world.server)
    return anna, room, root, sent, replies


def ids(page) -> list[str]:
    return [message["id"] for message in page["messages"]]


def check_size(page, items: str) -> None:
    size = len(json.dumps(page, separators=(",", ":"), ensure_ascii=False).encode())
    assert size <= PAGE_BYTES * 1.2, f"a page of {size} bytes"
    assert page[items], "a page without an item"


@pytest.mark.parametrize("place", ["room", "thread"])
def test_a_timeline_in_both_directions(scenario, place):
    anna, room, root, sent, replies = scenario
    path, expected = (f"{room.path}/messages", sent) if place == "room" else (f"{room.message(root)}/thread", replies)
    page = anna.get(path, limit=200)
    check_size(page, "messages")
    assert len(page["messages"]) == FITTING and page["previousCursor"] is None
    older = ids(page)
    while page["nextCursor"]:
        page = anna.get(path, limit=200, before=page["nextCursor"])
        check_size(page, "messages")
        older = ids(page) + older
    assert older == expected
    newer = ids(page)
    while page["previousCursor"]:
        page = anna.get(path, limit=200, after=page["previousCursor"])
        check_size(page, "messages")
        newer += ids(page)
    assert newer == expected


def test_around_a_message(scenario):
    anna, room, _, sent, _ = scenario
    for index in (0, 1, 10, 20, len(sent) - 1):
        page = anna.get(f"{room.path}/messages", limit=200, around=sent[index])
        check_size(page, "messages")
        found = ids(page)
        assert sent[index] in found
        start = sent.index(found[0])
        assert found == sent[start:start + len(found)]
        if page["nextCursor"]:
            before = anna.get(f"{room.path}/messages", limit=200, before=page["nextCursor"])
            assert ids(before)[-1] == sent[start - 1]
        else:
            assert start == 0
        if page["previousCursor"]:
            after = anna.get(f"{room.path}/messages", limit=200, after=page["previousCursor"])
            assert ids(after)[0] == sent[start + len(found)]
        else:
            assert found[-1] == sent[-1]


def test_a_page_of_small_objects_costs_little(server, shared_world):
    anna = shared_world.user("Anna")
    room = anna.room("Tea")
    data = b'{"type":"x","data":[' + b",".join([b'{"a":1}'] * 8_000) + b"]}"
    # Skips the contract check, which is slow for so many objects.
    headers = {"Authorization": f"Bearer {anna.token}", "Content-Type": "application/json"}
    for _ in range(FITTING):
        response = anna.http.put(server.url + room.message(new_id()), data=data, headers=headers)
        assert response.status_code == 201
    until_idle(server)
    with costs_at_most(server, 0.2):
        for _ in range(10):
            response = anna.http.get(f"{server.url}{room.path}/messages?limit=60", headers=headers)
            assert response.status_code == 200 and len(response.content) > PAGE_BYTES * 0.9


def test_texts_count_as_they_are_written(shared_world):
    """A control character takes six bytes of a response."""
    anna = shared_world.user("Anna")
    room = anna.room("Tea")
    sent = [anna.send(room, "\x01" * 16_000)["id"] for _ in range(MESSAGES)]
    response = anna.request("GET", f"{room.path}/messages?limit=200")
    assert response.status_code == 200 and len(response.content) <= PAGE_BYTES * 1.2
    page, found = response.json(), []
    while True:
        found = ids(page) + found
        if page["nextCursor"] is None:
            break
        page = anna.get(f"{room.path}/messages", limit=200, before=page["nextCursor"])
    assert found == sent


def test_channels(shared_world):
    anna = shared_world.user("Anna")
    workspace = anna.post("/v1/workspaces", {"name": "Works"})["id"]
    rooms = []
    for _ in range(MESSAGES):
        room = anna.post("/v1/rooms", {"kind": "channel", "name": "Tea", "workspaceId": workspace, "isPublic": True})["id"]
        anna.put(f"/v1/rooms/{room}/messages/{new_id()}", {"type": "x", "data": DATA})
        rooms.append(room)
    found = walk(anna, f"/v1/workspaces/{workspace}/channels", "rooms", limit=200)
    assert [room["id"] for room in found] == rooms


# A control character takes six bytes of a response, so a long page of these texts has more than 800 KB.
ESCAPED = "\x01a" * 2_000


@pytest.mark.alone
@pytest.mark.parametrize("items", ["messages", "rooms"])
def test_a_long_page_is_encoded_on_a_thread_that_serves_no_connections(server, shared_world, items):
    """If an event loop encoded such pages, it would delay all of its other connections."""
    anna = shared_world.user("Anna")
    rooms = [anna.room("Tea") for _ in range(LONG_PAGE_ITEMS if items == "rooms" else 1)]
    for number in range(LONG_PAGE_ITEMS):
        anna.send(rooms[number % len(rooms)], ESCAPED)
    path = "/v1/rooms" if items == "rooms" else f"{rooms[0].path}/messages"
    headers = {"Authorization": f"Bearer {anna.token}"}
    until_idle(server)
    before = thread_seconds(server)
    for _ in range(LONG_PAGE_REQUESTS):
        # Skips the contract check, which takes longer than the request.
        page = anna.http.get(f"{server.url}{path}?limit={LONG_PAGE_ITEMS}", headers=headers)
        assert page.status_code == 200 and len(page.content) > PAGE_BYTES * 0.75
    used = {kind: seconds - before[kind] for kind, seconds in thread_seconds(server).items()}
    # The event loops send the bytes. That takes a quarter of the pool's time, and up to three quarters on a busy
    # machine.
    assert used["loops"] < used["pool"], f"processor seconds: {used}"
    responds(server)


def walk(api, path: str, items: str, **params) -> list:
    found = []
    while True:
        page = api.get(path, **params)
        check_size(page, items)
        found += page[items]
        if page["nextCursor"] is None:
            return found
        params["cursor"] = page["nextCursor"]


def test_pins(scenario):
    anna, room, _, sent, _ = scenario
    pinned = sent[1:]
    for id in pinned:
        anna.put(f"{room.path}/pins/{id}")
    found = walk(anna, f"{room.path}/pins", "pins")
    assert [pin["message"]["id"] for pin in found] == pinned[::-1]


def test_search(scenario):
    anna, room, _, sent, replies = scenario
    follow(anna)
    found = [result["message"]["id"] for result in walk(anna, "/v1/search", "results", q="findme", roomId=room.id, limit=50)]
    assert sorted(found) == sorted(sent[1:] + replies)


def test_history(scenario):
    anna, room, *_ = scenario
    texts = [f"{number} " + "x" * 16_000 for number in range(100)]
    path = room.message(anna.send(room, texts[0])["id"])
    for text in texts[1:]:
        anna.patch(path, {"text": text})
    found = walk(anna, f"{path}/history", "versions", limit=200)
    assert [version["text"] for version in found] == texts
    anna.delete(path)


@pytest.mark.parametrize("own_room", [True, False], ids=["of a room", "of all rooms"])
def test_scheduled_messages(shared_world, own_room):
    anna = shared_world.user("Anna")
    room = anna.room("Tea")
    now = datetime.datetime.now(datetime.timezone.utc)
    planned = []
    for number in range(MESSAGES):
        # Two messages per time, those for later times first.
        time = (now + datetime.timedelta(days=50 - number // 2)).strftime("%Y-%m-%dT00:00:00Z")
        id = new_id()
        anna.put(f"{room.path}/scheduled-messages/{id}", {"sendAt": time, "type": "x", "data": DATA})
        planned.append((time, number, id))
    path = f"{room.path}/scheduled-messages" if own_room else "/v1/scheduled-messages"
    found = [message["id"] for message in walk(anna, path, "scheduledMessages")]
    expected = sorted(planned) if own_room else sorted(planned, key=lambda each: each[1])
    assert found == [id for _, _, id in expected]


def test_the_room_list_and_followed_threads(shared_world):
    anna, ben = shared_world.users("Anna", "Ben")
    rooms, roots = [], []
    for _ in range(MESSAGES):
        room = anna.room("Tea")
        rooms.append(room.id)
        roots.append(anna.put(room.message(new_id()), {"type": "x", "data": DATA})["id"])
    found = [room["id"] for room in walk(anna, "/v1/rooms", "rooms", limit=200)]
    assert found == rooms[::-1]
    for room, root in zip(rooms, roots):
        anna.put(f"/v1/rooms/{room}/messages/{new_id()}", {"text": "reply", "threadId": root})
    found = [thread["root"]["id"] for thread in walk(anna, "/v1/threads", "threads", limit=200)]
    assert found == roots[::-1]
