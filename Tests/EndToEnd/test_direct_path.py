"""Messages that bypass the router (decision 0036). The same requests go to a server with this path and to one without it:
apart from dates and random IDs, the responses must be the same bytes."""

import itertools
import json
import re
import socket
import threading

import pytest

from harness.client import TIMEOUT_SECONDS, new_id
from harness.metrics import Metered
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.sockets import wait_until_read

ROUTE = "/v1/rooms/{roomId}/messages/{messageId}"
DIRECT = "hansard_http_direct_messages_total"
# A limit is not refilled during a test.
SECONDS = 86_400
# How often a test repeats what depends on when the server is scheduled.
ATTEMPTS = 10
ME = b"GET /v1/me HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer <annaToken>\r\n\r\n"


class Side:
    """One of the two servers, with its own tokens but the same IDs."""

    def __init__(self, folder, direct: bool, environment: dict[str, str]):
        environment = environment | {"HANSARD_HTTP_DIRECT_PATH": str(direct).lower(), "HANSARD_LOG_ACCESS": "true", "HANSARD_LOG_FORMAT": "json"}
        self.metered = Metered(lambda more: Server(folder, environment=environment | more))
        self.server = self.metered.server
        self.values: dict[str, str] = {}

    def begin(self) -> None:
        self.server.start()
        self.world = World(self.server)
        self.values["service"] = self.server.token

    def user(self, name: str, id: str, **session) -> None:
        self.world.admin.post("/v1/accounts", {"id": id, "nickname": name})
        tokens = self.world.acting_as(id).post("/v1/sessions", session)
        self.values |= {name: id, f"{name}Token": tokens["accessToken"]}

    def room(self, name: str, id: str, owner: str) -> None:
        self.world.acting_as(self.values[owner]).post("/v1/rooms", {"id": id, "name": name})
        self.values[name] = id

    def learn_tokens(self) -> None:
        """The direct path takes only tokens that were verified before."""
        for name in ("anna", "ben"):
            connection = self.connect()
            connection.send(ME.replace(b"anna", name.encode()))
            assert "200" in connection.response()[0][0]

    def direct_messages(self) -> int:
        return int(self.metered.scrape().get(DIRECT))

    def connect(self) -> "Connection":
        return Connection(self)


class Connection:
    def __init__(self, side: Side):
        self.side = side
        self.socket = socket.create_connection(("127.0.0.1", side.server.port), TIMEOUT_SECONDS)
        self.received = b""

    def send(self, *pieces: bytes) -> None:
        """Sends the pieces, each when the server has read the one before. Names in braces are replaced by this side's
        values."""
        for number, piece in enumerate(pieces):
            if number:
                wait_until_read(self.socket)
            self.socket.sendall(self.filled(piece))

    def filled(self, piece: bytes) -> bytes:
        for name, value in self.side.values.items():
            piece = piece.replace(b"<" + name.encode() + b">", value.encode())
        return piece

    def read(self) -> bool:
        part = self.socket.recv(65_536)
        self.received += part
        return bool(part)

    def response(self) -> tuple[list[str], str]:
        """The head and the body of the next response, without what differs between any two requests."""
        while b"\r\n\r\n" not in self.received:
            assert self.read(), f"the connection ended after {self.received}"
        head, self.received = self.received.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        length = int(fields.get("content-length", 0))
        while len(self.received) < length:
            assert self.read(), f"the connection ended after {self.received}"
        body, self.received = self.received[:length], self.received[length:]
        return [masked(line) for line in lines], masked(body.decode())

    def is_over(self) -> bool:
        """Whether the server closes the connection, after everything that was read."""
        return not self.received and not self.read()


def masked(text: str) -> str:
    # The length of a problem depends on the ID of the request.
    text = re.sub(r"(?i)^(date|x-request-id|content-length): .*", r"\1: any", text)
    text = re.sub(r'"(sentAt|requestId)":"[^"]*"', r'"\1":"any"', text)
    # The seconds until a limit is refilled.
    return re.sub(r"(;t=|Retry-After: )\d+", r"\1any", text)


class Both:
    """Both servers, with the same users and room."""

    def __init__(self, folder, **settings):
        environment = UNLIMITED | {f"HANSARD_{name}": str(value) for name, value in settings.items()}
        ids = {name: new_id() for name in ("anna", "ben", "tea", "device")}
        self.sides: list[Side] = []
        try:
            for name in ("direct", "routed"):
                side = Side(folder / name, name == "direct", environment)
                self.sides.append(side)
                side.begin()
                side.user("anna", ids["anna"], deviceId=ids["device"])
                side.user("ben", ids["ben"])
                side.room("tea", ids["tea"], "anna")
                side.learn_tokens()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        for side in self.sides:
            side.server.end()


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    both = Both(tmp_path_factory.mktemp("both"))
    yield both.sides
    both.end()


@pytest.fixture
def limited(tmp_path):
    """Starts both servers with further settings, which are named by their variables without the prefix."""
    started = []

    def begin(**settings) -> list[Side]:
        started.append(Both(tmp_path, **settings))
        return started[-1].sides

    yield begin
    for both in started:
        both.end()


def request(
    body: bytes | str = '{"text":"hello"}', *, id: str | None = None, method: str = "PUT", room: str = "<tea>",
    path: str | None = None, token: str | None = "Bearer <annaToken>", version: str = "1.1", kind: str | None =
    "application/json", length: int | None = None, more: tuple[str, ...] = ()
) -> bytes:
    body = body.encode() if isinstance(body, str) else body
    path = path or f"/v1/rooms/{room}/messages/{id or new_id()}"
    lines = [f"{method} {path} HTTP/{version}", "Host: h", *more]
    if token:
        lines.append(f"Authorization: {token}")
    if kind:
        lines.append(f"Content-Type: {kind}")
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def compare(sides: list[Side], *requests: bytes, responses: int = 1) -> list[tuple[list[str], str]]:
    """Sends the requests in one piece, and compares the responses."""
    found = []
    for side in sides:
        connection = side.connect()
        connection.send(b"".join(requests))
        found.append([connection.response() for _ in range(responses)])
    assert found[0] == found[1]
    return found[0]


GOOD = {
    "plain": request(),
    "with an escape": request('{"text":"a \\"b\\" \\u00e9 \\n"}'),
    "with other letters": request(json.dumps({"text": "Grüße, 世界 👩‍👩‍👧"}, ensure_ascii=False)),
    "with white space": request(' {\n "text" : "x" } '),
    "with a control character to escape": request('{"text":"a\\u0001\\tb</script>"}'),
    "with fields of null": request('{"text":"x","replyTo":null,"attachments":null}'),
    "with no files": request('{"text":"x","attachments":[]}'),
    "with a mention": request('{"text":"x","mentions":{"users":["<anna>"]}}', length=74),
    "with a mention of everyone": request('{"text":"x","mentions":{"everyone":true}}'),
    "of an app's type": request('{"type":"order","data":{"b":1,"a":[1.50,"é"]}}'),
    "with the longest body": request('{"text":"' + "x" * (4096 - 11) + '"}'),
    "with upper-case IDs": request(id=new_id().upper()),
    "with a blank text": request('{"text":"  "}'),
    "with a mention of a stranger": request(json.dumps({"text": "x", "mentions": {"users": [new_id()]}})),
    "with the scheme in other case": request(token="bEARER <annaToken>"),
    "of a service": request(token="Bearer <service>", more=("Hansard-Act-As: <anna>",)),
    "with a charset": request(kind="application/json; charset=utf-8"),
    "with fields of browsers and proxies": request(
        more=("User-Agent: x", "Accept: */*", "X-Forwarded-For: 10.1.1.1", "Connection: Keep-Alive", "Cookie: a=b")),
}

ROUTED = {
    "of HTTP/1.0": request(version="1.0"),
    "with a longer body": request('{"text":"' + "x" * (4097 - 11) + '"}'),
    "without a type": request(kind=None),
    "with Idempotency-Key": request(more=(f"Idempotency-Key: {new_id()}",)),
    "with a malformed Idempotency-Key, which it does not need": request(more=("Idempotency-Key: " + "x" * 256,)),
    "with a trace": request(more=("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",)),
    "with a tab at the end of a field": request(more=("User-Agent: x\t",)),
    "with a field that no server knows": request(more=("X-Whatever: 1",)),
    "with a field that is not ASCII": request(more=("User-Agent: gr\u00fc\u00dfe",)),
    "with Origin": request(more=("Origin: https://example.org",)),
    "with Connection: close": request(more=("Connection: close",)),
    "in chunks": request(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    + b"10\r\n{\"text\":\"hello\"}\r\n0\r\n\r\n",
    "to a path with a slash at the end": request(path=f"/v1/rooms/<tea>/messages/{new_id()}/"),
    "to a path with two slashes": request(path=f"/v1/rooms//<tea>/messages/{new_id()}"),
    "to a path with an escape": request(path="/v1/rooms/<tea>/messages/%61" + new_id()[1:]),
}

BAD = {
    "no JSON": request("hello"),
    "an empty body": request(""),
    "no text": request("{}"),
    "a text of the wrong type": request('{"text":1}'),
    "an unknown member": request('{"text":"x","txt":"y"}'),
    "a member twice": request('{"text":"x","text":"y"}'),
    "invalid UTF-8": request(b'{"text":"\xff"}'),
    "a lone surrogate": request('{"text":"\\ud800"}'),
    "a control character": request(b'{"text":"a\x01b"}'),
    "an empty text": request('{"text":""}'),
    "too many marks": request('{"text":"' + "e" + "\u0301" * 40 + '"}'),
    "an ID that is none": request(id="x"),
    "the nil ID": request(id="00000000-0000-0000-0000-000000000000"),
    "an unknown room": request(room=new_id()),
    "a room of others": request(token="Bearer <benToken>"),
    "a query": request(path=f"/v1/rooms/<tea>/messages/{new_id()}?x=1"),
    "another type": request(kind="text/plain"),
    "another charset": request(kind="application/json; charset=latin1"),
    "a compressed body": request(more=("Content-Encoding: gzip",)),
    "If-Match": request(more=('If-Match: "1"',)),
    "no token": request(token=None),
    "an unknown token": request(token="Bearer x.y.z"),
    "a changed token": request(token="Bearer <annaToken>x"),
    "another scheme": request(token="Basic <annaToken>"),
    "two tokens": request(more=("Authorization: Bearer <benToken>",)),
    "acting as another": request(more=("Hansard-Act-As: <ben>",)),
    "a service that acts for nobody": request(token="Bearer <service>"),
    "a service that acts for a stranger": request(token="Bearer <service>", more=(f"Hansard-Act-As: {new_id()}",)),
    "a service that acts for no user ID": request(token="Bearer <service>", more=("Hansard-Act-As: anna",)),
    "a service that acts for two users": request(
        token="Bearer <service>", more=("Hansard-Act-As: <anna>", "Hansard-Act-As: <ben>")),
    "a service that acts for a user in a room of others": request(
        token="Bearer <service>", more=("Hansard-Act-As: <ben>",)),
    "an unknown service": request(token="Bearer <service>x", more=("Hansard-Act-As: <anna>",)),
    "an unknown file": request(json.dumps({"attachments": [{"mediaId": new_id()}]})),
    "an unknown thread": request(json.dumps({"text": "x", "threadId": new_id()})),
    "a reply to nothing": request(json.dumps({"text": "x", "replyTo": new_id()})),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_message_is_sent_without_the_router(sides, name):
    before = [side.direct_messages() for side in sides]
    ((head, body),) = compare(sides, GOOD[name])
    assert head[0] == "HTTP/1.1 201 Created", body
    assert [side.direct_messages() for side in sides] == [before[0] + 1, 0]


@pytest.mark.parametrize("name", ROUTED)
def test_a_message_in_any_other_form_is_sent_by_the_router(sides, name):
    before = sides[0].direct_messages()
    ((head, body),) = compare(sides, ROUTED[name])
    assert head[0] == "HTTP/1.1 201 Created", body
    assert sides[0].direct_messages() == before


@pytest.mark.parametrize("name", BAD)
def test_a_bad_message_gets_the_same_problem(sides, name):
    before = sides[0].direct_messages()
    ((head, _),) = compare(sides, BAD[name])
    assert head[0].split()[1][0] == "4"
    assert sides[0].direct_messages() == before
    # The connection can be used again.
    compare(sides, BAD[name], request(), responses=2)


def test_a_repeat_and_a_conflict_get_the_same_responses(sides):
    id = new_id()
    first, repeat, conflict = compare(sides, request(id=id), request(id=id), request("{\"text\":\"b\"}", id=id), responses=3)
    assert [each[0][0].split()[1] for each in (first, repeat, conflict)] == ["201", "200", "409"]
    assert first[1] == repeat[1]


def test_pipelined_requests_are_answered_in_order(sides):
    """Messages of both paths and other requests, some of them while a message is with the writer."""
    id = new_id()
    pipeline = [
        request(id=id), request(id=id), ME, request(), request("no"), request(), ME, ME, request(kind=None), request()]
    found = compare(sides, *pipeline * 20, responses=200)
    statuses = [head[0].split()[1] for head, _ in found]
    assert statuses[:10] == ["201", "200", "200", "201", "400", "201", "200", "200", "201", "201"]


@pytest.mark.parametrize("cut", [1, 20, 60, -17, -16, -8, -1])
def test_a_message_that_arrives_in_pieces_is_sent_without_the_router(sides, cut):
    before = sides[0].direct_messages()
    # On a busy machine, the second piece can arrive so late that the router gets the message.
    for _ in range(ATTEMPTS):
        found = []
        whole = request(more=("Accept: */*",))
        for side in sides:
            connection = side.connect()
            piece = connection.filled(whole)
            connection.send(piece[:cut], piece[cut:])
            found.append(connection.response())
        assert found[0] == found[1] and "201" in found[0][0][0]
        if sides[0].direct_messages() == before + 1:
            return
    pytest.fail("the router got every message")


def test_a_connection_of_two_users_sends_for_each(sides):
    """A connection remembers the user of its last message. Here, the tokens of two users have the same length."""
    found, carl, device = [], new_id(), new_id()
    for side in sides:
        side.user("carl", carl, deviceId=device)
        assert len(side.values["annaToken"]) == len(side.values["carlToken"])
        connection = side.connect()
        connection.send(ME.replace(b"anna", b"carl"))
        found.append(connection.response()[0][0].split()[1])
        for name in ("anna", "carl", "anna"):
            connection.send(request(token=f"Bearer <{name}Token>"))
            found.append(connection.response()[0][0].split()[1])
    # Carl is not a member of the room.
    assert found == ["200", "201", "404", "201"] * 2


def test_a_message_in_the_head_of_another_request_is_not_sent(sides):
    """The decoder does not report that it has the beginning of a head."""
    found, before = [], sides[0].direct_messages()
    for side in sides:
        connection = side.connect()
        connection.send(b"GET /v1/me HTTP/1.1\r\nHost: h\r\nX-Note: ", request())
        found.append(connection.response())
    # There are two fields with a host.
    assert found[0] == found[1] and "400" in found[0][0][0]
    assert sides[0].direct_messages() == before


@pytest.mark.parametrize("kind", ["good", "bad"])
def test_a_client_that_sends_nothing_more_gets_its_responses(sides, kind):
    found = []
    requests = (GOOD["plain"].replace(b'"hello"', b'"again"'), request() if kind == "good" else request("no"))
    for side in sides:
        connection = side.connect()
        connection.send(b"".join(requests))
        connection.socket.shutdown(socket.SHUT_WR)
        found.append([connection.response() for _ in requests])
        assert connection.is_over()
    assert found[0] == found[1]


@pytest.mark.parametrize("cut", [-1, -16])
def test_a_client_that_sends_half_a_message_and_no_more_gets_an_error(sides, cut):
    found = []
    for side in sides:
        head = side.server.head()
        connection = side.connect()
        connection.send(request()[:cut])
        connection.socket.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.socket.recv(65_536):
            received += part
        assert received.startswith(b"HTTP/1.1 400 ") and b"before the end of its body" in received
        # The length depends on the ID of the request.
        found.append(re.sub(rb"(?i)(content-length|date|x-request-id|requestId)\"?: ?\"?[^\r\"]*", b"", received))
        assert side.server.head() == head
    assert found[0] == found[1]


def test_malformed_http_after_a_message_is_answered_after_it(sides):
    (first, second) = compare(sides, request(), b"nonsense\r\n\r\n", responses=2)
    assert "201" in first[0][0] and "400" in second[0][0]


def test_clients_that_leave_at_once_lose_nothing_and_harm_nothing(sides):
    side = sides[0]
    me = side.world.acting_as(side.values["anna"])
    ids = [new_id() for _ in range(200)]

    def send(some: list[str]) -> None:
        for id in some:
            connection = side.connect()
            connection.send(request(id=id) + request())
            # Sends a reset if the response has arrived.
            connection.socket.close()

    threads = [threading.Thread(target=send, args=(ids[number::4],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    compare(sides[:1] * 2, ME)
    # Whatever arrived was sent once: a repeat is recognised, or the message is new.
    for id in ids:
        response = me.request("PUT", f"/v1/rooms/{side.values['tea']}/messages/{id}", {"text": "hello"})
        assert response.status_code in (200, 201) and response.json()["id"] == id
    assert side.metered.scrape().get("hansard_http_requests_in_flight") == 0


def test_a_message_counts_once_whatever_its_response_is(limited):
    """Also if the direct path leaves it to the router after counting it."""
    sides = limited(
        RATE_LIMITS_ENABLED="true", RATE_LIMITS_USER_REQUESTS=15, RATE_LIMITS_USER_SECONDS=SECONDS,
        RATE_LIMITS_DEVICE_REQUESTS=11, RATE_LIMITS_DEVICE_SECONDS=SECONDS)
    requests = [request(), request("no"), request(room=new_id()), request(), request(id="x"), request(kind=None)]
    statuses = []
    for each in requests * 2:
        ((head, _),) = compare(sides, each)
        statuses.append(head[0].split()[1])
    assert statuses == ["201", "400", "404", "201", "400", "201", "200", "400", "404", "200", "429", "429"]
    # With the request that made the token known, eleven were admitted, and two more were refused after the user's own limit
    # had counted them. Two are left of that one.
    for side in sides:
        side.values["annaToken"] = side.world.acting_as(side.values["anna"]).post("/v1/sessions", {})["accessToken"]
    for expected in ("201", "201", "429"):
        ((head, _),) = compare(sides, request())
        assert head[0].split()[1] == expected


def test_an_address_is_limited_over_both_paths(limited):
    sides = limited(
        RATE_LIMITS_ENABLED="true", RATE_LIMITS_ADDRESS_REQUESTS=8, RATE_LIMITS_ADDRESS_SECONDS=SECONDS,
        PROXIES_TRUSTED="127.0.0.1")
    for address, statuses in {"10.1.1.1": ["201"] * 8 + ["429"], "10.1.1.2, 10.1.1.3": ["201"]}.items():
        for status in statuses:
            ((head, _),) = compare(sides, request(more=(f"X-Forwarded-For: {address}",)))
            assert head[0].split()[1] == status


@pytest.mark.parametrize("origins", ["*", "https://example.org"])
def test_cross_origin_fields_are_the_same(limited, origins):
    sides = limited(CROSS_ORIGIN_ORIGINS=origins)
    for origin in ((), ("Origin: https://example.org",), ("Origin: https://example.com",)):
        compare(sides, request(more=origin))
        compare(sides, request(more=origin))
    assert sides[0].direct_messages() > 0


def test_sessions_and_accounts_that_ended_are_noticed(limited):
    sides = limited()
    compare(sides, request())
    compare(sides, request())
    for side in sides:
        side.world.admin.post(f"/v1/admin/users/{side.values['anna']}/disable", expect=None)
    ((head, body),) = compare(sides, request())
    assert head[0].split()[1] == "401", body


def test_metrics_and_the_access_log_show_the_same(limited):
    sides = limited()
    for each in [request(), request(), request("no"), request(), request(room=new_id())]:
        compare(sides, each)
    scrapes = [side.metered.scrape() for side in sides]
    for status, count in (("201", 3), ("400", 1), ("404", 1)):
        assert [
            scrape.get("hansard_http_requests_total", route=ROUTE, method="PUT", status=status) for scrape in scrapes
        ] == [count, count]
    times = [scrape.get("hansard_http_request_duration_seconds_count", route=ROUTE, method="PUT") for scrape in scrapes]
    assert times == [5, 5]
    assert [scrape.get("hansard_http_requests_in_flight") for scrape in scrapes] == [0, 0]


def test_messages_in_flight_are_answered_at_shutdown(limited):
    sides = limited()
    connections = []
    for side in sides:
        for number in range(64):
            connection = side.connect()
            connection.send(request() + (request() if number % 2 else b""))
            connections.append((connection, 2 if number % 2 else 1))
    for side in sides:
        side.server.stop()
    for connection, count in connections:
        received = b""
        while True:
            try:
                part = connection.socket.recv(65_536)
            except ConnectionResetError:
                break
            if not part:
                break
            received += part
        # A response that was begun is complete.
        assert received.count(b"HTTP/1.1 201") == received.count(b'"deletedAt":null}') <= count
