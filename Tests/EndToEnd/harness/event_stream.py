"""`GET /v1/sync/stream`: collects the events while a test does other things."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import requests

from .client import TIMEOUT_SECONDS, Api
from .waiting import wait_until


@dataclass
class Event:
    name: str = "message"
    id: str | None = None
    data: dict = field(default_factory=dict)


class EventStream:
    """A stream of a caller. It is open when the constructor returns."""

    def __init__(self, api: Api, **query):
        # Many frames are short, so the client must not wait for more of them.
        self.response = requests.get(
            f"{api.server.url}/v1/sync/stream", params=query, stream=True, timeout=TIMEOUT_SECONDS,
            headers={"Authorization": f"Bearer {api.token}"} | ({"Hansard-Act-As": api.act_as} if api.act_as else {}),
        )
        assert self.response.status_code == 200, self.response.text
        assert self.response.headers["Content-Type"] == "text/event-stream"
        self.events: list[Event] = []
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.response.raw.shutdown() if hasattr(self.response.raw, "shutdown") else None
        self.response.close()
        self.thread.join(TIMEOUT_SECONDS)

    def collect(self) -> None:
        event = Event()
        try:
            for line in self.response.iter_lines(chunk_size=1):
                name, _, value = line.decode().partition(": ")
                match name:
                    case "event":
                        event.name = value
                    case "id":
                        event.id = value
                    case "data":
                        event.data = json.loads(value)
                    case "" if not value:
                        if event != Event():
                            self.events.append(event)
                        event = Event()
        except (requests.RequestException, OSError, AttributeError):
            pass  # It was closed.

    def of(self, name: str) -> list[dict]:
        return [event.data for event in self.events if event.name == name]

    def wait_for(self, name: str, is_meant: Callable[[dict], bool], failure: str) -> dict:
        """The first event with this name and such data."""
        return wait_until(lambda: next(filter(is_meant, self.of(name)), None), f"{failure}; there is {self.events}")
