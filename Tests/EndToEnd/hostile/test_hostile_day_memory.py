"""The memory that remains in use after one account has created the most that a day allows. The numbers are those of
docs/operating.md.

The server is restarted before each measurement, so that caches do not count.
"""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import cost, times
from harness.client import new_id
from harness.people import Person, World
from harness.places import DOCS
from harness.server import Server
from test_hostile_memory import Line, send_many

# In MB (10^6 bytes), for one account and day, as docs/operating.md states them.
EVENTS_MEMORY, ROOMS_MEMORY, WORKSPACES_MEMORY, INVITES_MEMORY, SCHEDULED_MEMORY = 8.0, 0.3, 0.1, 0.6, 8.0
DEVICES_MEMORY = 1.0
# The default quotas.
EVENTS, ROOMS, WORKSPACES, INVITES, SCHEDULED_BYTES = 20_000, 200, 20, 1_000, 4 * cost.MIB
# Each room is two events, and each further member is one. Together they are all events of a day.
MEMBERS = EVENTS // ROOMS - 2
# The bytes that an event is charged in addition to its texts.
CHARGED_BYTES = 256
# The most scheduled messages that a user can have in one room.
SCHEDULED_IN_ROOM = 100
# The most devices of a user, and bytes of each of their two push tokens.
DEVICES, TOKEN_BYTES = 50, 4096
# By how many bytes two measurements of the same server may differ.
NOISE = 1.5 * cost.MIB
CONNECTIONS = 8


def kept_bytes(server: Server) -> int:
    """The memory after a start with no work left: the first of the two restarts does all of it."""
    server.restart()
    cost.until_idle(server)
    server.restart()
    cost.until_idle(server)
    return cost.resident_bytes(server)


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A server with default quotas whose caches are full."""
    server = Server(
        tmp_path_factory.mktemp("day") / "data", environment={"HANSARD_RATE_LIMITS_ENABLED": "false"}).start()
    world = World(server)
    anna = world.user("Anna")
    send_many(world, anna, anna.room(), 20_000)
    yield world
    server.end()


def memory_of_a_day(world: World, accounts: int, create) -> float:
    """The bytes of memory that remain for one account's day, minus `NOISE`. If several accounts are measured, one warms
    up first."""
    times.within_one_day(300)
    if accounts > 1:
        create(world, [world.user("Mallory")])
    mallories = world.users(*["Mallory"] * accounts)
    before = kept_bytes(world.server)
    create(world, mallories)
    grown = kept_bytes(world.server) - before
    return max(grown - NOISE, 0) / accounts


def rooms(world: World, mallories: list[Person], kind: str = "group") -> list[str]:
    """All rooms that the users can create in a day."""
    ids = []
    for mallory in mallories:
        lines = [{"op": "room.create", "id": new_id(), "name": "Tea", "kind": kind} for _ in range(ROOMS)]
        ids += [line["id"] for line in lines]
        assert {result["status"] for result in mallory.ingest(lines)} == {201}
        mallory.refused("quota_exceeded", "POST", "/v1/rooms", {"id": new_id(), "name": "one more"})
    return ids


def memberships(world: World, mallories: list[Person]) -> None:
    """All memberships that an account's events allow. A service creates them, which is faster and takes the same
    memory."""
    members = [new_id() for _ in range(MEMBERS)]
    world.admin.ingest_all([{"op": "user.register", "id": member, "nickname": "Ben"} for member in members])
    ids = rooms(world, mallories, kind="channel")
    world.admin.ingest_all([
        {"op": "member.join", "as": member, "roomId": room, "key": new_id()} for room in ids for member in members])


def workspaces(world: World, mallories: list[Person]) -> None:
    """All workspaces that the users can create in a day."""
    def create(mallory: Person) -> None:
        line = Line(world.server, mallory.token)
        for _ in range(WORKSPACES):
            line.call("POST", "/v1/workspaces", {"id": new_id(), "name": "Office"})
        mallory.refused("quota_exceeded", "POST", "/v1/workspaces", {"id": new_id(), "name": "one more"})

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(create, mallories))


def invites(world: World, mallories: list[Person]) -> None:
    """All invites that the users can create in a day, in two rooms, because one room cannot have so many."""
    def create(mallory: Person) -> None:
        line, paths = Line(world.server, mallory.token), [f"{mallory.room().path}/invites" for _ in range(2)]
        for number in range(INVITES):
            line.call("POST", paths[number % 2], {"id": new_id()})
        mallory.refused("quota_exceeded", "POST", paths[0], {"id": new_id()})

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(create, mallories))


def scheduled(world: World, mallories: list[Person]) -> None:
    """All scheduled messages that their bytes allow in a day. Each has one letter, and they are spread over rooms."""
    for mallory in mallories:
        paths = [f"/v1/rooms/{id}/scheduled-messages" for id in rooms(world, [mallory])]
        messages, send_at = SCHEDULED_BYTES // (CHARGED_BYTES + 1), times.later(hours=1)

        def schedule(first: int) -> None:
            line = Line(world.server, mallory.token)
            for number in range(first, messages, CONNECTIONS):
                line.call("PUT", f"{paths[number // SCHEDULED_IN_ROOM]}/{new_id()}", {"text": "x", "sendAt": send_at})

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(schedule, range(CONNECTIONS)))
        mallory.refused("quota_exceeded", "PUT", f"{paths[-1]}/{new_id()}", {"text": "x", "sendAt": send_at})


def devices(world: World, mallories: list[Person]) -> None:
    """All devices that the users can have, with push tokens of the maximum length."""
    def create(mallory: Person) -> None:
        line = Line(world.server, mallory.token)
        for _ in range(DEVICES):
            tokens = {field: new_id().ljust(TOKEN_BYTES, "t") for field in ("apnsToken", "fcmToken")}
            line.call("PUT", f"/v1/devices/{new_id()}", tokens)
        mallory.refused("too_many_devices", "PUT", f"/v1/devices/{new_id()}", {"name": "one more"})

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(create, mallories))


@pytest.mark.parametrize(
    ("create", "accounts", "megabytes"),
    [
        (memberships, 3, EVENTS_MEMORY), (rooms, 40, ROOMS_MEMORY), (workspaces, 100, WORKSPACES_MEMORY),
        (invites, CONNECTIONS, INVITES_MEMORY), (scheduled, 1, SCHEDULED_MEMORY),
        (devices, 10, DEVICES_MEMORY),
    ],
    ids=["memberships", "rooms", "workspaces", "invites", "scheduled messages", "devices"])
def test_what_an_account_creates_in_a_day_takes_no_more_memory_than_documented(busy, create, accounts, megabytes):
    each, limit = memory_of_a_day(busy, accounts, create), cost.memory_limit(megabytes * 1e6)
    assert each <= limit, f"{each / 1e6:.2f} MB for each account, the limit is {limit / 1e6:.2f} MB"


def test_the_figures_are_those_that_are_documented():
    text = (DOCS / "operating.md").read_text()
    documented = dict(re.findall(r"^\| `quotas\.(\w+)` \|.* ([\d.]+) MB of memory", text, re.MULTILINE))
    assert {name: float(figure) for name, figure in documented.items()} == {
        "eventsPerDay": EVENTS_MEMORY, "roomsPerDay": ROOMS_MEMORY, "workspacesPerDay": WORKSPACES_MEMORY,
        "invitesPerDay": INVITES_MEMORY, "scheduledBytesPerDay": SCHEDULED_MEMORY}
    assert f"devices with the longest push tokens take {DEVICES_MEMORY:g} MB" in " ".join(text.split())
    quotas = dict(re.findall(r"^\| `quotas\.(\w+)` \| ([\d,]+) ", text, re.MULTILINE))
    defaults = {
        "eventsPerDay": EVENTS, "roomsPerDay": ROOMS, "workspacesPerDay": WORKSPACES, "invitesPerDay": INVITES,
        "scheduledBytesPerDay": SCHEDULED_BYTES}
    for name, number in defaults.items():
        assert quotas[name] == f"{number:,}"
