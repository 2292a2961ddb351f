"""Search: what is found, by whom and in which order, and that deleted texts are forgotten."""

import base64
import random
import threading
import time
import unicodedata

import pytest

from harness.client import new_id
from harness.command import check_data, settle
from harness.people import walk

QUERY_BYTES = 256
RESULTS = 50
FOLLOWING_SECONDS = 120


def follow(api, position: int | None = None) -> None:
    """Waits until the search index has everything that is durable now, because a search itself does not wait."""
    wanted = api.server.head() if position is None else position
    deadline = time.monotonic() + FOLLOWING_SECONDS
    while True:
        response = api.request("GET", "/v1/search", params={"q": "anything"})
        # A new index cannot be read before it is complete.
        assert response.status_code in (200, 503), response.text
        if response.status_code == 200 and response.json()["position"] >= wanted:
            return
        assert time.monotonic() < deadline, f"the search did not come to {wanted}"
        time.sleep(0.02)


def found(api, q: str, **params) -> list[dict]:
    """The results of all pages."""
    return walk(api, "/v1/search", "results", q=q, limit=RESULTS, **params)


def texts(api, q: str, **params) -> list[str]:
    return sorted(result["message"]["text"] for result in found(api, q, **params))


# --- What is found


def test_words_are_found_in_any_order_and_case(anna, ben, room):
    sent = anna.send(room, "The Kettle is on, crème brûlée later")
    anna.send(room, "a kettledrum")
    follow(anna, sent["position"])
    follow(anna)
    for query in ("kettle", "KETTLE the", "creme brulee", "Crème", "later kettle"):
        (result,) = found(ben, query, roomId=room.id)
        assert result["message"] == ben.get(room.message(sent["id"]))
    assert texts(ben, "kettle*", roomId=room.id) == ["The Kettle is on, crème brûlée later", "a kettledrum"]
    assert texts(ben, "kettle nothing", roomId=room.id) == []


def test_changed_data_of_an_app_is_found_and_the_old_is_not(anna, ben, room):
    sent = anna.put(room.message(new_id()), {"type": "order", "data": {"state": "packed"}, "text": "parcel"})
    anna.patch(room.message(sent["id"]), {"data": {"state": "delivered"}})
    follow(anna)
    for word in ("delivered", "parcel"):
        assert [result["message"]["id"] for result in found(ben, word, roomId=room.id)] == [sent["id"]]
    assert found(ben, "packed", roomId=room.id) == []


def test_threads_and_an_app_s_own_parts_are_found(anna, ben, room):
    root = anna.send(room, "where is the samovar")
    reply = ben.put(room.message(new_id()), {"text": "in the pantry", "threadId": root["id"]})
    data = {"number": "A-10482", "items": [{"name": "찻주전자"}, 3], "paid": True}
    order = anna.put(room.message(new_id()), {"text": "shipped", "type": "order.shipped", "data": data})
    follow(anna)
    (result,) = found(anna, "pantry", roomId=room.id)
    assert result["message"]["id"] == reply["id"] and result["message"]["threadId"] == root["id"]
    for query in ("a-10482", "주전자", "shipped 찻주전자"):
        assert [result["message"]["id"] for result in found(ben, query, roomId=room.id)] == [order["id"]], query
    assert found(anna, "number", roomId=room.id) == []
    anna.patch(room.message(order["id"]), {"text": "delivered"})
    ben.delete(room.message(reply["id"]))
    follow(anna)
    assert len(found(anna, "delivered 10482", roomId=room.id)) == 1
    assert found(anna, "shipped", roomId=room.id) == [] and found(anna, "pantry", roomId=room.id) == []


def test_messages_of_one_type_are_found(anna, ben, room):
    def send(text: str, **part) -> str:
        return anna.put(room.message(new_id()), {"text": text} | part)["id"]

    shipped, moved = send("the samovar", type="order.shipped"), send("the samovar", type="order.moved")
    plain, secret = send("the samovar"), send("the samovar", type="order.shipped")
    follow(anna)

    def ids(**params) -> set[str]:
        return {result["message"]["id"] for result in found(ben, "samovar", roomId=room.id, **params)}

    assert ids() == {shipped, moved, plain, secret}
    assert ids(type="order.shipped") == {shipped, secret} and ids(type="order.moved") == {moved}
    assert ids(type="order") == ids(type="samovar") == ids(type="order.shipped", hasMedia="true") == set()
    page = ben.get("/v1/search", q="samovar", roomId=room.id, type="order.shipped", limit=1)
    ben.refused("invalid_cursor", "GET", "/v1/search", params={
        "q": "samovar", "roomId": room.id, "type": "order.moved", "cursor": page["nextCursor"]})
    anna.patch(room.message(shipped), {"text": "a samovar, at last"})
    anna.delete(room.message(secret))
    follow(anna)
    assert ids(type="order.shipped") == {shipped}


def test_a_room_can_be_searched_as_soon_as_it_was_created(anna, ben):
    """The index does not have the room for some milliseconds. In that time a search finds nothing, but it is not
    rejected."""
    for _ in range(20):
        room = anna.room("New", ben)
        page = anna.get("/v1/search", q="anything", roomId=room.id)
        assert page["results"] == [] and page["nextCursor"] is None


def test_a_deleted_room_is_not_searched(anna, ben, server):
    room = anna.room("Gone", ben)
    anna.send(room, "a vanishing cabinetmaker")
    follow(anna)
    assert len(found(ben, "vanishing")) == 1
    anna.delete(room.path)
    follow(anna)
    assert found(anna, "vanishing") == [] and found(ben, "vanishing") == []
    wait_until_forgotten(server, "cabinetmaker", "binetmak")


SENTENCES = [
    "내일 회의는 오후 세 시로 옮겼습니다.", "회의실 예약이 취소되었습니다.", "집에 도착하면 연락 주세요.", "우리집 강아지",
    "안녕하세요, 처음 뵙겠습니다.", "점심 회의", "3시에 봐요 ㅋㅋㅋ",
]


def test_korean_words_of_two_syllables_are_found_within_words(anna, room):
    for number, sentence in enumerate(SENTENCES):
        # Sends every second sentence in decomposed form (NFD), as some systems write it.
        anna.send(room, unicodedata.normalize("NFD", sentence) if number % 2 else sentence)
    follow(anna)
    words = {word.strip(".,") for sentence in SENTENCES for word in sentence.split()}
    pairs = {word[start : start + 2] for word in words for start in range(len(word) - 1) if ord(word[start]) > 0x3000}
    pairs = {pair for pair in pairs if all(ord(character) > 0x3000 for character in pair)}
    assert len(pairs) > 30
    for pair in pairs:
        held = sorted(sentence for sentence in SENTENCES if pair in sentence)
        assert sorted(unicodedata.normalize("NFC", text) for text in texts(anna, pair, roomId=room.id)) == held, pair
    assert len(found(anna, "회의 취소", roomId=room.id)) == 1
    # A single syllable is found only at the beginning of a word.
    assert len(found(anna, "집", roomId=room.id)) == 1


def test_a_snippet_marks_the_hits(anna, room):
    long = "word " * 200
    anna.send(room, f"{long}zebra\n«zebra» \"q\" {long}")
    anna.send(room, "짧은얼룩말이다")
    follow(anna)
    (result,) = found(anna, "zebra", roomId=room.id)
    assert "«zebra» ‹«zebra»› \"q\"" in result["snippet"]
    assert result["snippet"].startswith("…") and result["snippet"].endswith("…") and len(result["snippet"]) < 180
    assert found(anna, "얼룩", roomId=room.id)[0]["snippet"] == "짧은«얼룩»말이다"


def test_the_best_and_the_newest_come_first(world, anna, room):
    def line(text: str, day: str) -> dict:
        return {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": text,
                "sentAt": f"{day}T08:00:00.000Z"}

    filler = "word " * 60
    world.admin.ingest_all([
        line("lemon lemon", "2026-03-01"), line("one lemon", "2026-03-01"), line(f"lemon {filler}", "2026-03-01"),
        line("old lemon", "2019-03-01"), line("newer lemon", "2026-03-02"),
    ])
    follow(anna)
    shown = [result["message"]["text"].strip() for result in found(anna, "lemon", roomId=room.id)]
    assert shown == ["lemon lemon", "newer lemon", "one lemon", f"lemon {filler}".strip(), "old lemon"]


def test_filters(world, anna, ben, room):
    other = anna.room("Other")
    for person, place, day in ((anna, room, 1), (ben, room, 2), (anna, other, 3)):
        world.admin.ingest_all([{
            "op": "message.send", "as": person.id, "roomId": place.id, "id": new_id(), "text": f"quartz {day}",
            "sentAt": f"2026-01-0{day}T08:00:00.000Z"}])
    follow(anna)
    assert texts(anna, "quartz") == ["quartz 1", "quartz 2", "quartz 3"]
    assert texts(anna, "quartz", roomId=room.id) == ["quartz 1", "quartz 2"]
    assert texts(anna, "quartz", roomId=room.id.upper()) == ["quartz 1", "quartz 2"]
    assert texts(anna, "quartz", senderId=ben.id) == ["quartz 2"]
    assert texts(anna, "quartz", senderId=new_id()) == []
    assert texts(anna, "quartz", since="2026-01-02T08:00:00.000Z") == ["quartz 2", "quartz 3"]
    assert texts(anna, "quartz", until="2026-01-02T08:00:00.000Z") == ["quartz 1"]
    assert texts(anna, "quartz", since="2026-01-02T00:00:00Z", until="2026-01-03T00:00:00Z") == ["quartz 2"]
    assert texts(anna, "quartz", hasMedia="false") == ["quartz 1", "quartz 2", "quartz 3"]
    assert texts(anna, "quartz", hasMedia="true") == []
    assert texts(anna, "quartz 2", roomId=room.id, senderId=ben.id, since="2026-01-01T00:00:00Z") == ["quartz 2"]
    page = anna.get("/v1/search", q="quartz", roomId=room.id)
    assert {user["id"] for user in page["users"]} == {anna.id, ben.id} and page["position"] <= anna.server.head()


# --- Who finds it


def test_strangers_and_those_who_left_find_nothing(world, anna, ben, room):
    carol = world.user("Carol")
    anna.send(room, "a hidden obelisk")
    follow(anna)
    assert len(found(ben, "obelisk")) == 1
    assert found(carol, "obelisk") == []
    carol.refused("room_not_found", "GET", f"/v1/search?q=obelisk&roomId={room.id}")
    carol.refused("room_not_found", "GET", f"/v1/search?q=obelisk&roomId={new_id()}")
    ben.post(f"{room.path}/leave")
    follow(anna)
    assert found(ben, "obelisk") == []
    ben.refused("room_not_found", "GET", f"/v1/search?q=obelisk&roomId={room.id}")
    anna.put(f"{room.path}/members/{ben.id}")
    follow(anna)
    assert len(found(ben, "obelisk")) == 1
    anna.delete(f"{room.path}/members/{ben.id}")
    follow(anna)
    assert found(ben, "obelisk") == [] and len(found(anna, "obelisk")) == 1
    assert found(world.acting_as(anna.id), "obelisk") == found(anna, "obelisk")
    world.admin.refused("acting_user_required", "GET", "/v1/search?q=obelisk")
    world.nobody.refused("access_token_missing", "GET", "/v1/search?q=obelisk")


# --- Malformed requests


@pytest.mark.parametrize("query", [
    "", "q=", "q=%20%20", "q=!!!", "q=a&q=b", "q=a&limit=0", "q=a&limit=x", "q=a&roomId=x", "q=a&senderId=1",
    "q=a&since=yesterday", "q=a&until=2026-13-01T00:00:00Z", "q=a&hasMedia=1", "q=a&nonsense=1",
])
def test_a_wrong_query_is_refused(anna, query):
    anna.refused("invalid_query", "GET", f"/v1/search?{query}")


@pytest.mark.parametrize("size", [QUERY_BYTES - 1, QUERY_BYTES, QUERY_BYTES + 1])
def test_length_of_a_query(anna, size):
    query = "길" * (size // 3) + "x" * (size % 3)
    if size > QUERY_BYTES:
        anna.refused("invalid_query", "GET", "/v1/search", params={"q": query})
    else:
        anna.get("/v1/search", q=query)


@pytest.mark.parametrize("limit", [1, RESULTS - 1, RESULTS, RESULTS + 1])
def test_limit_of_a_page(anna, room, limit):
    if limit > RESULTS:
        anna.refused("invalid_query", "GET", f"/v1/search?q=a&limit={limit}")
    else:
        anna.get("/v1/search", q="a", limit=limit)


def test_what_looks_like_the_index_s_language_is_searched_for(anna, room):
    anna.send(room, 'say "NEAR" or #r1 AND (x)')
    follow(anna)
    for query in ('"NEAR"', "OR #r1", "near (x", 'say" or "', "'; --x", "x*", "^x"):
        assert len(found(anna, query, roomId=room.id)) == 1, query


# --- Pages


@pytest.fixture
def orchard(anna, room):
    """130 messages about apples."""
    anna_lines = [f"apple {number} " + "pie " * (number % 5) for number in range(130)]
    for text in anna_lines:
        anna.send(room, text)
    follow(anna)
    return sorted(text.strip() for text in anna_lines)


@pytest.mark.parametrize("limit", [7, 30, 50])
def test_pages_contain_every_hit_once(anna, room, orchard, limit):
    results = walk(anna, "/v1/search", "results", q="apple", roomId=room.id, limit=limit)
    assert sorted(result["message"]["text"].strip() for result in results) == orchard


def test_pages_stay_stable_while_messages_arrive(anna, ben, room, orchard):
    stop = threading.Event()
    writer = ben.again()

    def write():
        number = 0
        while not stop.is_set():
            sent = writer.put(room.message(new_id()), {"text": f"apple late {number}"})
            if number % 5 == 0:
                writer.patch(room.message(sent["id"]), {"text": f"apple later {number}"})
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        params, shown, bounds = {"q": "apple", "roomId": room.id, "limit": 3}, [], set()
        while True:
            page = anna.get("/v1/search", **params)
            shown += [result["message"]["text"].strip() for result in page["results"]]
            bounds.add(page["position"])
            if page["nextCursor"] is None:
                break
            params["cursor"] = page["nextCursor"]
    finally:
        stop.set()
        thread.join()
    assert len(bounds) == 1
    early = [text for text in shown if "late" not in text]
    assert sorted(early) == orchard and len(set(shown)) == len(shown)


def test_a_cursor_belongs_to_its_search(anna, ben, room, orchard):
    cursor = anna.get("/v1/search", q="apple", roomId=room.id, limit=3)["nextCursor"]
    anna.get("/v1/search", q="apple", roomId=room.id, limit=9, cursor=cursor)
    for params in ({"q": "apples"}, {"q": "apple"}, {"q": "apple", "roomId": room.id, "senderId": anna.id},
                   {"q": "apple", "roomId": room.id, "hasMedia": "false"},
                   {"q": "apple", "roomId": room.id, "since": "2020-01-01T00:00:00Z"}):
        anna.refused("invalid_cursor", "GET", "/v1/search", params={**params, "cursor": cursor})
    ben.refused("invalid_cursor", "GET", "/v1/search", params={"q": "apple", "roomId": room.id, "cursor": cursor})
    for broken in ("x", "", cursor[:-4], cursor + "AAAA", "!"):
        anna.refused("invalid_cursor", "GET", "/v1/search", params={"q": "apple", "roomId": room.id, "cursor": broken})
    # A cursor with another range in it: its checksum covers the whole cursor.
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert len(raw) == 16 + 5 * 8
    for place, number in ((24, 2**62), (32, 1), (32, 0), (55, raw[55] ^ 1)):
        forged = raw.copy()
        forged[place : place + 8] = number.to_bytes(8, "big") if place < 48 else bytes([number])
        if forged == raw:
            continue
        changed = base64.urlsafe_b64encode(forged).decode().rstrip("=")
        anna.refused("invalid_cursor", "GET", "/v1/search", params={"q": "apple", "roomId": room.id, "cursor": changed})


# --- Deleted and edited texts


def view_bytes(server) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((server.data / "views").glob("search-v*")))


def wait_until_forgotten(server, *words: str) -> None:
    deadline = time.monotonic() + FOLLOWING_SECONDS
    while True:
        left = [word for word in words if word.encode() in view_bytes(server)]
        if not left:
            return
        assert time.monotonic() < deadline, f"{left} are still in the file"
        time.sleep(0.1)


def test_deleted_and_edited_words_leave_the_file(own_world):
    anna, server = own_world.user("Anna"), own_world.server
    room = anna.room("Tea")
    sent = [anna.send(room, f"before {number} kept") for number in range(20)]
    deleted = anna.send(room, "xylophonequartz was said 얼룩말무늬")
    edited = anna.send(room, "jabberwockyvale was said")
    follow(anna)
    for word in ("xylophonequartz", "얼룩말무늬", "jabberwockyvale"):
        assert len(found(anna, word)) == 1
        # The files are read one after the other, and the word may move between them in the meantime.
        assert any(word.encode() in view_bytes(server) for _ in range(3))
    anna.delete(room.message(deleted["id"]))
    anna.patch(room.message(edited["id"]), {"text": "something kinder"})
    anna.delete(room.message(sent[3]["id"]))
    follow(anna)
    for word in ("xylophonequartz", "얼룩말", "jabberwockyvale"):
        assert found(anna, word) == []
    assert texts(anna, "kinder") == ["something kinder"] and len(found(anna, "kept")) == 19
    # The index stores the common prefixes of words once, so a part of each word is searched too.
    wait_until_forgotten(server, "xylophonequartz", "phonequar", "얼룩말", "룩말", "jabberwockyvale", "berwocky")
    settle(server)
    check_data(server.data)
    server.stop()
    assert b"kinder" in view_bytes(server) and b"phonequar" not in view_bytes(server)
    check_data(server.data)


def test_a_deleted_index_is_rebuilt_without_delaying_the_start(own_world):
    anna, server = own_world.user("Anna"), own_world.server
    room = anna.room("Tea")
    for number in range(50):
        anna.send(room, f"brick {number}")
    follow(anna)
    server.stop()
    for path in (server.data / "views").glob("search-v*"):
        path.unlink()
    server.start()
    again = anna.again()
    follow(again)
    assert len(found(again, "brick")) == 50
    server.stop()
    check_data(server.data)


# --- Comparison with a scan


WORDS = ["river", "Stone", "élan", "bridge", "회의", "회의실", "강물", "42"]


def plain(text: str) -> list[str]:
    stripped = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not 0x300 <= ord(c) <= 0x36F)
    return unicodedata.normalize("NFC", stripped).split()


def holds(text: str, query: str) -> bool:
    words = plain(text)
    return all(
        any(piece in word if ord(piece[0]) > 0x3000 else piece == word for word in words) for piece in plain(query)
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_a_search_finds_what_a_scan_finds(world, seed):
    rng = random.Random(seed)
    people = world.users("Anna", "Ben", "Carol")
    rooms = [people[0].room("One", people[1]), people[1].room("Two", people[2]), people[2].room("Three", *people[:2])]
    members = [{0, 1}, {1, 2}, {0, 1, 2}]
    said: list[dict] = []
    for _ in range(160):
        place = rng.randrange(3)
        who = rng.choice(sorted(members[place]))
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 4)))
        action = rng.random()
        own = [entry for entry in said if entry["place"] == place and entry["who"] == who and entry["text"] is not None]
        if action < 0.15 and own:
            entry = rng.choice(own)
            people[who].patch(rooms[place].message(entry["id"]), {"text": text})
            entry["text"] = text
        elif action < 0.25 and own:
            entry = rng.choice(own)
            people[who].delete(rooms[place].message(entry["id"]))
            entry["text"] = None
        else:
            message = people[who].send(rooms[place], text)
            said.append({"id": message["id"], "text": text, "place": place, "who": who})
    follow(people[0])
    for query in ("river", "stone bridge", "elan", "회의", "의실", "강물 42", "회의 river", "nothing"):
        for number, person in enumerate(people):
            expected = {entry["id"] for entry in said if entry["text"] is not None and number in members[entry["place"]]
                        and holds(entry["text"], query)}
            assert {result["message"]["id"] for result in found(person, query)} == expected, (query, number)
            sender = rng.randrange(3)
            by = {entry["id"] for entry in said if entry["id"] in expected and entry["who"] == sender}
            assert {r["message"]["id"] for r in found(person, query, senderId=people[sender].id)} == by
