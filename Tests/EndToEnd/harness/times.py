"""RFC 3339 times as the API gives them."""

import datetime
import time
from collections.abc import Callable
from typing import TypeVar

Done = TypeVar("Done")
# A slow machine is let try so often.
TRIES = 20


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def text(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def later(**duration) -> str:
    """So long from now."""
    return text(now() + datetime.timedelta(**duration))


def parse(value: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(value)


def in_time(attempt, seconds: float = 0.8):
    """Gives a moment and what `attempt(moment)` gave, which was through before that moment. On a slow machine it is tried
    again with more time, so `attempt` begins anew each time."""
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
    """What `attempt` gives, which can go right within so many seconds only: where it goes wrong because the machine took
    longer for it, it is made again."""
    for _ in range(TRIES):
        began = time.monotonic()
        if done := attempt():
            return done
        assert time.monotonic() - began > seconds, "it went wrong, and not because it came too late"
    raise AssertionError(f"nothing of what takes less than {seconds} s was that quick in {TRIES} attempts")


def within_one_day(seconds: int = 60) -> None:
    """Returns when the day in UTC, for which a quota is, has so many seconds left at least."""
    left = 86_400 - time.time() % 86_400
    if left < seconds:
        time.sleep(left + 1)
