"""One user with 10,000 rooms: what a stream, a catch-up and the initial state contain, and that pages are bounded."""

import pytest

from harness.client import new_id
from harness.live_sockets import open_socket
from harness.live_streams import LiveClient, mark

ROOMS = 10_000


@pytest.fixture(scope="module")
def crowd(shared_world):
    """Anna with many rooms, and Ben in some of them: the first, the last, and some between."""
    anna, ben = shared_world.users("Anna", "Ben")
    rooms = [new_id() for _ in range(ROOMS)]
    common = rooms[:: ROOMS // 8] + rooms[-1:]
    shared_world.admin.ingest_all(
        [{"op": "room.create", "id": room, "name": f"Room {number}", "as": anna.id} for number, room in enumerate(rooms)]
        + [{"op": "member.join", "roomId": room, "as": ben.id} for room in common])
    return anna, ben, common


def newest_cursor(person) -> str:
    """A cursor covers everything, whatever the client asked for."""
    return person.get("/v1/sync", include="account")["cursor"]


def send(person, rooms: list[str]) -> list[tuple[str, str]]:
    """Sends a message to each room, and returns the rooms and the messages' IDs."""
    sent = [(room, new_id()) for room in rooms]
    person.ingest_all([{"op": "message.send", "roomId": room, "id": id, "text": "hello"} for room, id in sent])
    return sent


def messages(items: list[dict]) -> list[tuple[str, str]]:
    return [(item["message"]["roomId"], item["message"]["id"]) for item in items if item["type"] == "message"]


def test_a_live_client_gets_what_is_new_and_nothing_else(crowd):
    anna, ben, common = crowd
    client = LiveClient(anna, open_socket, cursor=newest_cursor(anna)).connect()
    sent = []
    for _ in range(3):
        sent += send(ben, common)
        client.reach(mark(anna))
    client.drop()
    sent += send(ben, common[::2])
    client.connect().reach(mark(anna))
    client.drop()
    assert messages(client.items) == sent
    assert {item["room"]["id"] for item in client.items if item["type"] == "room"} == set(common)
    assert {item["type"] for item in client.items} <= {"message", "room", "readMarker", "device"}


def test_a_catch_up_has_what_is_new_and_nothing_else(crowd):
    anna, ben, common = crowd
    cursor = newest_cursor(anna)
    empty = anna.get("/v1/sync", since=cursor)
    assert (empty["items"], empty["more"]) == ([], False)
    for rooms in (common[:1], common):
        sent = send(ben, rooms)
        page = anna.get("/v1/sync", since=cursor)
        assert messages(page["items"]) == sent and not page["more"]
        assert {item["room"]["id"] for item in page["items"] if item["type"] == "room"} == set(rooms)
        cursor = page["cursor"]


def test_the_initial_state_comes_in_bounded_pages(crowd):
    anna, _, _ = crowd
    found, cursor, more = [], None, True
    while more:
        page = anna.get("/v1/sync", include="room", limit=1000, **({"since": cursor} if cursor else {}))
        assert len(page["items"]) <= 1000
        found += [item["room"]["id"] for item in page["items"] if "room" in item]
        cursor, more = page["cursor"], page["more"]
    assert len(found) == len(set(found)) == ROOMS
