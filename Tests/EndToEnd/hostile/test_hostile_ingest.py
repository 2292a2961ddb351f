"""Streams of `POST /v1/ingest` that flood the server with lines, or read no results."""

import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import cost
from harness.client import new_id, read_results
from harness.people import World
from harness.server import Server
from harness.stream import IngestStream, StreamEnded

STREAMS = 24
STREAMS_OF_USER = 4
SERVICE_STREAMS = 8
# A stream ends after this many consecutive lines that the rate limits reject.
REFUSED_IN_A_ROW = 1_000
# The maximum size of one body.
INGEST_BYTES = 16 * cost.MIB
# The maximum number of lines in one body.
MOST_LINES = 256 * 1024
# All of them in a release build, and fewer in a slower one.
LINES = int(MOST_LINES / cost.SLOWNESS)
TOKENS = 12
SECONDS = 1000
NDJSON_HEADERS = {"Content-Type": "application/x-ndjson"}


def start(folder, **settings) -> Server:
    """A server with its default limits, except for the given ones. They are named by their variables without the
    prefix."""
    environment = {f"HANSARD_{name}": str(value) for name, value in settings.items()}
    return Server(folder / "data", environment=environment).start()


@pytest.fixture(scope="module")
def default_server(tmp_path_factory):
    server = start(tmp_path_factory.mktemp("default"))
    yield server
    server.end()


@pytest.fixture(scope="module")
def few_tokens(tmp_path_factory):
    """A server on which a user has few requests, which do not become available again during a test."""
    server = start(
        tmp_path_factory.mktemp("few"), RATE_LIMITS_USER_REQUESTS=TOKENS, RATE_LIMITS_USER_SECONDS=SECONDS)
    yield server
    server.end()


def send_without_reading(server: Server, token: str, data: bytes, streams: int):
    """Opens streams that send a body each and read nothing. Returns the streams, and the threads that send."""
    opened = [IngestStream(server, token, content_length=len(data)) for _ in range(streams)]

    def send(stream: IngestStream) -> None:
        # The server may reject the stream and close the connection.
        with contextlib.suppress(OSError):
            stream.send_bytes(data)

    threads = [threading.Thread(target=send, args=(stream,)) for stream in opened]
    for thread in threads:
        thread.start()
    return opened, threads


def received(stream: IngestStream) -> bytes:
    """The whole response."""
    with contextlib.suppress(StreamEnded):
        while True:
            stream._receive()
    return stream.body


def test_many_streams_of_one_user_that_reads_nothing(default_server):
    """Observed: 24 streams of `{}` lines raised memory from 54 to 611 MB and delayed /healthz by 20 s."""
    anna = World(default_server).user("Anna")
    cost.until_idle(default_server)
    before = cost.resident_bytes(default_server)
    streams, threads = send_without_reading(default_server, anna.token, b"{}\n" * LINES, STREAMS)
    try:
        for thread in threads:
            cost.responds(default_server)
            thread.join()
        cost.until_idle(default_server)
        grown = cost.resident_bytes(default_server) - before
        assert grown < cost.memory_limit(32 * cost.MIB), f"the server grew by {grown} bytes"
    finally:
        for stream in streams:
            stream.socket.close()


@pytest.mark.alone
def test_streams_of_a_service_leave_time_for_others(default_server):
    """A service's lines are not limited, so each one is decoded, but never on a thread that serves connections."""
    lines = LINES // 4
    before = cost.thread_seconds(default_server)
    with ThreadPoolExecutor(SERVICE_STREAMS) as readers:
        admin = World(default_server).admin
        streams, threads = send_without_reading(default_server, admin.token, b"{}\n" * lines, SERVICE_STREAMS)
        try:
            responses = [readers.submit(received, stream) for stream in streams]
            while not all(response.done() for response in responses):
                cost.responds(default_server)
            for thread in threads:
                thread.join()
            for response in responses:
                assert response.result().count(b'"invalid_field"') == lines
        finally:
            for stream in streams:
                stream.socket.close()
    used = cost.thread_seconds(default_server) - before
    # The event loops read the bodies and write the results. If they decoded the lines too, the pool would have nothing
    # to do.
    assert used["loops"] < used["pool"], f"{dict(used)} seconds"


def test_a_user_has_few_streams_at_once(default_server):
    world = World(default_server)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    line = {"op": "message.send", "roomId": room.id, "text": "x"}

    def opened(person) -> IngestStream:
        stream = IngestStream(default_server, person.token)
        stream.send(line | {"id": new_id()})
        assert stream.result()["status"] == 201
        return stream

    streams = [opened(anna) for _ in range(STREAMS_OF_USER)]
    try:
        refused = anna.refused("too_many_streams", "POST", "/v1/ingest", data=b"{}\n", headers=NDJSON_HEADERS)
        assert str(STREAMS_OF_USER) in refused["detail"]
        streams.append(opened(ben))
        # The limit does not apply to a service, which belongs to the operator.
        streams += [IngestStream(default_server, world.admin.token) for _ in range(STREAMS_OF_USER + 1)]
        for stream in streams[STREAMS_OF_USER + 1:]:
            stream.send({"op": "nothing"})
            assert stream.result()["status"] == 400
        streams[0].finish()
        assert list(streams[0].results()) == []
        # A client that has seen the end of a stream can open the next one at once.
        streams.append(opened(anna))
    finally:
        for stream in streams:
            stream.socket.close()


def test_each_line_costs_what_a_request_does(few_tokens):
    world = World(few_tokens)
    anna = world.user("Anna")
    room = anna.room("Tea")
    lines = [{"op": "message.send", "roomId": room.id, "id": new_id(), "text": f"{n}"} for n in range(TOKENS)]
    # The room took one request, and the ingest itself another.
    left = TOKENS - 2
    results = anna.ingest(lines)
    assert [result["status"] for result in results] == [201] * left + [429] * 2
    assert {result["code"] for result in results[left:]} == {"rate_limited"}
    assert '"user"' in results[-1]["detail"]
    assert anna.request("GET", "/v1/me").status_code == 429
    # Rejected lines had no effect and can be sent again. A service is exempt from the limit.
    again = world.acting_as(anna.id).ingest(lines)
    assert [result["status"] for result in again] == [200] * left + [201] * 2


def test_bad_lines_and_repeats_count_towards_the_limit(few_tokens):
    ben = World(few_tokens).user("Ben")
    room = ben.room("Tea")
    line = {"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"}
    results = ben.ingest([line] * 3 + [{}] * 3 + [{"op": "x" * 140_000}] + [line] * (TOKENS - 9) + [line])
    assert [result.get("code", result["status"]) for result in results] == (
        [201, 200, 200] + ["invalid_field"] * 3 + ["line_too_long"] + [200] * (TOKENS - 9) + ["rate_limited"])


def test_a_line_that_is_refused_is_cheap_and_many_in_a_row_end_the_stream(few_tokens):
    """Observed: 262,144 rejected lines in a single request cost 0.8 s of processor time."""
    carla = World(few_tokens).user("Carla")
    with cost.costs_at_most(few_tokens, 0.5):
        results = carla.ingest_bytes(b"{}\n" * MOST_LINES)
    passed = TOKENS - 1
    assert [result["code"] for result in results] == (
        ["invalid_field"] * passed + ["rate_limited"] * REFUSED_IN_A_ROW)
    assert [result["line"] for result in results] == list(range(1, passed + REFUSED_IN_A_ROW + 1))
    assert "the stream ends here" not in results[-2]["detail"] and "the stream ends here" in results[-1]["detail"]


def test_fewer_refused_lines_do_not_end_the_stream(few_tokens):
    carla = World(few_tokens).user("Carla")
    results = carla.ingest([{}] * (TOKENS - 1 + REFUSED_IN_A_ROW - 1))
    assert len(results) == TOKENS - 1 + REFUSED_IN_A_ROW - 1
    assert "the stream ends here" not in results[-1]["detail"]


def test_blank_lines_count_as_lines(default_server):
    """16 MiB of line feeds once cost a single request of the limit, and seconds of processor time."""
    dora = World(default_server).user("Dora")
    room = dora.room("Tea")
    line = json.dumps({"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"}).encode()
    streams, threads = [], []
    try:
        with cost.costs_at_most(default_server, 0.5):
            body = line + b"\n" * (INGEST_BYTES - 1000) + line
            streams, threads = send_without_reading(default_server, dora.token, body, 1)
            cost.responds(default_server)
            threads[0].join()
            results = read_results(received(streams[0]))
        assert [(result["line"], result["status"]) for result in results] == [(1, 201), (MOST_LINES + 1, 413)]
        assert results[1]["code"] == "body_too_large" and str(MOST_LINES) in results[1]["detail"]
    finally:
        for stream in streams:
            stream.socket.close()


def test_blank_lines_up_to_the_limit_of_lines(few_tokens):
    """The last line is a command, which costs no more than one request."""
    finn = World(few_tokens).user("Finn")
    room = finn.room("Tea")
    line = json.dumps({"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"}).encode()
    with cost.costs_at_most(few_tokens, 0.5):
        results = finn.ingest_bytes(b"\n" * (MOST_LINES - 1) + line)
    assert [(result["line"], result["status"]) for result in results] == [(MOST_LINES, 201)]


def test_one_stream_makes_few_rooms(default_server):
    """Observed: one ingest of 11 MB created 150,000 rooms, and memory rose from 54 to 314 MB."""
    world = World(default_server)
    eve = world.user("Eve")
    cost.until_idle(default_server)
    before = cost.resident_bytes(default_server)
    lines = [{"op": "room.create", "id": new_id(), "name": "x"} for _ in range(6_000)]
    results = eve.ingest(lines)
    created = [result["status"] for result in results].count(201)
    # The daily quota.
    assert created == 200
    assert {result["code"] for result in results if result["status"] == 429} == {"quota_exceeded", "rate_limited"}
    cost.until_idle(default_server)
    grown = cost.resident_bytes(default_server) - before
    assert grown < cost.memory_limit(16 * cost.MIB), f"the server grew by {grown} bytes"
