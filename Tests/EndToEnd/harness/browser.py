"""Debian's headless Chromium, driven over the DevTools protocol, and a server for the pages that it opens."""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading

import websockets.sync.client

from .waiting import PATIENCE_SECONDS, wait_until

PROGRAM = "chromium"
# The tests can run as root, for whom Chromium has no sandbox. A container has little shared memory.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0")


class Browser:
    def __init__(self, folder: pathlib.Path):
        program = shutil.which(PROGRAM)
        assert program, f"{PROGRAM} is missing: install it with 'apt-get install {PROGRAM}'"
        self.profile = folder / "profile"
        self.errors = folder / "chromium.errors"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True)
        try:
            port, path = wait_until(self._address, "Chromium does not say where it listens")
            self.connection = websockets.sync.client.connect(
                f"ws://127.0.0.1:{port}{path}", proxy=None, compression=None, max_size=None, legacy=True)
        except BaseException:
            self._kill()
            raise
        self._last = 0

    def _address(self) -> list[str] | None:
        """The port and the path of the DevTools protocol. Chromium writes them to a file when it is ready."""
        assert self.process.poll() is None, f"Chromium ended:\n{self.errors.read_text(errors='replace')[-3000:]}"
        with contextlib.suppress(FileNotFoundError):
            lines = (self.profile / "DevToolsActivePort").read_text().splitlines()
            return lines if len(lines) == 2 else None

    def call(self, method: str, session: str | None = None, **parameters) -> dict:
        """Sends a command and waits for its result. Events in between are ignored."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        self.connection.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while (answer := json.loads(self.connection.recv(PATIENCE_SECONDS))).get("id") != self._last:
            pass
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, address: str) -> "Page":
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, target, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        problem = self.call("Page.navigate", page.session, url=address).get("errorText")
        assert problem is None, f"{address}: {problem}"
        wait_until(lambda: page.evaluate("document.readyState") == "complete", f"{address} is not loaded")
        return page

    def close(self) -> None:
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            self.call("Browser.close")
        self.connection.close()
        self._kill()

    def _kill(self) -> None:
        # Also the processes of its pages.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Page:
    """One tab."""

    def __init__(self, browser: Browser, target: str, session: str):
        self.browser = browser
        self.target = target
        self.session = session

    def evaluate(self, script: str):
        """The JSON value of a script. If it is a promise, waits for it."""
        result = self.browser.call(
            "Runtime.evaluate", self.session, expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)


@contextlib.contextmanager
def serving(page: bytes):
    """Serves the page at every path, and yields the port. Its host name makes the origin, as in `http://localhost:PORT`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
