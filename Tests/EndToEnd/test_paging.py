"""Pages of a room by cursor, by message and by time: nothing twice, nothing missing."""

import threading

import pytest

from harness.client import new_id
from harness.people import timeline

COUNT = 95


@pytest.fixture(scope="module")
def long_room(shared_world):
    """A room of 95 messages, ten seconds apart, and a user who reads it."""
    anna = shared_world.user("Anna")
    room = anna.room("Long")
    lines = [
        {
            "op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{number}",
            "sentAt": f"2026-01-31T08:{number // 6:02}:{number % 6 * 10:02}.000Z",
        }
        for number in range(COUNT)
    ]
    shared_world.admin.ingest_all(lines)
    return anna, room, lines


def texts(page) -> list[int]:
    return [int(message["text"]) for message in page["messages"]]


def page_of(anna, room, **params) -> dict:
    return anna.get(f"{room.path}/messages", **params)


def test_the_newest_page_comes_first_with_thirty(long_room):
    anna, room, _ = long_room
    page = page_of(anna, room)
    assert texts(page) == list(range(COUNT - 30, COUNT))
    assert page["nextCursor"] is not None and page["previousCursor"] is None


@pytest.mark.parametrize("limit", [1, 7, 30, 94, 95, 96, 200])
def test_pages_lead_to_the_beginning_and_back(long_room, limit):
    anna, room, _ = long_room
    back, cursor = [], None
    while True:
        page = page_of(anna, room, limit=limit, **({"before": cursor} if cursor else {}))
        back = texts(page) + back
        assert 1 <= len(page["messages"]) <= limit
        if page["nextCursor"] is None:
            break
        cursor = page["nextCursor"]
    assert back == list(range(COUNT))
    forth = texts(page)
    while page["previousCursor"] is not None:
        page = page_of(anna, room, limit=limit, after=page["previousCursor"])
        forth += texts(page)
    assert forth == list(range(COUNT))


def test_before_and_after_a_message(long_room):
    anna, room, lines = long_room
    assert texts(page_of(anna, room, before=lines[50]["id"], limit=5)) == [45, 46, 47, 48, 49]
    assert texts(page_of(anna, room, after=lines[50]["id"], limit=5)) == [51, 52, 53, 54, 55]
    first = page_of(anna, room, before=lines[3]["id"], limit=5)
    assert (texts(first), first["nextCursor"]) == ([0, 1, 2], None)
    last = page_of(anna, room, after=lines[92]["id"], limit=5)
    assert (texts(last), last["previousCursor"]) == ([93, 94], None)
    assert texts(page_of(anna, room, before=lines[0]["id"])) == []
    assert texts(page_of(anna, room, after=lines[94]["id"])) == []
    assert texts(page_of(anna, room, before=lines[50]["id"].upper(), limit=1)) == [49]


def test_a_page_without_messages_leads_on_to_those_there_are(long_room):
    """A client that asks for new messages and finds none can scroll back from there."""
    anna, room, lines = long_room
    for place in (lines[94]["id"], "2090-01-01T00:00:00Z"):
        page = page_of(anna, room, after=place)
        assert (texts(page), page["previousCursor"]) == ([], None)
        assert texts(page_of(anna, room, before=page["nextCursor"], limit=3)) == [92, 93, 94]
    page = page_of(anna, room, before=lines[0]["id"])
    assert (texts(page), page["nextCursor"]) == ([], None)
    assert texts(page_of(anna, room, after=page["previousCursor"], limit=3)) == [0, 1, 2]


def test_a_thread_page_without_replies_leads_on_too(world):
    anna = world.user()
    room = anna.room()
    root = anna.send(room, "root")
    replies = [anna.put(room.message(new_id()), {"text": f"{n}", "threadId": root["id"]}) for n in range(2)]
    thread = f"{room.message(root['id'])}/thread"
    page = anna.get(thread, after=replies[1]["id"])
    assert (texts(page), page["previousCursor"]) == ([], None)
    assert texts(anna.get(thread, before=page["nextCursor"])) == [0, 1]


def test_around_a_message(long_room):
    anna, room, lines = long_room
    page = page_of(anna, room, around=lines[50]["id"], limit=11)
    assert len(texts(page)) == 11 and 50 in texts(page)
    assert texts(page) == list(range(texts(page)[0], texts(page)[0] + 11))
    assert min(texts(page)) <= 46 and max(texts(page)) >= 54
    older = page_of(anna, room, before=page["nextCursor"], limit=3)
    newer = page_of(anna, room, after=page["previousCursor"], limit=3)
    assert texts(older)[-1] == texts(page)[0] - 1
    assert texts(newer)[0] == texts(page)[-1] + 1
    assert 0 in texts(page_of(anna, room, around=lines[0]["id"], limit=9))
    assert 94 in texts(page_of(anna, room, around=lines[94]["id"], limit=9))
    assert texts(page_of(anna, room, around=lines[7]["id"], limit=1)) == [7]


def test_by_time(long_room):
    anna, room, lines = long_room
    exact, between = lines[50]["sentAt"], lines[50]["sentAt"].replace("0.000Z", "3.500Z")
    assert texts(page_of(anna, room, before=exact, limit=3)) == [48, 49, 50]
    assert texts(page_of(anna, room, after=exact, limit=3)) == [50, 51, 52]
    assert texts(page_of(anna, room, before=between, limit=3)) == [48, 49, 50]
    assert texts(page_of(anna, room, after=between, limit=3)) == [51, 52, 53]
    assert 51 in texts(page_of(anna, room, around=between, limit=5))
    seoul = "2026-01-31T17:08:20+09:00"
    assert texts(page_of(anna, room, after=seoul, limit=1)) == [50]
    assert texts(page_of(anna, room, before="2020-01-01T00:00:00Z")) == []
    assert texts(page_of(anna, room, after="2040-01-01T00:00:00Z")) == []
    assert texts(page_of(anna, room, before="2040-01-01T00:00:00Z", limit=2)) == [93, 94]
    assert texts(page_of(anna, room, after="2020-01-01T00:00:00Z", limit=2)) == [0, 1]


@pytest.fixture(scope="module")
def crowded_room(shared_world):
    """A room, and a thread in it, in which 7 messages have the same time and 3 others have times of their own."""
    anna = shared_world.user("Anna")
    room = anna.room("Crowded")
    root = new_id()
    seconds = [0, 1, *[2] * 7, 3]
    send = {"op": "message.send", "as": anna.id, "roomId": room.id}
    times = [f"2026-02-01T08:00:0{second}.123Z" for second in seconds]
    lines = [send | {"id": new_id(), "text": f"{number}", "sentAt": time} for number, time in enumerate(times)]
    lines[0]["id"] = root
    replies = [send | {"id": new_id(), "text": f"{number}", "sentAt": time, "threadId": root}
               for number, time in enumerate(times)]
    shared_world.admin.ingest_all(lines + replies)
    return anna, {"room": f"{room.path}/messages", "thread": f"{room.message(root)}/thread"}, times


@pytest.mark.parametrize("place", ["room", "thread"])
@pytest.mark.parametrize("limit", [2, 3, 7, 8])
def test_paging_by_time_alone_misses_nothing(crowded_room, place, limit):
    """A client that keeps no cursor asks for the time of its oldest or newest message."""
    anna, paths, times = crowded_room
    for name, end, start in (("before", 0, "2030-01-01T00:00:00Z"), ("after", -1, "2020-01-01T00:00:00Z")):
        seen, time = set(), start
        while True:
            page = anna.get(paths[place], **{name: time, "limit": limit})
            new = set(texts(page)) - seen
            if not new:
                break
            seen |= new
            time = page["messages"][end]["sentAt"]
        assert seen == set(range(len(times))), name


def test_only_messages_with_the_very_time_make_a_page_longer(crowded_room):
    anna, paths, times = crowded_room
    assert texts(anna.get(paths["room"], before=times[2], limit=3)) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert texts(anna.get(paths["room"], after=times[2], limit=3)) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert len(texts(anna.get(paths["room"], around=times[2], limit=3))) == 3
    between = times[2].replace(".123", ".124")
    assert texts(anna.get(paths["room"], before=between, limit=3)) == [6, 7, 8]
    assert texts(anna.get(paths["room"], before=times[9], limit=1)) == [9]


def test_a_page_by_time_has_at_most_200_messages(shared_world):
    anna = shared_world.user("Anna")
    room = anna.room("Full")
    time = "2026-02-01T08:00:00.000Z"
    shared_world.admin.ingest_all([
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{n}", "sentAt": time}
        for n in range(203)
    ])
    page = page_of(anna, room, before=time, limit=2)
    assert texts(page) == list(range(3, 203))
    assert texts(page_of(anna, room, before=page["nextCursor"])) == [0, 1, 2]


TYPES = ["order.shipped", "order", "order.shipped", None, "Order", "주문.접수"]


@pytest.fixture(scope="module")
def typed_room(shared_world):
    """A room of 60 messages with the types in turn."""
    anna = shared_world.user("Anna")
    room = anna.room("Orders")
    lines = [
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{number}",
         "sentAt": f"2026-02-02T08:00:{number:02}.000Z"} | ({"type": type, "data": number} if type else {})
        for number, type in enumerate(TYPES * 10)
    ]
    shared_world.admin.ingest_all(lines)
    return anna, room, lines


@pytest.mark.parametrize("type", ["order.shipped", "order", "Order", "주문.접수", "nothing"])
@pytest.mark.parametrize("limit", [1, 3, 7, 200])
def test_pages_of_one_type_lead_to_the_beginning_and_back(typed_room, type, limit):
    anna, room, _ = typed_room
    wanted = [number for number, each in enumerate(TYPES * 10) if each == type]
    back, cursor = [], None
    while True:
        page = page_of(anna, room, type=type, limit=limit, **({"before": cursor} if cursor else {}))
        assert all(message["type"] == type for message in page["messages"]) and len(page["messages"]) <= limit
        back = texts(page) + back
        if page["nextCursor"] is None:
            break
        assert page["messages"]
        cursor = page["nextCursor"]
    assert back == wanted
    forth = texts(page)
    while page["previousCursor"] is not None:
        page = page_of(anna, room, type=type, limit=limit, after=page["previousCursor"])
        assert page["messages"]
        forth += texts(page)
    assert forth == wanted


def test_pages_of_one_type_by_message_and_time(typed_room):
    anna, room, lines = typed_room
    assert texts(page_of(anna, room, type="order", before=lines[20]["id"], limit=2)) == [13, 19]
    assert texts(page_of(anna, room, type="order", after=lines[20]["sentAt"], limit=2)) == [25, 31]
    assert texts(page_of(anna, room, type="order", after=lines[25]["sentAt"], limit=2)) == [25, 31]
    assert texts(page_of(anna, room, type="order", around=lines[25]["id"], limit=5)) == [13, 19, 25, 31, 37]
    assert texts(page_of(anna, room, type="order", around=lines[59]["id"], limit=3)) == [43, 49, 55]
    page = page_of(anna, room, type="order", around=lines[0]["id"], limit=3)
    assert texts(page) == [1, 7, 13] and page["nextCursor"] is None
    # The cursors lead on from the same place among all messages.
    assert texts(page_of(anna, room, after=page["previousCursor"], limit=2)) == [14, 15]
    assert texts(page_of(anna, room, type="order", after=lines[55]["id"])) == []


def test_a_message_has_its_type_until_it_is_deleted(shared_world):
    anna = shared_world.user("Anna")
    room = anna.room("Orders")
    root = anna.send(room, "root")
    sent = [anna.put(room.message(new_id()), {"text": f"{n}", "type": "order", **part})
            for n, part in enumerate(({}, {}, {"threadId": root["id"]}, {"threadId": root["id"], "replyTo": root["id"]}))]
    thread = f"{room.message(root['id'])}/thread"
    anna.patch(room.message(sent[0]["id"]), {"text": "4"})
    anna.put(f"{room.message(sent[1]['id'])}/reactions/👍")
    assert texts(page_of(anna, room, type="order")) == [4, 1] and texts(anna.get(thread, type="order")) == [2, 3]
    assert page_of(anna, room, type="order")["messages"] == page_of(anna, room)["messages"][1:]
    assert anna.get(thread, type="order")["messages"] == anna.get(thread)["messages"]
    for message in (sent[0], sent[2]):
        anna.delete(room.message(message["id"]))
    assert texts(page_of(anna, room, type="order")) == [1] and texts(anna.get(thread, type="order")) == [3]
    for type in ("", "x" * 129, "한" * 43):
        for path in (f"{room.path}/messages", thread, "/v1/search"):
            anna.refused("invalid_query", "GET", path, params={"type": type} | ({"q": "x"} if "search" in path else {}))
    assert texts(page_of(anna, room, type="x" * 128)) == []


def test_contradictory_parameters(world, long_room):
    anna, room, lines = long_room
    path, id = f"{room.path}/messages", lines[0]["id"]
    for query in (f"before={id}&after={id}", f"before={id}&around={id}", f"after={id}&around={id}"):
        anna.refused("invalid_query", "GET", f"{path}?{query}")
    for limit in ("0", "201", "-1", "+5", "%2B5", "ten", "1.5", "%D9%A5", ""):
        anna.refused("invalid_query", "GET", f"{path}?limit={limit}")
    for cursor in ("nonsense", "", "2026-02-30T00:00:00Z", "AAAA"):
        for anchor in ("before", "after", "around"):
            anna.refused("invalid_cursor", "GET", f"{path}?{anchor}={cursor}")
    anna.refused("message_not_found", "GET", f"{path}?before={new_id()}")
    anna.refused("invalid_cursor", "GET", "/v1/rooms?cursor=nonsense")
    anna.refused("invalid_cursor", "GET", f"{room.path}/members?cursor=nonsense")


def test_an_altered_cursor_is_refused(long_room):
    anna, room, _ = long_room
    cursor = page_of(anna, room, limit=10)["nextCursor"]
    anna.refused("invalid_cursor", "GET", f"{room.path}/messages?before={cursor[:-3]}")
    anna.refused("invalid_cursor", "GET", f"/v1/rooms?cursor={cursor}")


def test_a_cursor_is_valid_for_its_own_list_only(world, long_room):
    anna, room, _ = long_room
    other = anna.room("Other")
    cursor = page_of(anna, room, limit=10)["nextCursor"]
    assert page_of(anna, room, before=cursor, limit=10)["messages"]
    anna.refused("invalid_cursor", "GET", f"{other.path}/messages?before={cursor}")
    of_rooms = anna.get("/v1/rooms", limit=1)["nextCursor"]
    assert anna.get("/v1/rooms", cursor=of_rooms)["rooms"]
    world.user("Ben").refused("invalid_cursor", "GET", f"/v1/rooms?cursor={of_rooms}")
    anna.refused("invalid_cursor", "GET", f"{room.path}/members?cursor={of_rooms}")


def test_an_empty_room_has_an_empty_page(anna):
    page = page_of(anna, anna.room("Empty"))
    assert page == {"messages": [], "users": [], "nextCursor": None, "previousCursor": None}


def test_deleted_messages_keep_their_place_in_pages(anna, ben, room):
    sent = [anna.send(room, f"{number}") for number in range(9)]
    for number in (2, 3, 4):
        anna.delete(room.message(sent[number]["id"]))
    assert [message["id"] for message in timeline(ben, room.id, limit=2)] == [message["id"] for message in sent]
    assert ben.texts(room, before=sent[5]["id"], limit=4) == ["1", "", "", ""]


def test_pages_neither_repeat_nor_skip_while_others_write(world, anna, ben, room):
    """One client writes without pause. Another pages back and forth over the earlier messages."""
    lines = [
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{number}"}
        for number in range(400)
    ]
    world.admin.ingest_all(lines)
    expected = [line["id"] for line in lines]
    stop = threading.Event()

    def write():
        writer = ben.again()
        while not stop.is_set():
            writer.put(room.message(new_id()), {"text": "meanwhile"})

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for limit in (3, 17):
            back = [message["id"] for message in timeline(anna, room.id, limit=limit)]
            assert back[: len(expected)] == expected
            assert len(set(back)) == len(back)
            page = page_of(anna, room, before=expected[5], limit=5)
            forth = [message["id"] for message in page["messages"]]
            while len(forth) < len(expected):
                page = page_of(anna, room, after=page["previousCursor"], limit=limit)
                forth += [message["id"] for message in page["messages"]]
            assert forth[: len(expected)] == expected
            assert len(set(forth)) == len(forth)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
