"""Kills the server again and again while notifications go out, and checks afterwards what arrived.

- Each device gets a notification at least once for each message, for each message that its user sent on another device,
  and for each marker that its user moved on another device. A silent notification may be replaced by a later one of the
  same kind and room. No device gets anything else.
- A notification arrives again only if it was rejected, if the server did not wait for the response, or if its outcome
  was not in the log when the server was killed. A repeat is the same for the service: it has the same ID, and replaces
  the same notifications.
- Outcomes are recorded soon: no notification arrives again after a kill if its service had accepted it more than
  `RECORDING_SECONDS` before. At the end, the log has the outcome of each notification.
- The last badge on each device is what `GET /v1/badge` returns.
"""

import queue
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .client import Api, new_id
from .command import audit, settle
from .push_phones import Arrival, PushServices
from .push_settled import Settled, recorded
from .push_webhook import WebhookService
from .retrying import PATIENCE_SECONDS, RetryingClient
from .server import Server

USERS_OF_ROOM, ROOMS_OF_USER = 4, 2
REGISTERING_THREADS = 4
POLL_SECONDS = 0.005
# How long services take to respond, in seconds.
LATENCY_SECONDS = (0.005, 0.04)
# By when the log must have the outcome of a notification that its service accepted, in seconds. The server records it
# after a tenth of a second (`DispatchLoop.gatheringMilliseconds`) and one append. The limit is a hundred times as long,
# because on a busy machine the response, the server's threads and the disk can be late by seconds.
RECORDING_SECONDS = 10
# How many problems are reported.
SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Plan:
    kills: int
    # How many notifications of messages there are at least, including those of the sender's devices.
    notifications: int
    devices: int
    seed: int
    # How many markers are moved for each message, and the share of messages that a member sends. Both notify devices.
    reads: float = 0.5
    # The probability that a service responds with an error.
    faults: float = 0.01


@dataclass(frozen=True)
class Device:
    user: str
    id: str
    kind: str
    token: str


@dataclass
class Chat:
    """Who is in which room, with which devices."""

    speaker: str
    rooms: dict[str, list[str]]
    devices: dict[str, list[Device]]
    # The newest message of each room, and the position of its event.
    newest: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Caused:
    """A notification that an event in the log causes."""

    kind: str
    room: str
    device: Device

    @property
    def is_silent(self) -> bool:
        return self.kind != "message"


@dataclass
class PushKills:
    services: PushServices | WebhookService
    server: Server
    plan: Plan
    # Called now and then with the state of the run.
    progress: Callable[["PushKills"], None] = lambda run: None
    problems: list[str] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    phase: str = "set-up"
    # How often the server was killed.
    kills: int = 0

    def __post_init__(self):
        self.source = random.Random(self.plan.seed)
        self.client = RetryingClient(self.server)
        self.began = time.monotonic()
        # Each arrival, with the number of kills before it.
        self.arrived: list[tuple[int, Arrival]] = []
        self.known_keys: set[str] = set()
        # The identities of pushes for whose response the server did not wait. All pushes stay alive in `arrived`.
        self.given_up: set[int] = set()
        # When the server was killed, in seconds of the monotonic clock.
        self.killed: list[float] = []
        # What was settled at each kill.
        self.settled: list[Settled] = []
        # The notifications of messages that the server has accepted, by position and token.
        self.required: set[tuple[int, str]] = set()
        # All notifications that events in the log cause, by position and token.
        self.caused: dict[tuple[int, str], Caused] = {}
        self.work: queue.Queue = queue.Queue()
        self.latency = random.Random(self.source.random())

    def perform(self) -> None:
        """Performs the whole run. The problems are in `problems` afterwards."""
        self.services.on_arrival = self._take
        self.services.on_give_up = lambda push: self.given_up.add(id(push))
        self.services.fail_at_random(self.plan.faults)
        self.services.latency = lambda: self.latency.uniform(*LATENCY_SECONDS)
        self.chat = self._begin()
        self.by_token = {device.token: device for devices in self.chat.devices.values() for device in devices}
        writer = threading.Thread(target=self._write, daemon=True)
        writer.start()
        self.phase = "killing"
        messages = -(-self.plan.notifications // (USERS_OF_ROOM * len(self.services.kinds)))
        parts = [messages * number // (self.plan.kills + 1) for number in range(self.plan.kills + 2)]
        for first, last in zip(parts, parts[1:]):
            if self.kills == self.plan.kills - 1:
                self._let_outcomes_become_due()
            known = len(self.known_keys)
            for _ in range(last - first):
                self._plan_message()
            if self.kills < self.plan.kills:
                count = (last - first) * (USERS_OF_ROOM - 1) * len(self.services.kinds)
                wanted = known + max(1, int(count * self.source.uniform(0.2, 0.9)))
                self._wait(lambda: len(self.known_keys) >= wanted, "too few notifications arrive")
                self._kill()
            self.progress(self)
        self.phase = "ending"
        self.work.put(None)
        self._wait(lambda: not writer.is_alive(), "not all messages are sent")
        self._end()

    # MARK: The chat

    def _begin(self) -> Chat:
        users = [new_id() for _ in range(self.plan.devices // len(self.services.kinds))]
        speaker = new_id()
        lines = [{"op": "user.register", "id": user, "nickname": f"User {number}"}
                 for number, user in enumerate([*users, speaker])]
        rooms: dict[str, list[str]] = {}
        for _ in range(ROOMS_OF_USER):
            self.source.shuffle(users)
            for start in range(0, len(users) - USERS_OF_ROOM + 1, USERS_OF_ROOM):
                room = new_id()
                rooms[room] = users[start : start + USERS_OF_ROOM]
                lines.append({"op": "room.create", "id": room, "name": "Tea", "kind": "group", "as": speaker})
                lines += [{"op": "member.join", "roomId": room, "as": user} for user in rooms[room]]
        admin = Api(self.server, self.server.token)
        admin.ingest_all(lines)
        with ThreadPoolExecutor(REGISTERING_THREADS) as pool:
            devices = list(pool.map(self._register, [(user, kind) for user in users for kind in self.services.kinds]))
        by_user: dict[str, list[Device]] = {user: [] for user in users}
        for device in devices:
            by_user[device.user].append(device)
        return Chat(speaker, rooms, by_user)

    def _register(self, wanted: tuple[str, str]) -> Device:
        user, kind = wanted
        token, body = self.services.registration(kind)
        id = new_id()
        self.client.request("PUT", f"/v1/devices/{id}", user, body)
        return Device(user, id, kind, token)

    def _plan_message(self) -> None:
        room = self.source.choice(list(self.chat.rooms))
        members = self.chat.rooms[room]
        sender = self.source.choice(members) if self.source.random() < self.plan.reads else self.chat.speaker
        self.work.put(("send", room, sender, new_id()))
        if self.source.random() < self.plan.reads:
            room = self.source.choice(list(self.chat.rooms))
            self.work.put(("read", room, self.source.choice(self.chat.rooms[room]), new_id()))

    # MARK: Requests

    def _write(self) -> None:
        while (item := self.work.get()) is not None:
            action, room, user, id = item
            if action == "send":
                path = f"/v1/rooms/{room}/messages/{id}"
                position = self.client.request("PUT", path, user, {"text": "The kettle is on."})["position"]
                self.chat.newest[room] = id
                self.required |= {
                    (position, device.token) for member in self.chat.rooms[room] if member != user
                    for device in self.chat.devices[member]}
            elif room in self.chat.newest:
                self.client.request(
                    "PUT", f"/v1/rooms/{room}/read-marker", user, {"messageId": self.chat.newest[room]}, key=id)
            self.counts[action] += 1

    # MARK: Arrivals and kills

    def _take(self, arrived: Arrival) -> None:
        self.arrived.append((self.kills, arrived))
        self.known_keys.add(arrived.key)

    def _kill(self) -> None:
        self.killed.append(time.monotonic())
        self.server.kill()
        # What the server sent before the kill may still be on its way to the services.
        self._wait(lambda: self.services.open_connections == 0, "connections of the killed server stay open")
        self.settled.append(recorded(self.server.data))
        self.kills += 1
        self.services.expect_restart()
        self.server.start()

    def _let_outcomes_become_due(self) -> None:
        """Kills follow each other so fast that without a pause, the log need not have any outcome at the next one."""
        known = len(self.arrived)
        self._plan_message()
        self._wait(
            lambda: any(arrived.is_delivered for _, arrived in self.arrived[known:]), "no notification arrives")
        time.sleep(RECORDING_SECONDS)

    def _all_caused(self) -> dict[tuple[int, str], Caused]:
        """The notifications that the messages and markers in the log cause. No event names the device that caused it,
        so each concerns all devices of its user."""
        settle(self.server)
        caused: dict[tuple[int, str], Caused] = {}

        def add(row: dict, user: str, kind: str) -> None:
            for device in self.chat.devices.get(user, []):
                caused[row["position"], device.token] = Caused(kind, row["stream"], device)

        for row in audit(self.server.data, "--type", "message.sent"):
            for member in self.chat.rooms[row["stream"]]:
                add(row, member, "sent" if member == row["actor"] else "message")
        for row in audit(self.server.data, "--type", "read-marker.moved"):
            add(row, row["actor"], "update")
        return caused

    def _wait(self, done: Callable[[], bool], failure: str) -> None:
        """Waits until the condition is true, and fails if nothing arrives for `PATIENCE_SECONDS`."""
        seen, since = -1, time.monotonic()
        while not done():
            if len(self.arrived) + self.counts.total() > seen:
                seen, since = len(self.arrived) + self.counts.total(), time.monotonic()
            assert time.monotonic() - since < PATIENCE_SECONDS, f"{failure}\n{self.server.tail()}"
            time.sleep(POLL_SECONDS)

    # MARK: The end

    def _end(self) -> None:
        self.caused = self._all_caused()
        lost = self.required - set(self.caused)
        self.problems += [f"{len(lost)} notifications have no event: {sorted(lost)[:3]}"] if lost else []
        try:
            self._wait_slowly(lambda: not self._missing(), "a notification does not arrive")
            self._wait_slowly(lambda: not self._wrong_badges(), "a badge is wrong")
            self._wait_slowly(lambda: not self._unrecorded(), "an outcome is not recorded")
        except AssertionError as error:
            self.problems.append(str(error))
        if missing := self._missing():
            kinds = Counter(self.caused[each].kind for each in missing)
            self.problems.append(f"notifications are missing: {dict(kinds)}, such as {sorted(missing)[:3]}")
        if unrecorded := self._unrecorded():
            self.problems.append(f"the log lacks {len(unrecorded)} outcomes, such as {sorted(unrecorded)[:3]}")
        self.problems += self._wrong_badges()
        self.problems += self.services.faults
        self.server.stop()
        self._check_kinds()
        settled = recorded(self.server.data)
        self._check_replaced(settled.replaced)
        self._check_read(settled.read)
        self._check_repeats()

    def _missing(self) -> set[tuple[int, str]]:
        """The notifications that were neither delivered nor unnecessary."""
        delivered = {(arrived.position, arrived.token) for _, arrived in list(self.arrived) if arrived.is_delivered}
        missing = set(self.caused) - delivered
        if not missing:
            return missing
        settled = recorded(self.server.data)
        return missing - {
            (position, device.token) for position, user, id in settled.replaced | set(settled.read)
            for device in self.chat.devices[user] if device.id == id}

    def _unrecorded(self) -> set[tuple[int, str]]:
        """The notifications that have no outcome in the log."""
        settled = recorded(self.server.data)
        return {
            (position, token) for (position, token), caused in self.caused.items()
            if not settled.has(position, caused.device.user, caused.device.id)}

    def _check_kinds(self) -> None:
        """Each notification is about an event that concerns the device, and has the right kind and room."""
        for _, arrived in self.arrived:
            caused = self.caused.get((arrived.position, arrived.token))
            name = f"the {arrived.kind} at {arrived.position} ({arrived.service})"
            if caused is None:
                self.problems.append(f"{name} arrives at a device that it does not concern")
            elif (arrived.kind, arrived.fields["roomId"]) != (caused.kind, caused.room):
                self.problems.append(f"{name} is a {caused.kind} in {caused.room}")
            elif caused.is_silent != (arrived.body is None):
                self.problems.append(f"{name} has the text {arrived.body!r}")

    def _check_replaced(self, replaced: set[tuple[int, str, str]]) -> None:
        """Only notifications that show nothing are replaced, and each by a later one."""
        newest: dict[tuple[str, str, str], int] = {}
        for (position, token), caused in self.caused.items():
            key = (token, caused.kind, caused.room)
            newest[key] = max(newest.get(key, 0), position)
        tokens = {(device.user, device.id): token for token, device in self.by_token.items()}
        for position, user, id in replaced:
            self.counts["replaced"] += 1
            token = tokens[user, id]
            caused = self.caused[position, token]
            if not caused.is_silent:
                self.problems.append(f"the {caused.kind} at {position} was replaced")
            elif newest[token, caused.kind, caused.room] == position:
                self.problems.append(f"nothing comes after the {caused.kind} at {position}, but it was replaced")

    def _check_read(self, read: dict[tuple[int, str, str], int]) -> None:
        """Only the notification of a message is dropped because it was read: the user read or wrote something after it,
        and before the event that records the drop."""
        readings: dict[tuple[str, str], list[int]] = defaultdict(list)
        for (position, token), caused in self.caused.items():
            if caused.is_silent:
                readings[token, caused.room].append(position)
        tokens = {(device.user, device.id): token for token, device in self.by_token.items()}
        for (position, user, id), recorded in read.items():
            self.counts["dropped"] += 1
            token = tokens[user, id]
            caused = self.caused[position, token]
            if caused.is_silent or not any(position < each < recorded for each in readings[token, caused.room]):
                self.problems.append(f"the {caused.kind} at {position} was dropped as read, but was not")

    def _wait_slowly(self, done: Callable[[], bool], failure: str) -> None:
        """For conditions that are expensive to check."""
        seen, since = -1, time.monotonic()
        while not done():
            if len(self.arrived) > seen:
                seen, since = len(self.arrived), time.monotonic()
            assert time.monotonic() - since < PATIENCE_SECONDS, failure
            self.progress(self)
            time.sleep(0.5)

    def _wrong_badges(self) -> list[str]:
        last: dict[str, int] = {}
        for _, arrived in list(self.arrived):
            if arrived.is_delivered:
                last[arrived.token] = arrived.badge
        wrong = []
        for user, devices in self.chat.devices.items():
            badge = self.client.request("GET", "/v1/badge", user)["unreadCount"]
            for device in devices:
                # A device that never got a notification shows no badge.
                shown = last.get(device.token, 0)
                if shown != badge:
                    wrong.append(f"the {device.kind} device {device.id} of {user} shows {shown}, not {badge}")
        return wrong

    def _check_repeats(self) -> None:
        by_key: dict[str, list[tuple[int, Arrival]]] = defaultdict(list)
        for kills, arrived in self.arrived:
            by_key[arrived.key].append((kills, arrived))
        for key, arrivals in by_key.items():
            first = arrivals[0][1]
            self.counts["notifications"] += 1
            self.counts[f"by {first.service}"] += 1
            self.counts[f"of {first.kind}"] += 1
            self.counts["due"] += sum(self._is_due(*each) for each in arrivals)
            for (kills, one), (later_kills, other) in zip(arrivals, arrivals[1:]):
                device = self.by_token[one.token]
                name = f"{key[:12]} ({one.kind} at {one.position}, {one.service})"
                if (other.token, other.position, other.identity) != (first.token, first.position, first.identity):
                    self.problems.append(f"{name} arrives as {first.identity} and as {other.identity}")
                if not one.is_delivered:
                    self.counts["retries"] += 1
                elif kills == later_kills and id(one.push) in self.given_up:
                    self.counts["late"] += 1
                elif kills == later_kills:
                    self.problems.append(f"{name} arrives twice without a kill between")
                elif self.settled[later_kills - 1].has(one.position, device.user, device.id):
                    self.problems.append(f"{name} arrives again although its outcome was in the log")
                elif self._is_due(kills, one):
                    self.problems.append(f"{name} arrives again, because its outcome was not recorded in time")
                else:
                    self.counts["repeats"] += 1
        keys = {(arrived.position, arrived.token): arrived.key for _, arrived in self.arrived}
        if len(keys) != len(by_key):
            self.problems.append(f"{len(keys)} notifications have {len(by_key)} delivery keys")

    def _is_due(self, kills: int, arrived: Arrival) -> bool:
        """Whether the log had to have the outcome when the server was killed next. `kills` is the number of kills before
        the arrival."""
        return (
            arrived.is_delivered and id(arrived.push) not in self.given_up and kills < len(self.killed)
            and self.killed[kills] - arrived.time > RECORDING_SECONDS)

    def report(self) -> str:
        more = f" and {len(self.problems) - SHOWN_PROBLEMS} more" if len(self.problems) > SHOWN_PROBLEMS else ""
        return "\n".join(self.problems[:SHOWN_PROBLEMS]) + more
