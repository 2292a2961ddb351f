"""Memory is bounded by live data: ended sessions and deleted things leave none behind, but are still recognized."""

import http.client
import json
import math
import os
import pathlib
import re

import pytest

from harness.client import new_id
from harness.cost import MIB, memory_limit, resident_bytes, until_idle
from harness.people import World
from harness.server import Server

# Enough messages to fill everything that has a limit (recent events and page caches). As many more are measured.
MESSAGES = 20_000
# Operations of each kind that are measured, after the same number to warm up.
OPERATIONS = 1_000
# A leak shows in every measurement. The growth of a cache or an arena ends: that of sessions below their limit after 2,000
# to 4,000 of them, and at nearly nothing after 17,000.
TIMES = 8
# Bytes of memory per operation. Before there was a limit, a message took 1,400, a session 2,200, a room 2,000 and a
# device 900. The rest is caches that still fill, and noise of the allocator.
MESSAGE_BYTES = 400
OPERATION_BYTES = {"sessions": 400, "rooms": 400, "devices": 300}
# Arenas of glibc's malloc per core; glibc's default is 8. Arenas do not share free memory.
ARENAS_PER_CORE = 2
# The address space that glibc reserves for each arena except the first, aligned to its size.
ARENA_BYTES = 64 * MIB


class Line:
    """One connection without the checks of `Api`, which would take most of the time."""

    def __init__(self, server: Server, token: str, act_as: str | None = None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.headers = {"Authorization": f"Bearer {token}"} | ({"Hansard-Act-As": act_as} if act_as else {})

    def call(self, method: str, path: str, body=None) -> dict:
        headers = self.headers
        if body is not None:
            headers = headers | {"Content-Type": "application/json"}
            body = json.dumps(body)
        self.connection.request(method, path, body=body, headers=headers)
        response = self.connection.getresponse()
        text = response.read()
        assert response.status in (200, 201), text
        return json.loads(text)


def sessions(line: Line, room: str) -> None:
    session = line.call("POST", "/v1/sessions", {})["sessionId"]
    line.call("DELETE", f"/v1/sessions/{session}")


def rooms(line: Line, room: str) -> None:
    line.call("DELETE", f"/v1/rooms/{line.call('POST', '/v1/rooms', {'id': new_id(), 'name': 'Tea'})['id']}")


def devices(line: Line, room: str) -> None:
    path = f"/v1/devices/{new_id()}"
    line.call("PUT", path, {"name": "Phone", "apnsToken": new_id()})
    line.call("DELETE", path)


def send_many(world: World, person, room, count: int) -> None:
    lines = [
        {"op": "message.send", "roomId": room.id, "id": new_id(), "as": person.id, "text": "a cup of tea"}
        for _ in range(count)
    ]
    world.admin.ingest_all(lines, each=5_000)


def growth(server: Server, work, count: int, limit: float) -> float:
    """By how many bytes memory grows per operation: the least of several measurements of `count` operations. Ends with the
    first one that is within the limit."""
    until_idle(server)
    least, size = math.inf, resident_bytes(server)
    for _ in range(TIMES):
        work()
        until_idle(server)
        size, before = resident_bytes(server), size
        least = min(least, (size - before) / count)
        if least <= limit:
            break
    return least


def arenas(server: Server) -> int:
    """The number of arenas besides the first. Each is a mapping in use, followed by a reserved one without access."""
    maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
    mappings = re.findall(r"^(\w+)-(\w+) (\S+) 00000000 00:00 0 *$", maps, re.MULTILINE)
    return sum(
        used[2] == "rw-p" and rest[2] == "---p" and used[1] == rest[0] and int(used[0], 16) % ARENA_BYTES == 0
        and int(rest[1], 16) - int(used[0], 16) == ARENA_BYTES
        for used, rest in zip(mappings, mappings[1:]))


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A server that has received many messages, the user who sent them, and the room."""
    server = Server(tmp_path_factory.mktemp("memory") / "data").start()
    world = World(server)
    anna = world.user("Anna")
    room = anna.room()
    send_many(world, anna, room, MESSAGES)
    yield world, anna, room
    server.end()


def test_malloc_makes_few_arenas(busy):
    """Observed: after 200,000 requests of mixed traffic, half of the heap was free, spread over 16 arenas."""
    world, _, _ = busy
    assert arenas(world.server) < ARENAS_PER_CORE * len(os.sched_getaffinity(0))


def test_messages_leave_no_memory_behind(busy):
    world, anna, room = busy
    limit = memory_limit(MESSAGE_BYTES)
    each = growth(world.server, lambda: send_many(world, anna, room, MESSAGES), MESSAGES, limit)
    assert each <= limit, f"{each:.0f} bytes for each message, the limit is {limit:.0f}"


@pytest.mark.parametrize("operation", [sessions, rooms, devices])
def test_what_has_ended_leaves_no_memory_behind(busy, operation):
    world, anna, room = busy
    line = Line(world.server, world.server.token, anna.id)

    def work() -> None:
        for _ in range(OPERATIONS):
            operation(line, room.id)

    work()
    limit = memory_limit(OPERATION_BYTES[operation.__name__])
    each = growth(world.server, work, OPERATIONS, limit)
    assert each <= limit, f"{operation.__name__}: {each:.0f} bytes each, the limit is {limit:.0f}"


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A server on which things end. The tests look them up after a restart."""
    server = Server(tmp_path_factory.mktemp("ended") / "data").start()
    yield World(server)
    server.end()


def test_retries_of_what_has_ended_are_known_also_after_a_restart(ended):
    anna = ended.user("Anna")
    service = ended.acting_as(anna.id)
    session = service.post("/v1/sessions", {"id": new_id()})
    logout = service.delete(f"/v1/sessions/{session['sessionId']}", key=(key := new_id()))
    body = {"id": new_id(), "name": "Tea"}
    path = f"/v1/rooms/{body['id']}"
    anna.post("/v1/rooms", body)
    deletion = anna.delete(path, key=(room_key := new_id()))
    office = {"id": new_id(), "name": "Office"}
    office_path = f"/v1/workspaces/{office['id']}"
    anna.post("/v1/workspaces", office)
    office_deletion = anna.delete(office_path, key=(office_key := new_id()))

    def check() -> None:
        assert service.delete(f"/v1/sessions/{session['sessionId']}", key=key, expect=200) == logout
        assert service.delete(f"/v1/sessions/{session['sessionId']}", expect=200)["position"] == logout["position"]
        service.refused("session_ended", "POST", "/v1/sessions", {"id": session["sessionId"]})
        ended.nobody.refused("session_ended", "POST", "/v1/sessions/refresh", {"refreshToken": session["refreshToken"]})
        service.refused("session_not_found", "DELETE", f"/v1/sessions/{new_id()}")
        assert anna.delete(path, key=room_key, expect=200) == deletion
        anna.refused("idempotency_key_reused", "DELETE", path, key=key_of_another)
        anna.refused("room_not_found", "DELETE", path)
        anna.refused("room_not_found", "POST", "/v1/rooms", body)
        anna.refused("id_in_use", "POST", "/v1/rooms", body | {"name": "Coffee"})
        assert anna.delete(office_path, key=office_key, expect=200) == office_deletion
        anna.refused("workspace_not_found", "POST", "/v1/workspaces", office)
        anna.refused("id_in_use", "POST", "/v1/workspaces", office | {"name": "Attic"})

    key_of_another = new_id()
    anna.patch("/v1/me", {"nickname": "Anna B"}, key=key_of_another)
    check()
    ended.server.restart()
    check()
