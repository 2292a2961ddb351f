"""Generated hostile requests: no request is expensive, none fails in the server, and the others are served meanwhile.

HANSARD_HOSTILE_SEEDS=1-5000 runs more of them; the seed of a failure is in the test's name.
"""

import json
import os
import socket

import pytest

from harness import cost
from harness.client import new_id
from harness.hostile_inputs import HostileInputs
from harness.people import PASSWORD

# Processor seconds of one request. A login hashes a password, which takes a tenth of a second.
REQUEST_SECONDS = 0.5
# Requests of one seed.
REQUESTS = 12
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


@pytest.mark.parametrize("seed", seeds())
def test_no_generated_request_is_expensive(server, target, shared_world, seed):
    eve, ben, room = target
    inputs = HostileInputs(seed)
    for number in range(REQUESTS):
        kind, value = inputs.value()
        method, path, body, has_token = request(inputs, room, value)
        caller = eve if has_token else shared_world.nobody
        data = body.encode("utf-8", "surrogatepass")
        with cost.costs_at_most(server, REQUEST_SECONDS):
            response = caller.request(method, path, data=data)
        # 503 says that more passwords wait to be hashed than the server takes.
        assert response.status_code < 500 or response.status_code == 503, (
            f"{number}: {kind} in {method} {path}: {response.text[:300]}")
    # What was accepted can be returned, to others too, and costs no more than it did to send.
    for reader in (eve, ben):
        for path in ("/v1/rooms", f"{room.path}/messages", "/v1/search?q=hi", "/v1/badge"):
            with cost.costs_at_most(server, REQUEST_SECONDS):
                assert reader.request("GET", path).status_code == 200, path
    cost.responds(server)


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
