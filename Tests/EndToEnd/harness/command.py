"""The other subcommands of the executable."""

import contextlib
import json
import os
import pathlib
import pty
import subprocess
import termios
import threading
import time
from dataclasses import dataclass

from .places import hansard_binary

TIMEOUT_SECONDS = 600
# Wide enough for every progress bar.
TERMINAL_LINES, TERMINAL_COLUMNS = 50, 200
# How long `settle` waits. It is generous, so that only a server that never becomes idle exceeds it, not a slow machine.
SETTLE_SECONDS = 60


@dataclass
class Outcome:
    status: int
    output: str
    errors: str

    @property
    def json(self):
        return json.loads(self.output)

    @property
    def rows(self) -> list[dict]:
        """The output as JSON lines."""
        return [json.loads(line) for line in self.output.splitlines() if line.strip()]

    @property
    def text(self) -> str:
        return self.output + self.errors


def hansard(*arguments, expect: int | None = 0, stdin: bytes | None = None) -> Outcome:
    """Runs `hansard ARGUMENTS`. If `expect` is None, any exit status is accepted."""
    command = [str(hansard_binary()), *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT_SECONDS)
    outcome = Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    shown = " ".join(command[1:])
    assert expect is None or outcome.status == expect, (
        f"hansard {shown} ended with {outcome.status} instead of {expect}:\n{outcome.text[-3000:]}"
    )
    return outcome


def hansard_in_terminal(*arguments) -> str:
    """Runs `hansard ARGUMENTS` in a terminal, where it shows progress bars, and returns all that it has written."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (TERMINAL_LINES, TERMINAL_COLUMNS))
    shown = bytearray()

    def read() -> None:
        # Linux reports an error once the last process has closed the terminal.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65_536):
                shown.extend(part)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        done = subprocess.run(
            [str(hansard_binary()), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
            timeout=TIMEOUT_SECONDS)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    text = shown.decode(errors="replace")
    assert done.returncode == 0, f"hansard {' '.join(map(str, arguments))} ended with {done.returncode}:\n{text[-3000:]}"
    return text


def audit(data: pathlib.Path, *filters) -> list[dict]:
    return hansard("audit", "--data", data, "--format", "jsonl", *filters).rows


def stat(data: pathlib.Path) -> dict:
    return hansard("log", "stat", "--data", data, "--json").json


def settle(server) -> int:
    """Waits until tools that run beside the server see every durable event. The log itself shows them all once the
    server is idle."""
    head = server.head()
    deadline = time.monotonic() + SETTLE_SECONDS
    while (shown := stat(server.data)["head"]) < head:
        assert time.monotonic() < deadline, f"after {SETTLE_SECONDS} s tools see {shown} of {head} events"
        time.sleep(0.05)
    return head


def check_data(data: pathlib.Path) -> None:
    """Checks that the log is intact, and that a replay gives the same read models."""
    hansard("log", "verify", "--data", data)
    hansard("replay", "--data", data, "--verify")
