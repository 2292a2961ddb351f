"""`hansard log seal`: the log becomes smaller, and nothing that can be read from it changes."""

import os
import random
import signal
import subprocess
import threading
import time

import pytest
import requests

from harness.client import new_id
from harness.command import audit, check_data, hansard, stat
from harness.people import World, timeline
from harness.places import hansard_binary
from harness.real_log import Growing, copy_data, pages, read_parts, seal, shown
from harness.server import Server
from harness.verifying import verify  # noqa: F401 (fixture)

KILLS = 20
# The thread that seals has a low priority, so on a busy machine it waits for everything else.
SEAL_SECONDS = 900


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A log without sealed segments. The server is stopped."""
    growing = Growing(tmp_path_factory.mktemp("grown")).fill()
    yield growing
    growing.server.end()


@pytest.fixture(scope="module")
def sealed(grown, tmp_path_factory):
    """A copy of the log, sealed."""
    data = copy_data(grown.data, tmp_path_factory.mktemp("sealed") / "data")
    seal(data)
    return data


@pytest.fixture
def data(grown, tmp_path):
    """A copy of the unsealed log."""
    return copy_data(grown.data, tmp_path / "data")


def segments(data) -> dict:
    """The content of each segment, by name."""
    return {path.name: path.read_bytes() for path in sorted((data / "log").glob("*.seg"))}


def test_a_seal_says_what_it_did_and_a_second_one_does_nothing(data, verify):
    head = stat(data)["head"]
    said = hansard("log", "seal", "--data", data).output
    assert said.startswith(f"sealed 1 segments, up to position {head}: 64.0 MiB of segment files became ")
    once = segments(data)
    assert list(once) == [f"{1:020}.seg", f"{head + 1:020}.seg"] and len(once[f"{1:020}.seg"]) < 1 << 20
    assert [path.name for path in (data / "log").glob("*.checkpoint")] == [f"{head:020}.checkpoint"]
    # The empty segment after the sealed one does not count.
    before = len(once[f"{1:020}.seg"])
    said = seal(data)
    assert said == {"segmentsSealed": 0, "head": head, "bytesBefore": before, "bytesAfter": before}
    assert segments(data) == once
    assert verify("--data", data).status == 0


def test_a_seal_is_refused_while_a_server_runs(own_server):
    World(own_server).user("Anna")
    before = segments(own_server.data)
    refusal = hansard("log", "seal", "--data", own_server.data, expect=2)
    assert "log_locked" in refusal.errors and refusal.output == ""
    assert segments(own_server.data) == before


def test_a_mistyped_directory_makes_no_log(tmp_path):
    for command in (["seal"], ["checkpoint"], ["prove", "--position", "1"], ["verify"], ["stat"]):
        refusal = hansard("log", *command, "--data", tmp_path / "hansard-dta", expect=2)
        assert "log_missing" in refusal.errors
    assert list(tmp_path.iterdir()) == []


def test_the_figures_of_a_sealed_log(grown, sealed):
    before, after = stat(grown.data), stat(sealed)
    same = ("head", "events", "messages", "eventsByType", "identity")
    assert {name: before[name] for name in same} == {name: after[name] for name in same}
    assert after["segments"] == before["segments"] + 1
    assert after["bytesPerMessage"] < 0.75 * before["bytesPerMessage"]
    assert 3 <= after["blocks"] < before["blocks"]
    assert "of them sealed     1" in hansard("log", "stat", "--data", sealed).output


def test_both_verifiers_find_the_same_tree_before_and_after(grown, sealed, verify):
    before, after = verify("--data", grown.data), verify("--data", sealed, "--key", grown.key)
    assert (before.status, after.status) == (0, 0)
    assert before.result["root"] == after.result["root"]
    assert (before.result["sealed"], after.result["sealed"], after.result["treeHeads"]) == (0, 1, 1)


def test_every_record_is_rebuilt_bit_for_bit(grown, sealed):
    before, after = ([event for part in read_parts(data) for event in part.events()] for data in (grown.data, sealed))
    assert before == after
    assert [event.record() for event in before] == [event.record() for event in after]


def test_the_audit_shows_the_same_rows(grown, sealed):
    before, after = shown(grown.data, grown.room), shown(sealed, grown.room)
    assert all(before[name] for name in before if name not in ("never", "nobody"))
    for name, rows in before.items():
        assert after[name] == rows, name
    for room in grown.report["rooms"].values():
        of_room = audit(sealed, "--room", room)
        assert of_room == [row for row in before["all"] if row["stream"] == room] and of_room
    for form in ("table", "csv"):
        of_both = [hansard("audit", "--data", data, "--format", form).output for data in (grown.data, sealed)]
        assert of_both[0] == of_both[1]


def test_a_record_is_inspected_in_a_sealed_segment(grown, sealed):
    for position in (1, stat(sealed)["head"] // 2, stat(sealed)["head"]):
        places = ("segment", "blockOffset")
        of_both = [hansard("log", "inspect", "--data", data, "--json", "--position", position).json
                   for data in (grown.data, sealed)]
        assert [{name: one[name] for name in one if name not in places} for one in of_both][0] == {
            name: of_both[1][name] for name in of_both[1] if name not in places}
        block = hansard("log", "inspect", "--data", sealed, "--json", "--block", position).json
        assert block["first"] <= position <= block["last"]


def readers(data) -> dict:
    """A member of each room, according to the audit."""
    members: dict[str, set] = {}
    for row in audit(data):
        if row["type"] == "member.joined":
            members.setdefault(row["stream"], set()).add(row["actor"])
        elif row["type"] == "member.left":
            members[row["stream"]].discard(row["actor"])
    return {room: min(users) for room, users in members.items()}


def test_a_server_goes_on_with_a_sealed_log(grown, data, verify):
    rooms = readers(grown.data) | {grown.room: grown.anna}
    server = Server(data).start()
    try:
        before, head = pages(server, rooms), server.head()
        assert sum(map(len, before.values())) > 2500
        server.stop()
        seal(data)
        hansard("replay", "--data", data, "--verify")
        server.start()
        assert (pages(server, rooms), server.head()) == (before, head)
        anna = World(server).acting_as(grown.anna)
        first_id = new_id()
        sent = [anna.put(f"/v1/rooms/{grown.room}/messages/{id}", {"text": f"goes on after {id}"})
                for id in [first_id, *(new_id() for _ in range(29))]]
        assert [message["position"] for message in sent] == list(range(head + 1, head + 31))
        server.stop()
        assert seal(data)["segmentsSealed"] == 1
        outcome = verify("--data", data)
        assert (outcome.status, outcome.result["sealed"], outcome.result["treeHeads"]) == (0, 2, 2), outcome.errors
        for file in (data / "views").iterdir():
            file.unlink()
        server.start()
        assert timeline(World(server).acting_as(grown.anna), grown.room) == before[grown.room] + sent
        again = World(server).acting_as(grown.anna).put(
            f"/v1/rooms/{grown.room}/messages/{first_id}", {"text": f"goes on after {first_id}"}, expect=200)
        assert again == sent[0], "a retry across two seals is not recognised"
        server.stop()
        check_data(data)
    finally:
        server.end()


def test_a_replay_reads_sealed_segments(grown, data):
    seal(data)
    for file in (data / "views").iterdir():
        file.unlink()
    hansard("replay", "--data", data)
    check_data(data)


def seal_for(data, seconds: float) -> bool:
    """Starts a seal and kills it after this many seconds. Returns whether the kill interrupted it."""
    command = [str(hansard_binary()), "log", "seal", "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def test_a_seal_that_is_killed_loses_nothing(grown, tmp_path, verify):
    """Kills a seal twenty times, at points spread over its whole course. Every second kill hits the same log again.
    Goes on if most seals ended before the kill, because the machine was slower when the duration was measured."""
    head, chance = stat(grown.data)["head"], random.Random(3)
    root, rest = verify("--data", grown.data).result["root"], copy_data(grown.data, tmp_path / "timed")
    began = time.monotonic()
    seal(rest)
    whole = time.monotonic() - began
    killed, states, data = 0, set(), None
    for number in range(5 * KILLS):
        if number >= KILLS and killed >= KILLS // 2 and len(states) > 1:
            break
        if number % 2 == 0:
            data = copy_data(grown.data, tmp_path / f"killed-{number}")
        was_killed = seal_for(data, whole * chance.uniform(0.05, 0.95))
        killed += was_killed
        # Adjusts the duration, because the machine may be faster or slower than when it was measured.
        whole *= 1.05 if was_killed else 0.8
        outcome = verify("--data", data)
        assert outcome.status == 0, outcome.errors
        assert (outcome.result["records"], outcome.result["root"]) == (head, root)
        left = sorted(path.suffix for path in (data / "log").iterdir())
        states.add((outcome.result["segments"], outcome.result["sealed"], tuple(left)))
        if number % 2:
            seal(data)
            assert [path.suffix for path in (data / "log").iterdir() if path.suffix in (".tmp", ".bin")] == []
            outcome = verify("--data", data)
            assert (outcome.result["sealed"], outcome.result["treeHeads"], outcome.result["root"]) == (1, 1, root)
            assert outcome.result["notes"] == []
    assert killed >= KILLS // 2, "most of the seals were over before the kill"
    assert len(states) > 1, f"all kills left the same: {states}"


def kill_with_a_full_segment(server: Server) -> list[dict]:
    """Sends long messages until the server creates its second segment, and kills it then, before it can have sealed the
    first one. Returns the results."""
    anna = World(server).user("Anna")
    room, results = anna.room("Full"), []

    def pour() -> None:
        try:
            while len(results) < 10_000:
                lines = [{"op": "message.send", "roomId": room.id, "id": new_id(), "text": os.urandom(8000).hex()}
                         for _ in range(200)]
                results.extend(anna.ingest_all(lines))
        except requests.RequestException:
            return

    pouring = threading.Thread(target=pour)
    pouring.start()
    try:
        while len(list((server.data / "log").glob("*.seg"))) < 2:
            assert pouring.is_alive(), "ten thousand messages of 16 KB do not fill a segment"
            time.sleep(0.002)
    finally:
        server.kill()
        pouring.join()
    return results


@pytest.mark.alone
def test_a_server_that_is_killed_while_it_seals_loses_nothing(own_server, verify):
    """The server seals a full segment while it appends to the next one. Each start continues the seal, and is killed
    too."""
    results = kill_with_a_full_segment(own_server)
    data, unfinished, roots = own_server.data, 0, set()
    for pause in (0, 0.1, 0.3):
        outcome = verify("--data", data)
        assert outcome.status == 0 and outcome.result["records"] >= results[-1]["position"], outcome.errors
        unfinished += outcome.result["sealed"] == 0
        roots.add((outcome.result["records"], outcome.result["root"]))
        own_server.start()
        time.sleep(pause)
        own_server.kill()
    assert unfinished > 0, "the segment was sealed before the first kill"
    own_server.start()
    deadline = time.monotonic() + SEAL_SECONDS
    while not list((data / "log").glob("*.checkpoint")):
        assert time.monotonic() < deadline, f"the full segment was not sealed within {SEAL_SECONDS} s"
        time.sleep(0.05)
    own_server.stop()
    outcome = verify("--data", data)
    assert (outcome.status, outcome.result["sealed"], outcome.result["treeHeads"]) == (0, 1, 1), outcome.errors
    assert outcome.result["notes"] == [] and roots == {(outcome.result["records"], outcome.result["root"])}
