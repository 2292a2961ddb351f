"""Clients that keep a mirror, and connect, drop and resume at random."""

import asyncio
import collections
import json
import random
from dataclasses import dataclass, field

from ..client import new_id
from ..live_streams import COMPLETE, INITIAL, kind_and_position
from ..mirror import Key, Mirror, key_of
from ..people import Person
from .transports import TRANSPORTS, Stream
from .wire import Connection, Lost, Refused

# The problems after which a client only waits and tries again.
TRY_AGAIN = {"shutting_down", "too_many_streams", "projection_behind", "overloaded", "rate_limited"}
KILL, STOP = "kill", "stop"
# How often a client looks whether it may drop its stream now.
HOLD_SECONDS = 0.1
# How long the server may take to close a WebSocket, in seconds.
LEAVE_SECONDS = 30
# How likely a client logs out instead of leaving, and how likely it renews its token in time, if the stream can do that.
LOGS_OUT, RENEWS = 0.2, 0.7
# How much of the time of a token is over when a client renews it, at most.
RENEWS_WITHIN = 0.5
# How many of its last steps a client remembers, for the report of a problem.
STEPS = 12


class Situation:
    """What clients and writers share: the state of the server, and the problems."""

    def __init__(self, port: int):
        self.port = port
        # Whether every client must have a stream, and keep it.
        self.holds = False
        self.is_up = True
        # How the server ended each time: KILL or STOP.
        self.endings: list[str] = []
        self.problems: list[str] = []
        self.counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
        # How long clients were told to wait when the server stopped, in milliseconds.
        self.resume_after: list[int] = []

    @property
    def run(self) -> int | None:
        """The number of the run of the server; None while it is not known to be up."""
        return len(self.endings) if self.is_up else None

    def ending(self, run: int | None) -> str | None:
        """How a run of the server ended; None if it has not ended."""
        if run is None:
            return KILL
        return self.endings[run] if run < len(self.endings) else None


@dataclass(frozen=True)
class Habits:
    """How a client behaves."""

    # How long it keeps a stream, at most, in seconds. None means as long as it lasts.
    stays: float | None
    # How likely it discards its copy and begins anew when it connects.
    begins_anew: float = 0.0
    # How likely it wants only some of the newest messages of each room.
    per_room: float = 0.0


class Violation(Exception):
    """A stream sent something that it must not send."""


@dataclass
class Client:
    number: int
    person: Person
    # The token of a service, which logs the client in.
    service: str
    # How long an access token is valid, in seconds.
    token_seconds: float
    habits: Habits
    random: random.Random
    situation: Situation
    device: str = field(default_factory=new_id)
    # The tokens of the client's session; None before the next login.
    tokens: dict | None = None
    # Whether the token has expired, and no stream was opened with a new one since.
    has_expired: bool = False
    # Whether the client does not know whether its session was refreshed.
    is_refreshing: bool = False
    # The sessions that it tried to end. One stays if the server was killed first, or if the token had expired.
    left_sessions: set[str] = field(default_factory=set)
    mirror: Mirror = field(default_factory=Mirror)
    cursor: str | None = None
    # The position up to which the client has everything.
    position: int = 0
    # The newest revision or position that the client has seen.
    seen: int = 0
    is_connected: bool = False
    # Whether messages were left out, so that they must be loaded before the mirror can be compared.
    has_gaps: bool = False
    _last: dict[Key, tuple[int, bool]] = field(default_factory=dict)
    _newest: int = 0
    _per_room: int | None = None
    steps: collections.deque = field(default_factory=lambda: collections.deque(maxlen=STEPS))

    def __str__(self) -> str:
        return f"client {self.number} of {self.person.nickname}"

    # MARK: Life

    async def live(self) -> None:
        """Follows until the task is cancelled, or until the client reports a problem."""
        try:
            while True:
                await asyncio.sleep(await self._connect_and_follow())
        except Violation as violation:
            self.report(str(violation))
        except Exception as error:
            self.report(repr(error))
        finally:
            self.is_connected = False

    def report(self, problem: str) -> None:
        self.situation.problems.append(f"{self}: {problem}\n    " + "\n    ".join(self.steps))

    async def _connect_and_follow(self) -> float:
        """One stream, from the beginning to its end. Returns how long to wait before the next one, in seconds."""
        name = self.random.choice(list(TRANSPORTS))
        counts, run = self.situation.counts[name], self.situation.run
        stream = TRANSPORTS[name](self.situation.port, "")
        if self.cursor is not None and self.random.random() < self.habits.begins_anew:
            self._begin_anew()
        # The parameter stays the same until a response of several pages is complete.
        if self.cursor is None or kind_and_position(self.cursor)[0] == COMPLETE:
            self._per_room = self.random.randint(1, 20) if self.random.random() < self.habits.per_room else None
        self.steps.append(f"{name} since {self.cursor and kind_and_position(self.cursor)}, per room {self._per_room}")
        try:
            await self._authenticate()
            stream.token = self.tokens["accessToken"]
            await stream.open(self.cursor, self._per_room, self.random.random() < 0.3)
            counts["connects"] += 1
            return await self._follow(stream, counts, run)
        except Lost as lost:
            return self._lost(stream, counts, run, str(lost))
        except Refused as refused:
            if self._loses_permission(refused.code, counts):
                return self._moment()
            if refused.code not in TRY_AGAIN and self.situation.ending(run) is None:
                raise Violation(f"refused: {refused}") from refused
            counts["refused"] += 1
            return max(refused.retry_after, self._moment())
        finally:
            self.is_connected = False
            stream.cut()

    async def _follow(self, stream: Stream, counts: collections.Counter, run: int | None) -> float:
        reading = asyncio.create_task(self._read(stream, counts))
        stays = None if self.habits.stays is None else self.random.uniform(0, self.habits.stays)
        try:
            done, _ = await asyncio.wait({reading}, timeout=stays)
            while not done and self.situation.holds:
                done, _ = await asyncio.wait({reading}, timeout=HOLD_SECONDS)
        except asyncio.CancelledError:
            reading.cancel()
            raise
        if done:
            return self._ended(reading.result(), counts, run)
        if self.random.random() < LOGS_OUT:
            return await self._log_out(reading, counts, run)
        reading.cancel()
        await asyncio.wait({reading})
        self.is_connected = False
        if self.random.random() < 0.5:
            counts["cut"] += 1
            self.steps.append("cut")
            return self._moment()
        counts["left"] += 1
        self.steps.append("left")
        if stream.announces_end:
            async with asyncio.timeout(LEAVE_SECONDS):
                await stream.leave()
        else:
            # A request waits on the connection.
            stream.connection.close()
        return self._moment()

    async def _read(self, stream: Stream, counts: collections.Counter) -> dict:
        """Applies pages until the stream ends. Returns the frame `end`."""
        renewal: asyncio.Task | None = None
        try:
            while True:
                name, data = await stream.frame()
                self.is_connected, self.has_expired = True, name == "end" and self.has_expired
                if name == "end":
                    return data
                if name == "sync":
                    self._apply(data, is_polled=not data["items"] and not stream.announces_end)
                    counts["pages"] += 1
                    counts["items"] += len(data["items"])
                    if self.random.random() < 0.01:
                        await asyncio.sleep(self.random.random())
                elif name == "expiring" and stream.renews and self.random.random() < RENEWS:
                    renewal = asyncio.create_task(self._renew(stream))
                elif name == "ready" and renewal is not None:
                    counts["renewed"] += 1
        finally:
            if renewal is not None:
                renewal.cancel()

    # MARK: The session

    async def _call(self, method: str, path: str, headers: dict[str, str], body: dict | None = None) -> dict:
        """A request on a connection of its own."""
        connection = await Connection.open(self.situation.port)
        try:
            fields = headers | {"Content-Type": "application/json"}
            return json.loads(await connection.call(method, path, fields, json.dumps(body).encode() if body else b""))
        finally:
            connection.cut()

    async def _authenticate(self) -> None:
        """Gets a token if the client has none that is valid."""
        if self.tokens is None:
            self.steps.append("logs in")
            headers = {"Authorization": f"Bearer {self.service}", "Hansard-Act-As": self.person.id}
            self.tokens = await self._call("POST", "/v1/sessions", headers, {"deviceId": self.device})
        elif self.has_expired:
            await self._refresh()
        self.is_refreshing = False

    async def _refresh(self) -> None:
        """Repeating it is safe, because the next token has not been used."""
        self.steps.append("refreshes")
        self.is_refreshing = True
        self.tokens = await self._call("POST", "/v1/sessions/refresh", {}, {"refreshToken": self.tokens["refreshToken"]})
        self.is_refreshing = False

    async def _renew(self, stream: Stream) -> None:
        """Renews the token within the stream, some time before it expires."""
        await asyncio.sleep(self.random.uniform(0, RENEWS_WITHIN) * self.token_seconds)
        try:
            await self._refresh()
            await stream.renew(self.tokens["accessToken"])
        except (Lost, Refused) as error:
            # The server has stopped, or is about to. The stream ends as well.
            self.steps.append(f"no renewal: {error}")

    async def _log_out(self, reading: asyncio.Task, counts: collections.Counter, run: int | None) -> float:
        """Ends the session, and with it the stream. The client then logs in again, and continues from its cursor."""
        self.steps.append("logs out")
        tokens, self.tokens = self.tokens, None
        try:
            headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
            self.left_sessions.add(tokens["sessionId"])
            await self._call("DELETE", f"/v1/sessions/{tokens['sessionId']}", headers)
            async with asyncio.timeout(LEAVE_SECONDS):
                return self._ended(await reading, counts, run)
        finally:
            reading.cancel()

    def _loses_permission(self, code: str, counts: collections.Counter) -> bool:
        """Whether a stream had to end with this code, because the client has logged out or its token has expired."""
        if code == "access_token_expired":
            self.has_expired = True
            counts["expired"] += 1
            return True
        if code == "session_ended" and self.tokens is None:
            counts["logouts"] += 1
            return True
        return False

    def _ended(self, end: dict, counts: collections.Counter, run: int | None) -> float:
        self.steps.append(f"end {end['code']}")
        if self._loses_permission(end["code"], counts):
            return self._moment()
        counts["ends"] += 1
        if end["code"] != "shutting_down" or self.situation.ending(run) is None:
            raise Violation(f"the stream ended: {end}")
        self.situation.resume_after.append(end["resumeAfterMilliseconds"])
        return end["resumeAfterMilliseconds"] / 1000

    def _lost(self, stream: Stream, counts: collections.Counter, run: int | None, why: str) -> float:
        self.steps.append(f"lost: {why}")
        counts["lost"] += 1
        ending = self.situation.ending(run)
        if ending is None:
            raise Violation(f"the connection was lost: {why}")
        if ending == STOP and self.is_connected and stream.announces_end:
            raise Violation(f"a stop was not announced: {why}")
        return self._moment()

    def _moment(self) -> float:
        return self.random.uniform(0.01, 0.3 if self.situation.holds or self.habits.stays is None else 2.0)

    def _begin_anew(self) -> None:
        self.mirror, self.cursor, self.position, self._newest, self.has_gaps = Mirror(), None, 0, 0, False
        self._last = {}
        self.steps.append("begins anew")

    # MARK: Pages

    def _apply(self, page: dict, is_polled: bool) -> None:
        items, kind = page["items"], self.cursor and kind_and_position(self.cursor)[0]
        if not items and not is_polled:
            raise Violation("a page without items")
        is_initial = kind is None or kind == INITIAL
        for item in items:
            self._check_order(item, is_initial)
            self.mirror.apply(item)
        kind, position = kind_and_position(page["cursor"])
        if kind == COMPLETE:
            if position < self.position or (items and position == self.position):
                raise Violation(f"the position {position} follows {self.position}")
            self.position = position
        self.cursor, self.seen = page["cursor"], max(self.seen, position)
        self.has_gaps = self.has_gaps or bool(self.mirror.gaps)

    def _check_order(self, item: dict, is_initial: bool) -> None:
        """Revisions never fall, and each revision of an entity comes once."""
        revision, self.seen = item["revision"], max(self.seen, item["revision"])
        if item["type"] in ("user", "gap"):
            return
        if not is_initial:
            if revision < self._newest:
                raise Violation(f"the revision {revision} follows {self._newest}: {key_of(item)}")
            self._newest = revision
        key, is_gone = key_of(item), "removed" in item
        # An entity that went and came back between two pages can have both with the same revision.
        last, was_gone = self._last.get(key, (0, False))
        if revision < last or (revision == last and not (was_gone and not is_gone)):
            raise Violation(f"the revision {revision} of {key} follows {last}")
        self._last[key] = revision, is_gone
