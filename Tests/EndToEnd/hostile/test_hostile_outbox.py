"""A damaged, busy or unusable push outbox: the server is ready without it, reports it, and notifies every device
once."""

import pathlib
import time

import pytest

from harness.command import check_data
from harness.failing_disk import FailingDisk
from harness.people import World
from harness.server import Server
from harness.read_models import aside, locked, readiness, until_ready, read_model, zero
from harness.waiting import wait_until
from test_push import alerts, device, settled

# How long a test waits to see that nothing arrives twice.
SILENCE_SECONDS = 1.5


class Conversation:
    """Anna writes to Ben, who has one device. The server appends its notifications to a file."""

    def __init__(self, server: Server, sink: pathlib.Path):
        self.server = server
        self.sink = sink
        self.anna, self.ben = World(server).users("Anna", "Ben")
        self.room = self.anna.room("Tea", self.ben)
        device(self.ben, "ben's token")

    def say(self, text: str) -> dict:
        return self.anna.send(self.room, text)

    def notified(self) -> list[str]:
        """The messages that Ben's device was notified of, in order."""
        return [line["messageId"] for line in alerts(self.sink)]

    def wait_until_notified(self, sent: list[dict]) -> None:
        """Ben's device is notified of each of these messages once, in this order, and of no others."""
        wait_until(lambda: len(self.notified()) >= len(sent), "not every message is pushed")
        time.sleep(SILENCE_SECONDS)
        assert self.notified() == [message["id"] for message in sent]


@pytest.fixture
def conversation(pushing, sink):
    return Conversation(pushing, sink)


def push_statuses(server: Server) -> list[dict]:
    """The entries for push in /readyz. Checks that the server is ready, and degraded if and only if it reports a fault."""
    response = readiness(server)
    assert response.status_code == 200
    body = response.json()
    assert (body["status"] == "degraded") == any("fault" in each for each in body["projections"])
    return [each for each in body["projections"] if each["name"] == "push"]


def fault(server: Server) -> str:
    """The fault of the outbox in /readyz; empty if there is none."""
    (push,) = push_statuses(server)
    return push.get("fault", "")


def test_push_is_reported_only_where_it_is_on(tmp_path, conversation):
    assert len(push_statuses(conversation.server)) == 1
    silent = Server(tmp_path / "silent").start()
    try:
        assert push_statuses(silent) == []
    finally:
        silent.end()


# --- Damage


def test_an_outbox_of_zeros_is_rebuilt_at_the_start(conversation):
    sent = [conversation.say(f"before {number}") for number in range(5)]
    conversation.wait_until_notified(sent)
    outbox, kept = read_model(conversation.server, "push"), aside(conversation.server, "push")
    # Stopping the server records the outcomes of the notifications.
    conversation.server.stop()
    zero(outbox, first=1)
    begin = len(conversation.server.errors.read_text())
    conversation.server.start()
    sent.append(conversation.say("after"))
    conversation.wait_until_notified(sent)
    assert kept.exists()
    assert outbox.name in conversation.server.errors.read_text()[begin:]
    assert until_ready(conversation.server)["status"] == "ready"
    conversation.server.stop()
    check_data(conversation.server.data)


def test_an_outbox_that_is_zeroed_while_the_server_runs_is_rebuilt(conversation):
    sent = [conversation.say(f"before {number}") for number in range(5)]
    conversation.wait_until_notified(sent)
    settled(conversation.server, sent[-1]["position"])
    until_ready(conversation.server)
    # A deletion empties the write-ahead log into the file, so that every page is read from the file. Ben's own message is
    # read, so nobody is notified of its deletion: outcomes of notifications would be written to the log again.
    own = conversation.ben.send(conversation.room, "never mind")
    settled(conversation.server, own["position"])
    until_ready(conversation.server)
    conversation.ben.delete(conversation.room.message(own["id"]))
    outbox, kept = read_model(conversation.server, "push"), aside(conversation.server, "push")
    log = outbox.with_name(outbox.name + "-wal")
    wait_until(lambda: log.stat().st_size == 0, "the write-ahead log is not emptied")
    zero(outbox, first=2)

    def found() -> bool:
        sent.append(conversation.say(f"after {len(sent)}"))
        push_statuses(conversation.server)
        return kept.exists()

    wait_until(found, "the damage was not found")
    sent.append(conversation.say("at the end"))
    conversation.wait_until_notified(sent)
    assert until_ready(conversation.server)["status"] == "ready"
    conversation.server.stop()
    check_data(conversation.server.data)


# --- Lasting faults


def test_without_the_outbox_the_server_is_ready_but_degraded(conversation):
    sent = [conversation.say("before")]
    conversation.wait_until_notified(sent)
    settled(conversation.server, sent[-1]["position"])
    outbox = read_model(conversation.server, "push")
    with locked(outbox):
        sent.append(conversation.say("while it is held"))
        reported = wait_until(lambda: fault(conversation.server), "the outbox's fault is not reported")
        for word in ("push", outbox.name, "Another process", "tries again"):
            assert word in reported
        assert str(conversation.server.data) not in reported
        # Everything else still works.
        sent.append(conversation.say("and once more"))
        assert conversation.anna.texts(conversation.room)[-1] == "and once more"
        assert len(conversation.notified()) == 1
    conversation.wait_until_notified(sent)
    assert until_ready(conversation.server)["status"] == "ready"


@pytest.mark.parametrize("was_on", [True, False], ids=["push was on before", "push is switched on"])
def test_the_start_does_not_wait_for_an_outbox_that_cannot_be_opened(tmp_path, sink, was_on):
    """Messages sent in the meantime are pushed afterwards. Messages sent before push was switched on never are."""
    flags, disk = ("--push-file", sink), FailingDisk(tmp_path)
    server = Server(tmp_path / "data", *(flags if was_on else ()), environment=disk.environment).start()
    try:
        conversation = Conversation(server, sink)
        old = conversation.say("old")
        sent = [old] if was_on else []
        conversation.wait_until_notified(sent)
        server.stop()
        server.flags = flags
        for file in (server.data / "views").glob("push-*"):
            file.unlink()
        with disk.fails("/views/push-", writes=True):
            server.start()
            reported = fault(server)
            assert "push" in reported and "tries again" in reported
            sent.append(conversation.say("while it cannot be opened"))
            server.restart()
            sent.append(conversation.say("after another start"))
            time.sleep(SILENCE_SECONDS)
            assert len(conversation.notified()) == len(sent) - 2
            assert fault(server)
        conversation.wait_until_notified(sent)
        assert until_ready(server)["status"] == "ready"
    finally:
        server.end()
    check_data(server.data)
