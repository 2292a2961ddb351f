"""One run: clients and writers for a time, kills and stops of the server meanwhile, and the comparison at the end."""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..failing_disk import FailingDisk
from ..live_streams import mark
from ..mirror import Key, Mirror, differences, shown_to
from ..people import Person, World
from ..server import Server
from .actions import ACTIONS, SCHEDULED_SECONDS
from .chat import Chat, begin
from .clients import KILL, STOP, Client, Habits, Situation
from .writer import Writers

# Every wait is for a condition, and fails after this time.
PATIENCE_SECONDS = 120
LOOK_SECONDS = 0.05
WRITERS = 4
# How long no sync completes before a kill, in seconds.
HELD_SECONDS = 0.5
# The files whose syncs wait before a kill have this in their paths.
LOG = "/data/log/"
# How many clients have the same user.
CLIENTS_OF_USER = 5
# How many problems are reported in full, and how many lines of a difference.
SHOWN_PROBLEMS, SHOWN_LINES = 10, 8
# How clients behave, and how often.
HABITS = {
    Habits(stays=None): 3, Habits(stays=6): 5, Habits(stays=0.5): 1, Habits(stays=3, per_room=0.2): 1,
    Habits(stays=3, begins_anew=0.1): 1,
}


@dataclass(frozen=True)
class Plan:
    clients: int
    seconds: float
    kills: int
    stops: int
    seed: int
    # How many writes there are at most in a second. With more, clients in one process fall behind, and see many changes at
    # once.
    rate: float
    # How long an access token is valid. With the server's option of this name, tokens expire within the run.
    token_seconds: float


@dataclass
class Run:
    server: Server
    plan: Plan
    # Called every second or so with the state of the run.
    progress: Callable[["Run"], None] = lambda run: None
    # If given, the server is killed while its disk completes no sync, so that nothing may be shown of what is written then.
    disk: FailingDisk | None = None
    clients: list[Client] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    phase: str = "set-up"

    def perform(self) -> None:
        """Performs the whole run. The problems are in `situation.problems` afterwards."""
        source = random.Random(self.plan.seed)
        self.situation = Situation(self.server.port)
        chat = self._begin(source)
        self.writers = Writers(chat, self.situation, self.server.token, random.Random(source.random()), WRITERS / self.plan.rate)
        asyncio.run(self._run(source))
        if not self.situation.problems:
            self.phase = "comparing"
            self._compare()

    def _begin(self, source: random.Random) -> Chat:
        self.world = world = World(self.server)
        count = max(3, self.plan.clients // CLIENTS_OF_USER)
        people = [world.user(f"User {number}") for number in range(count)]
        ids = [person.id for person in people]
        habits = source.choices(list(HABITS), list(HABITS.values()), k=self.plan.clients)
        for number, habit in enumerate(habits):
            self.clients.append(Client(
                number, people[number % count], self.server.token, self.plan.token_seconds, habit,
                random.Random(source.random()), self.situation))
        return begin(world, ids, rooms=count // 2, offices=2, source=source)

    # MARK: The course of a run

    async def _run(self, source: random.Random) -> None:
        lives = [asyncio.create_task(client.live()) for client in self.clients]
        reporter = asyncio.create_task(self._report())
        try:
            self.situation.holds = True
            await self._until(lambda: all(client.cursor for client in self.clients), "not all clients have a page")
            self.situation.holds = False
            writers = [asyncio.create_task(self.writers.write(ACTIONS)) for _ in range(WRITERS)]
            endings = [KILL] * self.plan.kills + [STOP] * self.plan.stops
            source.shuffle(endings)
            self.phase = "writing"
            for ending in [*endings, None]:
                await self._wait(self.plan.seconds / (len(endings) + 1) * source.uniform(0.8, 1.2))
                if ending is not None and not self.situation.problems:
                    await self._end_and_start(ending)
            await cancelled(writers)
            if not self.situation.problems:
                await self._reach_the_end()
        finally:
            await cancelled([*lives, reporter])

    async def _report(self) -> None:
        while True:
            self.progress(self)
            await asyncio.sleep(1)

    async def _wait(self, seconds: float) -> None:
        """Waits, or until there is a problem."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.situation.problems:
            await asyncio.sleep(LOOK_SECONDS)

    async def _until(self, is_true: Callable[[], bool], failure: str) -> None:
        """Waits for a condition, or until there is a problem."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_true() and not self.situation.problems:
            if time.monotonic() > end:
                self.situation.problems.append(failure)
            await asyncio.sleep(LOOK_SECONDS)

    async def _end_and_start(self, ending: str) -> None:
        """Ends the server while all clients have a stream and the writers write, and starts it again."""
        situation, self.phase = self.situation, ending
        situation.holds = True
        await self._until(
            lambda: all(client.is_connected or client.has_expired for client in self.clients), "not all clients are connected")
        with self.disk.syncs_wait(LOG) if self.disk and ending == KILL else contextlib.nullcontext():
            if self.disk and ending == KILL:
                await self._check_that_nothing_is_shown()
            situation.is_up = False
            situation.endings.append(ending)
            await asyncio.to_thread(self.server.kill if ending == KILL else self.server.stop)
        seen, acknowledged = max(client.seen for client in self.clients), self.writers.position
        await asyncio.to_thread(self.server.start)
        head = await asyncio.to_thread(self.server.head)
        if max(seen, acknowledged) > head:
            situation.problems.append(
                f"after a {ending}, the log ends at {head}, but a client saw {seen}, and a writer {acknowledged}")
        situation.is_up, situation.holds, self.phase = True, False, "writing"

    async def _check_that_nothing_is_shown(self) -> None:
        """While no sync completes, the writers wait for responses, and the clients see nothing of what they wrote."""
        await asyncio.sleep(HELD_SECONDS)
        durable, seen = await asyncio.to_thread(self.server.head), max(client.seen for client in self.clients)
        if max(seen, self.writers.position) > durable:
            self.situation.problems.append(
                f"durable up to {durable}, but a client saw {seen}, and a writer {self.writers.position}")

    async def _reach_the_end(self) -> None:
        """Waits until every client has everything that was written for its user."""
        self.phase = "catching up"
        self.situation.holds = True
        await self._wait(2 * SCHEDULED_SECONDS)
        await self._until(lambda: all(client.tokens for client in self.clients), "not all clients log in again")
        people = {client.person.id for client in self.clients}
        targets = {id: await asyncio.to_thread(mark, self.world.acting_as(id)) for id in people}
        await self._until(
            lambda: all(client.position >= targets[client.person.id] for client in self.clients),
            "not all clients reach the end")
        for client in self.clients:
            if client.position < targets[client.person.id]:
                client.report(f"has everything up to {client.position}, but not to {targets[client.person.id]}")

    # MARK: The comparison

    def _compare(self) -> None:
        by_person: dict[str, list[Client]] = {}
        for client in self.clients:
            by_person.setdefault(client.person.id, []).append(client)
        for clients in by_person.values():
            expected = shown_to(self.world.acting_as(clients[0].person.id))
            for client in clients:
                self._compare_one(client, expected)
            self.progress(self)

    def _compare_one(self, client: Client, expected: Mirror) -> None:
        api = self.world.acting_as(client.person.id)
        if client.has_gaps:
            client.mirror.load_gaps(api)
            client.mirror.load_threads(api)
        self._expect_sessions(api.get("/v1/sessions")["sessions"], client, expected)
        if lines := differences(client.mirror, expected):
            client.report(f"{len(lines)} differences from what the endpoints show:\n    " + "\n    ".join(lines[:SHOWN_LINES]))

    def _expect_sessions(self, sessions: list[dict], client: Client, expected: Mirror) -> None:
        """Which session is the caller's own is different for each client. A session that the client could not end was its own
        before, and its copy can still say so: the new login did not change it. Sessions that were refreshed after what the
        client has are not compared."""
        for session in sessions:
            id = session["id"]
            copy = client.mirror.entities.get(Key("session", None, id), {}) if id in client.left_sessions else {}
            is_current = id == client.tokens["sessionId"] or copy.get("isCurrent", False)
            expected.store("session", session | {"isCurrent": is_current})
        later = {other.tokens["sessionId"] for other in self.clients
                 if other.is_refreshing or other.tokens["position"] > client.position}
        for key in expected.of_type("session"):
            if key.id in later and key in client.mirror.entities:
                expected.entities[key] = client.mirror.entities[key]

    # MARK: Figures

    @property
    def connected(self) -> int:
        return sum(client.is_connected for client in self.clients)

    def total(self, name: str) -> int:
        return sum(counts[name] for counts in self.situation.counts.values())

    def problems(self) -> str:
        problems = self.situation.problems
        return f"{len(problems)} problems, seed {self.plan.seed}:\n" + "\n".join(problems[:SHOWN_PROBLEMS])


async def cancelled(tasks: list[asyncio.Task]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
