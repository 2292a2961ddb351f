"""Servers that are killed while an account is deleted: a retry continues, and in the end no file has anything of the user."""

import contextlib
import random
import threading
import time
from types import SimpleNamespace

import pytest
import requests

from harness.client import Api, new_id
from harness.command import audit, hansard
from harness.people import World
from harness.real_log import copy_data
from harness.server import Server
from harness.waiting import wait_until

MESSAGES = 60
KILLS = 8
# The request and the removal of this user's messages take less. A later kill meets the erasure of the records.
LATEST_KILL_SECONDS = 1.0
# How many memberships and other things one command ends.
DELETION_EVENTS = 10_000


def erasure_path(user: str) -> str:
    return f"/v1/admin/erasures/{user}"


@contextlib.contextmanager
def deleting(api: Api, user: str):
    """Sends the request within the block, in which the server may be killed."""
    own = api.again()

    def send():
        with contextlib.suppress(requests.RequestException):
            own.delete(f"/v1/admin/users/{user}")

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def retry(world: World, user: str) -> None:
    """Whether the first request was recorded or not, the account is deleted afterwards."""
    assert world.admin.request("DELETE", f"/v1/admin/users/{user}").status_code == 200


def wait_until_erased(world: World, user: str) -> dict:
    wait_until(lambda: world.admin.get(erasure_path(user))["state"] == "complete", "the erasure is not complete")
    return world.admin.get(erasure_path(user))


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A stopped server with a user who has left something everywhere."""
    server = Server(tmp_path_factory.mktemp("deleting") / "data").start()
    world = World(server)
    mark = new_id()
    anna, ben = world.account(f"Anna-{mark}"), world.user("Ben")
    room = anna.room("Tea", ben)
    for number in range(MESSAGES):
        sent = anna.send(room, f"{number} {mark}")
        ben.send(room, "ben answers")
    anna.put(f"{room.message(sent['id'])}/reactions/👍")
    anna.post("/v1/media", data=f"a file of {mark}".encode())
    server.stop()
    yield SimpleNamespace(data=server.data, user=anna.id, ben=ben.id, room=room, words=[mark, anna.email])
    server.end()


def found(data, words: list[str]) -> list[tuple]:
    contents = {path.name: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    return [(name, word) for name, content in contents.items() for word in words if word.encode() in content]


def test_a_killed_deletion_is_completed(story, tmp_path):
    assert found(story.data, story.words), "the search would find a text that is there"
    chance = random.Random(14)
    for number in range(KILLS):
        server = Server(copy_data(story.data, tmp_path / f"data{number}")).start()
        try:
            world = World(server)
            with deleting(world.admin, story.user):
                time.sleep(chance.random() * LATEST_KILL_SECONDS * number / KILLS)
                server.kill()
            server.start()
            retry(world, story.user)
            wait_until_erased(world, story.user)
            page = world.acting_as(story.ben).get(f"{story.room.path}/messages", limit=200)
            assert [message["text"] for message in page["messages"]] == ["", "ben answers"] * MESSAGES
            server.stop()
        finally:
            server.end()
        assert found(server.data, story.words) == []
        hansard("log", "verify", "--data", server.data)
        hansard("replay", "--data", server.data, "--verify")


def test_a_large_account_is_deleted_in_steps(own_server):
    """More memberships than one command ends. The server is killed in between, or just after the last one."""
    world = World(own_server)
    anna, ben = world.users("Anna", "Ben")
    rooms = [new_id() for _ in range(DELETION_EVENTS + 1)]
    world.admin.ingest_all([{"op": "room.create", "as": ben.id, "id": room, "name": "Tea"} for room in rooms])
    world.admin.ingest_all([{"op": "member.join", "as": anna.id, "roomId": room} for room in rooms])
    head = own_server.head()
    with deleting(world.admin, anna.id):
        wait_until(lambda: own_server.head() > head, "nothing is deleted")
        own_server.kill()
    own_server.start()
    retry(world, anna.id)
    world.acting_as(anna.id).refused("user_not_found", "GET", "/v1/me")
    for room in (rooms[0], rooms[DELETION_EVENTS // 2], rooms[-1]):
        assert ben.get(f"/v1/rooms/{room}")["memberCount"] == 1
    erased = wait_until_erased(world, anna.id)
    own_server.stop()
    # Nothing is done twice, and the account is deleted last.
    left = audit(own_server.data, "--type", "member.left", "--user", anna.id)
    assert len(left) == len({row["stream"] for row in left}) == len(rooms)
    (deleted,) = audit(own_server.data, "--type", "user.deleted")
    assert deleted["position"] == erased["position"] > max(row["position"] for row in left)
    hansard("log", "verify", "--data", own_server.data)
