"""The log of a server that erases a deleted account: kills at any moment, `hansard erase`, holds, proofs and backups."""

import random
import time
from types import SimpleNamespace

import pytest

from harness.client import new_id
from harness.command import check_data, hansard, stat
from harness.people import World
from harness.real_log import copy_data, leaves_of, read_parts, seal
from harness.server import Server
from harness.verifying import verify  # noqa: F401 (fixture)
from harness.waiting import wait_until

MESSAGES = 40
KILLS = 12
# The erasure of this small log takes less. A kill after its end tests that nothing is done twice.
LATEST_KILL_SECONDS = 1.5
ERASED = 1


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A stopped server with a deleted account whose erasure waits for a hold. Two segments are sealed."""
    folder = tmp_path_factory.mktemp("erasing")
    server = Server(folder / "data").start()
    world = World(server)
    anna, ben = world.account(f"Anna-{new_id()}"), world.user("Ben")
    room = anna.room("Tea", ben)
    texts = []
    for part in range(3):
        for number in range(MESSAGES):
            texts.append(f"anna says {new_id()}")
            anna.send(room, texts[-1])
            ben.send(room, f"ben answers {part}.{number}")
        if part < 2:
            server.stop()
            seal(server.data)
            server.start()
    hold = f"/v1/admin/legal-holds/users/{anna.id}"
    world.admin.put(hold, {"reason": "until the test begins"})
    assert world.admin.delete(f"/v1/admin/users/{anna.id}")["state"] == "held"
    wait_until(lambda: not any(ben.texts(room, limit=200)[::2]), "the messages are still there")
    server.stop()
    kept = folder / "kept.txt"
    kept.write_text(hansard("log", "checkpoint", "--data", server.data).output)
    proof = folder / "proof.txt"
    proof.write_text(hansard("log", "prove", "--data", server.data, "--position", 20).output)
    yield SimpleNamespace(
        data=server.data, user=anna.id, ben=ben, room=room, hold=hold, words=[*texts, anna.nickname, anna.email],
        kept=kept, proof=proof, key=(server.data / "checkpoint.pub").read_text().strip())
    server.end()


@pytest.fixture
def data(story, tmp_path):
    return copy_data(story.data, tmp_path / "data")


def found(data, words) -> list[str]:
    """The words that the log still has: in the bytes of its files, in dictionaries, or in payloads."""
    parts = read_parts(data)
    places = [path.read_bytes() for path in (data / "log").iterdir()]
    places += [part.dictionary for part in parts] + [event.payload for part in parts for event in part.events()]
    return [word for word in words if any(word.encode() in place for place in places)]


def erasure(world: World, user: str) -> dict:
    return world.admin.get(f"/v1/admin/erasures/{user}")


def complete(world: World, user: str) -> dict:
    wait_until(lambda: erasure(world, user)["state"] == "complete", "the erasure is not complete")
    return erasure(world, user)["erased"]


def check_log(story, data, verify) -> None:
    """The head from before the erasure is still that of the log, and so is the proof."""
    checked = ("--data", data, "--key", story.key, "--checkpoint", story.kept)
    assert verify(*checked).status == 0
    hansard("log", "check-proof", story.proof, "--key", story.key)


def test_a_held_erasure_leaves_the_log_as_it_is(story, data):
    before = leaves_of(data)
    said = hansard("erase", "--data", data).output
    assert f"held {story.user}: a legal hold makes the erasure wait" in said and "nothing to erase" in said
    assert hansard("erase", "--data", data, "--json").json == {
        "erased": [], "held": [story.user], "segmentsRewritten": 0}
    assert leaves_of(data) == before
    assert found(data, story.words) == story.words


def test_a_killed_erasure_is_completed(story, tmp_path, verify):
    chance = random.Random(41)
    counts = set()
    for number in range(KILLS):
        data = copy_data(story.data, tmp_path / f"data{number}")
        server = Server(data).start()
        try:
            World(server).admin.delete(story.hold)
            time.sleep(chance.random() * LATEST_KILL_SECONDS * number / KILLS)
            server.kill()
            check_log(story, data, verify)
            if number % 2:
                said = hansard("erase", "--data", data, "--json").json
                assert [each["user"] for each in said["erased"]] in ([story.user], [])
                assert found(data, story.words) == []
                check_log(story, data, verify)
                assert hansard("erase", "--data", data, "--json").json["segmentsRewritten"] == 0
            server.start()
            done = complete(World(server), story.user)
            counts.add((done["erasedRecords"], done["keptRecords"]))
            server.stop()
        finally:
            server.end()
        check_log(story, data, verify)
        assert found(data, story.words) == []
        check_data(data)
    # They are counted in the log, so a kill does not change them.
    assert len(counts) == 1


def test_others_keep_what_they_wrote_and_the_envelopes_stay(story, data):
    before = leaves_of(data)
    server = Server(data).start()
    try:
        World(server).admin.delete(story.hold)
        done = complete(World(server), story.user)
        server.stop()
    finally:
        server.end()
    assert leaves_of(data)[: len(before)] == before
    user = bytes.fromhex(story.user.replace("-", ""))
    events = [event for part in read_parts(data) for event in part.events()]
    own = [event for event in events if user in (event.actor, event.stream)]
    assert len([event for event in own if event.form == ERASED]) == done["erasedRecords"] > MESSAGES
    texts = [event.payload for event in events if b"ben answers" in event.payload]
    assert len(texts) == 3 * MESSAGES


def test_the_receipt_is_a_proof_of_the_record(story, data, tmp_path):
    server = Server(data).start()
    try:
        World(server).admin.delete(story.hold)
        done = complete(World(server), story.user)
        deleted = erasure(World(server), story.user)["position"]
        server.stop()
    finally:
        server.end()
    receipt = tmp_path / "receipt.txt"
    receipt.write_text(hansard("log", "prove", "--data", data, "--position", done["position"]).output)
    shown = dict(
        line.split(maxsplit=1) for line in hansard("log", "check-proof", receipt, "--key", story.key).output.splitlines()
        if " " in line.strip())
    # What was erased, of whom, and when.
    assert (shown["type"], shown["stream"], shown["time"]) == ("user.erased", story.user, done["erasedAt"])
    counts = [int(shown[name]) for name in ("deletion", "erasedRecords", "keptRecords")]
    assert counts == [deleted, done["erasedRecords"], done["keptRecords"]]
    # It is signed: no other key fits, and no other record.
    text = receipt.read_text()
    receipt.write_text(text.replace(f"index {done['position'] - 1}\n", f"index {done['position'] - 2}\n"))
    assert receipt.read_text() != text
    assert "is not valid" in hansard("log", "check-proof", receipt, "--key", story.key, expect=1).errors
    receipt.write_text(text)
    stranger = Server(tmp_path / "stranger").start()
    stranger.stop()
    other = (stranger.data / "checkpoint.pub").read_text().strip()
    assert "is not valid" in hansard("log", "check-proof", receipt, "--key", other, expect=1).errors


def test_the_tool_needs_the_directory_alone(own_server):
    World(own_server).user("Anna")
    assert "log_locked" in hansard("erase", "--data", own_server.data, expect=2).errors


def test_a_mistyped_directory_makes_no_log(tmp_path):
    assert "log_missing" in hansard("erase", "--data", tmp_path / "hansard-dta", expect=2).errors
    assert list(tmp_path.iterdir()) == []


def test_a_log_without_deleted_users_is_left_as_it_is(own_server):
    World(own_server).user("Anna")
    own_server.stop()
    before = stat(own_server.data)
    assert hansard("erase", "--data", own_server.data).output == "nothing to erase\n"
    assert stat(own_server.data) == before


def test_a_backup_forgets_too(story, data, tmp_path):
    to = tmp_path / "backup"
    server = Server(data).start()
    try:
        world = World(server)
        carol = world.user("Carol")
        content = f"carol's file {new_id()}".encode()
        response = carol.request("POST", "/v1/media?name=leaves.bin", data=content)
        assert response.status_code == 201, response.text
        files = {path.relative_to(data) for path in data.glob("media/??/*")}
        hansard("backup", "--data", data, "--to", to)
        assert files and all((to / name).exists() for name in files)
        assert found(to / "current", story.words)
        world.admin.delete(story.hold)
        world.admin.delete(f"/v1/admin/users/{carol.id}")
        complete(world, story.user)
        server.restart()
        complete(World(server), carol.id)
        hansard("backup", "--data", data, "--to", to)
        assert not any((to / name).exists() for name in files)
        assert found(to / "current", story.words) == []
        assert len(list(to.glob("backup-*"))) == 1
    finally:
        server.end()
