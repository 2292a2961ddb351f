"""Generated hostile requests: none is expensive or fails in the server, and others are served in the meantime.

HANSARD_HOSTILE_SEEDS=1-5000 runs more of them. The seed of a failure is in the name of the test.
"""

import contextlib
import http.client
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import cost
from harness.client import Api, new_id, read_results
from harness.hostile_inputs import HostileInputs
from harness.hostile_requests import HostileRequest, HostileRequests

# Limits in processor seconds: for one request, and for one that hashes a password, which takes a tenth of a second.
REQUEST_SECONDS, HASHING_SECONDS = 0.2, 0.5
# How many requests of each kind one seed sends one after the other, each in a single piece.
REQUESTS = {"in_body": 10, "in_ingest": 8, "in_query": 16, "in_header": 16}
# How many bytes the requests of one seed may add to the server's memory.
SEED_BYTES = 16 * cost.MIB
# Seconds between two requests for /healthz while those of a seed are in flight.
HEALTH_PAUSE = 0.05
# Connections that send a part of a request and no more.
SLOW_CONNECTIONS = 200


def seeds() -> list[int]:
    first, _, last = os.environ.get("HANSARD_HOSTILE_SEEDS", "1-24").partition("-")
    return list(range(int(first), int(last or first) + 1))


@pytest.fixture(scope="module")
def target(server, shared_world):
    eve, ben = shared_world.users("Eve", "Ben")
    eve.room("Coffee", ben)
    room = eve.room("Tea", ben)
    for text in ("hi", "hi again"):
        root = eve.send(room, text)["id"]
        eve.put(room.message(new_id()), {"text": "a reply", "threadId": root})
    return eve, ben, HostileRequests(eve, room)


@contextlib.contextmanager
def others_are_served(server):
    """Requests /healthz repeatedly during the block. Fails if a response failed or came too late."""
    is_over = threading.Event()

    def request() -> int:
        count = 0
        while count == 0 or not is_over.wait(HEALTH_PAUSE):
            cost.responds(server)
            count += 1
        return count

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(request)
        try:
            yield
        finally:
            is_over.set()
        assert asking.result() >= 1


class Sender:
    """Sends generated requests, and checks what each costs and how the server responds."""

    def __init__(self, server, requests: HostileRequests, seed: int):
        self.server = server
        self.api = Api(server)
        self.requests = requests
        self.inputs = HostileInputs(seed)

    def check(self, what: str, status: int) -> None:
        # 503 means that more passwords wait to be hashed than the server accepts.
        assert status < 500 or status == 503, f"{what}: {status}"

    def limited(self, request: HostileRequest):
        seconds = HASHING_SECONDS if request.may_hash else REQUEST_SECONDS
        return cost.costs_at_most(self.server, seconds, request.description)

    def send(self, request: HostileRequest, api: Api) -> None:
        response = api.request(request.method, request.target, data=request.data, headers=request.headers)
        self.check(request.description, response.status_code)
        if request.is_ingest and response.status_code == 200:
            for result in read_results(response.content):
                self.check(request.description, result["status"])

    def send_one(self, request: HostileRequest) -> float:
        """Sends the request and returns the processor seconds that it cost."""
        with self.limited(request) as used:
            self.send(request, self.api)
        return used.seconds

    def send_many(self) -> None:
        """Sends different requests: first one by one, and then, with new IDs, all at once on separate connections. At
        once they cannot be measured separately, but together they cost about as much as before."""
        seeds = [self.inputs.random.getrandbits(64) for _ in range(self.inputs.many())]

        def generated() -> list[HostileRequest]:
            return [self.requests.anywhere(HostileInputs(seed)) for seed in seeds]

        alone = sum(self.send_one(request) for request in generated())
        with cost.measured(self.server) as together, ThreadPoolExecutor(len(seeds)) as pool:
            sent = [pool.submit(self.send, request, self.api.again()) for request in generated()]
        for each in sent:
            each.result()
        limit = 2 * alone + REQUEST_SECONDS * cost.SLOWNESS
        assert together.seconds <= limit, f"{together.seconds:.2f} s at once, {alone:.2f} s one after the other"

    def send_slowly(self) -> None:
        """Sends one request in pieces, including its head."""
        request = self.requests.anywhere(self.inputs)
        with self.limited(request):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as connection:
                # The server may respond before it has read the whole request, and close the connection.
                with contextlib.suppress(OSError):
                    for piece, pause in self.inputs.slow(request.http1_bytes()):
                        connection.sendall(piece)
                        time.sleep(pause)
                response = http.client.HTTPResponse(connection)
                response.begin()
        self.check(f"slow: {request.description}", response.status)


@pytest.mark.parametrize("seed", seeds())
def test_no_generated_request_is_expensive(server, target, seed):
    eve, ben, requests = target
    sender = Sender(server, requests, seed)
    before = cost.resident_bytes(server)
    with others_are_served(server):
        for kind, count in REQUESTS.items():
            for _ in range(count):
                sender.send_one(getattr(requests, kind)(sender.inputs))
        sender.send_many()
        sender.send_slowly()
    # Whatever was accepted can be returned, to others too, and costs no more than sending it.
    cost.until_idle(server)
    for reader in (eve, ben):
        for path in ("/v1/rooms", f"{requests.room.path}/messages", "/v1/search?q=hi", "/v1/badge"):
            with cost.costs_at_most(server, REQUEST_SECONDS, path):
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
