"""A service whose requests are repeated while the server is down."""

import threading
import time

import requests

from .server import Server

# How long a request is repeated.
PATIENCE_SECONDS = 120
REQUEST_SECONDS = 30
POLL_SECONDS = 0.005


class RetryingClient:
    """Sends requests in the names of users until one succeeds. Each thread has its own connection."""

    def __init__(self, server: Server):
        self.server = server
        self.of_thread = threading.local()

    def request(self, method: str, path: str, user: str, body: dict | None = None, key: str | None = None) -> dict:
        headers = {"Authorization": f"Bearer {self.server.token}", "Hansard-Act-As": user}
        if key:
            headers["Idempotency-Key"] = key
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                response = self._session().request(
                    method, self.server.url + path, json=body, headers=headers, timeout=REQUEST_SECONDS)
                if response.status_code < 300:
                    return response.json()
                assert response.status_code == 503, f"{method} {path}: {response.status_code} {response.text[:400]}"
            except requests.RequestException:
                pass
            assert time.monotonic() < deadline, f"{method} {path} is not possible in {PATIENCE_SECONDS} s"
            time.sleep(POLL_SECONDS)

    def _session(self) -> requests.Session:
        """The connection of this thread."""
        if not hasattr(self.of_thread, "session"):
            self.of_thread.session = requests.Session()
            self.of_thread.session.trust_env = False
        return self.of_thread.session
