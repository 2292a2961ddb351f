"""RFC 3339 times as the API gives them."""

import datetime


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def text(time: datetime.datetime) -> str:
    return time.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def later(**duration) -> str:
    """So long from now."""
    return text(now() + datetime.timedelta(**duration))


def parse(value: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(value)
