"""The cost of lists, badges and searches depends on the page, not on how much the user has or how often a word repeats.

`HANSARD_HOSTILE_ROOMS` is the number of rooms of the user; 150,000 takes some minutes.
"""

import json
import os
import time

import pytest

from harness import cost
from harness.client import new_id
from harness.hostile_inputs import CURSOR_CHECK, CURSOR_NUMBER, base64url, base64url_bytes
from harness.people import Room, World
from harness.server import Server

ROOMS = int(os.environ.get("HANSARD_HOSTILE_ROOMS", "15000"))
REQUESTS = 50
# How much more a user in many rooms may cost than one in three rooms, and the inaccuracy of the kernel's clock.
RATIO = 1.5
TICKS_SECONDS = 0.06
LINES_AT_ONCE = 30_000
FOLLOWING_SECONDS = 300


def bulk(world: World, lines) -> None:
    """Does not check every result, because there are many."""
    lines = list(lines)
    for start in range(0, len(lines), LINES_AT_ONCE):
        data = "".join(json.dumps(line) + "\n" for line in lines[start : start + LINES_AT_ONCE]).encode()
        response = world.admin.request(
            "POST", "/v1/ingest", data=data, headers={"Content-Type": "application/x-ndjson"}, timeout=600
        )
        assert response.status_code == 200
        bad = [line for line in response.text.splitlines() if '"code"' in line]
        assert not bad, bad[0]


def follow(api, patience: float = FOLLOWING_SECONDS) -> None:
    """Waits until all read models, including the search index, have everything that is durable now."""
    wanted, deadline = api.server.head(), time.monotonic() + patience
    while api.get("/v1/search", q="anything")["position"] < wanted:
        assert time.monotonic() < deadline, "the search does not catch up"
        time.sleep(0.1)
    cost.until_idle(api.server, patience)


@pytest.fixture(scope="module")
def busy(shared_world):
    """Anna is in many rooms; Ben has sent her a message in each. Cleo is in three of them."""
    anna, ben, cleo = shared_world.users("Anna", "Ben", "Cleo")
    rooms = [Room(new_id()) for _ in range(ROOMS)]
    bulk(shared_world, ({"op": "room.create", "as": anna.id, "id": room.id, "name": "Tea"} for room in rooms))
    bulk(shared_world, ({"op": "member.join", "as": ben.id, "roomId": room.id} for room in rooms))
    bulk(
        shared_world,
        (
            {"op": "message.send", "as": ben.id, "roomId": room.id, "id": new_id(), "text": f"kettle {number}"}
            for number, room in enumerate(rooms)
        ),
    )
    bulk(shared_world, ({"op": "member.join", "as": cleo.id, "roomId": room.id} for room in rooms[:3]))
    anna.send(rooms[1], "zanzibar")
    follow(anna)
    return anna, ben, cleo, rooms


def request(api, path: str, **params):
    """Sends the same request many times. Returns the last response, and what they cost together in processor
    seconds."""
    with cost.measured(api.server) as used:
        for _ in range(REQUESTS):
            page = api.get(path, **params)
    return page, used.seconds


def ask_both(busy, path: str, **params):
    """The response to the user in many rooms. Checks that it costs no more than for a user in few rooms."""
    anna, cleo = busy[0], busy[2]
    _, few = request(cleo, path, **params)
    page, many = request(anna, path, **params)
    assert many <= RATIO * few + TICKS_SECONDS, f"{many:.2f} s in {ROOMS} rooms, {few:.2f} s in three"
    return page


# --- A user in many rooms


@pytest.mark.alone
def test_a_page_of_rooms_costs_the_same_in_many_rooms(busy):
    anna, _, _, rooms = busy
    page = ask_both(busy, "/v1/rooms", limit=3)
    assert [room["id"] for room in page["rooms"]] == [rooms[1].id, rooms[-1].id, rooms[-2].id]
    assert [room["unreadCount"] for room in page["rooms"]] == [0, 1, 1]
    page = anna.get("/v1/rooms", limit=3, cursor=page["nextCursor"])
    assert [room["id"] for room in page["rooms"]] == [room.id for room in rooms[-3:-6:-1]]


@pytest.mark.alone
def test_the_list_of_archived_rooms_costs_the_same(busy):
    anna, _, cleo, _ = busy
    room = anna.room("Old", cleo)
    anna.post(f"{room.path}/archive")
    page = ask_both(busy, "/v1/rooms", archived="true", limit=3)
    assert [each["id"] for each in page["rooms"]] == [room.id]


@pytest.mark.alone
def test_a_badge_costs_the_same_in_many_rooms(busy):
    badge = ask_both(busy, "/v1/badge")
    assert badge["unreadCount"] == ROOMS - 1


def test_a_badge_follows_every_change(busy):
    anna, ben, _, rooms = busy
    before = anna.get("/v1/badge")["unreadCount"]
    sent = ben.send(rooms[7], "one more")
    assert anna.get("/v1/badge")["unreadCount"] == before + 1
    ben.delete(rooms[7].message(sent["id"]))
    assert anna.get("/v1/badge")["unreadCount"] == before
    anna.put(f"{rooms[8].path}/mute", {"until": "2090-01-01T00:00:00.000Z"})
    assert anna.get("/v1/badge")["unreadCount"] == before - 1
    anna.put(f"{rooms[8].path}/mute", {})
    assert anna.get("/v1/badge")["unreadCount"] == before


@pytest.mark.alone
def test_a_search_costs_the_same_in_many_rooms(busy):
    _, _, cleo, rooms = busy
    for words, count in (("zanzibar", 1), ("samovar", 0)):
        assert len(ask_both(busy, "/v1/search", q=words)["results"]) == count
    assert len(ask_both(busy, "/v1/search", q="kettle", roomId=rooms[0].id)["results"]) == 1
    assert len(cleo.get("/v1/search", q="kettle")["results"]) == 3


# --- What a search reads


LETTERS = 8_000
SHORT = 5_000
LARGE = 40


@pytest.fixture(scope="module")
def large(shared_world):
    """A room of large texts that repeat one word."""
    dora = shared_world.user("Dora")
    room = dora.room("Large")
    text = "a " * LETTERS
    bulk(
        shared_world,
        (
            {"op": "message.send", "as": dora.id, "roomId": room.id, "id": new_id(), "text": text}
            for _ in range(LARGE)
        ),
    )
    follow(dora)
    return dora, room


def test_equal_words_are_counted_once(server, large):
    dora, room = large
    with cost.costs_at_most(server, 0.3):
        page = dora.get("/v1/search", q=" ".join(["a"] * 128), roomId=room.id, limit=1)
    assert len(page["results"]) == 1
    assert page["results"] == dora.get("/v1/search", q="a", roomId=room.id, limit=1)["results"]


# A page may read 7.5 MB, and less if the query has several words.
MANY = 420


def test_many_different_words_end_a_page_early_and_lose_nothing(shared_world):
    """The index only says that a text has all words. The server must read the text to see that they are not
    adjacent."""
    emil = shared_world.user("Emil")
    room = emil.room("Large")
    wanted = emil.send(room, "c a b")["id"]
    text = "a c " * (LETTERS // 2) + "b"
    bulk(
        shared_world,
        ({"op": "message.send", "as": emil.id, "roomId": room.id, "id": new_id(), "text": text} for _ in range(MANY)),
    )
    follow(emil)
    pages, cursor = [], {}
    while cursor is not None:
        page = emil.get("/v1/search", q="a b c a-b", roomId=room.id, limit=50, **cursor)
        pages.append([result["message"]["id"] for result in page["results"]])
        cursor = {"cursor": page["nextCursor"]} if page["nextCursor"] else None
    assert len(pages) > 1 and pages[0] == [] and sum(pages, []) == [wanted]


@pytest.mark.parametrize("letter", ["\U0001d400", "\u2c00"])
def test_letters_of_rare_scripts_cost_a_search_little_more(server, shared_world, letter):
    """Observed: searching texts of Glagolitic letters took 24 times as long as searching the same number of ASCII
    bytes."""
    emil = shared_world.user("Emil")
    room = emil.room("Large")
    text = "a c " + (letter * 9 + " ") * (12_000 // (9 * len(letter.encode()) + 1)) + "b"
    bulk(
        shared_world,
        ({"op": "message.send", "as": emil.id, "roomId": room.id, "id": new_id(), "text": text} for _ in range(MANY)),
    )
    follow(emil)
    cost.until_idle(server)
    with cost.costs_at_most(server, 0.5):
        assert emil.get("/v1/search", q="a b c a-b", roomId=room.id, limit=50)["results"] == []


@pytest.fixture
def few_searches(tmp_path):
    """A server that lets a user's searches read little more in a day than a single page may."""
    environment = {
        "HANSARD_RATE_LIMITS_SEARCH_KIBIBYTES": "15100", "HANSARD_RATE_LIMITS_SEARCH_SECONDS": "86400",
    }
    server = Server(tmp_path / "data", environment=environment).start()
    yield server
    server.end()


def test_words_that_never_occur_together_and_prefixes_are_charged(few_searches):
    """Each of them makes the index read long lists, though nothing is found. The budget allows only a few pages."""
    world = World(few_searches)
    anna = world.user("Anna")
    room = anna.room("Tea")
    bulk(
        world,
        (
            {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{word} q{number}"}
            for number in range(SHORT)
            for word in ("odd", "even")
        ),
    )
    follow(world.acting_as(anna.id))
    with cost.costs_at_most(few_searches, 1):
        statuses = [anna.request("GET", "/v1/search?q=odd+even").status_code for _ in range(40)]
        statuses += [anna.request("GET", "/v1/search?q=q*+absent").status_code for _ in range(40)]
    assert statuses[0] == 200 and 429 in statuses


def test_searches_of_one_user_share_a_budget(few_searches):
    world = World(few_searches)
    anna, ben = world.users("Anna", "Ben")
    responses = [anna.request("GET", "/v1/search?q=tea") for _ in range(200)]
    refused = [response for response in responses if response.status_code != 200]
    assert refused and responses[0].status_code == 200 and len(refused) > 50
    problem = refused[0].json()
    assert refused[0].status_code == 429 and problem["code"] == "rate_limited" and "search" in problem["detail"]
    assert int(refused[0].headers["Retry-After"]) > 0
    # The limit affects neither other users nor services.
    assert ben.request("GET", "/v1/search?q=tea").status_code == 200
    service = world.acting_as(anna.id)
    assert {service.request("GET", "/v1/search?q=tea").status_code for _ in range(3)} == {200}


# --- Cursors and times


def forged(cursor: str, place: int) -> str:
    """A cursor of the same list with another position."""
    return base64url(base64url_bytes(cursor)[:CURSOR_CHECK] + place.to_bytes(CURSOR_NUMBER, "big"))


@pytest.fixture(scope="module")
def lists(shared_world):
    """A cursor of each kind of list with at least two items."""
    anna, ben, cleo = shared_world.users("Anna", "Ben", "Cleo")
    room = anna.room("One", ben, cleo)
    anna.room("Two", ben)
    sent = [anna.send(room, f"{number}") for number in range(3)]
    for text in ("first", "second"):
        anna.patch(room.message(sent[0]["id"]), {"text": text})
    for person in (anna, ben):
        person.put(f"{room.message(sent[0]['id'])}/reactions/%F0%9F%91%8D")
    ben.put(f"{room.path}/read-marker", {"messageId": sent[2]["id"]})
    for place in ("A", "B"):
        anna.workspace(place)
    message = room.message(sent[0]["id"])
    for person in (ben, cleo):
        anna.post(f"{room.path}/reports", {"userId": person.id, "reason": "spam"})
    paths = [
        (f"{room.path}/reports", "cursor"),
        ("/v1/rooms", "cursor"), (f"{room.path}/members", "cursor"), (f"{room.path}/messages", "before"),
        (f"{message}/history", "cursor"), (f"{message}/reactions", "cursor"), ("/v1/workspaces", "cursor"),
        (f"{room.path}/join-history", "cursor"), (f"{room.path}/read-markers", "cursor"),
    ]
    return anna, [(path, name, anna.get(path, limit=1)["nextCursor"]) for path, name in paths]


def test_a_cursor_beyond_every_number_is_invalid(lists):
    anna, cursors = lists
    for path, name, cursor in cursors:
        assert cursor is not None, path
        for place in (2**63, 2**63 + 1, 2**64 - 1):
            names = ("before", "after", "around") if name == "before" else (name,)
            for name in names:
                anna.refused("invalid_cursor", "GET", f"{path}?limit=1&{name}={forged(cursor, place)}")
        for place in (0, 2**63 - 1):
            assert anna.request("GET", f"{path}?limit=1&{name}={forged(cursor, place)}").status_code == 200, path


MOMENT = "2026-01-31T08:00:00.000Z"
BEFORE = "2026-01-31T07:59:59.999Z"
AFTER = "2026-01-31T08:00:00.001Z"


@pytest.fixture(scope="module")
def one_moment(shared_world):
    """Ten messages before a certain millisecond, forty in it, and ten after it."""
    anna = shared_world.user("Anna")
    room = anna.room("Moment")
    times = [BEFORE] * 10 + [MOMENT] * 40 + [AFTER] * 10
    bulk(
        shared_world,
        (
            {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{number}", "sentAt": at}
            for number, at in enumerate(times)
        ),
    )
    return anna, room


def numbers(page) -> list[int]:
    return [int(message["text"]) for message in page["messages"]]


@pytest.mark.parametrize("limit", [1, 7, 30, 41, 60])
def test_a_time_leads_to_all_messages_that_share_it(one_moment, limit):
    anna, room = one_moment
    path = f"{room.path}/messages"
    page = anna.get(path, before=MOMENT, limit=limit)
    found = numbers(page)
    while page["nextCursor"] is not None:
        page = anna.get(path, before=page["nextCursor"], limit=limit)
        found = numbers(page) + found
    assert found == list(range(50))
    page = anna.get(path, after=MOMENT, limit=limit)
    found = numbers(page)
    while page["previousCursor"] is not None:
        page = anna.get(path, after=page["previousCursor"], limit=limit)
        found += numbers(page)
    assert found == list(range(10, 60))


def test_paging_by_time_skips_nothing(one_moment):
    """Each page starts at the time of the oldest known message. It works because a page holds more messages than share
    a time."""
    anna, room = one_moment
    known, at = set(), "2090-01-01T00:00:00Z"
    while True:
        page = anna.get(f"{room.path}/messages", before=at, limit=41)
        fresh = set(numbers(page)) - known
        if not fresh:
            break
        known |= fresh
        at = page["messages"][0]["sentAt"]
    assert known == set(range(60))


def test_the_first_message_of_a_time_is_in_the_middle(one_moment):
    anna, room = one_moment
    assert numbers(anna.get(f"{room.path}/messages", around=MOMENT, limit=5)) == [8, 9, 10, 11, 12]
