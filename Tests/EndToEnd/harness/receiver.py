"""A webhook receiver that fails, hangs and reports tokens as dead when a test says so, and records every
notification."""

import hashlib
import hmac
import http.server
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

# Longer than the server waits for a response.
HANG_SECONDS = 6


@dataclass(frozen=True)
class Receipt:
    """One received push notification."""

    body: dict
    key: str
    status: int
    hung: bool

    @property
    def notification(self) -> tuple[int, str, str]:
        """Identifies the notification by position, user and device."""
        return self.body["position"], self.body["userId"], self.body["deviceId"]

    @property
    def is_delivered(self) -> bool:
        return self.status == 200 and not self.hung


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed the connection. It must not have sent anything that was not read."""
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


class Receiver:
    """Responds to each notification with the status that `respond` returns for its body. If `respond` returns None, it
    hangs and sends no response. Checks the signature."""

    def __init__(self, secret: bytes, respond: Callable[[dict], int | None] = lambda body: 200):
        self.secret = secret
        self.respond = respond
        self.receipts: list[Receipt] = []
        self.faults: list[str] = []
        # How many connections are open now.
        self.open_connections = 0
        # Called with each notification that is recorded, under the lock.
        self.on_receipt: Callable[[Receipt], None] = lambda receipt: None
        # How long responses wait, in seconds.
        self.latency: Callable[[], float] = lambda: 0
        # Called with each notification for whose response the client did not wait.
        self.on_give_up: Callable[[Receipt], None] = lambda receipt: None
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with outer.lock:
                    outer.open_connections += 1

            def finish(self):
                with outer.lock:
                    outer.open_connections -= 1
                super().finish()

            def do_POST(self):  # noqa: N802
                outer.receive(self)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *arguments: None  # A killed server leaves half-open connections.
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/push"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def receive(self, request) -> None:
        raw = request.rfile.read(int(request.headers["Content-Length"]))
        key, signature = request.headers["Hansard-Delivery-Key"], request.headers["Hansard-Signature"]
        body = json.loads(raw)
        expected = "sha256=" + hmac.new(self.secret, raw, hashlib.sha256).hexdigest()
        with self.lock:
            if not hmac.compare_digest(signature or "", expected):
                self.faults.append(f"signature {signature} instead of {expected}")
            if body["deliveryKey"] != key:
                self.faults.append(f"delivery key {key} in the header, {body['deliveryKey']} in the body")
            if request.path != "/push" or request.headers["Content-Type"] != "application/json":
                self.faults.append(f"{request.path} as {request.headers['Content-Type']}")
            status = self.respond(body)
            receipt = Receipt(body, key, status or 200, status is None)
            self.receipts.append(receipt)
            self.on_receipt(receipt)
        if status is None:
            # Sends no response at all, so that a server that gives up late cannot mistake a late response for a
            # success.
            time.sleep(HANG_SECONDS)
            request.close_connection = True
            return
        time.sleep(self.latency())
        if is_closed(request.connection):
            self.on_give_up(receipt)
        request.send_response(status)
        request.send_header("Content-Length", "0")
        request.end_headers()

    def taken(self) -> list[Receipt]:
        with self.lock:
            return list(self.receipts)

    def delivered(self) -> set[tuple[int, str, str]]:
        return {receipt.notification for receipt in self.taken() if receipt.is_delivered}

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
