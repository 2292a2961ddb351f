"""Rebuilds read models beside the running server."""

import json
import time
import typing

from .bodies import WAIT_SECONDS
from .requests import Connection, Request

PROJECTIONS = "/v1/admin/projections"
FAILED = ("cancelled", "failed")
# It is also how precisely the time of a rebuild is known.
POLL_SECONDS = 0.02


class Rebuilt(typing.NamedTuple):
    name: str
    # Of `time.perf_counter`.
    began: float
    ended: float
    # In the new file.
    events: int

    @property
    def seconds(self):
        return self.ended - self.began

    @property
    def events_per_second(self):
        return self.events / self.seconds


class Rebuilds:
    """Rebuilds read models as a service, over a connection of its own."""

    def __init__(self, port, token):
        self.connection = Connection(port, token)

    def close(self):
        self.connection.close()

    def _states(self):
        return json.loads(self.connection.perform(Request("GET", PROJECTIONS, None)))["projections"]

    def names(self):
        return [state["name"] for state in self._states()]

    def perform(self, name):
        """Rebuilds a read model, and waits until the new file has replaced the old one."""
        began = time.perf_counter()
        self.connection.perform(Request("POST", f"{PROJECTIONS}/{name}/rebuild", None))
        while (rebuild := self._rebuild(name))["state"] != "complete":
            if rebuild["state"] in FAILED or time.perf_counter() - began > WAIT_SECONDS:
                raise SystemExit(f"the rebuild of {name} is {rebuild['state']}: {rebuild['problem']}")
            time.sleep(POLL_SECONDS)
        return Rebuilt(name, began, time.perf_counter(), rebuild["position"])

    def _rebuild(self, name):
        return next(state["rebuild"] for state in self._states() if state["name"] == name)
