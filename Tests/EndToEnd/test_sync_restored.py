"""Cursors of `GET /v1/sync` after a restart, and after an older backup was restored; requests that wait at shutdown."""

import shutil

import pytest

from harness.client import Api
from harness.long_polls import waiting_requests
from harness.mirror import SyncClient
from harness.people import World
from harness.server import Server


def test_a_cursor_outlives_a_restart(own_world):
    anna, ben = own_world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    client = SyncClient(ben)
    client.catch_up()
    anna.send(room, "hello")
    own_world.server.restart()
    anna.send(room, "hello again")
    client.check()


def test_requests_that_wait_are_limited_and_end_when_the_server_stops(own_world):
    """If the server did not end them, they would delay its end, and it would cut them off after its timeout."""
    anna = own_world.user("Anna")
    client = SyncClient(anna)
    client.catch_up()

    with waiting_requests(anna, client.cursor) as waiting:
        assert anna.get("/v1/badge")["unreadCount"] == 0, "they delay other requests"
        own_world.server.stop()
        for each in waiting:
            page = each.result()
            assert (page.status_code, page.json()["items"]) == (200, [])
    own_world.server.start()


@pytest.fixture
def restored(tmp_path):
    """A server that was restored from a backup, a user, a room, and the user's cursors from before and after the
    backup."""
    server = Server(tmp_path / "data").start()
    anna = World(server).user("Anna")
    room = anna.room("Tea")
    client = SyncClient(anna)
    client.catch_up()
    before = client.cursor
    server.stop()
    shutil.copytree(server.data, tmp_path / "backup")
    server.start()
    anna.send(room, "lost")
    client.catch_up()
    server.stop()
    copy = Server(tmp_path / "backup").start()
    yield copy, Api(copy, anna.token), room, before, client.cursor
    copy.end()


def test_a_cursor_beyond_the_head_is_unknown(restored):
    _, anna, _, before, after = restored
    assert "without a cursor" in anna.refused("cursor_unknown", "GET", f"/v1/sync?since={after}")["detail"]
    client = SyncClient(anna, before)
    assert client.catch_up() == []


def test_a_cursor_is_unknown_if_the_log_continued_differently(restored):
    _, anna, room, before, after = restored
    for number in range(20):
        anna.put(room.message(f"0199d3f0-9a77-7d20-8b3e-66c1f0a4d9{number:02}"), {"text": f"message {number}"})
    anna.refused("cursor_unknown", "GET", f"/v1/sync?since={after}")
    texts = [item["message"]["text"] for item in SyncClient(anna, before).catch_up() if item["type"] == "message"]
    assert texts == [f"message {number}" for number in range(20)]
