"""Writers that never pause: users who do everything that changes what others see."""

import asyncio
import collections
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..client import new_id
from .chat import Chat, Office, Place
from .clients import Situation
from .wire import Connection, Lost, Refused

# Problems of the server that a client waits out. Everything else from 500 on is a failure.
WAITED_OUT = {"shutting_down", "projection_behind", "overloaded"}
# How long a writer waits before it tries a lost request again, in seconds.
PAUSE_SECONDS = 0.05


class Step(NamedTuple):
    """A request of a user, and what to remember once it was accepted."""

    user: str
    method: str
    path: str
    body: dict | None = None
    then: Callable[[], object] = lambda: None


@dataclass
class Writers:
    chat: Chat
    situation: Situation
    token: str
    random: random.Random
    # How long a writer waits after a request, in seconds.
    pause: float
    written: collections.Counter = field(default_factory=collections.Counter)
    refused: collections.Counter = field(default_factory=collections.Counter)
    # The newest position of a response.
    position: int = 0

    async def write(self, actions: dict[str, tuple[int, Callable[[Chat, random.Random], Step | None]]]) -> None:
        """One writer, until its task is cancelled."""
        names, connection = list(actions), None
        weights = [actions[name][0] for name in names]
        try:
            while True:
                name = self.random.choices(names, weights)[0]
                if step := actions[name][1](self.chat, self.random):
                    connection = await self._perform(step, name, connection)
                    await asyncio.sleep(self.pause)
        except Exception as error:
            self.situation.problems.append(f"a writer: {error!r}")
        finally:
            if connection is not None:
                connection.cut()

    async def _perform(self, step: Step, name: str, connection: Connection | None) -> Connection:
        """Sends a request until there is a response. Repeating it is safe, because its IDs and its key stay the same."""
        headers = {
            "Authorization": f"Bearer {self.token}", "Hansard-Act-As": step.user, "Idempotency-Key": new_id(),
            "Content-Type": "application/json"}
        body = b"" if step.body is None else json.dumps(step.body).encode()
        while True:
            try:
                if connection is None:
                    connection = await Connection.open(self.situation.port)
                response = json.loads(await connection.call(step.method, step.path, headers, body))
                self.position = max(self.position, response.get("revision") or response.get("position") or 0)
                self.written[name] += 1
                step.then()
                return connection
            except Refused as refused:
                if refused.code not in WAITED_OUT:
                    assert refused.status < 500, refused
                    self.refused[f"{name} {refused.code}"] += 1
                    return connection
                await asyncio.sleep(max(refused.retry_after, PAUSE_SECONDS))
            except Lost:
                assert self.situation.run is None or self.situation.endings, "the connection of a writer was lost"
                if connection is not None:
                    connection.cut()
                connection = None
                await asyncio.sleep(PAUSE_SECONDS)
