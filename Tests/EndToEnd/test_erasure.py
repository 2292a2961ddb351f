"""A user is erased from a copy of a log. Saved tree heads and proofs are valid for the copy, and the user's texts are
gone."""

import base64
import dataclasses
import json
import os
import subprocess
from types import SimpleNamespace

import pytest

from harness import merkle
from harness.client import new_id
from harness.command import audit, hansard
from harness.people import World
from harness.places import hansard_binary
from harness.real_log import read_parts, seal, rewrite_log
from harness.server import Server
from harness.verifying import verify  # noqa: F401 (fixture)

MESSAGES = 30
KEEP_EVERY = 3
RETAINED, ERASED, OWN_SALT = 0, 1, 2
LOGWORK = os.environ.get("LOGWORK_BIN") or str(hansard_binary().with_name("logwork"))


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The log of a stopped server with three users who talk, and a tree head that is saved elsewhere."""
    folder = tmp_path_factory.mktemp("erasure")
    server = Server(folder / "data").start()
    anna, ben, carol = World(server).users("Anna", "Benedikt-the-erased", "Carol")
    room = anna.room("Tea", ben, carol)
    for number in range(MESSAGES):
        # Four messages per round, so that some, but not all, of the user's messages have positions divisible by three.
        for person in (anna, ben, carol, anna):
            person.send(room, f"{person.nickname} says {number}: {new_id()}")
    server.stop()
    kept = folder / "kept.txt"
    kept.write_text(hansard("log", "checkpoint", "--data", server.data).output)
    rows, key = audit(server.data), (server.data / "checkpoint.pub").read_text().strip()
    yield SimpleNamespace(
        folder=folder, data=server.data, user=ben.id, kept=kept, key=key, rows=rows,
        of_user=[row for row in rows if row["actor"] == ben.id],
        texts=[row["detail"]["text"] for row in rows if row["type"] == "message.sent" and row["actor"] == ben.id])
    server.end()


def erase(story, name: str, keep_every: int) -> SimpleNamespace:
    """A sealed copy of the log without the user; `events` by position."""
    data = story.folder / name
    done = subprocess.run(
        [LOGWORK, "erase", "--data", story.data, "--output", data, "--user", story.user,
         "--keep-every", str(keep_every)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert seal(data)["segmentsSealed"] == 1
    parts = read_parts(data)
    return SimpleNamespace(data=data, parts=parts, events=dict(enumerate((e for p in parts for e in p.events()), 1)))


@pytest.fixture(scope="module")
def copy(story):
    """A copy that keeps every third record of the user."""
    return erase(story, "copy", KEEP_EVERY)


@pytest.fixture(scope="module")
def bare(story):
    """A copy that keeps no record of the user."""
    return erase(story, "bare", 0)


def positions(story, copy, form: int) -> list[int]:
    """The positions of the user's messages that have this form in the copy."""
    return [row["position"] for row in story.of_user
            if row["type"] == "message.sent" and copy.events[row["position"]].form == form]


def registration(story) -> int:
    return next(row["position"] for row in story.of_user if row["type"] == "user.registered")


@pytest.fixture
def shown(story, tmp_path, verify):
    """The JSON object in a record's proof, and what the script says about it. Both verifiers must accept the proof."""
    def prove(data, position: int) -> tuple[dict, dict]:
        path = tmp_path / f"{position}.tlog-proof"
        path.write_text(hansard("log", "prove", "--data", data, "--position", position).output)
        said = hansard("log", "check-proof", path, "--key", story.key).output
        assert said.startswith(f"ok: the record is at position {position} of ")
        outcome = verify("--proof", path, "--key", story.key, "--checkpoint", story.kept)
        assert (outcome.status, outcome.result.get("position")) == (0, position), outcome.errors
        extra = path.read_text().split("\n")[1].removeprefix("extra ")
        return json.loads(base64.b64decode(extra)), outcome.result
    return prove


def test_the_kept_head_holds_for_the_copy(story, copy, bare, verify):
    for erased in (copy, bare):
        outcome = verify("--data", erased.data, "--checkpoint", story.kept, "--key", story.key)
        assert outcome.status == 0, outcome.errors
        assert outcome.result["root"] == story.kept.read_text().split("\n")[2]
        forms = [event.form for event in erased.events.values()]
        assert (outcome.result["erased"], outcome.result["ownSalts"]) == (forms.count(ERASED), forms.count(OWN_SALT))
        assert (outcome.result["records"], outcome.result["sealed"]) == (len(story.rows), 1)


def test_what_the_user_wrote_and_nothing_else_is_erased(story, copy, bare):
    assert len(story.texts) == MESSAGES and registration(story) in copy.events
    for row in story.rows:
        position, by_user = row["position"], row["actor"] == story.user
        kept = by_user and position % KEEP_EVERY == 0 and position != registration(story)
        assert copy.events[position].form == (OWN_SALT if kept else ERASED if by_user else RETAINED), row
        assert bare.events[position].form == (ERASED if by_user else RETAINED), row
    assert len(positions(story, copy, ERASED)) >= MESSAGES // 2 and len(positions(story, copy, OWN_SALT)) >= 5


def test_an_erased_record_is_proved_without_its_payload(story, copy, shown):
    for position in (positions(story, copy, ERASED)[0], positions(story, copy, ERASED)[-1], registration(story)):
        extra, said = shown(copy.data, position)
        event = copy.events[position]
        assert extra == {"envelope": event.envelope().hex(), "digest": event.payload.hex()}
        assert said["payload"] == "not shown"


def test_a_kept_record_of_an_erased_user_is_proved_with_its_salt(story, copy, shown):
    for position in (positions(story, copy, OWN_SALT)[0], positions(story, copy, OWN_SALT)[-1]):
        extra, said = shown(copy.data, position)
        event = copy.events[position]
        assert (extra["salt"], extra["payload"]) == (event.salt.hex(), event.payload.hex())
        assert extra["digest"] == merkle.sha256(event.salt, event.payload).hex()
        assert said["payload"] == f"{len(event.payload)} bytes"
        # The salt is the one that the key derived before: a proof from the original log shows the same.
        assert shown(story.data, position)[0] == extra


def test_the_erased_text_is_nowhere_in_the_copy(story, copy, bare):
    texts = {row["position"]: row["detail"]["text"] for row in story.of_user if row["type"] == "message.sent"}
    for erased in (copy, bare):
        gone = [position for position in texts if erased.events[position].form == ERASED]
        said = "".join(json.dumps(row, ensure_ascii=False) for row in audit(erased.data))
        stored = b"\0".join([event.payload for event in erased.events.values()]
                            + [part.dictionary for part in erased.parts])
        files = b"\0".join(path.read_bytes() for path in erased.data.rglob("*") if path.is_file())
        for position in gone:
            shown = hansard("log", "inspect", "--data", erased.data, "--json", "--position", position).output
            assert json.loads(shown)["payload"] == "erased" and texts[position] not in shown
            assert texts[position] not in said
            assert texts[position].encode() not in stored and texts[position].encode() not in files
        for position in set(texts) - set(gone):
            assert texts[position] in said
    assert b"Benedikt-the-erased" not in b"".join(event.payload for event in bare.events.values())


def test_a_forged_digest_is_caught_by_the_kept_head(story, copy, tmp_path, verify):
    """The forger has the signing key, and recreates the tree and the tree heads."""
    for number, position in enumerate((positions(story, copy, ERASED)[3], registration(story))):
        def change(events: list) -> list:
            forged = dataclasses.replace(events[position - 1], payload=merkle.sha256(b"never said"))
            assert forged.form == ERASED
            return [*events[: position - 1], forged, *events[position:]]

        data = tmp_path / f"forged-{number}"
        rewrite_log(copy.data, data, change)
        assert verify("--data", data, "--key", story.key).status == 0
        outcome = verify("--data", data, "--key", story.key, "--checkpoint", story.kept)
        assert outcome.status == 1 and outcome.result["file"] == str(story.kept)
