"""Limits that take tens of thousands of requests to reach. The test writes the log instead, with one less than each
limit."""

import shutil
import uuid
from collections import Counter
from types import SimpleNamespace

import pytest

from harness.log_writer import Event, LogWriter, varint
from harness.people import World
from harness.real_log import identity_of, read_parts, stolen_seed
from harness.server import Server

BANS = 10_000
INVITES_EVER = 10_000
INVITATIONS = 10_000
WORKSPACE_MEMBERS = 100_000
BLOCK_EVENTS = 4_000
ACTIVE_BYTES = 16 << 20
# The numbers of stream kinds and event types in the log.
ROOM, WORKSPACE = 2, 3
ROOM_INVITE_CREATED, MEMBER_BANNED = 110, 127
WORKSPACE_INVITE_CREATED, WORKSPACE_MEMBER_JOINED, WORKSPACE_MEMBER_INVITED = 310, 320, 325
MEMBER = b"\x08\x02"


class Filling:
    """Adds events to the streams of a log. Their users are not registered, because no decision below looks them up."""

    def __init__(self, events: list[Event], actor: str):
        self.actor, self.time = uuid.UUID(actor).bytes, events[-1].time
        self.versions = Counter({event.stream: event.version for event in events})
        self.events: list[Event] = []

    def add(self, kind: int, stream_kind: int, stream: str, count: int, payload=lambda number: b"") -> None:
        stream = uuid.UUID(stream).bytes
        for _ in range(count):
            number = len(self.events) + 1
            self.versions[stream] += 1
            self.events.append(Event(
                kind, stream_kind, stream, self.versions[stream], self.time, payload(number), actor=self.actor,
                subject=number.to_bytes(16, "big")))

    def expired_invite(self, number: int) -> bytes:
        """An invite that has expired, so it does not count as live."""
        return b"\x0a\x20" + number.to_bytes(32, "big") + b"\x10\x01\x18" + varint(self.time)


def extend(server: Server, fill) -> None:
    """Rewrites the log of a stopped server with more events at the end."""
    parts = read_parts(server.data)
    last, added = parts[-1], fill([event for part in parts for event in part.events()])
    last.blocks += [added[start : start + BLOCK_EVENTS] for start in range(0, len(added), BLOCK_EVENTS)]
    # Only sealed segments contain nodes of the tree.
    writer = LogWriter(
        parts, stolen_seed(server.data), identity=identity_of(server.data), active_bytes=ACTIVE_BYTES, tree=[])
    target = server.data.with_name("extended")
    writer.write(target)
    shutil.rmtree(server.data / "log")
    (target / "log").rename(server.data / "log")


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A room and a workspace that are one below each limit."""
    server = Server(tmp_path_factory.mktemp("full") / "data").start()
    world = World(server)
    anna, ben, cleo = world.users("Anna", "Ben", "Cleo")
    room, office = anna.room("Tea"), anna.workspace("Office")
    link = anna.post(f"{office.path}/invites", {})["token"]
    server.stop()

    def fill(events: list[Event]) -> list[Event]:
        filling = Filling(events, anna.id)
        filling.add(MEMBER_BANNED, ROOM, room.id, BANS - 1)
        filling.add(ROOM_INVITE_CREATED, ROOM, room.id, INVITES_EVER - 1, filling.expired_invite)
        # `link` counts as one of the invites, and Anna as one of the members.
        filling.add(WORKSPACE_INVITE_CREATED, WORKSPACE, office.id, INVITES_EVER - 2, filling.expired_invite)
        filling.add(WORKSPACE_MEMBER_INVITED, WORKSPACE, office.id, INVITATIONS - 1, lambda _: MEMBER)
        filling.add(WORKSPACE_MEMBER_JOINED, WORKSPACE, office.id, WORKSPACE_MEMBERS - 2, lambda _: MEMBER)
        return filling.events

    extend(server, fill)
    server.start()
    yield SimpleNamespace(world=world, anna=anna, ben=ben, cleo=cleo, room=room, office=office, link=link)
    server.end()


def test_bans_of_a_room(full):
    bans = f"{full.room.path}/bans"
    full.anna.put(f"{bans}/{full.ben.id}")
    full.anna.refused("too_many_bans", "PUT", f"{bans}/{full.cleo.id}")
    full.anna.delete(f"{bans}/{full.ben.id}")
    full.anna.put(f"{bans}/{full.cleo.id}")


@pytest.mark.parametrize("place", ["room", "office"])
def test_invites_that_were_ever_made(full, place):
    invites = f"{getattr(full, place).path}/invites"
    last = full.anna.post(invites, {})
    full.anna.refused("invites_exhausted", "POST", invites, {})
    full.anna.delete(f"{invites}/{last['id']}")
    full.anna.refused("invites_exhausted", "POST", invites, {})


def test_open_invitations_of_a_workspace(full):
    invitations = f"{full.office.path}/invitations"
    full.anna.put(f"{invitations}/{full.ben.id}", {"role": "member"})
    full.anna.refused("too_many_invitations", "PUT", f"{invitations}/{full.cleo.id}", {"role": "member"})
    full.anna.delete(f"{invitations}/{full.ben.id}")
    full.anna.put(f"{invitations}/{full.cleo.id}", {"role": "member"})


def test_members_of_a_workspace(full):
    ben, cleo = (full.world.acting_as(person.id) for person in (full.ben, full.cleo))
    ben.post(f"{full.office.path}/join")
    cleo.refused("too_many_workspace_members", "POST", f"{full.office.path}/join")
    cleo.refused("too_many_workspace_members", "POST", f"/v1/invites/{full.link}/accept")
    assert full.anna.get(full.office.path)["memberCount"] == WORKSPACE_MEMBERS
    full.ben.post(f"{full.office.path}/leave")
    cleo.post(f"/v1/invites/{full.link}/accept")
