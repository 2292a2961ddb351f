"""Streams over `GET /v1/sync/socket`, and the commands that a client sends over them."""

import collections
import contextlib
import json
import socket
from dataclasses import dataclass

import websockets.sync.client
from websockets.exceptions import ConnectionClosed

from .client import TIMEOUT_SECONDS, Api, new_id
from .contract import REQUEST_ID, contract
from .errors import documented_codes
from .live_streams import Frame, LiveStream, StreamEnded, query_of

SOCKET = "/v1/sync/socket"
# The close codes of ends, by the code of the problem. All others have POLICY.
POLICY = 1008
CLOSE_CODES = {
    "shutting_down": 1001, "internal_error": 1011, "reader_too_slow": 1013, "overloaded": 1013, "projection_behind": 1013,
    "frame_too_large": 1009}
# The fields of the server's other messages.
FIELDS = {
    "ready": {"expiresAt"}, "expiring": {"expiresAt"}, "typing": {"roomId", "userId", "until"},
    "presence": {"userId", "presence"}}
# Frames that break RFC 6455 have codes of their own, and then the close frame has no reason.
BROKEN_FRAMES = {"websocket_malformed": {1002, 1008, 1009}, "invalid_utf8": {1007}, "frame_too_large": {1009}}


@dataclass
class CommandResponse:
    """A message `response`, with what a response of HTTP has, so that it can be checked against the contract."""

    id: str | None
    status_code: int
    headers: dict[str, str]
    body: dict | None

    def json(self) -> dict:
        return self.body

    @property
    def text(self) -> str:
        return json.dumps(self.body)

    @property
    def content(self) -> bytes:
        return b"" if self.body is None else self.text.encode()


class SocketStream(LiveStream):
    """A stream over a WebSocket."""

    def __init__(self, api: Api, connection: websockets.sync.client.ClientConnection):
        self.api = api
        self.connection = connection
        self.responses: dict[str | None, CommandResponse] = {}
        self._commands: dict[str, tuple[str, str]] = {}
        self._pending: collections.deque[Frame] = collections.deque()

    # MARK: The stream

    def frame(self) -> Frame:
        """The next message that is no response."""
        return self._pending.popleft() if self._pending else self._next()

    def ready(self) -> dict:
        """Waits for the message `ready`. Pages that come before are kept."""
        return self._kept(lambda frame: frame.name == "ready").data

    def last_frame(self) -> Frame:
        """Reads the stream to its end, and returns the message `end` after checking the close frame."""
        while (frame := self.frame()).name != "end":
            pass
        try:
            raise AssertionError(f"something follows the end: {self._receive()}")
        except StreamEnded:
            code = frame.data["code"]
            if self.close_reason:
                assert (self.close_code, self.close_reason) == (CLOSE_CODES.get(code, POLICY), code)
            else:
                assert self.close_code in BROKEN_FRAMES[code], (self.close_code, code)
            return frame

    @property
    def close_code(self) -> int:
        return self.connection.protocol.close_code

    @property
    def close_reason(self) -> str:
        return self.connection.protocol.close_reason

    def close(self) -> None:
        """Leaves without a close frame."""
        with contextlib.suppress(OSError):
            self.connection.socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> "SocketStream":
        return self

    def __exit__(self, *_) -> None:
        self.connection.close()

    # MARK: Messages of the client

    def send(self, message: dict | str | bytes) -> None:
        self.connection.send(json.dumps(message, ensure_ascii=False) if isinstance(message, dict) else message)

    def authenticate(self, token: str | None = None, **options) -> None:
        self.send({"type": "authenticate", "token": token or self.api.token} | options)

    def malformed(self, command: dict) -> CommandResponse:
        """The response to a command that is none. It must be a problem."""
        self.send({"type": "command"} | command)
        return self.response(command["id"])

    def begin(self, method: str, path: str, body: dict | None = None, *, key: str | None = None,
              if_match: str | None = None, id: str | None = None) -> str:
        """Sends a command without waiting, and returns its ID."""
        headers = {"Idempotency-Key": key, "If-Match": if_match}
        headers = {name: value for name, value in headers.items() if value is not None}
        optional = ({"headers": headers} if headers else {}) | ({} if body is None else {"body": body})
        command = {"type": "command", "id": id or new_id(), "method": method, "path": path} | optional
        self._commands[command["id"]] = (method, path)
        self.send(command)
        return command["id"]

    def response(self, id: str | None) -> CommandResponse:
        """Waits for the response with this ID. What comes before is kept."""
        while id not in self.responses:
            frame = self._receive()
            if frame is not None:
                self._pending.append(frame)
            assert frame is None or frame.name != "end", frame.data
        return self.responses.pop(id)

    def command(self, method: str, path: str, body: dict | None = None, *, expect: int | None = None, **options) -> dict:
        """If `expect` is None, the command may create or change something."""
        response = self.response(self.begin(method, path, body, **options))
        assert response.status_code in ((200, 201) if expect is None else (expect,)), f"{method} {path}: {response}"
        return response.body

    def refused(self, code: str, method: str, path: str, body: dict | None = None, **options) -> dict:
        problem = self.command(method, path, body, expect=documented_codes()[code], **options)
        assert problem["code"] == code, problem
        return problem

    # MARK: Receiving

    def _kept(self, wanted) -> Frame:
        passed = []
        try:
            while not wanted(frame := self.frame()):
                assert frame.name != "end", frame.data
                passed.append(frame)
            return frame
        finally:
            self._pending.extendleft(reversed(passed))

    def _next(self) -> Frame:
        while (frame := self._receive()) is None:
            pass
        return frame

    def _receive(self) -> Frame | None:
        """The next message; nil if it was a response."""
        try:
            text = self.connection.recv(TIMEOUT_SECONDS)
        except ConnectionClosed as closed:
            if self.connection.protocol.close_rcvd is None:
                raise
            raise StreamEnded(None) from closed
        assert isinstance(text, str)
        message = json.loads(text)
        name = message.get("type", "sync")
        if name == "response":
            self._respond(message)
            return None
        if name == "sync":
            contract().validate_named("SyncPage", message)
        elif name == "end":
            assert documented_codes()[message["code"]] and message["detail"]
            contract().codes_seen.add(message["code"])
        else:
            assert set(message) == {"type", *FIELDS[name]}, message
        return Frame(name, message)

    def _respond(self, message: dict) -> None:
        assert {"type", "id", "status", "body"} <= set(message) <= {"type", "id", "status", "headers", "body"}, message
        response = CommandResponse(message["id"], message["status"], message.get("headers", {}), message["body"])
        assert response.id not in self.responses, f"two responses: {response}"
        self.responses[response.id] = response
        method, path = self._commands.pop(response.id, (None, None))
        if method is None:
            contract().validate_named("Problem", response.body)
            return
        media = "application/problem+json" if response.status_code >= 400 else "application/json"
        extra = {} if response.body is None else {"Content-Type": media}
        # Only responses of HTTP have this header.
        extra[REQUEST_ID] = (response.body or {}).get("requestId", "")
        response.headers |= extra
        contract().check(method, self.api.server.url + path, response)


def connect(api: Api, *, token: bool = True, headers: dict[str, str] | None = None, receive_bytes: int | None = None,
            **query) -> SocketStream:
    """Opens a WebSocket. The request has the token of the caller, unless `token` is false.

    `receive_bytes` is the size of the client's receive buffer. Then the client reads only what the test asks for.
    """
    fields = dict(headers or {})
    if token and api.token is not None:
        fields["Authorization"] = f"Bearer {api.token}"
    if token and api.act_as is not None:
        fields["Hansard-Act-As"] = api.act_as
    path = SOCKET + ("?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else "")
    options = {}
    if receive_bytes is not None:
        own = socket.socket()
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        own.connect(("127.0.0.1", api.server.port))
        options = {"sock": own, "max_queue": 1}
    connection = websockets.sync.client.connect(
        f"ws://127.0.0.1:{api.server.port}{path}", additional_headers=fields, proxy=None, compression=None, max_size=None,
        open_timeout=TIMEOUT_SECONDS, ping_interval=None, legacy=True, **options)
    contract().exercised.add("syncSocket")
    return SocketStream(api, connection)


def open_socket(api: Api, since: str | None = None, **query) -> SocketStream:
    """Opens a stream with the caller's header fields."""
    return connect(api, **query_of(since, query))
