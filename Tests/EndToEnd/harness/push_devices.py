"""People with devices at all push services, what the server decides for each device, and what arrives."""

from dataclasses import dataclass, field

from .client import new_id
from .command import hansard, settle
from .people import Person, World
from .push_outcomes import recorded_position
from .push_phones import APNS, FCM, WEB_PUSH, Arrival, Phone, PushServices
from .server import Server
from .waiting import wait_until

ALERTS = ("message", "mention", "reply", "reminder", "reaction", "invitation", "added")
SILENT = ("sent", "update", "roomChange")
KINDS = ALERTS + SILENT


def explained(server: Server, event: dict, waits: bool = True) -> dict[str, dict]:
    """What `hansard push explain` says about each device, by the device's ID. Unless it `waits`, tools must already see
    the event."""
    if waits:
        settle(server)
    shown = hansard("push", "explain", "--data", server.data, "--json", recorded_position(event)).json
    rows = {row["deviceId"]: row for row in shown["devices"]}
    assert len(rows) == len(shown["devices"]), "a device is listed twice"
    return rows


def decision(row: dict) -> str:
    """The kind of the notification, or the reason why there is none."""
    return row["kind"] if row["verdict"] == "notify" else row["reason"]


@dataclass
class Devices:
    """Devices with names, and the events that a test asked about."""

    server: Server
    services: PushServices
    world: World
    phones: dict[str, Phone] = field(default_factory=dict)
    # For each event, by position, the devices that must get a notification of it, by name.
    due: dict[int, set[str]] = field(default_factory=dict)
    # Tools see the events up to this position.
    seen: int = 0

    def own(self, name: str, nickname: str, kind: str = APNS, **settings) -> Person:
        """A user who is logged in on a device, so that events name it as the one that caused them."""
        id = new_id()
        person = self.world.user(nickname, deviceId=id)
        self.add(name, person, kind, id=id, **settings)
        return person

    def add(self, name: str, owner: Person, kind: str = APNS, **settings) -> Phone:
        self.phones[name] = self.services.phone(owner, kind, **settings)
        return self.phones[name]

    def at_each_service(self, prefix: str, owner: Person, **settings) -> set[str]:
        """A device at each service, named after it. Returns the names."""
        names = {f"{prefix} {kind}": kind for kind in (APNS, FCM, WEB_PUSH)}
        for name, kind in names.items():
            self.add(name, owner, kind, **settings)
        return set(names)

    def rows(self, event: dict) -> dict[str, dict]:
        """What the server says about each device, by its name."""
        names = {phone.id: name for name, phone in self.phones.items()}
        if recorded_position(event) > self.seen:
            self.seen = settle(self.server)
        rows = {names[id]: row for id, row in explained(self.server, event, waits=False).items()}
        self.due[recorded_position(event)] = {name for name, row in rows.items() if row["verdict"] == "notify"}
        return rows

    def decided(self, event: dict) -> dict[str, str]:
        """The kind that each device gets of an event, or the reason why it gets none, by the device's name."""
        return {name: decision(row) for name, row in self.rows(event).items()}

    def arrived(self, event: dict, *names: str) -> dict[str, Arrival]:
        """What arrived on these devices because of an event, once it has."""
        if recorded_position(event) not in self.due:
            self.decided(event)

        def found() -> dict[str, Arrival] | None:
            arrived = {
                name: one for name in names for one in self.services.delivered(self.phones[name].token)
                if one.position == recorded_position(event)}
            return arrived if set(arrived) == set(names) else None

        return wait_until(found, f"not all of {names} get a notification of {event}")

    def check(self) -> None:
        """For all events that a test asked about, each device got what was decided, once, and nothing else. Stops the
        server."""
        wait_until(lambda: not self._missing(), f"notifications are missing: {self._missing()}")
        self.server.stop()
        names = {phone.token: name for name, phone in self.phones.items()}
        arrived = [(one.position, names[one.token]) for one in self.services.arrivals() if one.position in self.due]
        assert len(arrived) == len(set(arrived)), "a notification arrived twice"
        extra = {(position, name) for position, name in arrived if name not in self.due[position]}
        assert extra == set(), f"devices are notified that must not be: {extra}"

    def _missing(self) -> set[tuple[int, str]]:
        delivered = {(one.position, one.token) for one in self.services.delivered()}
        missing = {
            (position, name) for position, due in self.due.items() for name in due
            if (position, self.phones[name].token) not in delivered}
        return {(position, name) for position, name in missing if not self._is_unnecessary(position, name)}

    def _is_unnecessary(self, position: int, name: str) -> bool:
        """Whether a later silent notification replaced this one, or the user has read the message."""
        row = explained(self.server, {"position": position})[self.phones[name].id]
        reasons = {"replaced"} if row["kind"] in SILENT or row["quiet"] else set()
        return row.get("outcomeReason") in reasons | (set() if row["kind"] in SILENT else {"already_read"})
