"""A receiver of push notifications that does not behave holds up nobody but itself."""

import http.server
import json
import threading
import time

import pytest

from harness.client import new_id
from harness.people import World
from harness.server import Server
from harness.waiting import until

SECRET = b"a secret of more than sixteen bytes"
# More than the server has slots for attempts.
SLOW_DEVICES = 40
# A response that is sent one byte at a time in this rhythm takes hours.
DRIP_SECONDS = 0.2
DRIPPED_BYTES = 60_000


class DrippingReceiver:
    """Responds 200 at once to each notification, and sends the body to `slow` users one byte at a time."""

    def __init__(self):
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
                drips = body["userId"] in outer.slow
                self.send_response(200)
                self.send_header("Content-Length", str(DRIPPED_BYTES if drips else 0))
                self.end_headers()
                for _ in range(DRIPPED_BYTES if drips else 0):
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(DRIP_SECONDS)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *arguments: None  # The server hangs up on a response that takes too long.
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/push"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def texts(self, user: str) -> list[str]:
        with self.lock:
            return [text for to, text in self.received if to == user]

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def receiver():
    receiver = DrippingReceiver()
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


def test_a_receiver_that_drips_its_responses_does_not_stop_push(pushing, receiver):
    anna, ben, carla = World(pushing).users("Anna", "Ben", "Carla")
    for number in range(SLOW_DEVICES):
        ben.put(f"/v1/devices/{new_id()}", {"fcmToken": f"slow-{number}"})
    carla.put(f"/v1/devices/{new_id()}", {"fcmToken": "quick"})
    receiver.slow.add(ben.id)
    slow_room, quick_room = anna.room("Slow", ben), anna.room("Quick", carla)
    anna.send(slow_room, "to many")
    until(lambda: len(receiver.texts(ben.id)) >= 16, "not every slot is held")
    anna.send(quick_room, "to one")
    until(lambda: receiver.texts(carla.id) == ["to one"], "Carla is not notified")
    until(lambda: len(receiver.texts(ben.id)) == SLOW_DEVICES, "Ben's other devices are not notified")
    # The status alone says that a notification was delivered: none is sent twice because its body never ended.
    anna.send(quick_room, "another")
    until(lambda: receiver.texts(carla.id) == ["to one", "another"], "Carla is not notified again")
    assert receiver.texts(ben.id) == ["to many"] * SLOW_DEVICES
