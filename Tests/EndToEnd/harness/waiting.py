"""Waits until the server has done something."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
# Longer than the longest pause before a notification is sent again: 60 s, plus or minus a quarter.
PATIENCE_SECONDS = 180
POLL_SECONDS = 0.02


def wait_until(done: Callable[[], Result], failure: str) -> Result:
    """Calls `done` until its result is true, and returns that result."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (result := done()):
        assert time.monotonic() < deadline, f"after {PATIENCE_SECONDS} s: {failure}"
        time.sleep(POLL_SECONDS)
    return result
