"""Runs the real executable as a process."""

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
    """Reserves a free port: no other process gets it while the socket is open, but the server can still listen on
    it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


# All tests send requests from one address as fast as they can, and their users do more in a day than quotas allow.
UNLIMITED = {"HANSARD_RATE_LIMITS_ENABLED": "false", "HANSARD_QUOTAS_ENABLED": "false"}
# For tests whose clients stop in the middle of a request or response: the minimum pace of bodies and responses applies
# only after this time. A connection on which no data moves is still closed after 60 s.
PATIENT = UNLIMITED | {"HANSARD_CONNECTIONS_BODY_SECONDS": "300"}
# What the server logs about a problem that a client gets.
PROBLEM_LINE = "request rejected"
# How Swift's report of a crash begins.
CRASH_MARK = "Program crashed"
# How much of it is shown: the whole trace of one thread, whose names of generic functions are long.
CRASH_CHARACTERS = 40_000


class Server:
    """`hansard serve` with a data directory, on a port that stays the same after a restart."""

    def __init__(
        self, data: pathlib.Path, *flags: str, environment: dict[str, str] = UNLIMITED, authority: str | None = None
    ):
        """`authority` is the file with the certificate that signed the server's own, if the server uses TLS."""
        self.data = data
        self.flags = flags
        self.environment = environment
        # Keeps the port while the server is down too. Otherwise the kernel could give it to an outgoing connection of
        # the test, even to one that connects to that very port.
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
        """The administrator's token."""
        return (self.data / "admin-token").read_text().strip()

    def launch(self, prepare=None) -> None:
        """Starts the process without waiting until it is ready. `prepare` runs in the child process before the program
        does."""
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
                how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
                raise AssertionError(f"hansard serve {how} before it was ready:\n{self.tail()}")
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
        """Sends SIGTERM. The process must exit by itself with status 0."""
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
        """Sends SIGKILL, the worst case that a machine offers short of a power failure."""
        process, self.process = self.process, None
        process.kill()
        process.wait()

    def end(self) -> None:
        """Stops the server if it still runs. For fixtures."""
        if self.process is not None:
            self.stop()

    def restart(self) -> None:
        self.stop()
        self.start()

    def tail(self) -> str:
        """The end of the server's output, without the lines about problems that clients got, and the beginning of the
        report if the process crashed."""
        def end(path: pathlib.Path) -> str:
            lines = path.read_text(errors="replace").splitlines(keepends=True)
            text = "".join(line for line in lines if PROBLEM_LINE not in line)
            crash = text.rfind(CRASH_MARK)
            return text[-3000:] if crash < 0 else text[max(0, crash - 500):][:CRASH_CHARACTERS]

        return "".join(f"--- {path.name}\n{end(path)}\n" for path in (self.output, self.errors) if path.exists())

    def problem_line(self, request_id: str) -> str:
        """The line of the server's log about the problem that a request got."""
        (line,) = (line for line in self.errors.read_text().splitlines() if request_id in line)
        return line

    def processor_seconds(self) -> float:
        """Processor time that the process has used, in seconds. It does not depend on how busy the machine is."""
        user, system = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def head(self) -> int:
        """The position of the last durable event."""
        return requests.get(f"{self.url}/readyz", timeout=ANSWER_TIMEOUT_SECONDS, verify=self.authority).json()["head"]
