"""Requests with `Expect: 100-continue`: the server asks for the body, unless it rejects the request by its head
alone."""

import json
import socket

import pytest

from harness.client import NDJSON, new_id

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TOO_MUCH = 100_000_000
JSON_BYTES = 128 * 1024


class Raw:
    """A connection that sends the head of a request separately from its body."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.data = b""

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def head(self, method: str, path: str, token: str | None, length: int, *fields: str, body: bytes = b"") -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: h", f"Content-Length: {length}", *fields]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def response_head(self) -> bytes:
        """The complete head of the next response."""
        while b"\r\n\r\n" not in self.data:
            more = self.socket.recv(65_536)
            assert more, f"the connection was closed after {self.data!r}"
            self.data += more
        end = self.data.index(b"\r\n\r\n") + 4
        head, self.data = self.data[:end], self.data[end:]
        return head

    def status(self) -> int:
        """The status of a response whose body has a length or comes in one chunk. Discards the body."""
        head = self.response_head()
        fields = dict(line.lower().split(": ", 1) for line in head.decode().strip().split("\r\n")[1:])
        ends = (lambda: b"0\r\n\r\n" in self.data) if "transfer-encoding" in fields else (
            lambda: len(self.data) >= int(fields["content-length"]))
        while not ends():
            more = self.socket.recv(65_536)
            assert more, "the response broke off"
            self.data += more
        self.data = b""
        return int(head.split()[1])


def requests_with_bodies(room) -> list[tuple[str, str, str, bytes, int]]:
    line = json.dumps({"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"}).encode() + b"\n"
    return [
        ("POST", "/v1/media", "application/octet-stream", new_id().encode() * 60_000, 201),
        ("PUT", room.message(new_id()), "application/json", b'{"text":"hello"}', 201),
        ("POST", "/v1/ingest", NDJSON, line, 200),
    ]


def test_a_client_that_expects_100_continue_gets_it(server, anna, room):
    with Raw(server) as raw:
        for method, path, kind, body, status in requests_with_bodies(room):
            raw.head(method, path, anna.token, len(body), f"Content-Type: {kind}", "Expect: 100-continue")
            assert raw.response_head() == CONTINUE
            raw.socket.sendall(body)
            assert raw.status() == status


def test_a_client_that_does_not_expect_100_continue_does_not_get_it(server, anna, room):
    with Raw(server) as raw:
        _, path, kind, body, status = requests_with_bodies(room)[1]
        raw.head("PUT", path, anna.token, len(body), f"Content-Type: {kind}", "Expect: 100-continue", body=body)
        assert raw.status() == status
        raw.head("PUT", room.message(new_id()), anna.token, len(body), f"Content-Type: {kind}", body=body)
        assert raw.status() == status


@pytest.mark.parametrize(
    ("method", "path", "has_token", "length", "status"),
    [
        ("POST", "/v1/media", True, TOO_MUCH, 413), ("POST", "/v1/media", False, 100, 401),
        ("PUT", "/v1/nothing", True, 100, 404), ("PUT", "/v1/me", True, 100, 405),
    ])
def test_a_refused_client_gets_no_100_continue(server, anna, method, path, has_token, length, status):
    with Raw(server) as raw:
        raw.head(method, path, anna.token if has_token else None, length, "Expect: 100-continue")
        assert raw.status() == status


@pytest.mark.parametrize("excess", [0, 1])
@pytest.mark.parametrize("field", ["Expect: 100-continue", "X-Other: 1"])
def test_a_declared_body_that_is_too_large_is_refused_before_it_is_sent(server, anna, room, excess, field):
    with Raw(server) as raw:
        text = b'{"text":"hello"}'
        raw.head("PUT", room.message(new_id()), anna.token, JSON_BYTES + excess, field)
        if excess:
            assert raw.status() == 413
            return
        if field.startswith("Expect"):
            assert raw.response_head() == CONTINUE
        raw.socket.sendall(text.ljust(JSON_BYTES))
        assert raw.status() == 201
