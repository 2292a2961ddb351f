"""Bodies that do not end: the memory that they hold is limited per address, and is released."""

import contextlib
import time

import h2.events
import pytest
import requests

from harness import certificates, cost
from harness.http2 import Http2
from harness.people import World
from harness.server import PATIENT, Server
from harness.waiting import wait_until

PATH = "/v1/sessions/refresh"
# Limits.bodyBytesOfAddress.
BYTES_OF_ADDRESS = 32 * cost.MIB
BODY_BYTES = 127_000
HELD = BYTES_OF_ADDRESS // BODY_BYTES
STREAMS = 100
# Enough connections that their streams do not all fit. Few are used, because the server closes connections that send
# nothing for 20 seconds.
CONNECTIONS = HELD // STREAMS + 1
# The memory that the server may use for all of these streams, including the bodies.
MEMORY_BYTES = 64 * cost.MIB
PATIENCE_SECONDS = 90


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    certificate = certificates.make(tmp_path_factory.mktemp("certificate"))
    environment = PATIENT | certificate.environment
    server = Server(
        tmp_path_factory.mktemp("bodies") / "data", environment=environment,
        authority=str(certificate.authority)).start()
    yield server
    server.end()


class BodySender(Http2):
    """Sends long bodies, and stops when it gets a response."""

    def __init__(self, server: Server, source: str = "127.0.0.1"):
        super().__init__(server, source)
        self.streams: list[int] = []
        # Zero for a stream that the server has reset.
        self.statuses: dict[int, int] = {}

    @property
    def held(self) -> int:
        """Requests that wait for the end of their bodies."""
        return len(self.streams) - len(self.statuses)

    def receive(self, seconds: float) -> None:
        """Handles everything that arrives within this time, in seconds."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(65_536)
        except TimeoutError:
            return
        finally:
            self.socket.settimeout(PATIENCE_SECONDS)
        assert data, "the connection was closed"
        for event in self.protocol.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                self.statuses[event.stream_id] = int(dict(event.headers)[b":status"])
            if isinstance(event, h2.events.StreamReset):
                self.statuses.setdefault(event.stream_id, 0)
            if isinstance(event, h2.events.DataReceived) and event.flow_controlled_length:
                self.protocol.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self.flush()

    def send(self, ends: bool = False) -> int:
        """Sends one body, with or without its end, or as much of it as the server accepts. Returns the number of the
        stream."""
        stream = self.request(PATH, ("content-type", "application/json"), method="POST", ends=False)
        self.streams.append(stream)
        unsent, deadline = BODY_BYTES, time.monotonic() + PATIENCE_SECONDS
        while unsent and stream not in self.statuses:
            size = min(
                unsent, self.protocol.local_flow_control_window(stream), self.protocol.max_outbound_frame_size)
            if not size:
                assert time.monotonic() < deadline, "the server takes no more of a body and does not respond"
                self.receive(1)
                continue
            unsent -= size
            self.protocol.send_data(stream, b"a" * size, end_stream=ends and not unsent)
            self.flush()
        return stream

    def status_of_whole(self) -> int:
        """The status of a request with a complete body."""
        stream = self.send(ends=True)
        wait_until(lambda: self.receive(0.05) or stream in self.statuses, "a whole body gets no response")
        return self.statuses[stream]


def fill(stack: contextlib.ExitStack, server: Server, connections: int) -> list[BodySender]:
    """Sends more unfinished bodies than fit, until every body that the server does not keep has its response."""
    senders = [stack.enter_context(BodySender(server)) for _ in range(connections)]
    for sender in senders:
        for _ in range(STREAMS):
            sender.send()

    def is_within_limit() -> bool:
        for sender in senders:
            sender.receive(0.01)
        return sum(sender.held for sender in senders) <= HELD

    wait_until(is_within_limit, f"the server keeps more than {HELD} bodies")
    assert {status for sender in senders for status in sender.statuses.values()} - {0} == {503}
    assert sum(sender.held for sender in senders) > HELD * 3 // 4, "bodies are refused though there is room"
    return senders


def test_unfinished_bodies_of_one_address_have_a_limit(secure):
    cost.until_idle(secure)
    before = cost.resident_bytes(secure)
    with contextlib.ExitStack() as stack:
        fill(stack, secure, CONNECTIONS)
        grown = cost.resident_bytes(secure) - before
        assert grown < cost.memory_limit(MEMORY_BYTES), f"{grown / cost.MIB:.0f} MiB"
        with BodySender(secure) as same, BodySender(secure, "127.0.0.2") as other:
            assert same.status_of_whole() == 503
            # The status shows that the whole body was read: it is not valid JSON.
            assert other.status_of_whole() == 400
    cost.responds(secure)


def test_the_budget_is_given_back_when_the_client_leaves(secure):
    for _ in range(2):
        with contextlib.ExitStack() as stack:
            fill(stack, secure, CONNECTIONS)

        def is_free() -> bool:
            with BodySender(secure) as connection:
                return connection.status_of_whole() == 400
        wait_until(is_free, "bodies are refused after those that filled the memory are gone")
    anna = World(secure).user("Anna")
    anna.send(anna.room("Tea"), "x" * 10_000)


def test_the_budget_is_given_back_with_every_response(secure):
    """Together the bodies are longer than the budget."""
    with requests.Session() as session:
        for _ in range(HELD + STREAMS):
            response = session.post(
                secure.url + PATH, data=b"a" * BODY_BYTES, headers={"Content-Type": "application/json"}, timeout=60,
                verify=secure.authority)
            assert (response.status_code, response.json()["code"]) == (400, "invalid_json")


def test_a_refused_body_gets_the_code_overloaded(secure):
    with contextlib.ExitStack() as stack:
        fill(stack, secure, CONNECTIONS)
        response = requests.post(
            secure.url + PATH, data=b"a" * BODY_BYTES, headers={"Content-Type": "application/json"}, timeout=60,
            verify=secure.authority)
        assert (response.status_code, response.json()["code"]) == (503, "overloaded")
        assert int(response.headers["Retry-After"]) >= 1
    # Hundreds of bodies were rejected by the tests of this file, but the server's output has only one line per minute.
    logged = secure.errors.read_text()
    warnings = [line for line in logged.splitlines() if "request bodies from an address" in line]
    assert 0 < len(warnings) < STREAMS and all("127.0.0.1" in line for line in warnings)
    assert "a" * 20 not in logged
