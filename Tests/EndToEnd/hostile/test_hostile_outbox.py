"""A damaged, busy or unusable push outbox: the server is ready without it, reports it, and notifies every device
once."""

import pathlib
import time

import pytest

from harness.command import check_data
from harness.failing_disk import FailingDisk
from harness.people import World
from harness.server import Server
from harness.views import aside, locked, readiness, until_ready, view, zero
from harness.waiting import wait_until
from test_push import device, lines, settled

# How long a test waits to see that nothing arrives twice.
SILENCE_SECONDS = 1.5


class Conversation:
    """Anna writes to Ben, who has one device. The server appends its notifications to a file."""

    def __init__(self, server: Server, sink: pathlib.Path):
        self.server = server
        self.sink = sink
        self.anna, ben = World(server).users("Anna", "Ben")
        device(ben, "ben's token")
        self.room = self.anna.room("Tea", ben)

    def say(self, text: str) -> dict:
        return self.anna.send(self.room, text)

    def told(self) -> list[str]:
        """The messages that Ben's device was notified of, in order."""
        return [line["messageId"] for line in lines(self.sink)]

    def must_be_told(self, sent: list[dict]) -> None:
        """Ben's device is notified of each of these messages once, in this order, and of no others."""
        wait_until(lambda: len(self.told()) >= len(sent), "not every message is pushed")
        time.sleep(SILENCE_SECONDS)
        assert self.told() == [message["id"] for message in sent]


@pytest.fixture
def talk(pushing, sink):
    return Conversation(pushing, sink)


def push_standings(server: Server) -> list[dict]:
    """The entries for push in /readyz. Checks that the server is ready, and degraded if and only if it reports a fault."""
    response = readiness(server)
    assert response.status_code == 200
    body = response.json()
    assert (body["status"] == "degraded") == any("fault" in each for each in body["projections"])
    return [each for each in body["projections"] if each["name"] == "push"]


def fault(server: Server) -> str:
    """The fault of the outbox in /readyz; empty if there is none."""
    (push,) = push_standings(server)
    return push.get("fault", "")


def test_push_is_reported_only_where_it_is_on(tmp_path, talk):
    assert len(push_standings(talk.server)) == 1
    silent = Server(tmp_path / "silent").start()
    try:
        assert push_standings(silent) == []
    finally:
        silent.end()


# --- Damage


def test_an_outbox_of_zeros_is_rebuilt_at_the_start(talk):
    sent = [talk.say(f"before {number}") for number in range(5)]
    talk.must_be_told(sent)
    outbox, kept = view(talk.server, "push"), aside(talk.server, "push")
    # Stopping the server records the outcomes of the notifications.
    talk.server.stop()
    zero(outbox, first=1)
    begin = len(talk.server.errors.read_text())
    talk.server.start()
    sent.append(talk.say("after"))
    talk.must_be_told(sent)
    assert kept.exists()
    assert outbox.name in talk.server.errors.read_text()[begin:]
    assert until_ready(talk.server)["status"] == "ready"
    talk.server.stop()
    check_data(talk.server.data)


def test_an_outbox_that_is_zeroed_while_the_server_runs_is_rebuilt(talk):
    sent = [talk.say(f"before {number}") for number in range(5)]
    talk.must_be_told(sent)
    settled(talk.server, sent[-1]["position"])
    until_ready(talk.server)
    # A deletion empties the write-ahead log into the file, so that every page comes from the file.
    talk.anna.delete(talk.room.message(sent[0]["id"]))
    outbox, kept = view(talk.server, "push"), aside(talk.server, "push")
    log = outbox.with_name(outbox.name + "-wal")
    wait_until(lambda: log.stat().st_size == 0, "the write-ahead log is not emptied")
    zero(outbox, first=2)

    def found() -> bool:
        sent.append(talk.say(f"after {len(sent)}"))
        push_standings(talk.server)
        return kept.exists()

    wait_until(found, "the damage was not found")
    sent.append(talk.say("at the end"))
    talk.must_be_told(sent)
    assert until_ready(talk.server)["status"] == "ready"
    talk.server.stop()
    check_data(talk.server.data)


# --- Lasting faults


def test_without_the_outbox_the_server_is_ready_but_degraded(talk):
    sent = [talk.say("before")]
    talk.must_be_told(sent)
    settled(talk.server, sent[-1]["position"])
    outbox = view(talk.server, "push")
    with locked(outbox):
        sent.append(talk.say("while it is held"))
        reported = wait_until(lambda: fault(talk.server), "the outbox's fault is not reported")
        for word in ("push", outbox.name, "Another process", "tries again"):
            assert word in reported
        assert str(talk.server.data) not in reported
        # Everything else works.
        sent.append(talk.say("and once more"))
        assert talk.anna.texts(talk.room)[-1] == "and once more"
        assert len(talk.told()) == 1
    talk.must_be_told(sent)
    assert until_ready(talk.server)["status"] == "ready"


@pytest.mark.parametrize("was_on", [True, False], ids=["push was on before", "push is switched on"])
def test_the_start_does_not_wait_for_an_outbox_that_cannot_be_opened(tmp_path, sink, was_on):
    """Messages sent in the meantime are pushed afterwards. Messages sent before push was switched on never are."""
    flags, disk = ("--push-file", sink), FailingDisk(tmp_path)
    server = Server(tmp_path / "data", *(flags if was_on else ()), environment=disk.environment).start()
    try:
        talk = Conversation(server, sink)
        old = talk.say("old")
        sent = [old] if was_on else []
        talk.must_be_told(sent)
        server.stop()
        server.flags = flags
        for file in (server.data / "views").glob("push-*"):
            file.unlink()
        with disk.fails("/views/push-", writes=True):
            server.start()
            reported = fault(server)
            assert "push" in reported and "tries again" in reported
            sent.append(talk.say("while it cannot be opened"))
            server.restart()
            sent.append(talk.say("after another start"))
            time.sleep(SILENCE_SECONDS)
            assert len(talk.told()) == len(sent) - 2
            assert fault(server)
        talk.must_be_told(sent)
        assert until_ready(server)["status"] == "ready"
    finally:
        server.end()
    check_data(server.data)
