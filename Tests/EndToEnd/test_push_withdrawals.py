"""A pending notification is not sent if the message is deleted, or if the recipient loses access or turns it off."""

import contextlib
import sqlite3
import threading
import time

import pytest

from harness.client import new_id
from harness.command import hansard, settle
from harness.message_mutations import reaction_path
from harness.people import World
from harness.push_outcomes import replaced
from harness.receiver import Receiver
from harness.server import Server
from harness.waiting import wait_until
from test_push import SECRET, device

# How long the texts of deleted messages may stay in a file.
ERASED_SECONDS = 120


class Gate:
    """Rejects every notification until it is opened."""

    def __init__(self):
        self.is_open = threading.Event()

    def __call__(self, body: dict) -> int:
        return 200 if self.is_open.is_set() else 500


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def receiver(gate):
    receiver = Receiver(SECRET, gate)
    yield receiver
    receiver.close()


@pytest.fixture
def posting(tmp_path, receiver):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = Server(tmp_path / "data", "--push-webhook", receiver.url, "--push-secret-file", secret).start()
    yield server
    server.end()


def refused(receiver: Receiver, count: int) -> None:
    """Waits until `count` notifications were attempted."""
    wait_until(
        lambda: len({receipt.notification for receipt in receiver.taken()}) >= count,
        f"fewer than {count} notifications are tried")


def opened(gate: Gate, receiver: Receiver, sender, room) -> list[dict]:
    """Lets notifications through and returns the delivered ones. Sends a last message and waits until each device that
    is notified of it has got it. By then it has all earlier ones that show something, because each device gets those in
    order."""
    gate.is_open.set()
    last = sender.send(room, "the last one")
    notified = notified_devices(sender.server, last)
    wait_until(
        lambda: notified <= {
            receipt.body["deviceId"] for receipt in receiver.taken()
            if receipt.is_delivered and receipt.body.get("text") == "the last one"
        },
        "a device is not notified of the last message")
    assert receiver.faults == []
    return delivered(receiver)


def delivered(receiver: Receiver) -> list[dict]:
    return [receipt.body for receipt in receiver.taken() if receipt.is_delivered]


def alerts(notifications: list[dict]) -> list[str]:
    """The texts of the alerts."""
    return [notification["text"] for notification in notifications if not notification["silent"]]


def updates(notifications: list[dict]) -> list[tuple[str, str | None]]:
    """The device and the message of the notifications that show nothing. All of them are updates."""
    silent = [notification for notification in notifications if notification["silent"]]
    assert {notification["kind"] for notification in silent} <= {"update"}
    return [(notification["deviceId"], notification.get("messageId")) for notification in silent]


def explained(server, message) -> dict[str, tuple]:
    """The outcome of the notification to each device, and its reason."""
    settle(server)
    shown = hansard("push", "explain", "--data", server.data, "--json", message["position"]).json
    return {row["deviceId"]: (row.get("outcome"), row.get("outcomeReason")) for row in shown["devices"]}


def notified_devices(server, message) -> set[str]:
    return {id for id, (outcome, _) in explained(server, message).items() if outcome}


def comes_to(server, message, outcomes: dict[str, tuple]) -> None:
    wait_until(
        lambda: explained(server, message).items() >= outcomes.items(), f"the outcomes do not become {outcomes}")


def holding(server, text: str) -> list[str]:
    files = [file for file in (server.data / "views").iterdir() if file.is_file()]
    return [file.name for file in files if text.encode() in file.read_bytes()]


def leaves_every_file(server, text: str) -> None:
    deadline = time.monotonic() + ERASED_SECONDS
    while left := holding(server, text):
        assert time.monotonic() < deadline, f"after {ERASED_SECONDS} s it is still in {left}"
        time.sleep(0.2)


def secret_text(name: str) -> str:
    return f"hushhush{name}{new_id().replace('-', '')}"


def test_a_deleted_message_is_withdrawn_and_an_edited_one_is_pushed_with_its_new_text(
    posting, receiver, gate
):
    world = World(posting)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phone = device(ben, "b")
    secrets = {name: secret_text(name) for name in ("Deleted", "Edited", "Thread")}
    root = anna.send(room, "the root stays")
    ben.put(f"{room.message(root['id'])}/thread/following", {"follows": True})
    deleted = anna.send(room, secrets["Deleted"])
    edited = anna.send(room, secrets["Edited"])
    reply = anna.put(room.message(new_id()), {"text": secrets["Thread"], "threadId": root["id"]})
    refused(receiver, 1)
    # Otherwise there would be nothing to remove.
    for secret in secrets.values():
        wait_until(
            lambda: any(name.startswith("push-v") for name in holding(posting, secret)), "the text is not in push")
    anna.delete(room.message(deleted["id"]))
    anna.delete(room.message(reply["id"]))
    anna.patch(room.message(edited["id"]), {"text": "kinder words"})
    for name in ("Deleted", "Thread"):
        leaves_every_file(posting, secrets[name])
    wait_until(
        lambda: not any(name.startswith("push-v") for name in holding(posting, secrets["Edited"])),
        "the old text is still in push")
    notifications = opened(gate, receiver, anna, room)
    assert alerts(notifications) == ["the root stays", "kinder words", "the last one"]
    # The badge is lower than before, and if the notifications had been delivered, they would be removed now.
    wait_until(
        lambda: set(updates(delivered(receiver))) == {(phone, deleted["id"]), (phone, reply["id"])},
        "the device does not learn of both deletions")
    assert replaced(posting.data) == set()
    for message in (deleted, reply):
        comes_to(posting, message, {phone: ("abandoned", "deleted")})
    comes_to(posting, edited, {phone: ("delivered", None)})
    table = hansard("push", "explain", "--data", posting.data, deleted["position"]).output
    assert "abandoned: deleted" in table


def test_the_text_of_a_message_is_stored_once_for_all_devices(posting, receiver, gate):
    world, text, devices = World(posting), secret_text("Once"), 3
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room = anna.room("Tea", ben, carla)
    for person in (ben, ben, carla):
        device(person, new_id())
    sent = anna.send(room, text)
    refused(receiver, devices)
    (outbox,) = (posting.data / "views").glob("push-v*.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{outbox}?mode=ro", uri=True)) as database:
        waiting = database.execute("SELECT * FROM outbox WHERE position = ?", (sent["position"],)).fetchall()
        contents = database.execute("SELECT * FROM pushContent").fetchall()
    assert len(waiting) == devices and not [row for row in waiting if text in row]
    assert [text in row for row in contents] == [True]


def test_a_reaction_that_was_removed_is_not_announced(posting, receiver, gate):
    world = World(posting)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    mine = anna.send(room, "mine")["id"]
    phone = device(anna, "a")
    removed = ben.put(reaction_path(room, mine, "👍"))
    kept = ben.put(reaction_path(room, mine, "🎉"))
    refused(receiver, 1)
    ben.delete(reaction_path(room, mine, "👍"))
    again = ben.put(reaction_path(room, mine, "👍"))
    gate.is_open.set()
    for reaction, outcome in ((removed, ("abandoned", "deleted")), (kept, ("delivered", None)), (again, ("delivered", None))):
        comes_to(posting, reaction, {phone: outcome})


def test_a_delivered_message_leaves_the_file_when_it_is_deleted(posting, receiver, gate):
    """The opposite order: the notification is settled before the message is deleted."""
    world = World(posting)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    phone = device(ben, "b")
    gate.is_open.set()
    secret = secret_text("Told")
    told = anna.send(room, secret)
    comes_to(posting, told, {phone: ("delivered", None)})
    anna.delete(room.message(told["id"]))
    leaves_every_file(posting, secret)


def test_nothing_of_a_deleted_room_is_pushed(posting, receiver, gate):
    world = World(posting)
    anna, ben = world.users("Anna", "Ben")
    gone, kept = anna.room("Gone", ben), anna.room("Kept", ben)
    phone = device(ben, "b")
    secrets = [secret_text(f"Room{number}") for number in range(3)]
    sent = [anna.send(gone, secret) for secret in secrets]
    other = anna.send(kept, "in the other room")
    refused(receiver, 1)
    anna.delete(gone.path)
    for secret in secrets:
        leaves_every_file(posting, secret)
    notifications = opened(gate, receiver, anna, kept)
    assert alerts(notifications) == ["in the other room", "the last one"] and updates(notifications) == []
    for message in sent:
        comes_to(posting, message, {phone: ("abandoned", "deleted")})
    comes_to(posting, other, {phone: ("delivered", None)})


def test_removed_banned_disabled_and_silent_users_are_not_notified(posting, receiver, gate):
    world = World(posting)
    people = world.users(
        "Anna", "Banned", "Removed", "Left", "Disabled", "Muting", "Silent", "Mentioned", "Blocking", "Staying")
    anna, banned, removed, left, disabled, muting, silent, mentioned, blocking, staying = people
    room = anna.room("Tea", *people[1:])
    phones = {person: device(person, f"token of {person.nickname}") for person in people[1:]}
    sent = anna.send(room, "for all of them")
    mentioning = anna.put(room.message(new_id()), {"text": "for the mentioned", "mentions": {"users": [mentioned.id]}})
    refused(receiver, len(phones))
    # Their devices only get the `update` about this.
    updated = {
        banned: anna.put(f"{room.path}/bans/{banned.id}"),
        removed: anna.delete(f"{room.path}/members/{removed.id}"),
        left: left.post(f"{room.path}/leave"),
        muting: muting.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"}),
        blocking: blocking.put(f"/v1/me/blocked-users/{anna.id}"),
    }
    world.admin.post(f"/v1/admin/users/{disabled.id}/disable")
    for person, level in ((silent, "none"), (mentioned, "mentions")):
        person.put(
            f"/v1/devices/{phones[person]}",
            {"apnsToken": f"token of {person.nickname}", "notifications": level},
        )
    # The gate stays closed until then, because an attempt that began before may be in flight.
    reasons = {
        banned: "left", removed: "left", left: "left", disabled: "account_disabled", muting: "muted_room",
        blocking: "blocked", silent: "notifications_off", mentioned: "mentions_only",
    }
    comes_to(posting, sent, {phones[person]: ("abandoned", reason) for person, reason in reasons.items()})
    opened(gate, receiver, anna, room)
    # The device that wants only mentions does not get the last message, so `opened` does not wait for it.
    comes_to(posting, mentioning, {phones[mentioned]: ("delivered", None)})
    for person, event in updated.items():
        comes_to(posting, event, {phones[person]: ("delivered", None)})
    arrived = delivered(receiver)
    told = sorted(
        (notification["deviceId"], notification["text"]) for notification in arrived if not notification["silent"])
    assert told == sorted(
        [(phones[mentioned], "for the mentioned")]
        + [(phones[staying], text) for text in ("for all of them", "for the mentioned", "the last one")]
    )
    assert sorted(updates(arrived)) == sorted((phones[person], None) for person in updated)
    comes_to(posting, sent, {phones[staying]: ("delivered", None)})
    # The audit shows it too.
    rows = hansard("audit", "--data", posting.data, "--format", "jsonl", "--type", "push.outcomes-recorded").rows
    outcomes = [outcome for row in rows for outcome in row["detail"]["outcomes"]]
    assert {(phones[banned], "abandoned", "left")} <= {
        (outcome["device"], outcome["result"], outcome.get("reason")) for outcome in outcomes
    }
    # A rebuilt outbox does not contain the abandoned notifications.
    count = len(receiver.taken())
    posting.stop()
    for file in (posting.data / "views").glob("push-v*.sqlite*"):
        file.unlink()
    posting.start()
    later = anna.send(room, "after the restart")
    comes_to(posting, later, {phones[staying]: ("delivered", None)})
    assert [receipt.body["text"] for receipt in receiver.taken()[count:]] == ["after the restart"]


def test_a_moved_token_gets_no_notifications_of_its_old_owner(posting, receiver, gate):
    world = World(posting)
    anna, ben, carla = world.users("Anna", "Ben", "Carla")
    room, cake = anna.room("Tea", ben), anna.room("Cake", carla)
    phone = device(ben, "the phone")
    sent = anna.send(room, "for Ben's eyes")
    refused(receiver, 1)
    device(carla, "the phone")
    # The gate stays closed until then, because an attempt that began before the token moved may be in flight.
    comes_to(posting, sent, {phone: ("token_invalid", None)})
    told = opened(gate, receiver, anna, cake)
    assert [(notification["userId"], notification["text"]) for notification in told] == [(carla.id, "the last one")]
