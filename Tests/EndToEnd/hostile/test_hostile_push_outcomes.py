"""More notifications are abandoned at once than one event can name: the log still records the outcome of each."""

import time

import pytest

from harness.client import new_id
from harness.command import audit, check_data, settle
from harness.cost import until_idle
from harness.failing_disk import FailingDisk
from harness.people import World
from harness.receiver import Receiver
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

SECRET = b"a secret of more than sixteen bytes"
# Outcomes that one event can name, and the number of messages: enough for several such events.
OUTCOMES, MESSAGES = 1_024, 3_000


@pytest.fixture
def held(tmp_path):
    """A server that posts notifications, a receiver that rejects them all, and the server's disk."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    # The first notification of the device is tried again and again, and all others wait for it.
    receiver, disk = Receiver(SECRET, lambda body: 503), FailingDisk(tmp_path)
    server = Server(
        tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", secret,
        environment=UNLIMITED | disk.environment).start()
    yield server, receiver, disk
    server.end()
    receiver.close()


def recorded(server: Server) -> list[dict]:
    """The events that record outcomes, in the order of the log."""
    return [row["detail"] for row in audit(server.data, "--type", "push.outcomes-recorded")]


def abandoned(events: list[dict]) -> list[int]:
    return [
        outcome["position"] for event in events for outcome in event["outcomes"] if outcome["result"] == "abandoned"]


def test_a_kill_amid_many_notifications_that_are_given_up_loses_no_outcome(held):
    """Observed: beyond 1,024 of them, `settledThrough` was ahead of the outcomes that were left for the next event."""
    server, receiver, disk = held
    world = World(server)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    ben.put(f"/v1/devices/{new_id()}", {"apnsToken": new_id()})
    first = anna.send(room, "the first")["position"]
    wait_until(receiver.taken, "the first notification does not come")
    begun = time.monotonic()
    sent = world.admin.ingest_all([
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": "x"} for _ in range(MESSAGES)])
    positions = [result["position"] for result in sent]
    # From here on, none of them may be sent.
    ben.put(f"{room.path}/notifications", {"level": "none"})
    with disk.syncs_wait("/data/log/"):
        # Each pause between two attempts is about twice as long as the one before. The next attempt finds that nobody
        # is to be notified. All others follow at once, and their outcomes wait to be recorded.
        time.sleep(2.5 * (time.monotonic() - begun) + 1)
        until_idle(server)
    wait_until(lambda: any(len(event["outcomes"]) == OUTCOMES for event in recorded(server)), "no event is full")
    server.kill()
    server.start()
    wait_until(lambda: set(positions) <= set(abandoned(recorded(server))), "some outcomes are missing")
    settle(server)
    events = recorded(server)
    for number, event in enumerate(events):
        later = abandoned(events[number + 1:])
        assert all(position > event["settledThrough"] for position in later), "settled before its outcome is recorded"
    assert max(len(event["outcomes"]) for event in events) == OUTCOMES
    assert sorted(set(abandoned(events))) == [first, *positions]
    # The change came before any notification but the first was attempted, and nothing is sent again after the kill.
    assert {receipt.body["position"] for receipt in receiver.taken()} == {first} and receiver.faults == []
    server.stop()
    check_data(server.data)
