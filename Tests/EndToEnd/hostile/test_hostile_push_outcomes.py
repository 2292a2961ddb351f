"""More notifications are given up at once than one event can name: the log still records the outcome of each."""

import threading

import pytest

from harness.client import new_id
from harness.command import audit, check_data, settle
from harness.cost import until_idle
from harness.failing_disk import FailingDisk
from harness.people import World
from harness.receiver import Receiver
from harness.server import UNLIMITED, Server
from harness.views import until

SECRET = b"a secret of more than sixteen bytes"
# Outcomes that one event may name, and messages: enough for several such events.
OUTCOMES, MESSAGES = 1_024, 3_000


class Gate:
    """Refuses every notification until it is opened. The first is tried again, and all others of the device wait behind it."""

    def __init__(self):
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, body: dict) -> int:
        self.reached.set()
        return 200 if self.opened.is_set() else 503


@pytest.fixture
def held(tmp_path):
    """A server that posts notifications, its receiver's gate, and its disk."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    gate = Gate()
    receiver, disk = Receiver(SECRET, gate), FailingDisk(tmp_path)
    server = Server(
        tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", secret,
        environment=UNLIMITED | disk.environment).start()
    yield server, receiver, gate, disk
    gate.opened.set()
    server.end()
    receiver.close()


def recorded(server: Server) -> list[dict]:
    """The events that record outcomes, in the order of the log."""
    return [row["detail"] for row in audit(server.data, "--type", "push.outcomes-recorded")]


def abandoned(events: list[dict]) -> list[int]:
    return [
        outcome["position"] for event in events for outcome in event["outcomes"] if outcome["result"] == "abandoned"]


def test_a_kill_amid_many_notifications_that_are_given_up_loses_no_outcome(held):
    """Observed: beyond 1,024 of them, `settledThrough` ran ahead of the outcomes that were left for the next event."""
    server, receiver, gate, disk = held
    world = World(server)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    ben.put(f"/v1/devices/{new_id()}", {"apnsToken": new_id()})
    first = anna.send(room, "the first")["position"]
    until(gate.reached.is_set, "the first notification does not come")
    sent = world.admin.ingest_all([
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": "x"} for _ in range(MESSAGES)])
    positions = [result["position"] for result in sent]
    # From here on, none of them may be sent.
    ben.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"})
    with disk.syncs_wait("/data/log/"):
        gate.opened.set()
        until(lambda: any(receipt.is_delivered for receipt in receiver.receipts), "the first notification is not tried again")
        # The first outcomes wait to be recorded, while all others gather.
        until_idle(server)
    until(lambda: any(len(event["outcomes"]) == OUTCOMES for event in recorded(server)), "no event is full")
    server.kill()
    server.start()
    until(lambda: set(positions) <= set(abandoned(recorded(server))), "some outcomes are missing")
    settle(server)
    events = recorded(server)
    for number, event in enumerate(events):
        later = abandoned(events[number + 1:])
        assert all(position > event["settledThrough"] for position in later), "settled before its outcome is recorded"
    assert max(len(event["outcomes"]) for event in events) == OUTCOMES
    assert sorted(set(abandoned(events)) - {first}) == positions
    # The mute came before any but the first was attempted, and nothing is sent again after the kill.
    assert {receipt.body["position"] for receipt in receiver.taken()} == {first} and receiver.faults == []
    server.stop()
    check_data(server.data)
