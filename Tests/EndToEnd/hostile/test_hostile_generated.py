"""Generated hostile requests: none is expensive or fails in the server, and others are served meanwhile.

HANSARD_HOSTILE_SEEDS=1-5000 runs more of them; the seed of a failure is in the test's name.
"""

import contextlib
import http.client
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import cost
from harness.client import Api, new_id
from harness.hostile_inputs import HostileInputs
from harness.people import PASSWORD

# Processor seconds of one request. A login hashes a password, which takes a tenth of a second.
REQUEST_SECONDS = 0.5
# Requests of one seed that are sent one after the other, each in one piece.
REQUESTS = 10
# Bytes by which the requests of one seed may raise the server's memory.
SEED_BYTES = 16 * cost.MIB
# Seconds between two requests for /healthz while those of a seed are under way.
HEALTH_PAUSE = 0.05
# Connections that send something of a request and no more.
SLOW_CONNECTIONS = 200


def seeds() -> list[int]:
    first, _, last = os.environ.get("HANSARD_HOSTILE_SEEDS", "1-24").partition("-")
    return list(range(int(first), int(last or first) + 1))


def at(body: dict, field: str, value: str) -> str:
    """The body as JSON, with the text of a value in one field."""
    members = [f"{json.dumps(name)}:{json.dumps(known)}" for name, known in body.items() if name != field]
    return "{" + ",".join([*members, f"{json.dumps(field)}:{value}"]) + "}"


def request(inputs: HostileInputs, room, value: str) -> tuple[str, str, str, bool]:
    """Method, path and body of a request with the value in it, and whether it is sent with a token."""
    choice = inputs.random.choice
    email = f"{new_id()}@example.org"
    method, path, body, field, has_token = choice([
        ("POST", "/v1/sessions", {"email": email, "password": PASSWORD}, choice(["email", "password", "x"]), False),
        ("POST", "/v1/accounts", {"email": email, "password": PASSWORD, "nickname": "Eve"},
         choice(["email", "password", "nickname", "id"]), False),
        ("PUT", room.message(new_id()), {"text": "hi"}, choice(["text", "replyTo", "mentions"]), True),
        ("PUT", room.message(new_id()), {"text": "hi", "type": "app.event"}, choice(["data", "data", "type"]), True),
        ("PATCH", room.path, {}, choice(["name", "topic", "picture"]), True),
        ("POST", "/v1/rooms", {"name": "Tea"}, choice(["name", "kind", "memberIds"]), True),
        ("PUT", f"/v1/devices/{new_id()}", {"name": "phone"}, choice(["name", "fcmToken", "notifications"]), True),
        ("PATCH", "/v1/me", {}, choice(["nickname", "email"]), True),
        ("POST", "/v1/workspaces", {}, "name", True),
    ])
    return method, path, choice([at(body, field, value), at(body, field, value), value]), has_token


@pytest.fixture(scope="module")
def target(server, shared_world):
    eve, ben = shared_world.users("Eve", "Ben")
    return eve, ben, eve.room("Tea", ben)


@contextlib.contextmanager
def others_are_served(server):
    """Asks for /healthz again and again during the block; fails when one of the responses failed or came too late."""
    is_over = threading.Event()

    def ask() -> int:
        count = 0
        while count == 0 or not is_over.wait(HEALTH_PAUSE):
            cost.responds(server)
            count += 1
        return count

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            yield
        finally:
            is_over.set()
        assert asking.result() >= 1


class Sender:
    """Sends generated requests and checks what each costs and how the server responds."""

    def __init__(self, server, room, eve, nobody, seed: int):
        self.server = server
        self.room = room
        self.eve = eve
        self.nobody = nobody
        self.inputs = HostileInputs(seed)

    def generated(self) -> tuple[str, str, str, bytes, str | None]:
        """A description, the method, path and body, and the token."""
        kind, value = self.inputs.value()
        method, path, body, has_token = request(self.inputs, self.room, value)
        caller = self.eve if has_token else self.nobody
        return f"{kind} in {method} {path}", method, path, body.encode("utf-8", "surrogatepass"), caller.token

    def check(self, what: str, status: int) -> None:
        # 503 says that more passwords wait to be hashed than the server takes.
        assert status < 500 or status == 503, f"{what}: {status}"

    def send_one(self) -> None:
        what, method, path, data, token = self.generated()
        caller = self.nobody if token is None else self.eve
        with cost.costs_at_most(self.server, REQUEST_SECONDS):
            response = caller.request(method, path, data=data)
        self.check(what, response.status_code)

    def send_many(self) -> None:
        """Different requests at once, each on its own connection."""
        requests = [self.generated() for _ in range(self.inputs.many())]
        limit = REQUEST_SECONDS * len(requests)
        with cost.costs_at_most(self.server, limit), ThreadPoolExecutor(len(requests)) as pool:
            responses = [
                (what, pool.submit(Api(self.server, token).request, method, path, data=data))
                for what, method, path, data, token in requests]
        for what, response in responses:
            self.check(f"many: {what}", response.result().status_code)

    def send_slowly(self) -> None:
        """One request whose body comes in pieces."""
        what, method, path, data, token = self.generated()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        with cost.costs_at_most(self.server, REQUEST_SECONDS), contextlib.closing(connection):
            connection.request(method, path, headers=headers)
            # The server may respond before it has read the whole body, and close the connection.
            with contextlib.suppress(OSError):
                for piece, pause in self.inputs.slow(data):
                    connection.send(piece)
                    time.sleep(pause)
            status = connection.getresponse().status
        self.check(f"slow: {what}", status)


@pytest.mark.parametrize("seed", seeds())
def test_no_generated_request_is_expensive(server, target, shared_world, seed):
    eve, ben, room = target
    sender = Sender(server, room, eve, shared_world.nobody, seed)
    before = cost.resident_bytes(server)
    with others_are_served(server):
        for _ in range(REQUESTS):
            sender.send_one()
        sender.send_many()
        sender.send_slowly()
        # What was accepted can be returned, to others too, and costs no more than it did to send.
        for reader in (eve, ben):
            for path in ("/v1/rooms", f"{room.path}/messages", "/v1/search?q=hi", "/v1/badge"):
                with cost.costs_at_most(server, REQUEST_SECONDS):
                    assert reader.request("GET", path).status_code == 200, path
    grown = cost.resident_bytes(server) - before
    assert grown < cost.memory_limit(SEED_BYTES), f"the server grew by {grown} bytes"


def test_connections_that_send_half_a_request_hold_up_nobody(server):
    halves = [
        b"P", b"POST /v1/sessions HTTP/1.1\r\n", b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nX-",
        b'POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"email',
        b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
    ]
    connections = []
    try:
        with cost.costs_at_most(server, 2):
            for number in range(SLOW_CONNECTIONS):
                connection = socket.create_connection(("127.0.0.1", server.port))
                connection.sendall(halves[number % len(halves)])
                connections.append(connection)
            cost.responds(server)
    finally:
        for connection in connections:
            connection.close()
    cost.responds(server)
