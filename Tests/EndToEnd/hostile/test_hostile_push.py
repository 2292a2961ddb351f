"""A misbehaving receiver of push notifications delays only itself."""

import contextlib
import http.server
import json
import socket
import threading
import time
from collections.abc import Callable

import pytest

from harness.client import new_id
from harness.cost import MIB, costs_at_most
from harness.people import World
from harness.server import Server
from harness.waiting import wait_until

SECRET = b"a secret of more than sixteen bytes"
# PerDeviceQueues.attemptsOfUser, and more devices than all slots (PushDispatcher.concurrency).
SLOTS_OF_USER, SLOW_DEVICES = 8, 40
# A body that is sent one byte at a time, with this pause after each, takes hours.
DRIP_SECONDS = 0.2
DRIP_BYTES = 60_000
# How many bytes of such a body the server may wait for, on average over all connections. It waits 250 ms, which is 2 or
# 3 bytes; 5 s would be about 25. The margin is for a busy machine.
DRIPPED_BYTES = 10
# The same for the head of a response: the server waits 5 s for it, which is 25 bytes.
DRIPPED_HEAD_BYTES = 40
# How many attempts are measured, and the processor time that they may take together. A receiver that is not
# disconnected costs more than a second of it for each second that it sends, and it has 5 s for each attempt.
ATTEMPTS, ATTEMPTS_SECONDS = 4, 1.0
# A body that is sent as fast as the server reads it, and how much of it may be sent. The server reads 64 KiB, and the
# rest is in the buffers of the connection.
FLOOD_BYTES, TAKEN_BYTES = 256 * MIB, 32 * MIB


class Drip:
    """Sends 200 at once, then the body byte by byte. With `head`, sends everything byte by byte, and the head never
    ends."""

    def __init__(self, head: bool = False):
        self.head = head
        # The bytes sent on each connection until the server closed it.
        self.sent: list[int] = []

    def __call__(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        start = b""
        if self.head:
            start = b"HTTP/1.1 200 OK\r\nX-Padding: "
        else:
            handler.send_response(200)
            handler.send_header("Content-Length", str(DRIP_BYTES))
            handler.end_headers()
        sent = 0
        with contextlib.suppress(OSError):
            while sent < DRIP_BYTES:
                handler.wfile.write(start[sent:sent + 1] or b"x")
                sent += 1
                time.sleep(DRIP_SECONDS)
        self.sent.append(sent)


def hint_without_end(handler: http.server.BaseHTTPRequestHandler) -> None:
    """Sends informational responses as fast as the server reads them, and never a final one."""
    handler.close_connection = True
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2_000
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(hints)


class Flood:
    """Sends 200 at once, then a body that is far too long, as fast as the server reads it."""

    def __init__(self):
        # How much of each body was sent, once the server has closed the connection.
        self.sent: list[int] = []

    def __call__(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        handler.send_response(200)
        # A Content-Length would already tell the server that the body is too long.
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        piece, sent = b"x" * 65_536, 0
        with contextlib.suppress(OSError):
            while sent < FLOOD_BYTES:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                sent += len(piece)
        self.sent.append(sent)


class HostileReceiver:
    """Responds to notifications of `slow` users with `respond`, and to all others with 200 at once."""

    def __init__(self, respond: Callable[[http.server.BaseHTTPRequestHandler], None]):
        self.respond = respond
        self.slow: set[str] = set()
        self.received: list[tuple[str, str]] = []
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.received.append((body["userId"], body["text"]))
                if body["userId"] in outer.slow:
                    respond(self)
                    return
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *arguments: None  # The server disconnects if a response takes too long.
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/push"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def texts(self, user: str) -> list[str]:
        with self.lock:
            return [text for to, text in self.received if to == user]

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def receiver(request):
    receiver = HostileReceiver(request.param)
    yield receiver
    receiver.close()


@pytest.fixture
def pushing(tmp_path, receiver):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    secret.chmod(0o600)
    server = Server(
        tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", secret).start()
    yield server
    server.end()


def notified_beside_slow_devices(pushing, receiver):
    """Anna writes to Ben, whose many devices respond slowly, and then to Carla, who is notified all the same."""
    anna, ben, carla = World(pushing).users("Anna", "Ben", "Carla")
    slow_room, quick_room = anna.room("Slow", ben), anna.room("Quick", carla)
    for number in range(SLOW_DEVICES):
        ben.put(f"/v1/devices/{new_id()}", {"fcmToken": f"slow-{number}"})
    carla.put(f"/v1/devices/{new_id()}", {"fcmToken": "quick"})
    receiver.slow.add(ben.id)
    anna.send(slow_room, "to many")
    wait_until(lambda: len(receiver.texts(ben.id)) >= SLOTS_OF_USER, f"fewer than {SLOTS_OF_USER} of Ben's devices are notified")
    anna.send(quick_room, "to one")
    wait_until(lambda: receiver.texts(carla.id) == ["to one"], "Carla is not notified")
    return anna, ben, carla, quick_room


@pytest.mark.parametrize("receiver", [Drip()], indirect=True)
def test_a_receiver_that_responds_byte_by_byte_does_not_stop_push(pushing, receiver):
    """Observed: each held its slot for 5 seconds, and 32 of them held all slots."""
    anna, ben, carla, quick_room = notified_beside_slow_devices(pushing, receiver)
    wait_until(lambda: len(receiver.texts(ben.id)) == SLOW_DEVICES, "Ben's other devices are not notified")
    # Each byte stands for 0.2 s in which its request may have held a slot.
    sent = receiver.respond.sent
    wait_until(lambda: len(sent) == SLOW_DEVICES, "the server has not closed every connection whose body drips")
    assert sum(sent) <= SLOW_DEVICES * DRIPPED_BYTES, f"the server waited for {sorted(sent)} bytes"
    # The status alone shows that a notification was delivered: none is sent twice because its body never ended.
    anna.send(quick_room, "another")
    wait_until(lambda: receiver.texts(carla.id) == ["to one", "another"], "Carla is not notified again")
    assert receiver.texts(ben.id) == ["to many"] * SLOW_DEVICES


@pytest.mark.parametrize("receiver", [Drip(head=True)], indirect=True)
def test_a_receiver_whose_heads_never_end_does_not_stop_push(pushing, receiver):
    """Each attempt fails after 5 seconds, however slowly the head arrives."""
    anna, ben, carla, quick_room = notified_beside_slow_devices(pushing, receiver)
    # The receiver notices a closed connection only with the next byte, so a few more count as pending.
    pending = len(receiver.texts(ben.id)) - len(receiver.respond.sent)
    assert pending <= 2 * SLOTS_OF_USER, f"{pending} slots are held by Ben's devices"
    # The attempts have failed and are repeated, and Carla is notified in the meantime.
    wait_until(lambda: len(receiver.texts(ben.id)) > SLOW_DEVICES, "no attempt is made again")
    anna.send(quick_room, "another")
    wait_until(lambda: receiver.texts(carla.id) == ["to one", "another"], "Carla is not notified again")
    sent = receiver.respond.sent
    wait_until(lambda: len(sent) >= SLOW_DEVICES, "the server has not closed every connection whose head drips")
    assert sum(sent) <= len(sent) * DRIPPED_HEAD_BYTES, f"the server waited for {sorted(sent)} bytes"


@pytest.mark.parametrize("receiver", [hint_without_end], indirect=True)
def test_informational_responses_without_end_cost_little(pushing, receiver):
    """Observed: the server read them for the whole 5 seconds of each attempt, which used more than one processor."""
    anna, ben, carla = World(pushing).users("Anna", "Ben", "Carla")
    slow_room, quick_room = anna.room("Slow", ben), anna.room("Quick", carla)
    ben.put(f"/v1/devices/{new_id()}", {"fcmToken": "slow"})
    carla.put(f"/v1/devices/{new_id()}", {"fcmToken": "quick"})
    receiver.slow.add(ben.id)
    with costs_at_most(pushing, ATTEMPTS_SECONDS):
        anna.send(slow_room, "to one that floods")
        wait_until(lambda: len(receiver.texts(ben.id)) >= ATTEMPTS, "there are too few attempts")
    anna.send(quick_room, "to one that does not")
    wait_until(lambda: receiver.texts(carla.id) == ["to one that does not"], "Carla is not notified")


@pytest.mark.parametrize("receiver", [Flood()], indirect=True)
def test_a_response_that_is_too_long_is_not_read_to_its_end(pushing, receiver):
    anna, ben = World(pushing).users("Anna", "Ben")
    room, sent = anna.room("Tea", ben), receiver.respond.sent
    ben.put(f"/v1/devices/{new_id()}", {"fcmToken": "flooding"})
    receiver.slow.add(ben.id)
    for number in range(1, 3):
        anna.send(room, f"text {number}")
        wait_until(lambda number=number: len(sent) == number, "the server has not closed the connection")
    # The status alone shows that a notification was delivered.
    assert receiver.texts(ben.id) == ["text 1", "text 2"]
    assert max(sent) < TAKEN_BYTES, f"the server took {sent} bytes"
