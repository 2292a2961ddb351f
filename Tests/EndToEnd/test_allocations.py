"""How often the hot paths ask for memory: one request on the event loops, and one line of bulk ingest on all threads, with
the writer and all read models. (Read models apply what waits together. So what one request costs them depends on how busy
the machine is.)

The limits are a tenth above the highest number that was measured. If a change needs more, find out why before you raise them; if it needs less,
lower them.
"""

import pytest

from harness import cost
from harness.client import new_id
from harness.counted_allocations import CountedAllocations
from harness.people import World
from harness.server import UNLIMITED, Server

# The first requests fill caches and make threads.
WARM_UP, REQUESTS = 300, 1_000
BATCH = 1_000
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
    (send, 200), (send_by_the_router, 320), (move_the_marker, 440), (read_a_page, 155),
], ids=lambda value: getattr(value, "__name__", ""))
def test_a_request_allocates_no_more_than_before(counted, request_of, limit):
    check(lambda: counted.each(lambda: request_of(counted), lambda: counted.allocations.of_loops), limit)


def test_a_line_of_bulk_ingest_allocates_no_more_than_before(counted):
    def ingest():
        counted.admin.ingest([
            {"op": "message.send", "as": counted.anna.id, "roomId": counted.room.id, "id": new_id(), "text": "Tea?"}
            for _ in range(BATCH)])

    check(lambda: counted.each(ingest, lambda: counted.allocations.of_all, times=10, warm_up=3) / BATCH, 130)
