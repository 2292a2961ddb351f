"""The HTTP/2 side of the stand-ins for push services."""

import asyncio
from collections.abc import Callable

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated, DataReceived, Event, RequestReceived, StreamEnded, StreamReset, TrailersReceived)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

# Requests are small, so the window of a connection never has to grow.
WINDOW_BYTES = 2**31 - 1 - 65_535


class Http2Connection:
    """One connection. `answer` gets method, path, header fields and body of each request, and returns the reply and the
    push that was recorded, if any."""

    PROTOCOL = "h2"

    def __init__(self, service, transport: asyncio.Transport, answer: Callable):
        self.service = service
        self.transport = transport
        self.answer = answer
        self.is_closed = False
        # The requests whose end has not arrived: header fields and parts of the body.
        self.incoming: dict[int, tuple[list, list[bytes]]] = {}
        # The streams that have no response yet, with their pushes.
        self.waiting: dict[int, object] = {}
        self.streams = 0
        self.last_stream: int | None = None
        self.h2 = H2Connection(H2Configuration(
            client_side=False, header_encoding="utf-8", validate_outbound_headers=False,
            normalize_outbound_headers=False))
        self.h2.local_settings = Settings(client=False, initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: service.max_streams, SettingCodes.MAX_HEADER_LIST_SIZE: 8_000})
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(WINDOW_BYTES)
        self._flush()

    def receive(self, data: bytes) -> None:
        try:
            events = self.h2.receive_data(data)
        except ProtocolError as error:
            self.service.faults.append(f"HTTP/2: {type(error).__name__}: {error}")
            self._flush()
            self.transport.close()
            return
        for event in events:
            self._take(event)
            if self.is_closed:
                return
        self._flush()

    def _take(self, event: Event) -> None:
        match event:
            case RequestReceived():
                self._begin(event)
            case DataReceived():
                if event.stream_id in self.incoming:
                    self.incoming[event.stream_id][1].append(event.data)
            case StreamEnded():
                if event.stream_id in self.incoming:
                    self._respond(event.stream_id)
            case StreamReset():
                self.incoming.pop(event.stream_id, None)
                self.service.give_up(self.waiting.get(event.stream_id))
                self._end(event.stream_id)
            case TrailersReceived():
                self.service.faults.append("HTTP/2: a request with trailers")
            case ConnectionTerminated():
                if event.error_code != ErrorCodes.NO_ERROR:
                    self.service.faults.append(f"HTTP/2: the client ends with {event.error_code!r}")
                self.transport.close()

    def _begin(self, event: RequestReceived) -> None:
        if self.last_stream is not None:
            self.service.ignored += 1
            return
        self.streams += 1
        self.incoming[event.stream_id] = (event.headers, [])
        self.waiting[event.stream_id] = None
        if self.streams == self.service.goaway_after:
            self.go_away(event.stream_id)

    def _respond(self, stream: int) -> None:
        fields, parts = self.incoming.pop(stream)
        pseudo = {name: value for name, value in fields if name.startswith(":")}
        headers = [(name, value) for name, value in fields if not name.startswith(":")]
        headers.append(("host", pseudo.get(":authority", "")))
        reply, self.waiting[stream] = self.answer(pseudo[":method"], pseudo[":path"], headers, b"".join(parts))
        if reply.delay:
            self.service._loop.call_later(reply.delay, self._send, stream, reply)
        else:
            self._send(stream, reply)

    def _send(self, stream: int, reply) -> None:
        if self.is_closed or stream not in self.waiting:
            return
        match reply.ending.value:
            case "silence":
                return
            case "drop":
                self.is_closed = True
                self.transport.abort()
                return
            case "reset":
                self.h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)
            case _:
                if reply.goes_away:
                    self.go_away(stream)
                for _ in range(reply.hints):
                    self.h2.send_headers(stream, [(":status", "103")])
                headers = [(":status", str(reply.status)), *reply.headers.items()]
                self.h2.send_headers(stream, headers, end_stream=not reply.body)
                if reply.body:
                    self.h2.send_data(stream, reply.body, end_stream=True)
        self._end(stream)
        if reply.delay:
            self._flush()

    def _end(self, stream: int) -> None:
        """A connection that goes away is closed after the last response."""
        self.waiting.pop(stream, None)
        if self.last_stream is not None and not self.waiting:
            self._flush()
            self.transport.close()

    def lose(self) -> None:
        """The connection is closed."""
        self.is_closed = True
        for push in self.waiting.values():
            self.service.give_up(push)

    def go_away(self, last_stream: int) -> None:
        """Announces that streams after this one are not processed. `h2` itself would end the connection at once."""
        if self.last_stream is None:
            # Streams that have begun are still processed.
            self.last_stream = max([last_stream, *self.waiting])
            self._flush()
            self.transport.write(GoAwayFrame(last_stream_id=self.last_stream).serialize())

    def _flush(self) -> None:
        if data := self.h2.data_to_send():
            self.transport.write(data)
