"""HTTP/2 for tests: a client that can write its own frames, and read or leave each response."""

import socket
import ssl
import struct

import h2.connection
import h2.events
import h2.settings

from .server import Server

PATIENCE_SECONDS = 90
# The largest flow-control window of a stream or a connection, in bytes (RFC 9113, section 6.9.1).
LARGEST_WINDOW = 2**31 - 1


def bearer(person) -> tuple[str, str]:
    """The header field with the person's access token."""
    return ("authorization", f"Bearer {person.token}")


class Http2:
    """An HTTP/2 connection on which a test can write frames itself."""

    def __init__(self, server: Server, source: str = "127.0.0.1", window: int | None = None):
        """`window` is how many bytes of each response the server may send before the client acknowledges some."""
        context = ssl.create_default_context(cafile=server.authority)
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS, (source, 0))
        self.socket = context.wrap_socket(plain, server_hostname="127.0.0.1")
        self.protocol = h2.connection.H2Connection()
        self.pending: list[tuple[int, int]] = []
        self.ended: set[int] = set()
        self.protocol.initiate_connection()
        self.flush()
        if window is not None:
            self.set_window(window)
            # The window of the connection is as large as possible.
            self.protocol.increment_flow_control_window(LARGEST_WINDOW - self.protocol.inbound_flow_control_window)
            self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def set_window(self, window: int) -> None:
        """Sets the window of new streams and of those that are open."""
        self.protocol.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.flush()

    def flush(self) -> None:
        self.socket.sendall(self.protocol.data_to_send())

    def request(self, path: str, *fields: tuple[str, str], method: str = "GET", ends: bool = True) -> int:
        stream = self.protocol.get_next_available_stream_id()
        head = [(":method", method), (":scheme", "https"), (":authority", "h"), (":path", path), *fields]
        self.protocol.send_headers(stream, head, end_stream=ends)
        self.flush()
        return stream

    def received(self) -> bytes:
        data = self.socket.recv(65_536)
        assert data, "the connection was closed"
        return data

    def status(self, stream: int) -> int:
        """Reads a response to its end and returns its status."""
        status = 0
        while True:
            for event in self.protocol.receive_data(self.received()):
                if isinstance(event, h2.events.DataReceived) and event.flow_controlled_length:
                    self.protocol.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                if isinstance(event, h2.events.ResponseReceived) and event.stream_id == stream:
                    status = int(dict(event.headers)[b":status"])
                if isinstance(event, h2.events.StreamEnded) and event.stream_id == stream:
                    return status
            self.flush()

    def statuses(self, count: int) -> dict[int, int]:
        """The statuses of `count` responses, by stream. Acknowledges no data, so the server sends no more than the
        window allows."""
        found: dict[int, int] = {}
        while len(found) < count:
            for event in self.protocol.receive_data(self.received()):
                if isinstance(event, h2.events.ResponseReceived):
                    found[event.stream_id] = int(dict(event.headers)[b":status"])
                if isinstance(event, h2.events.DataReceived):
                    self.pending.append((event.flow_controlled_length, event.stream_id))
                if isinstance(event, h2.events.StreamEnded):
                    self.ended.add(event.stream_id)
            self.flush()
        return found

    def resets(self, streams: list[int]) -> int:
        """How many of these streams the server resets. Each of the others must get the headers of a response."""
        left, count = set(streams), 0
        while left:
            for event in self.protocol.receive_data(self.received()):
                if isinstance(event, h2.events.StreamReset):
                    count += event.stream_id in left
                    left.discard(event.stream_id)
                if isinstance(event, h2.events.ResponseReceived):
                    left.discard(event.stream_id)
            self.flush()
        return count

    def take_all(self, streams: list[int], statuses: dict[int, int]) -> None:
        """Reads the responses to their ends, and stores their statuses."""
        for length, stream in self.pending:
            self.protocol.acknowledge_received_data(length, stream)
        self.flush()
        open = set(streams) - self.ended
        while open:
            for event in self.protocol.receive_data(self.received()):
                if isinstance(event, h2.events.ResponseReceived):
                    statuses[event.stream_id] = int(dict(event.headers)[b":status"])
                if isinstance(event, h2.events.DataReceived) and event.flow_controlled_length:
                    self.protocol.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                if isinstance(event, h2.events.StreamEnded):
                    open.discard(event.stream_id)
            self.flush()

    def is_cut_off_by(self, frames: bytes) -> bool:
        """Whether the server closes the connection when it receives these frames, instead of continuing."""
        try:
            self.socket.sendall(frames)
            self.socket.sendall(frame(0x6, b"12345678"))
            received = b""
            while True:
                data = self.socket.recv(65_536)
                if not data:
                    return True
                received += data
                # The response to PING shows that the connection is still served.
                if frame(0x6, b"12345678", flags=1) in received:
                    return False
        except (ConnectionError, ssl.SSLError):
            return True


def frame(type: int, payload: bytes, stream: int = 0, flags: int = 0) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + payload
