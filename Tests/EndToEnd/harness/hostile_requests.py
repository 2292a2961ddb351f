"""Makes hostile requests from a seed: a hostile value in a JSON body, in an ingest line, in a query or in a header."""

import json
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field

from .client import NDJSON, Api, new_id
from .hostile_inputs import HostileInputs, base64url, encoded
from .people import PASSWORD, Room

# The most lines of one ingest, and the most extra header fields of one request. The server accepts 100 header fields.
MOST_LINES, MOST_FIELDS = 4, 120
QUERIES = [
    # Path, parameter, and how often it is chosen.
    ("/v1/search", "q", 4), ("/v1/search?q=hi", "cursor", 1), ("/v1/search?q=hi", "roomId", 1), ("/v1/search?q=hi", "since", 1),
    ("{room}/messages", "before", 2), ("{room}/messages", "after", 1), ("{room}/messages", "around", 2),
    ("{room}/messages", "limit", 1), ("{room}/members", "cursor", 1), ("/v1/rooms", "cursor", 2),
    ("/v1/rooms", "archived", 1), ("/v1/threads", "cursor", 1), ("/v1/me", None, 1),
    ("/v1/sync", "since", 2), ("/v1/sync", "rooms", 1), ("/v1/sync", "include", 1), ("/v1/sync", "limit", 1),
]
HEADERS = [
    "Idempotency-Key", "If-Match", "Hansard-Act-As", "Content-Type", "Content-Encoding", "Accept", "Cookie", "Range", "X-Padding",
]


@dataclass(frozen=True)
class HostileRequest:
    """A request without `Host` and `Content-Length`."""

    description: str
    method: str
    target: str
    headers: dict[str, str | bytes] = field(default_factory=dict)
    data: bytes | None = None

    @property
    def is_ingest(self) -> bool:
        return self.target == "/v1/ingest"

    @property
    def may_hash(self) -> bool:
        """Whether the server may hash a password for it."""
        return self.target in ("/v1/sessions", "/v1/accounts")

    def http1_bytes(self) -> bytes:
        """The request as HTTP/1.1 bytes, with `Connection: close`."""
        headers = {"Host": "127.0.0.1", "Connection": "close"} | self.headers
        if self.data is not None:
            headers = {"Content-Type": "application/json"} | headers | {"Content-Length": str(len(self.data))}
        lines = [f"{self.method} {self.target} HTTP/1.1".encode()]
        lines += [name.encode() + b": " + (value if isinstance(value, bytes) else value.encode()) for name, value in headers.items()]
        return b"\r\n".join([*lines, b"", self.data or b""])


class HostileRequests:
    """Requests of one user in one room. The same seed makes the same request, but with new IDs."""

    def __init__(self, caller: Api, room: Room):
        """Each list of the caller needs at least two items; a shorter list has no cursor."""
        self.caller = caller
        self.room = room
        self.cursors: dict[str, str | None] = {}
        self.generators: list[Callable[[HostileInputs], HostileRequest]] = [
            self.in_body, self.in_ingest, self.in_query, self.in_header]

    def anywhere(self, inputs: HostileInputs) -> HostileRequest:
        return inputs.random.choice(self.generators)(inputs)

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.caller.token}"}

    def in_body(self, inputs: HostileInputs) -> HostileRequest:
        choice = inputs.random.choice
        kind, value = inputs.value()
        email = f"{new_id()}@example.org"
        method, path, body, member, has_token = choice([
            ("POST", "/v1/sessions", {"email": email, "password": PASSWORD}, choice(["email", "password", "x"]), False),
            ("POST", "/v1/accounts", {"email": email, "password": PASSWORD, "nickname": "Eve"},
             choice(["email", "password", "nickname", "id"]), False),
            ("PUT", self.room.message(new_id()), {"text": "hi"}, choice(["text", "replyTo", "mentions"]), True),
            ("PUT", self.room.message(new_id()), {"text": "hi", "type": "app.event"}, choice(["data", "data", "type"]), True),
            ("PATCH", self.room.path, {}, choice(["name", "topic", "picture"]), True),
            ("POST", "/v1/rooms", {"name": "Tea"}, choice(["name", "kind", "memberIds"]), True),
            ("PUT", f"/v1/devices/{new_id()}", {"name": "phone"}, choice(["name", "fcmToken", "notifications"]), True),
            ("PATCH", "/v1/me", {}, choice(["nickname", "email"]), True),
            ("POST", "/v1/workspaces", {}, "name", True),
        ])
        text = choice([with_member(body, member, value), with_member(body, member, value), value])
        return HostileRequest(f"{kind} in {method} {path}", method, path, self.token if has_token else {}, encoded(text))

    def in_ingest(self, inputs: HostileInputs) -> HostileRequest:
        """Each line has its own hostile value, which may replace the whole line."""
        choice, room = inputs.random.choice, self.room.id
        lines, kinds = [], []
        for _ in range(inputs.random.randint(1, MOST_LINES)):
            kind, value = inputs.value()
            command, member = choice([
                ({"op": "message.send", "roomId": room, "id": new_id(), "text": "hi"}, choice(["text", "id", "mentions", "op"])),
                ({"op": "message.send", "roomId": room, "id": new_id(), "type": "app.event"}, "data"),
                ({"op": "message.send", "roomId": room, "id": new_id(), "type": "app.event"}, "data"),
                ({"op": "room.create", "id": new_id()}, choice(["name", "topic", "kind"])),
                ({"op": "room.edit", "roomId": room}, choice(["name", "topic"])),
            ])
            lines.append(choice([with_member(command, member, value), with_member(command, member, value), value]))
            kinds.append(kind)
        headers = self.token | {"Content-Type": NDJSON}
        return HostileRequest(
            f"{', '.join(kinds)} in lines of an ingest", "POST", "/v1/ingest", headers, encoded("\n".join(lines)))

    def in_query(self, inputs: HostileInputs) -> HostileRequest:
        path, parameter, _ = inputs.random.choices(QUERIES, [weight for *_, weight in QUERIES])[0]
        path = path.format(room=self.room.path)
        kind, value = inputs.text()
        value = inputs.random.choice([value, value, base64url_text(value)])
        if parameter in ("cursor", "before", "after", "since") and inputs.random.random() < 0.5 and (known := self.cursor(path)):
            kind, value = "moved cursor", inputs.moved_cursor(known)
        quoted = urllib.parse.quote(encoded(value), safe="")
        # If there is no parameter, the value is used as the name of one.
        pair = f"{quoted}=1" if parameter is None else f"{parameter}={quoted}"
        target = f"{path}{'&' if '?' in path else '?'}{pair}"
        return HostileRequest(f"{kind} in {path}, {parameter}", "GET", target, self.token)

    def cursor(self, path: str) -> str | None:
        """The list's cursor for its second page; None if the list has only one page."""
        if path not in self.cursors:
            page = self.caller.get(path, limit=1)
            self.cursors[path] = page.get("nextCursor", page.get("cursor"))
        return self.cursors[path]

    def in_header(self, inputs: HostileInputs) -> HostileRequest:
        choice = inputs.random.choice
        kind, value = inputs.text()
        method, path, body = choice([
            ("GET", "/v1/me", None), ("GET", self.room.path, None), ("PUT", self.room.message(new_id()), {"text": "hi"}),
            ("PATCH", self.room.path, {"topic": "tea"}), ("POST", "/v1/sessions/refresh", {"refreshToken": "x"}),
        ])
        data = None if body is None else json.dumps(body).encode()
        # A header value cannot contain these bytes.
        content = encoded(value).translate(None, b"\r\n\0").strip()
        place = choice(["bearer", "bearer", "token of JSON", "many", *HEADERS])
        if place == "bearer":
            headers = {"Authorization": b"Bearer " + content}
        elif place == "token of JSON":
            kind, value = inputs.value()
            header = base64url_text('{"alg":"EdDSA","kid":"hansard-1"}')
            signed = choice([f"{base64url_text(value)}.e30.AA", f"{header}.{base64url_text(value)}.AA"])
            headers = {"Authorization": f"Bearer {signed}"}
        elif place == "many":
            count = inputs.random.randint(1, MOST_FIELDS)
            headers = self.token | {f"X-{number}": content[:inputs.random.randint(0, 100)].strip() for number in range(count)}
        else:
            headers = self.token | {place: content}
        return HostileRequest(f"{kind} in {place} of {method} {path}", method, path, headers, data)


def with_member(body: dict, member: str, value: str) -> str:
    """The body as JSON, with the given JSON text as the value of one member."""
    members = [f"{json.dumps(name)}:{json.dumps(known)}" for name, known in body.items() if name != member]
    return "{" + ",".join([*members, f"{json.dumps(member)}:{value}"]) + "}"


def base64url_text(text: str) -> str:
    """Base64url without padding, as in tokens and cursors."""
    return base64url(encoded(text))
