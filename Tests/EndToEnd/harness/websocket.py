"""A WebSocket client that sends exactly the bytes that a test asks for, also wrong ones."""

import base64
import dataclasses
import hashlib
import os
import socket
import ssl
import struct

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
IDENTIFIER = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TIMEOUT_SECONDS = 60
MASK = bytes([0x12, 0x34, 0x56, 0x78])


@dataclasses.dataclass(frozen=True)
class Frame:
    opcode: int
    payload: bytes
    is_final: bool = True
    reserved: int = 0


def masked(payload: bytes) -> bytes:
    count = len(payload)
    key = (MASK * (count // 4 + 1))[:count]
    return (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(count)


def header(opcode: int, length: int, is_final: bool = True, reserved: int = 0, is_masked: bool = True) -> bytes:
    first, bit = (0x80 if is_final else 0) | reserved << 4 | opcode, 0x80 if is_masked else 0
    if length <= 125:
        return bytes([first, bit | length])
    if length <= 65_535:
        return bytes([first, bit | 126]) + struct.pack(">H", length)
    return bytes([first, bit | 127]) + struct.pack(">Q", length)


def encode(
    opcode: int, payload: bytes = b"", is_final: bool = True, reserved: int = 0, is_masked: bool = True
) -> bytes:
    start = header(opcode, len(payload), is_final, reserved, is_masked)
    return start + MASK + masked(payload) if is_masked else start + payload


def close_payload(code: int, reason: bytes = b"") -> bytes:
    return struct.pack(">H", code) + reason


def upgrade(path: str, key: str = "dGhlIHNhbXBsZSBub25jZQ==", protocol: str = "websocket", more: str = "") -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: {protocol}\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n{more}\r\n"
    ).encode()


class Connection:
    """A TCP or TLS connection to a server."""

    def __init__(self, server, tls: ssl.SSLContext | None = None):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def fill(self) -> bool:
        """Reads more. Returns false at the end of the connection."""
        data = self.socket.recv(1 << 20)
        self.buffer += data
        return bool(data)

    def take(self, count: int) -> bytes:
        parts, missing = [self.buffer[:count]], count - len(self.buffer[:count])
        self.buffer = self.buffer[count:]
        while missing:
            part = self.socket.recv(min(missing, 1 << 20))
            assert part, "the server closed the connection in the middle of a frame or response"
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def head(self) -> str:
        """The head of a response."""
        while b"\r\n\r\n" not in self.buffer:
            assert self.fill(), f"the server closed the connection after {self.buffer!r}"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head.decode()

    def response(self) -> tuple[int, str]:
        """The status and the head of a response with a Content-Length, whose body is dropped."""
        head = self.head()
        lengths = [line.split(":")[1] for line in head.lower().split("\r\n") if line.startswith("content-length:")]
        self.take(int(lengths[0]) if lengths else 0)
        return int(head.split()[1]), head

    def is_ended(self) -> bool:
        """Waits for the end of the connection. Returns whether nothing more came before it."""
        return not self.buffer and self.socket.recv(1) == b""


class WebSocket(Connection):
    """A connection on which the handshake was made."""

    def __init__(self, server, path: str, tls: ssl.SSLContext | None = None):
        super().__init__(server, tls)
        key = base64.b64encode(os.urandom(16)).decode()
        self.send(upgrade(path, key))
        lines = self.head().split("\r\n")
        assert lines[0] == "HTTP/1.1 101 Switching Protocols", lines
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        accept = base64.b64encode(hashlib.sha1((key + IDENTIFIER).encode()).digest()).decode()
        assert (fields["upgrade"], fields["connection"]) == ("websocket", "upgrade")
        assert fields["sec-websocket-accept"] == accept
        assert "sec-websocket-extensions" not in fields and "sec-websocket-protocol" not in fields

    def frame(self) -> Frame:
        first, second = self.take(2)
        assert not second & 0x80, "a server's frames have no mask"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self.take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.take(8))
        return Frame(first & 0xF, self.take(length), bool(first & 0x80), first >> 4 & 0x7)

    def send_frame(self, opcode: int, payload: bytes = b"", **options) -> None:
        self.send(encode(opcode, payload, **options))

    def expect(self, opcode: int, payload: bytes) -> None:
        frame = self.frame()
        # Without the payloads, which can have megabytes.
        assert (frame.opcode, frame.is_final, frame.reserved) == (opcode, True, 0), frame.payload[:200]
        assert len(frame.payload) == len(payload) and frame.payload == payload

    def expect_close(self, code: int | None) -> None:
        """The server sends a close frame with this code, and then closes the connection."""
        frame = self.frame()
        assert frame.opcode == CLOSE, frame
        if code is None:
            assert frame.payload == b""
        else:
            assert struct.unpack(">H", frame.payload[:2]) == (code,), frame
        assert self.is_ended()
