"""How often the hot paths ask for memory: one request on the event loops, and one line of bulk ingest on all threads, with
the writer and all read models. For each read model, also how many steps of SQLite's virtual machine a line takes. (Read models
apply what waits together. So what one request costs them depends on how busy the machine is.)

The limits are a tenth above the highest number that was measured. If a change needs more, find out why before you raise them; if it needs less,
lower them.
"""

import pytest

from harness import cost
from harness.client import new_id
from harness.counted_allocations import CountedAllocations, Counts
from harness.people import World
from harness.read_models import until_ready
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

# The first requests fill caches and make threads.
WARM_UP, REQUESTS = 300, 1_000
BATCH, BATCHES = 1_000, 10
# A busy machine wakes the event loops more often, so the lowest of some measurements counts.
MEASUREMENTS = 3
DIRECT = {"HANSARD_HTTP_DIRECT_PATH": "true"}


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counted")
    allocations = CountedAllocations(folder)
    server = Server(folder / "data", environment=UNLIMITED | allocations.environment | DIRECT).start()
    world = World(server)
    yield Counted(world, allocations)
    server.end()


class Counted:
    def __init__(self, world: World, allocations: CountedAllocations):
        self.server, self.allocations = world.server, allocations
        self.anna, self.ben = world.user("Anna"), world.user("Ben")
        self.admin = world.admin
        self.room = self.anna.room("Tea", self.ben)

    def each(self, request, count, times: int = REQUESTS, warm_up: int = WARM_UP) -> float:
        """By how much `count` rises for one of many requests, while nobody else asks for anything."""
        for _ in range(warm_up):
            request()
        cost.until_idle(self.server)
        before = count()
        for _ in range(times):
            request()
        cost.until_idle(self.server)
        return (count() - before) / times


def send(counted: Counted):
    counted.anna.send(counted.room, "The kettle is on.")


def send_by_the_router(counted: Counted):
    counted.anna.put(counted.room.message(new_id()), {"text": "The kettle is on."}, headers={"X-Whatever": "1"})


def move_the_marker(counted: Counted):
    message = counted.anna.send(counted.room, "Tea is ready.")
    counted.ben.put(f"{counted.room.path}/read-marker", {"messageId": message["id"]})


def read_a_page(counted: Counted):
    counted.anna.get(f"{counted.room.path}/messages")


def check(measure, limit: float) -> None:
    found = []
    while not found or (min(found) > limit and len(found) < MEASUREMENTS):
        found.append(measure())
    assert 0 < min(found) <= limit, f"{found} allocations, the limit is {limit}"


@pytest.mark.parametrize("request_of, limit", [
    (send, 39), (send_by_the_router, 142), (move_the_marker, 160), (read_a_page, 151),
], ids=lambda value: getattr(value, "__name__", ""))
def test_a_request_allocates_no_more_than_before(counted, request_of, limit):
    check(lambda: counted.each(lambda: request_of(counted), lambda: counted.allocations.of_loops), limit)


def ingest(counted: Counted):
    counted.admin.ingest([
        {"op": "message.send", "as": counted.anna.id, "roomId": counted.room.id, "id": new_id(), "text": "Tea?"}
        for _ in range(BATCH)])


def test_a_line_of_bulk_ingest_allocates_no_more_than_before(counted):
    check(
        lambda: counted.each(lambda: ingest(counted), lambda: counted.allocations.of_all, times=BATCHES, warm_up=3) / BATCH, 65)


# For each view: allocations, and steps of SQLite's virtual machine. Where only transactions cost something, their number
# depends on how busy the machine is, so these limits are higher.
VIEW_LIMITS = {
    "accounts": (0.2, 0.2), "rooms": (0.3, 1), "timeline": (10.4, 63), "ids": (10.6, 54), "media": (0.2, 0.2),
    "usage": (0.2, 0.2), "search": (14.7, 80),
}


def views_of_a_line(counted: Counted) -> dict[str, Counts]:
    """What a line of bulk ingest costs each view. An idle server does not suffice: a view that nobody waits for gathers
    events before it applies them."""
    until_ready(counted.server)
    before = counted.allocations.of_views
    for _ in range(BATCHES):
        ingest(counted)
    until_ready(counted.server)
    cost.until_idle(counted.server)
    return {
        name: Counts(*((now - then) / (BATCHES * BATCH) for now, then in zip(counts, before[name])))
        for name, counts in counted.allocations.of_views.items()}


def test_a_line_of_bulk_ingest_costs_each_view_no_more_than_before(counted):
    """Counted by view, because the sum hides a view that costs twice as much."""
    ingest(counted)
    # A view gathers events for up to a second before its first transaction.
    wait_until(lambda: counted.allocations.of_views.keys() == VIEW_LIMITS.keys(), "not every view has applied something")
    found = [views_of_a_line(counted) for _ in range(MEASUREMENTS)]
    lowest = {name: tuple(map(min, zip(*(each[name] for each in found)))) for name in VIEW_LIMITS}
    exceeded = {
        name: f"{lowest[name]} instead of {limits}" for name, limits in VIEW_LIMITS.items()
        # A view with few transactions may have had none.
        if not all((count > 0 or limit < 1) and count <= limit for count, limit in zip(lowest[name], limits))}
    assert not exceeded, f"allocations and steps of SQLite: {exceeded}"
