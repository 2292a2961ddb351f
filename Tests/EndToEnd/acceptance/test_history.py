"""Imports a whole history: HISTORY_FILE, or 20,000 seeded lines."""

import collections
import json
import random

import pytest

from harness import history
from harness.client import Api
from harness.command import check_data, settle, stat
from harness.importing import check_rooms, counts, run_import
from harness.people import walk
from harness.server import Server

MEMBERS_CHECKED = 40


class Imported:
    """A server with an imported history, and the expected state according to the input."""

    def __init__(self, folder):
        self.file, self.entries = history.chosen(folder)
        self.rooms = history.recount(self.entries)
        self.server = Server(folder / "data").start()
        self.report_file = folder / "report.json"
        self.counts = counts(run_import(self.server, self.file, self.report_file))
        self.report = json.loads(self.report_file.read_text())

    def acting_as(self, user: str) -> Api:
        return Api(self.server, self.server.token, act_as=self.report["users"][user])


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    imported = Imported(tmp_path_factory.mktemp("import"))
    yield imported
    imported.server.end()


def test_the_counts_are_those_of_the_input(imported):
    kinds = collections.Counter(entry["type"] for entry in imported.entries)
    expected = {
        "lines": len(imported.entries), "messages": kinds["message"], "joins": kinds["join"], "leaves": kinds["leave"],
        "users": len({entry["user"] for entry in imported.entries}), "rooms": len(imported.rooms), "failed": 0,
    }
    assert {name: imported.counts[name] for name in expected} == expected
    assert imported.counts["recorded"] > 0 and imported.counts["repeated"] >= 0
    assert imported.report["counts"] == imported.counts
    assert set(imported.report["rooms"]) == set(imported.rooms)
    assert set(imported.report["users"]) == {entry["user"] for entry in imported.entries}


def test_each_room_is_the_input_once_and_in_order(imported):
    check_rooms(imported.server, imported.report["rooms"], imported.report["users"], imported.rooms)


def test_members_are_those_of_the_input(imported):
    names = {id: name for name, id in imported.report["users"].items()}
    for name, recount in imported.rooms.items():
        reader = imported.acting_as(recount.members[0])
        path = f"/v1/rooms/{imported.report['rooms'][name]}"
        assert reader.get(path)["name"] == name
        assert reader.get(path)["memberCount"] == len(recount.members)
        members = walk(reader, f"{path}/members", "members", limit=200)
        assert sorted(names[member["user"]["id"]] for member in members) == sorted(recount.members)
        assert all(member["user"]["nickname"] == names[member["user"]["id"]] for member in members)
        gone = sorted(recount.seen - set(recount.members))
        for user in gone[:5]:
            imported.acting_as(user).refused("room_not_found", "GET", path)


def test_unread_counts_equal_a_recount(imported):
    source = random.Random(3)
    for name, recount in imported.rooms.items():
        path = f"/v1/rooms/{imported.report['rooms'][name]}"
        by_unread = sorted(recount.members, key=recount.unread)
        chosen = {*by_unread[:3], *by_unread[-3:], *source.sample(by_unread, min(MEMBERS_CHECKED, len(by_unread)))}
        for user in sorted(chosen):
            reader = imported.acting_as(user)
            assert reader.get(path)["unreadCount"] == recount.unread(user), f"{user} in {name}"
            badge = sum(other.unread(user) for other in imported.rooms.values() if user in other.read)
            assert reader.get("/v1/badge")["unreadCount"] == badge, f"the badge of {user}"


def test_the_log_statistics_match_the_input(imported):
    settle(imported.server)
    figures = stat(imported.server.data)
    messages = sum(len(recount.messages) for recount in imported.rooms.values())
    assert figures["messages"] == messages
    assert figures["events"] == figures["head"] == imported.server.head()
    assert figures["bytesPerMessage"] == pytest.approx(figures["storedBytes"] / messages, rel=0.01)
    assert figures["storedBytes"] < figures["rawBytes"]


def test_a_second_import_adds_no_event(imported):
    before = settle(imported.server)
    second = counts(run_import(imported.server, imported.file))
    assert imported.server.head() == before
    assert stat(imported.server.data)["events"] == before
    assert (second["recorded"], second["failed"]) == (0, 0)
    assert second["lines"] == len(imported.entries)


def test_the_log_is_intact_and_a_replay_matches(imported):
    check_data(imported.server.data)
    imported.server.restart()
    check_rooms(imported.server, imported.report["rooms"], imported.report["users"], imported.rooms)
    imported.server.stop()
    check_data(imported.server.data)
    imported.server.start()
