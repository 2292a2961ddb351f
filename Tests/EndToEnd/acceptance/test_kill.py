"""Kills the server with `kill -9` at random moments of an import, twenty times."""

import collections
import json
import random
import subprocess
import threading
import time

import pytest

from harness import history
from harness.client import Api
from harness.command import check_data, settle, stat
from harness.importing import Feed, History, check_rooms, counts, run_import
from harness.people import timeline
from harness.places import hansard_binary
from harness.server import Server

KILLS = 20
IMPORTER_KILLS = 5
# How many lines of the previous run the next run sends again.
SENT_AGAIN = 2_000
SEED = 9


@pytest.fixture
def own(tmp_path):
    server = Server(tmp_path / "data").start()
    yield server
    server.end()


def test_every_result_received_survives_twenty_kills(own, tmp_path):
    _, entries = history.chosen(tmp_path)
    recounts = history.recount(entries)
    source = random.Random(SEED)
    input_history = History.of(entries)
    acknowledged: dict[str, int] = {}
    # For every line that ever got a result, its position. This includes users, rooms, joins and leaves.
    recorded: dict[int, int] = {}
    checked = reached = 0
    for kill in range(KILLS):
        # Each run sends some earlier lines again, and gets a little further.
        start = max(0, reached - SENT_AGAIN)
        reached = max(reached, int(len(input_history.lines) * (kill + source.random()) / KILLS))
        kill_after = reached - start + 1
        results = Feed(own).run(input_history.lines[start:], kill_after)
        assert own.process is None, "the server was not killed"
        assert len(results) >= kill_after
        assert {result["status"] for result in results} <= {200, 201}
        for result in results:
            number = start + result["line"] - 1
            line = input_history.lines[number]
            assert recorded.setdefault(number, result["position"]) == result["position"], "a repeat was recorded anew"
            if line["op"] == "message.send":
                acknowledged[line["id"]] = result["position"]
        own.start()
        checked = check_acknowledged(own, input_history, acknowledged, checked)
    results = Feed(own).run(input_history.lines, None)
    assert len(results) == len(input_history.lines)
    assert {result["status"] for result in results} <= {200, 201}
    for number, result in enumerate(results):
        assert recorded.setdefault(number, result["position"]) == result["position"], "an acknowledged line was lost"
    check_rooms(own, input_history.rooms, input_history.users, recounts)
    check_data(own.data)
    own.restart()
    check_rooms(own, input_history.rooms, input_history.users, recounts)


def check_acknowledged(server: Server, input_history: History, acknowledged: dict[str, int], checked: int) -> int:
    """Checks that every acknowledged message after the position `checked` is in its room. Returns the position checked
    now."""
    head = server.head()
    assert max(acknowledged.values(), default=0) <= head, "acknowledged events are beyond the head"
    recent = {id: position for id, position in acknowledged.items() if position > checked}
    shown: dict[str, int] = {}
    for room in input_history.rooms.values():
        reader = member_of(server, input_history, room, acknowledged)
        if reader is not None:
            for message in timeline(reader, room, down_to=checked):
                assert message["id"] not in shown, "a message is doubled"
                shown[message["id"]] = message["position"]
    lost = {id: position for id, position in recent.items() if shown.get(id) != position}
    assert not lost, f"{len(lost)} of {len(recent)} acknowledged messages are lost or moved: {list(lost.items())[:3]}"
    return max(recent.values(), default=checked)


def member_of(server: Server, input_history: History, room: str, acknowledged: dict[str, int]) -> Api | None:
    """One of the users who wrote in the room and are in it now. The last one who wrote is tried first."""
    spoken = [
        line["as"] for line in input_history.lines
        if line["op"] == "message.send" and line["roomId"] == room and line["id"] in acknowledged
    ]
    for user in dict.fromkeys(reversed(spoken)):
        api = Api(server, server.token, act_as=user)
        if api.request("GET", f"/v1/rooms/{room}").status_code == 200:
            return api
    return None


def test_an_import_resumes_after_the_server_is_killed(own, tmp_path):
    file, entries = history.chosen(tmp_path)
    source = random.Random(SEED + 1)
    whole = measured_import(tmp_path, file)
    for _ in range(IMPORTER_KILLS):
        timer = threading.Timer(whole * source.random(), own.kill)
        timer.start()
        outcome = run_import(own, file, results=tmp_path / "results.jsonl", expect=None)
        timer.join()
        # Either the import was complete before the kill, or it reports that it was interrupted.
        assert outcome.status == 0 or outcome.errors.strip(), "a broken import says nothing"
        own.start()
    finish(own, file, tmp_path, entries)
    check_results(own, tmp_path, entries)


def test_an_import_resumes_after_the_importer_is_killed(own, tmp_path):
    file, entries = history.chosen(tmp_path)
    source = random.Random(SEED + 2)
    whole = measured_import(tmp_path, file)
    command = [hansard_binary(), "import", "--server", own.url, "--token-file", own.data / "admin-token", file]
    for _ in range(IMPORTER_KILLS):
        importer = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(whole * source.random() * 0.8)
        importer.kill()
        importer.wait()
    finish(own, file, tmp_path, entries)


def check_results(server: Server, folder, entries: list[dict]) -> None:
    """The position that the importer got for each message, in any run, is the message's position."""
    report = history.read(folder / "report.json")[0]
    positions_of = collections.defaultdict(set)
    for result in whole_lines(folder / "results.jsonl"):
        if result["op"] == "message.send":
            positions_of[result["id"]].add(result["position"])
    stands: dict[str, int] = {}
    for name, recount in history.recount(entries).items():
        reader = Api(server, server.token, act_as=report["users"][recount.members[0]])
        stands |= {message["id"]: message["position"] for message in timeline(reader, report["rooms"][name])}
    assert positions_of, "the importer wrote down no result"
    wrong = {id: positions for id, positions in positions_of.items() if positions != {stands.get(id)}}
    assert not wrong, f"{len(wrong)} acknowledged messages are lost or moved: {list(wrong.items())[:3]}"


def whole_lines(file):
    """The JSON lines of a file, without a last line that a kill cut off."""
    for line in file.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def measured_import(folder, file) -> float:
    """How many seconds an undisturbed import takes on this machine."""
    server = Server(folder / "undisturbed").start()
    try:
        began = time.monotonic()
        run_import(server, file)
        return time.monotonic() - began
    finally:
        server.end()


def finish(server: Server, file, folder, entries: list[dict]) -> None:
    report_file = folder / "report.json"
    assert counts(run_import(server, file, report_file))["failed"] == 0
    report = history.read(report_file)[0]
    check_rooms(server, report["rooms"], report["users"], history.recount(entries))
    head = settle(server)
    assert counts(run_import(server, file))["recorded"] == 0
    assert server.head() == head
    assert stat(server.data)["events"] == head
    check_data(server.data)
