"""HTTP/1.1 and WebSocket with asyncio: only what the mirrors need, as hundreds of clients share a process."""

import asyncio
import contextlib
import json
import socket
import struct
from dataclasses import dataclass

from ..websocket import CLOSE, PING, PONG, TEXT, close_payload, encode, upgrade

BUFFER_BYTES = 4 * 1024 * 1024
# Closes a connection with a reset instead of an orderly end.
RESET = struct.pack("ii", 1, 0)


class Lost(Exception):
    """The connection ended, but not as its protocol describes."""


class Refused(Exception):
    """A request got a problem."""

    def __init__(self, status: int, problem: dict, retry_after: float):
        super().__init__(f"{status} {problem}")
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    @property
    def code(self) -> str:
        return self.problem.get("code") or self.problem.get("problem") or ""


@dataclass
class Head:
    status: int
    fields: dict[str, str]


class Connection:
    """One connection to the server. Every call raises `Lost` if it ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader = reader
        self.writer = writer
        self.is_closed = False

    @classmethod
    async def open(cls, port: int) -> "Connection":
        try:
            return cls(*await asyncio.open_connection("127.0.0.1", port, limit=BUFFER_BYTES))
        except OSError as error:
            raise Lost("no connection") from error

    def close(self) -> None:
        self.is_closed = True
        self.writer.close()

    def cut(self) -> None:
        """Ends the connection with a reset, unless it has been closed."""
        if self.is_closed:
            return
        self.is_closed = True
        # The connection can have ended already.
        with contextlib.suppress(OSError):
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.writer.transport.abort()

    async def send(self, data: bytes) -> None:
        try:
            self.writer.write(data)
            await self.writer.drain()
        except OSError as error:
            raise Lost("sending") from error

    async def exactly(self, count: int) -> bytes:
        try:
            return await self.reader.readexactly(count)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Lost("receiving") from error

    async def until(self, separator: bytes) -> bytes:
        """The bytes up to the separator, which is included."""
        try:
            return await self.reader.readuntil(separator)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Lost("receiving") from error

    # MARK: HTTP

    async def request(self, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> Head:
        """Sends a request and reads the head of the response."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        await self.send("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        return await self.head()

    async def head(self) -> Head:
        first, *lines = (await self.until(b"\r\n\r\n")).decode().strip().split("\r\n")
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        return Head(int(first.split()[1]), fields)

    async def body(self, head: Head) -> bytes:
        if "content-length" in head.fields:
            return await self.exactly(int(head.fields["content-length"]))
        parts = []
        while part := await self.chunk():
            parts.append(part)
        return b"".join(parts)

    async def chunk(self) -> bytes:
        """The next part of a body without a length; empty at its end."""
        count = int(await self.until(b"\r\n"), 16)
        return (await self.exactly(count + 2))[:-2]

    async def call(self, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> bytes:
        """Sends a request and reads its response. Raises `Refused` if that is a problem."""
        head = await self.request(method, path, headers, body)
        return await self.accepted(head, await self.body(head))

    async def accepted(self, head: Head, body: bytes) -> bytes:
        if head.status >= 400:
            raise Refused(head.status, json.loads(body), float(head.fields.get("retry-after", 0)))
        return body

    # MARK: WebSocket

    async def upgrade(self, path: str, headers: dict[str, str]) -> None:
        await self.send(upgrade(path, more="".join(f"{name}: {value}\r\n" for name, value in headers.items())))
        head = await self.head()
        if head.status != 101:
            await self.accepted(head, await self.body(head))
            raise Lost(f"an upgrade got {head.status}")

    async def send_text(self, text: str) -> None:
        await self.send(encode(TEXT, text.encode()))

    async def text(self) -> str:
        """The next message. The server's messages have one frame each. Answers pings."""
        while True:
            first, second = await self.exactly(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", await self.exactly(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", await self.exactly(8))
            payload, opcode = await self.exactly(length), first & 0xF
            if opcode == TEXT:
                assert first & 0x80, "a message in fragments"
                return payload.decode()
            if opcode == PING:
                await self.send(encode(PONG, payload))
            elif opcode == CLOSE:
                raise Lost("a close frame")

    async def say_goodbye(self) -> None:
        """Sends a close frame, and waits until the server has closed the connection."""
        await self.send(encode(CLOSE, close_payload(1000)))
        try:
            while await self.reader.read(BUFFER_BYTES):
                pass
        except OSError as error:
            raise Lost("saying goodbye") from error
