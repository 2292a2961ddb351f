"""Waits for what a server does in its own time."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
# More than the minute, a quarter more or less, after which a notification that was refused for long is tried again.
PATIENCE_SECONDS = 180
POLL_SECONDS = 0.02


def until(done: Callable[[], Result], failure: str) -> Result:
    """Calls `done` until its result is true, and returns that result."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (result := done()):
        assert time.monotonic() < deadline, f"after {PATIENCE_SECONDS} s: {failure}"
        time.sleep(POLL_SECONDS)
    return result
