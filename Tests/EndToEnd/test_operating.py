"""What docs/operating.md promises about the data directory, the options and the scripts."""

import concurrent.futures
import contextlib
import os
import shutil
import socket
import subprocess
import threading

import pytest

from harness.command import hansard
from harness.people import World
from harness.places import ROOT
from harness.server import Server

# Before dropped connections were handled, the process crashed within the first few of these starts.
FAILING_STARTS = 10
CONNECTING_THREADS = 4


def refused(server: Server) -> str:
    with pytest.raises(AssertionError, match=r"ended with \d+ before it was ready"):
        server.start()
    return server.tail()


def test_a_log_is_opened_only_with_its_own_key_file(own_server, tmp_path):
    World(own_server).user("Anna")
    own_server.stop()
    stranger = Server(tmp_path / "stranger").start()
    stranger.stop()
    key = own_server.data / "hansard.key"
    right = key.read_bytes()
    shutil.copy(stranger.data / "hansard.key", key)
    assert "hansard.key does not belong to the log" in refused(own_server)
    key.unlink()
    assert "hansard.key is missing" in refused(own_server)
    assert not key.exists()
    key.write_bytes(right)
    own_server.start()


def test_a_start_that_fails_says_why_while_clients_connect(own_server):
    """The server listens before it opens its data, so clients connect at the moment at which it gives up."""
    World(own_server).user("Anna")
    own_server.stop()
    (own_server.data / "hansard.key").unlink()
    over = threading.Event()

    def connect():
        while not over.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", own_server.port), timeout=5):
                pass

    with concurrent.futures.ThreadPoolExecutor(CONNECTING_THREADS) as threads:
        for _ in range(CONNECTING_THREADS):
            threads.submit(connect)
        try:
            for _ in range(FAILING_STARTS):
                assert "hansard.key is missing" in refused(own_server)
        finally:
            over.set()


def test_an_address_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    def errors(listen: str) -> str:
        return hansard("serve", "--data", tmp_path / "data", "--listen", listen, expect=2).errors

    with socket.create_server(("127.0.0.1", 0)) as other:
        used = other.getsockname()[1]
        assert f"cannot listen on 127.0.0.1:{used}. another process uses the port" in (said := errors(f"127.0.0.1:{used}"))
        assert "choose another port with --listen" in said
        # An address for documentation, which no machine has.
        assert "cannot listen on 192.0.2.1:8080. this machine does not have the address" in errors("192.0.2.1:8080")
        monkeypatch.setenv("HANSARD_METRICS_PORT", str(used))
        assert f"cannot listen on 127.0.0.1:{used}. another process uses the port" in (said := errors("127.0.0.1:0"))
        assert "metrics.port" in said and "--listen" not in said


def test_secrets_are_private_to_their_owner(own_server):
    for name in ("admin-token", "hansard.key"):
        assert (own_server.data / name).stat().st_mode & 0o777 == 0o600, name
    own_server.stop()
    token = (own_server.data / "admin-token").read_text()
    (own_server.data / "admin-token").unlink()
    own_server.start()
    assert (own_server.data / "admin-token").read_text() == token


@pytest.mark.parametrize("seconds", ["0", "-5", "31536001", "9223372036854775807"])
def test_a_token_lifetime_out_of_bounds_is_refused(tmp_path, seconds):
    assert "--access-token-lifetime" in refused(Server(tmp_path / "data", f"--access-token-lifetime={seconds}"))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("script", ["serve", "test"])
def test_the_scripts_say_when_the_toolchain_is_missing(script, tmp_path):
    # A PATH with only the program that the scripts need before they check, so that no installed toolchain is found.
    (tmp_path / "dirname").symlink_to(shutil.which("dirname"))
    outcome = subprocess.run(
        [shutil.which("bash"), ROOT / "Tools" / script], env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True, text=True, timeout=60,
    )
    assert outcome.returncode != 0
    assert "the Swift toolchain is missing" in outcome.stderr and "swift.org" in outcome.stderr
