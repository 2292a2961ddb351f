"""The command-line tools with servers that misbehave, and with paths that are not regular files."""

import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import pytest

from harness.command import settle
from harness.people import World
from harness.places import hansard_binary

VERIFIER = pathlib.Path(__file__).resolve().parents[3] / "Tools" / "verify_log.py"
# A tool that reads a FIFO would wait until it is killed.
TOOL_SECONDS = 60
# The longest line that is sent before the tool gives up. The tool's own limit is far below.
ENDLESS_BYTES = 64 * 1024 * 1024
READ_BYTES = 8 * 1024 * 1024
# ImportRun.shortestWait and longestWait, and how much longer a wait may be on a busy machine.
SHORTEST_WAIT, LONGEST_WAIT = 0.25, 5.0
LATE_SECONDS = 3.0


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TOOL_SECONDS)


@pytest.fixture(scope="module")
def data(server, tmp_path_factory):
    """A copy of a data directory with a message in it."""
    anna = World(server).user("Anna")
    anna.send(anna.room("Tea"), "hello")
    settle(server)
    copy = tmp_path_factory.mktemp("copy") / "data"
    shutil.copytree(server.data, copy)
    return copy


def tools(data: pathlib.Path) -> dict[str, list]:
    log = data / "log"
    segment = sorted(log.glob("*.seg"))[-1]
    return {
        "log verify": [hansard_binary(), "log", "verify", "--data", data],
        "log inspect": [hansard_binary(), "log", "inspect", "--data", data],
        "audit": [hansard_binary(), "audit", "--data", data],
        "verify_log.py": [sys.executable, VERIFIER, "--data", data],
        "": [segment],
    }


@pytest.mark.parametrize("tool", ["log verify", "log inspect", "audit", "verify_log.py"])
@pytest.mark.parametrize("name", ["segment", "superblock"])
def test_a_fifo_in_place_of_a_file_is_refused(data, tmp_path, tool, name):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    command = tools(copy)[tool]
    assert run(*command).returncode == 0, "it fails even without the FIFO"
    path = tools(copy)[""][0] if name == "segment" else copy / "log" / "superblock"
    path.unlink()
    os.mkfifo(path)
    done = run(*command)
    assert done.returncode > 0, done.stdout
    assert path.name in done.stdout + done.stderr


def test_a_fifo_in_place_of_a_tree_head_is_refused(data, tmp_path):
    fifo = tmp_path / "head"
    os.mkfifo(fifo)
    done = run(
        hansard_binary(), "log", "verify", "--data", data, "--checkpoint", fifo, "--key", data / "checkpoint.pub")
    assert done.returncode > 0 and "not a regular file" in done.stderr


class Responder:
    """A server that responds as `respond(handler, number)` says. `number` counts the requests from 1."""

    def __init__(self, respond):
        self.count = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.count += 1
                respond(self, outer.count)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *arguments: None
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def importing(tmp_path):
    """Runs `hansard import` of one line against a server that responds as the test says."""
    servers = []

    def start(respond) -> subprocess.CompletedProcess:
        servers.append(Responder(respond))
        token, story = tmp_path / "token", tmp_path / "story.jsonl"
        token.write_text("token")
        story.write_text(
            '{"at":"2020-05-01T10:00:00.000Z","room":"#tea","type":"message","user":"anna","text":"hello"}\n')
        return run(hansard_binary(), "import", "--server", servers[-1].url, "--token-file", token, story)

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e999", "99999999999999999999", "soon", ""])
def test_import_handles_any_retry_after_value(importing, value):
    def respond(handler, number):
        # The server is busy once. Then it rejects the request, which ends the import.
        handler.send_response(503 if number == 1 else 400)
        handler.send_header("Retry-After", value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    done = importing(respond)
    assert done.returncode == 2, f"{done.returncode}: {done.stderr}"
    assert "400" in done.stderr


@pytest.mark.parametrize("value, times, wait", [
    # A huge value means the longest wait, once. A small value means the shortest wait each time; it does not double, as
    # it does without the header.
    ("1000000000", 1, LONGEST_WAIT), ("9223372036854775807", 1, LONGEST_WAIT),
    ("0", 4, SHORTEST_WAIT), ("-1000000000", 4, SHORTEST_WAIT),
])
def test_import_waits_neither_long_nor_in_a_tight_loop(importing, value, times, wait):
    came = []

    def respond(handler, number):
        came.append(time.monotonic())
        handler.send_response(503 if number <= times else 400)
        handler.send_header("Retry-After", value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    done = importing(respond)
    assert done.returncode == 2 and "400" in done.stderr, f"{done.returncode}: {done.stderr}"
    waits = [after - before for before, after in zip(came, came[1:])]
    assert len(waits) == times
    assert all(wait <= each <= wait + LATE_SECONDS for each in waits), waits


@pytest.mark.parametrize(
    "piece, error", [(b"x", "not an ingest response"), (b"\n", "do not match what was sent")],
    ids=["a line that never ends", "more lines than it sent"])
def test_import_does_not_read_a_response_to_its_end(importing, piece, error):
    sent = 0

    def respond(handler, number):
        nonlocal sent
        handler.send_response(200)
        handler.send_header("Content-Length", str(ENDLESS_BYTES))
        handler.end_headers()
        while sent < ENDLESS_BYTES:
            sent += handler.wfile.write(piece * 65536)

    done = importing(respond)
    assert done.returncode == 2 and error in done.stderr, done.stderr
    assert sent < READ_BYTES, f"{sent} bytes were read"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_import_sends_the_history_to_no_other_server(importing, status):
    def take(handler, number):
        handler.send_response(400)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    other = Responder(take)

    def respond(handler, number):
        handler.send_response(status)
        handler.send_header("Location", f"{other.url}/v1/ingest")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    try:
        done = importing(respond)
    finally:
        other.close()
    assert done.returncode == 2 and f"status {status}" in done.stderr, done.stderr
    assert other.count == 0, "the redirect was followed"
