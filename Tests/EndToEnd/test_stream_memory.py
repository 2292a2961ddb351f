"""What an idle stream takes of the server's memory. `Tools/bench live` measures it with more streams."""

import pytest

from harness import cost, websocket
from harness.long_polls import STREAMS_OF_USER
from harness.people import World

# The first streams fill caches and pools, which do not grow with the number of streams.
FIRST, STREAMS = 100, 700
UPGRADE = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")


def open_stream(world: World, user: str, path: str, more: str) -> websocket.Connection:
    connection = websocket.Connection(world.server)
    connection.send(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {world.server.token}\r\n"
        f"Hansard-Act-As: {user}\r\n{more}\r\n".encode())
    return connection


@pytest.mark.parametrize("path, more, first, kibibytes", [
    ("/v1/sync/socket", UPGRADE, b'"more":false', 14), ("/v1/sync/stream", "", b'"more":false', 18)],
    ids=["socket", "events"])
def test_an_idle_stream_takes_little_memory(own_server, path, more, first, kibibytes):
    world = World(own_server)
    users = [world.user().id for _ in range((FIRST + STREAMS) // STREAMS_OF_USER + 1)]
    streams = []

    def resident_with(count: int) -> int:
        # They are opened together, because memory that was used while many streams wait for their first page can stay.
        opening = [open_stream(world, users[number // STREAMS_OF_USER], path, more)
                   for number in range(len(streams), count)]
        streams.extend(opening)
        for connection in opening:
            while first not in connection.buffer:
                assert connection.fill(), connection.buffer
        cost.until_idle(own_server)
        return cost.resident_bytes(own_server)

    try:
        before = resident_with(FIRST)
        each = (resident_with(FIRST + STREAMS) - before) / STREAMS
        assert each <= kibibytes * 1024, f"{each / 1024:.1f} KiB"
    finally:
        for stream in streams:
            stream.socket.close()
