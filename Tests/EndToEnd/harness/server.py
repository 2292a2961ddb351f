"""The real executable as a process."""

import os
import pathlib
import signal
import socket
import subprocess
import time

import requests

from .places import hansard_binary

START_TIMEOUT_SECONDS = 180
STOP_TIMEOUT_SECONDS = 120
ANSWER_TIMEOUT_SECONDS = 60
POLL_SECONDS = 0.02


def reserved_port() -> socket.socket:
    """Holds a free port: nothing else gets it as long as the socket is open, but the server may listen on it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


# The suite is one address that asks as fast as it can, and its users do much in a day.
UNLIMITED = {"HANSARD_RATE_LIMITS_ENABLED": "false", "HANSARD_QUOTAS_ENABLED": "false"}
# For tests whose clients stop in the middle of a request or response: the pace of bodies and responses counts only after
# this time. A connection on which nothing moves is still closed after 60 s.
PATIENT = UNLIMITED | {"HANSARD_CONNECTIONS_BODY_SECONDS": "300"}


class Server:
    """`hansard serve` over a data directory, on a port that stays the same over restarts."""

    def __init__(
        self, data: pathlib.Path, *flags: str, environment: dict[str, str] = UNLIMITED, authority: str | None = None
    ):
        """`authority` is the file with the certificate that the server's own is signed by, when it serves TLS."""
        self.data = data
        self.flags = flags
        self.environment = environment
        # Also while the server is down: a connection of the test would else be given it, even one to that very port.
        self.reserved = reserved_port()
        self.port = self.reserved.getsockname()[1]
        self.authority = authority
        self.url = f"{'https' if authority else 'http'}://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None
        self.starts = 0
        data.parent.mkdir(parents=True, exist_ok=True)
        self.output = data.parent / f"{data.name}.output"
        self.errors = data.parent / f"{data.name}.errors"

    @property
    def token(self) -> str:
        """The administrator's."""
        return (self.data / "admin-token").read_text().strip()

    def launch(self, prepare=None) -> None:
        """Starts the process without waiting for it; `prepare` runs in the child before the program does."""
        assert self.process is None, "the server runs already"
        self.starts += 1
        command = [hansard_binary(), "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.flags]
        with self.output.open("ab") as output, self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                preexec_fn=prepare, env=os.environ | self.environment,
            )

    def start(self, prepare=None) -> "Server":
        self.launch(prepare)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            if self.process.poll() is not None:
                status, self.process = self.process.returncode, None
                raise AssertionError(f"hansard serve ended with {status} before it was ready:\n{self.tail()}")
            try:
                if requests.get(f"{self.url}/readyz", timeout=5, verify=self.authority).status_code == 200:
                    return self
            except requests.RequestException:
                pass
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"hansard serve was not ready in {START_TIMEOUT_SECONDS} s:\n{self.tail()}")
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """SIGTERM; the process has to end by itself and well."""
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"hansard serve did not end {STOP_TIMEOUT_SECONDS} s after SIGTERM:\n{self.tail()}")
        assert status == 0, f"hansard serve ended with {status} after SIGTERM:\n{self.tail()}"

    def kill(self) -> None:
        """SIGKILL: the machine's worst case short of a power cut."""
        process, self.process = self.process, None
        process.kill()
        process.wait()

    def end(self) -> None:
        """For fixtures: stops what still runs."""
        if self.process is not None:
            self.stop()

    def restart(self) -> None:
        self.stop()
        self.start()

    def tail(self) -> str:
        return "".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}\n"
            for path in (self.output, self.errors)
            if path.exists()
        )

    def processor_seconds(self) -> float:
        """How much processor time the process has used: however busy the machine is, the same work takes as much."""
        user, system = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def head(self) -> int:
        """The last durable position."""
        return requests.get(f"{self.url}/readyz", timeout=ANSWER_TIMEOUT_SECONDS, verify=self.authority).json()["head"]
