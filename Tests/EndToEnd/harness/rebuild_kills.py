"""Kills the server again and again while all read models are rebuilt, and checks after each start what is left.

- No acknowledged message is missing, and none has moved. Some are sent one by one all the time, others in a burst of bulk
  ingest.
- Every read model answers, and no row of any differs from the log. So no file is served that is not complete.
- No unfinished file is left, each read model has one file, and none was damaged.
- A notification arrives again only if its outcome was not in the log at the kill between.
"""

import contextlib
import enum
import json
import pathlib
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import requests

from .client import new_id
from .command import check_data, hansard
from .importing import Feed
from .people import Person, Room, World, timeline
from .push_settled import Settled, recorded
from .read_models import lines, until_ready
from .retrying import RetryingClient
from .server import Server
from .waiting import wait_until

PROJECTIONS = "/v1/admin/projections"
# The pause between the messages that are sent one by one, in seconds.
SENDING_SECONDS = 0.05
# More than the number of missing events with which a rebuild goes on to its last step (`ProjectionRunner.batchEvents`).
BURST = 6_000
WATCH_SECONDS = 0.005
# How long after the moment that it waits for a kill can come.
DELAY_SECONDS = 0.02
# How many kills can come after the end of all rebuilds, for each one that does not.
LATE_KILLS = 5
WORD = "biscuit"
SHOWN_PROBLEMS = 10


class Moment(enum.Enum):
    """What a kill waits for."""

    ANY = "any"
    # A new file has the name with which it replaces the old one.
    EXCHANGE = "exchange"
    # The new file has what was in the log at the beginning, and still misses a burst.
    FOLLOWING = "following"


# In random order, again and again.
MOMENTS = [Moment.ANY] * 3 + [Moment.EXCHANGE, Moment.FOLLOWING]

# Where the rebuild of a read model was at a kill. Those in the middle have an unfinished or a second file.
NOT_BEGUN, COMPLETE = "not begun", "complete"
UNFINISHED = ("building", "indexing", "following", "switching")
PHASES = (NOT_BEGUN, *UNFINISHED, COMPLETE)


@dataclass(frozen=True)
class Plan:
    # While a rebuild is running.
    kills: int
    # In the log before the first rebuild.
    messages: int
    seed: int


@dataclass(frozen=True)
class Notification:
    """A line of the file to which notifications are appended, and how many kills came before it."""

    kills: int
    key: str
    position: int
    user: str
    device: str


class Files:
    """The files of read models in a data directory."""

    def __init__(self, data: pathlib.Path):
        self.folder = data / "views"

    @property
    def unfinished(self) -> list[str]:
        return [file.name for file in self.folder.iterdir() if ".rebuild" in file.name]

    @property
    def aside(self) -> list[str]:
        """Files that the server found damaged."""
        return [file.name for file in self.folder.iterdir() if ".aside" in file.name]

    def generations(self, name: str) -> list[int]:
        """`rooms-v10.sqlite` is the first generation, `rooms-v10-2.sqlite` the second."""
        found = (re.fullmatch(rf"{name}-v\d+(?:-(\d+))?\.sqlite", file.name) for file in self.folder.iterdir())
        return sorted(int(match[1] or 1) for match in found if match)


class Watch:
    """Asks the server all the time how far rebuilds are, until it is killed."""

    def __init__(self, server: Server):
        self.server, self.token = server, server.token
        self.states: dict[str, str] = {}
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _follow(self) -> None:
        with requests.Session() as session:
            session.trust_env = False
            while True:
                try:
                    found = session.get(
                        self.server.url + PROJECTIONS, headers={"Authorization": f"Bearer {self.token}"}, timeout=30).json()
                except requests.RequestException:
                    return
                if "projections" in found:
                    self.states = {
                        each["name"]: each["rebuild"]["state"] for each in found["projections"] if each["rebuild"]}
                time.sleep(WATCH_SECONDS)

    def are_over(self, names: list[str]) -> bool:
        return len(self.states) == len(names) and not set(self.states.values()) & set(UNFINISHED)


@dataclass
class RebuildKills:
    server: Server
    # The file to which the server appends notifications.
    sink: pathlib.Path
    plan: Plan
    # Called now and then with the state of the run.
    progress: Callable[["RebuildKills"], None] = lambda run: None
    problems: list[str] = field(default_factory=list)
    # How many kills came while a rebuild was running, and how many after the end of all.
    kills: int = 0
    late: int = 0
    # How often a read model was in a phase when the server was killed, by name and phase.
    hits: Counter = field(default_factory=Counter)
    # How often the server was killed, by what the kill waited for, while a rebuild was running.
    moments: Counter = field(default_factory=Counter)

    def __post_init__(self):
        self.source = random.Random(self.plan.seed)
        self.client = RetryingClient(self.server)
        self.files = Files(self.server.data)
        self.began = time.monotonic()
        # The position of each acknowledged message, by ID: sent one by one, and in bursts.
        self.sent: dict[str, int] = {}
        self.burst: dict[str, int] = {}
        self.notifications: list[Notification] = []
        self.read_bytes = 0
        # What was settled at each kill.
        self.settled: list[Settled] = []
        self.stopping = threading.Event()
        self.next_moments: list[Moment] = []

    def perform(self) -> None:
        """Performs the whole run. The problems are in `problems` afterwards."""
        self._begin()
        writer = threading.Thread(target=self._write, daemon=True)
        writer.start()
        while self.kills < self.plan.kills and not self.problems:
            self._round()
            self.progress(self)
            if self.late > LATE_KILLS * (self.kills + 1):
                self.problems.append(f"{self.late} of {self.kills + self.late} kills came after the end of all rebuilds")
        self.stopping.set()
        writer.join()
        self._end()

    # MARK: The chat

    def _begin(self) -> None:
        self.world = World(self.server)
        self.anna, self.ben = self.world.users("Anna", "Ben")
        self.tea, self.history = self.anna.room("Tea", self.ben), self.anna.room("History")
        self.ben.put(f"/v1/devices/{new_id()}", {"apnsToken": "b1"})
        upload = self.anna.request("POST", "/v1/media", data=b"a recipe")
        assert upload.status_code == 201, upload.text
        self.upload = upload.json()["id"]
        self.anna.send(self.tea, f"tea and a {WORD}")
        history = self._lines(self.plan.messages)
        results = self.world.admin.ingest_all(history)
        self.burst |= {line["id"]: result["position"] for line, result in zip(history, results)}
        until_ready(self.server)
        self.names = [each["name"] for each in self.world.admin.get(PROJECTIONS)["projections"]]
        self.seconds = self._rebuild_seconds()

    def _lines(self, count: int) -> list[dict]:
        return lines(self.anna, self.history, count, f"a cup of tea and a {WORD}")

    def _rebuild_seconds(self) -> float:
        """How long it takes when nothing is killed. A random moment of a rebuild is one within this time."""
        began = time.monotonic()
        self._start_rebuilds()
        watch = Watch(self.server)
        wait_until(lambda: watch.are_over(self.names), "the rebuilds do not end")
        return time.monotonic() - began

    def _start_rebuilds(self) -> None:
        for name in self.names:
            self.world.admin.post(f"{PROJECTIONS}/{name}/rebuild", expect=202)

    def _write(self) -> None:
        while not self.stopping.wait(SENDING_SECONDS):
            id = new_id()
            receipt = self.client.request("PUT", self.tea.message(id), self.anna.id, {"text": "The kettle is on."})
            self.sent[id] = receipt["position"]

    def _write_burst(self) -> None:
        """What is acknowledged before the kill counts."""
        sent = self._lines(BURST)
        # The kill can come before the connection.
        with contextlib.suppress(OSError):
            for result in Feed(self.server).run(sent, None):
                if result["status"] == 201:
                    self.burst[sent[result["line"] - 1]["id"]] = result["position"]

    # MARK: Kills

    def _round(self) -> None:
        if not self.next_moments:
            self.next_moments = self.source.sample(MOMENTS, len(MOMENTS))
        moment = self.next_moments.pop()
        before = {name: self.files.generations(name)[-1] for name in self.names}
        burst = threading.Thread(target=self._write_burst, daemon=True)
        self._start_rebuilds()
        watch = Watch(self.server)
        if moment is Moment.FOLLOWING:
            burst.start()
        self._wait_for(moment, watch, before)
        self.server.kill()
        watch.thread.join()
        if moment is Moment.FOLLOWING:
            burst.join()
        self._count(moment, watch, before)
        self._take_notifications()
        self.settled.append(recorded(self.server.data))
        newest = {name: self.files.generations(name)[-1] for name in self.names}
        self.server.start()
        self._check(newest)

    def _wait_for(self, moment: Moment, watch: Watch, before: dict[str, int]) -> None:
        """Ends early when all rebuilds are over."""
        name = self.source.choice(self.names)
        deadline = time.monotonic() + self.source.uniform(0, self.seconds)
        conditions = {
            Moment.ANY: lambda: time.monotonic() >= deadline,
            Moment.EXCHANGE: lambda: self.files.generations(name)[-1] > before[name],
            Moment.FOLLOWING: lambda: "following" in watch.states.values(),
        }
        while not conditions[moment]() and not watch.are_over(self.names):
            time.sleep(WATCH_SECONDS / 5)
        if moment is not Moment.ANY:
            time.sleep(self.source.choice((0, self.source.uniform(0, DELAY_SECONDS))))

    def _count(self, moment: Moment, watch: Watch, before: dict[str, int]) -> None:
        """Where the rebuild of each read model was, by the files that the kill left and what the server had said."""
        unfinished = self.files.unfinished
        phases = {
            name: phase_of(
                self.files.generations(name), before[name], any(file.startswith(f"{name}-v") for file in unfinished),
                watch.states.get(name))
            for name in self.names}
        self.hits.update(phases.items())
        if set(phases.values()) & set(UNFINISHED):
            self.kills += 1
            self.moments[moment] += 1
        else:
            self.late += 1

    # MARK: Checks after a start

    def _check(self, newest: dict[str, int]) -> None:
        number = f"after kill {len(self.settled)}"
        try:
            self._check_files(newest)
            self._check_messages(self.anna, self.tea, dict(self.sent))
            self._check_answers()
            hansard("replay", "--data", self.server.data, "--verify")
        except (AssertionError, requests.RequestException) as error:
            self.problems.append(f"{number}: {error}\n{self.server.tail() if self.server.process else ''}")

    def _check_files(self, newest: dict[str, int]) -> None:
        assert not self.files.unfinished, f"unfinished files are left: {self.files.unfinished}"
        assert not self.files.aside, f"the server found files damaged and built new ones: {self.files.aside}"
        for name in self.names:
            found = self.files.generations(name)
            assert found == [newest[name]], f"{name} has the generations {found}, not the newest complete one {newest[name]}"
        for each in self.world.admin.get(PROJECTIONS)["projections"]:
            assert each["state"] == "ready" and each["problem"] is None, each
            assert each["rebuild"] is None, f"a rebuild has survived the kill: {each}"

    def _check_messages(self, reader: Person, room: Room, acknowledged: dict[str, int]) -> None:
        shown = timeline(reader, room.id)
        positions = {message["id"]: message["position"] for message in shown}
        lost = [id for id, position in acknowledged.items() if positions.get(id) != position]
        assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are missing or moved, such as {lost[:3]}"
        assert len(positions) == len(shown), "a message is shown twice"
        order = [message["position"] for message in shown]
        assert order == sorted(order), "messages are not in the order of their positions"

    def _check_answers(self) -> None:
        """Each read model answers. What it shows has at least what was acknowledged before."""
        count, ids, last = len(self.sent), list(self.sent), list(self.burst)[-1]
        me = self.anna.get("/v1/me")
        assert me["id"] == self.anna.id, me
        # Ben reads nothing.
        assert self.ben.get("/v1/badge")["unreadCount"] >= count, f"the badge lacks some of {count} messages"
        rooms = {room["id"] for room in self.anna.get("/v1/rooms")["rooms"]}
        assert rooms == {self.tea.id, self.history.id}, rooms
        found = self.anna.get(self.history.message(last))
        assert found["position"] == self.burst[last], f"the last message of the burst has moved: {found}"
        if ids:
            # It is known by its ID, so this is a repeat.
            repeated = self.anna.send(self.tea, "The kettle is on.", id=ids[0], expect=200)
            assert repeated["position"] == self.sent[ids[0]], f"a repeat was not recognised: {repeated}"
        download = self.anna.request("GET", f"/v1/media/{self.upload}")
        assert download.status_code == 200 and download.content == b"a recipe", f"the file is not shown: {download.status_code}"
        # A search does not wait for what was recorded just now, and says how far it is.
        newest = max(self.burst[last], *self.sent.values(), 0)
        wait_until(lambda: self.anna.get("/v1/search", q=WORD)["position"] >= newest, "search does not follow the log")
        assert self.anna.get("/v1/search", q=WORD)["results"], "a search finds nothing"

    # MARK: Notifications

    def _take_notifications(self) -> None:
        """Adds the whole lines that were written since. A kill can leave an incomplete line."""
        added = self.sink.read_bytes()[self.read_bytes :].rpartition(b"\n")[0]
        self.read_bytes += len(added)
        for line in added.split(b"\n"):
            # The next start ends an incomplete line. Its notification then arrives again.
            with contextlib.suppress(ValueError):
                body = json.loads(line)
                self.notifications.append(Notification(
                    len(self.settled), body["deliveryKey"], body["position"], body["userId"], body["deviceId"]))

    def _check_notifications(self) -> None:
        by_key: dict[str, list[Notification]] = defaultdict(list)
        for each in self.notifications:
            by_key[each.key].append(each)
        for key, arrivals in by_key.items():
            for one, other in zip(arrivals, arrivals[1:]):
                if one.kills == other.kills:
                    self.problems.append(f"the notification of {one.position} arrives twice without a kill between")
                elif self.settled[other.kills - 1].has(one.position, one.user, one.device):
                    self.problems.append(f"the notification of {one.position} arrives again although its outcome was in the log")

    # MARK: The end

    def _end(self) -> None:
        if self.problems:
            return
        wait_until(lambda: self._unannounced() == 0, "a message notifies nobody")
        self._check_notifications()
        try:
            self._check_messages(self.anna, self.history, self.burst)
            self._check_messages(self.anna, self.tea, self.sent)
            self.server.stop()
            check_data(self.server.data)
        except AssertionError as error:
            self.problems.append(f"at the end: {error}")

    def _unannounced(self) -> int:
        """How many messages sent one by one have not notified Ben's device yet."""
        self._take_notifications()
        return len(set(self.sent.values()) - {each.position for each in self.notifications})

    def report(self) -> str:
        return "\n".join(self.problems[:SHOWN_PROBLEMS])


def phase_of(generations: list[int], before: int, is_unfinished: bool, said: str | None) -> str:
    """Where the rebuild of a read model was, by the generations of complete files, the one before it, whether there is an
    unfinished file, and the state that the server had said last."""
    if len(generations) > 1:
        return "switching"
    if generations[-1] > before:
        return COMPLETE
    if is_unfinished:
        return said if said in UNFINISHED else "building"
    return NOT_BEGUN
