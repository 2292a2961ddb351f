"""Live streams, with the same interface for every transport, and clients that keep a mirror with one."""

import base64
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import httpx
import requests.adapters

from .client import Api, new_id
from .contract import contract
from .errors import documented_codes
from .long_polls import STREAMS_OF_USER
from .mirror import Key, Mirror, differences, key_of, shown_to
from .waiting import wait_until

STREAM = "/v1/sync/stream"
CHUNK_BYTES = 64 * 1024
# The first byte of a cursor that is inside the initial state, and of one that is not inside a response of several pages.
INITIAL, COMPLETE = 3, 1
# The bytes of a cursor before its position: the kind and a mark of the log.
BYTES_BEFORE_POSITION = 5


@dataclass(frozen=True)
class Frame:
    """What a stream sends: an event, or a comment, whose name begins with a colon."""

    name: str
    data: dict | None = None
    id: str | None = None
    # How long a browser waits before it connects again.
    retry: int | None = None


class StreamEnded(Exception):
    """The stream has sent its last frame, or its connection was closed without one."""

    def __init__(self, end: dict | None):
        super().__init__(str(end))
        self.end = end


class LiveStream(Protocol):
    """An open stream of one user. Each call waits, up to the time limit of the harness."""

    def frame(self) -> Frame:
        """The next frame. Raises `StreamEnded` if the server has closed the stream in an orderly way."""

    def page(self) -> dict:
        """The next page, past everything else. Raises `StreamEnded` at the end of the stream."""
        while True:
            frame = self.frame()
            if frame.name == "end":
                raise StreamEnded(frame.data)
            if frame.name == "sync":
                return frame.data

    def close(self) -> None:
        """Leaves without a word to the server."""


# Opens a stream: the caller, its cursor, and the rest of the query.
Opening = Callable[..., LiveStream]


class EventStream(LiveStream):
    """Server-sent events."""

    def __init__(self, response: requests.Response | httpx.Response, chunks: Iterator[bytes], close: Callable[[], None]):
        self.response = response
        self.close = close
        self._chunks = chunks
        self._received = b""

    def frame(self) -> Frame:
        while b"\n\n" not in self._received:
            chunk = next(self._chunks, b"")
            if not chunk:
                assert not self._received, f"the stream ends in the middle of an event: {self._received[:200]}"
                raise StreamEnded(None)
            self._received += chunk
        block, self._received = self._received.split(b"\n\n", 1)
        return parsed(block.decode())

    def last_frame(self) -> Frame:
        """Reads the stream to its end, and returns the event `end`."""
        while (frame := self.frame()).name != "end":
            pass
        try:
            raise AssertionError(f"something follows the end: {self.frame()}")
        except StreamEnded:
            return frame

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def parsed(block: str) -> Frame:
    """An event, checked against the contract."""
    if block.startswith(":"):
        return Frame(block)
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    frame = Frame(fields["event"], json.loads(fields["data"]), fields.get("id"), int(fields.get("retry", 0)) or None)
    if frame.name == "sync":
        contract().validate_named("SyncPage", frame.data)
        assert frame.id == frame.data["cursor"]
        return frame
    assert frame.id is None and frame.data["type"] == frame.name
    if frame.name == "end":
        assert frame.data["code"] in documented_codes() and frame.data["detail"]
        assert frame.retry == (frame.data.get("resumeAfterMilliseconds") or None)
    return frame


def open_events(api: Api, since: str | None = None, *, last_event_id: str | None = None,
                receive_bytes: int | None = None, headers: dict[str, str] | None = None, **query) -> EventStream:
    """Opens a stream over HTTP/1.1, on its own connection.

    `receive_bytes` is the size of the client's receive buffer, so that one who reads slowly can be simulated.
    """
    api = api.again()
    if receive_bytes is not None:
        api.http.mount("http://", SmallBuffers(receive_bytes))
    response = api.request("GET", STREAM, params=query_of(since, query), headers=headers_of(last_event_id, headers), stream=True)
    assert response.status_code == 200, response.text

    def chunks() -> Iterator[bytes]:
        while chunk := response.raw.read1(CHUNK_BYTES):
            yield chunk

    def close() -> None:
        response.close()
        api.http.close()

    return EventStream(response, chunks(), close)


def open_events_over_http2(client: httpx.Client) -> Opening:
    """Opens streams on one HTTP/2 connection."""

    def open(api: Api, since: str | None = None, **query) -> EventStream:
        url = f"{api.server.url}{STREAM}"
        request = client.build_request(
            "GET", url, params=query_of(since, query), headers={"Authorization": f"Bearer {api.token}"})
        response = client.send(request, stream=True)
        contract().check("GET", url, response)
        assert (response.status_code, response.http_version) == (200, "HTTP/2")
        return EventStream(response, response.iter_raw(), response.close)

    return open


def query_of(since: str | None, query: dict) -> dict:
    return query | ({"since": since} if since is not None else {})


def headers_of(last_event_id: str | None, headers: dict[str, str] | None) -> dict[str, str]:
    return (headers or {}) | ({"Last-Event-ID": last_event_id} if last_event_id is not None else {})


class SmallBuffers(requests.adapters.HTTPAdapter):
    def __init__(self, receive_bytes: int):
        self.receive_bytes = receive_bytes
        super().__init__()

    def init_poolmanager(self, *arguments, **options) -> None:
        size = (socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_bytes)
        super().init_poolmanager(*arguments, socket_options=[size], **options)


def open_all(api: Api, count: int = STREAMS_OF_USER) -> list[EventStream]:
    """As many streams as a user, or a device, can have. Streams that were closed count until the server notices."""

    def open() -> EventStream | None:
        try:
            return open_events(api)
        except AssertionError as failure:
            assert "too_many_streams" in str(failure)
            return None

    return [wait_until(open, "a closed stream still counts") for _ in range(count)]


def refused(api: Api, code: str, headers: dict[str, str] | None = None, **query) -> dict:
    """The problem with which the server refuses a stream. If it opens one, this fails and does not wait."""
    return api.refused(code, "GET", STREAM, params=query, headers=headers, stream=True)


def kind_and_position(cursor: str) -> tuple[int, int]:
    data, position = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), 0
    for place, byte in enumerate(data[BYTES_BEFORE_POSITION:]):
        position |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    return data[0], position


def mark(api: Api, device: str | None = None) -> int:
    """Changes a device of the user, and returns the position. Of a device that exists, only the name changes."""
    return api.put(f"/v1/devices/{device or new_id()}", {"name": new_id()})["position"]


@dataclass
class LiveClient:
    """A client that keeps a mirror with a stream. It drops and resumes streams when the test says so, and checks that
    what it gets is in order and that nothing comes twice."""

    api: Api
    open: Opening = open_events
    query: dict = field(default_factory=dict)
    cursor: str | None = None
    stream: LiveStream | None = None
    mirror: Mirror = field(default_factory=Mirror)
    # The items since the client began, without the users that others need.
    items: list[dict] = field(default_factory=list)
    # The newest position up to which the client has everything.
    position: int = 0
    _seen: set[tuple[Key, int, bool]] = field(default_factory=set)

    def connect(self) -> "LiveClient":
        self.stream = self.open(self.api, self.cursor, **self.query)
        return self

    def drop(self) -> None:
        self.stream.close()
        self.stream = None

    def page(self) -> dict:
        """Waits for the next page and applies it."""
        page = self.stream.page()
        self._check(page)
        for item in page["items"]:
            self.mirror.apply(item)
        self.cursor = page["cursor"]
        return page

    def reach(self, position: int) -> "LiveClient":
        """Reads until the client has everything up to this position, which must concern its user."""
        while self.position < position:
            self.page()
        return self

    def follow(self) -> None:
        """Waits for everything that a request would get now. It must come although nothing happens afterwards."""
        missing = self.api.again().get("/v1/sync", since=self.cursor, limit=1000)["items"]
        self.reach(max((item["revision"] for item in missing), default=0))

    def begin(self) -> "LiveClient":
        """Opens a stream, and reads all of the current state."""
        self.connect()
        while self.page()["more"]:
            pass
        return self

    def check(self) -> None:
        """Waits until the client has everything, and compares the mirror with what the endpoints show."""
        device = next((key.id for key in self.mirror.of_type("device")), None)
        self.reach(mark(self.api.again(), device))
        self.mirror.load_gaps(self.api)
        lines = differences(self.mirror, shown_to(self.api))
        assert not lines, "the mirror differs:\n" + "\n".join(lines[:20])

    def _check(self, page: dict) -> None:
        assert page["items"], "a page without items"
        items = [item for item in page["items"] if item["type"] not in ("user", "gap")]
        for item in items:
            seen = (key_of(item), item["revision"], "removed" in item)
            assert seen not in self._seen, f"twice: {seen}"
            self._seen.add(seen)
        if self.cursor is not None and kind_and_position(self.cursor)[0] != INITIAL:
            revisions = [item["revision"] for item in self.items[-1:] + items] if self.position else []
            assert revisions == sorted(revisions), f"not in order: {revisions}"
        kind, position = kind_and_position(page["cursor"])
        if kind == COMPLETE:
            assert position > self.position, f"the position does not rise: {position} after {self.position}"
            self.position = position
        self.items += items
