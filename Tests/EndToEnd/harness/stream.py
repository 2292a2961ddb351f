"""`POST /v1/ingest` over a raw socket: a test sends the body in pieces, and reads the results when it chooses to."""

import json
import socket

from .client import NDJSON, check_result
from .server import Server

RECEIVE_BYTES = 64 * 1024


class StreamEnded(Exception):
    """The connection was closed, or the response has ended."""


class IngestStream:
    def __init__(self, server: Server, token: str, content_length: int | None = None, timeout: float = 300):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=timeout)
        self.chunked = content_length is None
        length = "Transfer-Encoding: chunked" if self.chunked else f"Content-Length: {content_length}"
        self.socket.sendall(
            f"POST /v1/ingest HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: {NDJSON}\r\n{length}\r\n\r\n".encode()
        )
        self.buffer = b""
        self.body = b""
        self.status: int | None = None
        self.response_ended = False

    def __enter__(self) -> "IngestStream":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send_bytes(self, data: bytes) -> None:
        if self.chunked:
            data = b"%x\r\n%s\r\n" % (len(data), data)
        self.socket.sendall(data)

    def send(self, *lines: dict) -> None:
        self.send_bytes("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())

    def finish(self) -> None:
        """Marks the end of the body."""
        if self.chunked:
            self.socket.sendall(b"0\r\n\r\n")

    def result(self) -> dict:
        """Waits for the next result line."""
        while b"\n" not in self.body:
            self._receive()
        line, self.body = self.body.split(b"\n", 1)
        result = json.loads(line)
        check_result(result)
        return result

    def results(self):
        """All result lines until the response ends or the connection is closed."""
        while True:
            try:
                yield self.result()
            except (StreamEnded, OSError):
                return

    def _more(self) -> None:
        data = self.socket.recv(RECEIVE_BYTES)
        if not data:
            raise StreamEnded
        self.buffer += data

    def _line(self) -> bytes:
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def _receive(self) -> None:
        """Reads one chunk of the response into `body`."""
        if self.response_ended:
            raise StreamEnded
        if self.status is None:
            self.status = int(self._line().split()[1])
            headers = {}
            while line := self._line():
                name, value = line.decode().split(":", 1)
                headers[name.strip().lower()] = value.strip()
            assert self.status == 200, f"ingest responded with {self.status}"
            assert headers["content-type"].startswith(NDJSON), headers
            assert headers.get("transfer-encoding") == "chunked", headers
        size = int(self._line().split(b";")[0], 16)
        while len(self.buffer) < size + 2:
            self._more()
        self.body += self.buffer[:size]
        self.buffer = self.buffer[size + 2 :]
        if size == 0:
            self.response_ended = True
