"""RFC 3339 times in the format of the API."""

import datetime
import time
from collections.abc import Callable
from typing import TypeVar

Done = TypeVar("Done")
# How often `within` tries again, because a slow machine may need several attempts.
TRIES = 20


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def text(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def later(**duration) -> str:
    """The time that is this long from now."""
    return text(now() + datetime.timedelta(**duration))


def parse(value: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(value)


def in_time(attempt, seconds: float = 0.8):
    """Returns a moment and the result of `attempt(moment)`, which finished before that moment. On a slow machine it
    tries again with more time, so `attempt` must start anew each time."""
    while True:
        moment = later(seconds=seconds)
        try:
            result = attempt(moment)
        except AssertionError:
            if now() < parse(moment):
                raise
        else:
            if now() < parse(moment):
                return moment, result
        seconds *= 2


def wait_past(moment: str, seconds: float = 0.0) -> None:
    time.sleep(max((parse(moment) - now()).total_seconds() + seconds, 0.0))


def within(seconds: float, attempt: Callable[[], Done]) -> Done:
    """Returns what `attempt` returns. The attempt can succeed only within this many seconds, so if it failed after
    taking longer, it is repeated."""
    for _ in range(TRIES):
        began = time.monotonic()
        if done := attempt():
            return done
        assert time.monotonic() - began > seconds, "it went wrong, and not because it came too late"
    raise AssertionError(f"nothing of what takes less than {seconds} s was that quick in {TRIES} attempts")


def within_one_day(seconds: int = 60) -> None:
    """Returns when the current UTC day has at least this many seconds left. Quotas count per UTC day."""
    left = 86_400 - time.time() % 86_400
    if left < seconds:
        time.sleep(left + 1)
