"""The HTTP/1.1 side of the stand-ins for push services."""

import asyncio
from collections.abc import Callable

HEAD_BYTES = 32_768


class Http1Connection:
    """One connection. `answer` gets method, path, header fields and body of each request, and returns the reply and the
    push that was recorded, if any."""

    PROTOCOL = "http/1.1"

    def __init__(self, service, transport: asyncio.Transport, answer: Callable):
        self.service = service
        self.transport = transport
        self.answer = answer
        self.is_closed = False
        self.buffer = b""
        # Whether a response is being delayed. The next request is read after it.
        self.is_busy = False
        self.push: object = None

    def receive(self, data: bytes) -> None:
        self.buffer += data
        self._read()

    def _read(self) -> None:
        while not self.is_busy and not self.is_closed and (request := self._next()):
            reply, self.push = self.answer(*request)
            if reply.delay:
                self.is_busy = True
                self.service._loop.call_later(reply.delay, self._send_late, reply)
            else:
                self._send(reply)

    def _next(self) -> tuple[str, str, list[tuple[str, str]], bytes] | None:
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            if len(self.buffer) > HEAD_BYTES:
                self._refuse("the head of a request is too long")
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = [line.partition(":") for line in lines]
        headers = [(name.lower(), value.strip()) for name, _, value in fields]
        values = dict(headers)
        if "transfer-encoding" in values or len(first.split(" ")) != 3:
            self._refuse(f"{first}, with {values.get('transfer-encoding')}")
            return None
        length = int(values.get("content-length", "0"))
        if len(rest) < length:
            return None
        self.buffer = rest[length:]
        method, path, _ = first.split(" ")
        return method, path, headers, rest[:length]

    def lose(self) -> None:
        """The connection is closed."""
        self.is_closed = True
        if self.is_busy:
            self.service.give_up(self.push)

    def _refuse(self, fault: str) -> None:
        self.service.faults.append(f"HTTP/1.1: {fault}")
        self.is_closed = True
        self.transport.close()

    def _send_late(self, reply) -> None:
        self.is_busy = False
        if not self.is_closed:
            self._send(reply)
            self._read()

    def _send(self, reply) -> None:
        match reply.ending.value:
            case "silence":
                self.is_busy = True
                return
            case "drop" | "reset":
                self.is_closed = True
                self.transport.abort()
                return
        fields = {"content-length": str(len(reply.body))} | reply.headers
        if reply.goes_away:
            fields["connection"] = "close"
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.transport.write(f"HTTP/1.1 {reply.status:03} Status\r\n{head}\r\n".encode() + reply.body)
        if reply.goes_away:
            self.is_closed = True
            self.transport.close()
