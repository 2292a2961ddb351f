"""HTTP/2 clients that read no responses: how many streams and bytes of one address the server keeps."""

import contextlib
import json

import pytest

from harness import cost
from harness.client import new_id
from harness.http2 import LARGEST_WINDOW, Http2, bearer
from harness.people import Person, Room, World
from harness.server import Server
from harness.waiting import wait_until
from test_hostile_downloads import secure_server

# Limits.http2StreamsOfAddress, and the memory that these streams may use.
OPEN_STREAMS = 2_048
STREAMS_BYTES = 128 * cost.MIB
# Limits.unreadResponseBytesOfAddress, whose buffers take twice as much.
KEPT_BYTES = 2 * 32 * cost.MIB
# The memory that streams with a request and 16 KiB of a response may use. On a busy machine they used up to 166 MiB, and 223
# when the last bytes kept the whole response.
WRITING_STREAMS_BYTES = 185 * cost.MIB
# CONNECTIONS × STREAMS is more than OPEN_STREAMS. WRITING_CONNECTIONS × STREAMS is less, but asks for about twice KEPT_BYTES.
CONNECTIONS, STREAMS = 32, 100
WRITING_CONNECTIONS = 20
DATA_BYTES = 60_000
KEY = new_id()
WARNING = "clients at an address do not read their responses"
STREAMS_WARNING = "an address has too many open HTTP/2 streams"


@pytest.fixture
def secure(tmp_path):
    server = secure_server(tmp_path)
    yield server
    server.end()


def repeat_edit(connection: Http2, person, path: str, count: int) -> list[int]:
    """Sends the same edit again and again in few bytes. Each response is the whole message."""
    body = json.dumps({"text": "y"}).encode()
    fields = [bearer(person), ("content-type", "application/json"), ("idempotency-key", KEY)]
    streams = []
    for _ in range(count):
        stream = connection.request(path, *fields, method="PATCH", ends=False)
        connection.protocol.send_data(stream, body, end_stream=True)
        streams.append(stream)
    connection.flush()
    return streams


def edited_message(server: Server, person: Person, room: Room) -> str:
    """The path of a message whose edit `repeat_edit` repeats."""
    message = room.message(new_id())
    person.put(message, {"type": "x", "data": "b" * DATA_BYTES, "text": "x"})
    with Http2(server) as connection:
        assert connection.status(repeat_edit(connection, person, message, 1)[0]) == 200
    cost.until_idle(server)
    return message


@pytest.mark.parametrize("window", [0, LARGEST_WINDOW])
def test_responses_to_writes_that_nobody_reads_are_refused(secure, window):
    """Observed: a short repeated request gets a long response, and each response waited in memory for a minute.
    Responses wait in the streams, or for the connection to become writable."""
    anna, ben = World(secure).users("Anna", "Ben")
    room = anna.room("Tea", ben)
    message = edited_message(secure, anna, room)
    before = cost.resident_bytes(secure)
    with contextlib.ExitStack() as stack:
        for _ in range(WRITING_CONNECTIONS):
            repeat_edit(stack.enter_context(Http2(secure, "127.0.0.2", window=window)), anna, message, STREAMS)
            cost.until_idle(secure)
        wait_until(lambda: WARNING in secure.tail(), "the operator is not told")
        assert cost.resident_bytes(secure) - before < cost.memory_limit(KEPT_BYTES + WRITING_STREAMS_BYTES)
        # Other clients still read their responses.
        with Http2(secure) as other:
            assert other.status(repeat_edit(other, anna, message, 1)[0]) == 200
        assert ben.texts(room) == ["y"]

    def is_free() -> bool:
        with Http2(secure, "127.0.0.2") as connection:
            return connection.status(repeat_edit(connection, anna, message, 1)[0]) == 200

    wait_until(is_free, "what waited for clients that have left still counts")


def test_the_unread_rest_of_a_response_takes_little_memory(secure):
    """Observed: the last bytes kept the whole response in memory, and did not count."""
    anna = World(secure).user("Anna")
    message = edited_message(secure, anna, anna.room("Tea"))
    before = cost.resident_bytes(secure)
    with contextlib.ExitStack() as stack:
        for _ in range(WRITING_CONNECTIONS):
            connection = stack.enter_context(Http2(secure, "127.0.0.2", window=DATA_BYTES))
            streams = repeat_edit(connection, anna, message, STREAMS)
            assert set(connection.statuses(STREAMS).values()) == {200} and len(streams) == STREAMS
        cost.until_idle(secure)
        assert cost.resident_bytes(secure) - before < cost.memory_limit(WRITING_STREAMS_BYTES)


def test_an_address_has_a_limited_number_of_streams(secure):
    """Observed: each waiting stream took 47 KB, and an address could open 100,000 of them."""
    with Http2(secure) as connection:
        assert connection.status(connection.request("/healthz")) == 200
    cost.until_idle(secure)
    before = cost.resident_bytes(secure)
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(Http2(secure, "127.0.0.2", window=0)) for _ in range(CONNECTIONS)]
        opened = [[connection.request("/healthz") for _ in range(STREAMS)] for connection in connections]
        wait_until(lambda: STREAMS_WARNING in secure.tail(), "the operator is not told")
        refused = sum(connection.resets(streams) for connection, streams in zip(connections, opened, strict=True))
        assert refused == CONNECTIONS * STREAMS - OPEN_STREAMS
        assert cost.resident_bytes(secure) - before < cost.memory_limit(STREAMS_BYTES)
        with Http2(secure) as other:
            assert other.status(other.request("/healthz")) == 200

    def is_free() -> bool:
        with Http2(secure, "127.0.0.2") as connection:
            return connection.resets([connection.request("/healthz")]) == 0

    wait_until(is_free, "streams of connections that have ended still count")
