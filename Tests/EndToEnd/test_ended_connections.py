"""A request after which the server ends the connection, while its body is still arriving: the client can read the whole
response, also if it sends everything before it reads."""

import contextlib
import json
import socket

import pytest

from harness.client import TIMEOUT_SECONDS, new_id

# More than the kernel keeps for a server that does not read.
BODY_BYTES = 16 * 1024 * 1024
PIECE = b"x" * 64 * 1024


def malformed_body(room) -> list[str]:
    return [f"PUT {room.message(new_id())} HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked"]


def malformed_head(room) -> list[str]:
    return [f"PUT {room.message(new_id())} HTTP/1.1", f"Content-Length: {BODY_BYTES}", "Content-Length: 1"]


def head_for_a_stream(_) -> list[str]:
    return ["HEAD /v1/sync/stream HTTP/1.1", f"Content-Length: {BODY_BYTES}"]


def begin(server, anna, lines: list[str]) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS)
    lines += ["Host: h", f"Authorization: Bearer {anna.token}"]
    # Of a body in chunks, this is one chunk and one that is malformed.
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + b"5\r\nhello\r\nzz\r\n")
    return connection


def send(connection: socket.socket) -> None:
    for _ in range(BODY_BYTES // len(PIECE) - 1):
        connection.sendall(PIECE)


def check_response(connection: socket.socket, is_problem: bool) -> None:
    """Reads the response to its end, and then the end of the connection."""
    received = b""
    while part := connection.recv(65_536):
        received += part
    head, body = received.split(b"\r\n\r\n", 1)
    status, *lines = head.decode().lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    assert fields["connection"] == "close"
    if not is_problem:
        assert " 200 " in status and not body
        return
    assert " 400 " in status and len(body) == int(fields["content-length"])
    problem = json.loads(body)
    assert problem["code"] == "malformed_request" and problem["requestId"] == fields["x-request-id"]


CASES = {"malformed body": malformed_body, "malformed head": malformed_head, "head for a stream": head_for_a_stream}


@pytest.mark.parametrize("name", CASES)
def test_the_response_can_be_read(server, anna, room, name):
    with begin(server, anna, CASES[name](room)) as connection:
        with contextlib.suppress(OSError):
            send(connection)
        check_response(connection, name.startswith("malformed"))


@pytest.mark.parametrize("name", [
    "malformed body", "malformed head",
    "head for a stream"])
def test_the_rest_of_the_body_is_discarded(server, anna, room, name):
    with begin(server, anna, CASES[name](room)) as connection:
        send(connection)
        check_response(connection, name.startswith("malformed"))
