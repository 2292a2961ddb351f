"""Heads, bodies and connections have limits, and a client that sends too slowly is disconnected."""

import errno
import json
import os
import socket
import threading
import time

import pytest
import requests

from harness.client import Api, new_id
from harness.contract import contract
from harness.errors import documented_codes
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.stream import IngestStream

TARGET_BYTES = 8 * 1024
HEADER_FIELDS = 100
FIELD_BYTES = 16 * 1024
# A connection is closed after two seconds; on a slow machine it takes longer.
SOON, LATE = 1.5, 15
ANSWER_BYTES_PER_SECOND = 50_000
MEDIUM_BYTES = 8 * 1024 * 1024
# The server needs several seconds for them.
PIPELINED = 4000
# Far longer than the impatient server waits for a client that reads too slowly, even for one that was faster before.
PATIENCE_SECONDS = 100


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server that waits two seconds for a head. It waits as long for a body that arrives at less than 200 bytes/s,
    and for a client that reads a response at less than 50,000 bytes/s."""
    environment = UNLIMITED | {
        "HANSARD_CONNECTIONS_HEAD_SECONDS": "2", "HANSARD_CONNECTIONS_BODY_SECONDS": "2",
        "HANSARD_CONNECTIONS_BODY_BYTES_PER_SECOND": "200",
        "HANSARD_CONNECTIONS_ANSWER_BYTES_PER_SECOND": str(ANSWER_BYTES_PER_SECOND),
    }
    server = Server(tmp_path_factory.mktemp("impatient") / "data", environment=environment).start()
    yield server
    server.end()


def connect(server: Server) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.settimeout(60)
    return connection


def drip(connection: socket.socket, began: float) -> float:
    """Sends one byte every tenth of a second until the connection is closed. Returns how long that took from the
    beginning."""
    connection.setblocking(False)
    while time.monotonic() - began < 2 * LATE:
        try:
            connection.send(b"x")
            if connection.recv(1024) == b"":
                break
        except BlockingIOError:
            pass
        except OSError:
            break
        time.sleep(0.1)
    return time.monotonic() - began


def response_of(connection: socket.socket) -> tuple[int, dict[str, str], dict]:
    data = b""
    while chunk := connection.recv(65_536):
        data += chunk
    head, body = data.split(b"\r\n\r\n", 1)
    status, *fields = head.decode().split("\r\n")
    return int(status.split()[1]), dict(field.split(": ", 1) for field in fields), json.loads(body)


def test_a_request_target_has_a_limit(server):
    api = Api(server)
    path = "/v1/nothing?x="
    for size, code in ((-1, "route_not_found"), (0, "route_not_found"), (1, "target_too_long")):
        api.refused(code, "GET", path + "y" * (TARGET_BYTES - len(path) + size))


def test_a_head_has_limits_that_the_response_names(server):
    def request(fields: dict[str, str]) -> requests.Response:
        url = f"{server.url}/v1/me"
        response = requests.get(url, headers=fields, timeout=60)
        contract().check("GET", url, response)
        return response

    usual = len(requests.Session().headers) + 1
    for count, status in ((HEADER_FIELDS - usual, 401), (HEADER_FIELDS - usual + 1, 431)):
        assert request({f"X-{number}": "1" for number in range(count)}).status_code == status
    for size, status in ((FIELD_BYTES, 401), (FIELD_BYTES + 1, 431)):
        assert request({"X-Long": "x" * size}).status_code == status
    refused = request({f"X-{number}": "x" * 4_000 for number in range(9)})
    assert refused.status_code == 431 == documented_codes()["headers_too_large"]
    assert refused.headers["Connection"] == "close"


def test_a_head_sent_byte_by_byte_is_cut_off(impatient):
    connection = connect(impatient)
    began = time.monotonic()
    connection.sendall(b"GET /v1/me HTTP/1.1\r\nHost: h\r\nX-Slow: ")
    assert SOON < drip(connection, began) < LATE
    # The second request of a connection has the same limit.
    connection = connect(impatient)
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
    assert b"200" in connection.recv(4096)
    time.sleep(3)
    began = time.monotonic()
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Slow: ")
    assert SOON < drip(connection, began) < LATE


def test_a_body_sent_byte_by_byte_is_cut_off(impatient):
    connection = connect(impatient)
    began = time.monotonic()
    connection.sendall(
        b"POST /v1/accounts HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n")
    assert SOON < drip(connection, began) < LATE


def test_a_body_that_comes_steadily_is_waited_for(impatient):
    connection = connect(impatient)
    body = b" " * 9_997 + b"{}\n"
    head = (
        b"POST /v1/accounts HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n"
        b"Content-Length: 10000\r\n\r\n")
    # Each piece allows ten more seconds, so it does not matter when a slow machine sends the next one.
    for start in range(0, len(body), 2_000):
        connection.sendall((b"" if start else head) + body[start : start + 2_000])
        time.sleep(1)
    status, _, problem = response_of(connection)
    assert status == 400 and problem["code"] == "invalid_field"


def test_the_body_of_a_refused_request_is_cut_off(impatient):
    """An ingest may pause, but not after it was rejected."""
    connection = connect(impatient)
    began = time.monotonic()
    connection.sendall(b"POST /v1/ingest HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n")
    assert b" 401 " in connection.recv(4096)
    assert SOON < drip(connection, began) < LATE


@pytest.fixture(scope="module")
def medium(impatient):
    """The owner of a large file, and its path."""
    anna = World(impatient).user("Anna")
    response = anna.request("POST", "/v1/media", data=os.urandom(MEDIUM_BYTES))
    assert response.status_code == 201
    return anna, f"/v1/media/{response.json()['id']}"


def request(server: Server, path: str, token: str) -> socket.socket:
    """Requests a response over a connection with a small receive buffer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.settimeout(PATIENCE_SECONDS)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    return connection


def test_a_client_that_reads_byte_by_byte_is_cut_off(impatient, medium):
    anna, path = medium
    with request(impatient, path, anna.token) as connection:
        began = time.monotonic()
        with pytest.raises(ConnectionResetError):
            while time.monotonic() - began < PATIENCE_SECONDS:
                assert connection.recv(64)
                time.sleep(0.2)
        assert time.monotonic() - began > 1.5


def test_a_client_that_reads_nothing_is_cut_off(impatient, medium):
    anna, path = medium
    with request(impatient, path, anna.token) as connection:
        began = time.monotonic()
        # The client reads nothing, so only the state of the socket shows the disconnection.
        while connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != errno.ECONNRESET:
            assert time.monotonic() - began < PATIENCE_SECONDS, "it was not cut off"
            time.sleep(0.2)
        assert time.monotonic() - began > 1.5


def test_a_client_that_reads_steadily_gets_the_whole_response(impatient, medium):
    anna, path = medium
    with request(impatient, path, anna.token) as connection:
        began, received = time.monotonic(), 0
        while received < MEDIUM_BYTES:
            received += len(connection.recv(65_536))
            # Reads ten times as fast as required.
            ahead = received / (10 * ANSWER_BYTES_PER_SECOND) - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)
        assert time.monotonic() - began > 10


def test_a_response_with_nothing_to_send_is_not_cut_off(impatient):
    anna = World(impatient).user("Anna")
    room = anna.room("Tea")
    with IngestStream(impatient, anna.token) as stream:
        for _ in range(3):
            stream.send({"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"})
            assert stream.result()["status"] == 201
            time.sleep(3)


def test_a_client_that_sends_many_requests_at_once_delays_nobody(server, anna, room):
    """The connections of the others are distributed over the event loops, so some share one with this client. Without
    turns, their event loop would answer every pipelined request of a read before it read from the others."""
    others = [anna.again() for _ in range(4 * os.cpu_count())]
    for other in others:
        other.get("/v1/me")
    reader = ReaderOfMany(connect(server))
    reader.start()
    reader.connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * PIPELINED)
    for _ in range(3):
        for other in others:
            other.put(room.message(new_id()), {"text": "hello"})
    assert reader.answered < PIPELINED
    reader.join()
    assert reader.answered == PIPELINED


class ReaderOfMany(threading.Thread):
    """Counts the responses to pipelined requests for a path that does not exist, until all have arrived."""

    MARKER = b"HTTP/1.1 404"

    def __init__(self, connection: socket.socket):
        super().__init__(daemon=True)
        self.connection, self.answered = connection, 0

    def run(self) -> None:
        rest = b""
        while self.answered < PIPELINED and (piece := self.connection.recv(65536)):
            pieces = (rest + piece).split(self.MARKER)
            self.answered += len(pieces) - 1
            rest = pieces[-1][-len(self.MARKER) + 1:]
        self.connection.close()


def test_connections_have_a_limit(tmp_path):
    server = Server(
        tmp_path / "data", environment=UNLIMITED | {"HANSARD_CONNECTIONS_MAXIMUM": "4"}).start()
    try:
        held = [connect(server) for _ in range(4)]
        for connection in held:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        assert all(b" 200 " in connection.recv(4096) for connection in held)
        waiting = connect(server)
        waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        waiting.settimeout(1)
        with pytest.raises(TimeoutError):
            waiting.recv(4096)
        held.pop().close()
        waiting.settimeout(60)
        assert b" 200 " in waiting.recv(4096)
        for connection in [*held, waiting]:
            connection.close()
    finally:
        server.end()


def test_every_response_has_security_headers(server, anna, room):
    responses = [
        anna.request("GET", "/v1/me"), anna.request("GET", "/v1/nothing"), anna.request("PUT", "/v1/me"),
        Api(server).request("GET", "/v1/me"), Api(server).request("GET", "/healthz"),
        anna.request("PUT", room.message("018f2f4e-1111-7abc-8def-0123456789ab"), {"text": "hello"}),
        anna.request("POST", "/v1/accounts", data=b"{"),
    ]
    assert [response.status_code for response in responses] == [200, 404, 405, 401, 200, 201, 400]
    for response in responses:
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "no-store"
