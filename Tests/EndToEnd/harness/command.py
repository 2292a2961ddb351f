"""The other subcommands of the executable."""

import json
import pathlib
import subprocess
import time
from dataclasses import dataclass

from .places import hansard_binary

TIMEOUT_SECONDS = 600
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
