"""`hansard import`: its output, and what it does with invalid input. Whole histories are tested in `acceptance`."""

import json

import pytest

from harness import history
from harness.client import Api
from harness.command import hansard
from harness.importing import check_rooms, counts, run_import
from harness.people import timeline


def line(at: int, kind: str, user: str, text: str | None = None, room: str = "#tea") -> dict:
    entry = {"at": f"2020-05-01T10:00:{at:02}.000Z", "room": room, "type": kind, "user": user}
    return entry | ({"text": text} if text is not None else {})


STORY = [
    line(0, "message", "anna", "hello"),
    line(1, "join", "anna"),
    line(2, "message", "anna", "hello"),
    line(2, "message", "anna", "hello"),
    line(2, "message", "anna", "hello"),
    line(3, "join", "ben"),
    line(4, "leave", "carla"),
    line(5, "leave", "carla"),
    line(6, "message", "ben", "점심?"),
    line(7, "leave", "ben"),
    line(8, "message", "anna", "gone"),
    line(9, "join", "ben"),
    line(10, "message", "anna", "again"),
]


@pytest.fixture(scope="module")
def told(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    file = history.write(STORY, folder / "story.jsonl")
    outcome = run_import(server, file, folder / "report.json")
    return file, outcome, history.read(folder / "report.json")[0]


def test_equal_lines_are_different_messages(server, told):
    _, outcome, report = told
    check_rooms(server, report["rooms"], report["users"], history.recount(STORY))
    assert counts(outcome)["messages"] == 7
    assert "\r" not in outcome.errors, "a progress bar where there is no terminal"


def test_speaking_and_leaving_imply_having_joined(server, told):
    _, _, report = told
    anna = Api(server, server.token, act_as=report["users"]["anna"])
    room = report["rooms"]["#tea"]
    members = anna.get(f"/v1/rooms/{room}/members")["members"]
    assert sorted(member["user"]["nickname"] for member in members) == ["anna", "ben"]
    ben = Api(server, server.token, act_as=report["users"]["ben"])
    assert ben.get(f"/v1/rooms/{room}")["unreadCount"] == 1
    carla = Api(server, server.token, act_as=report["users"]["carla"])
    carla.refused("room_not_found", "GET", f"/v1/rooms/{room}")


def test_users_are_found_by_their_names(server, told):
    _, _, report = told
    admin = Api(server, server.token)
    (anna,) = admin.get("/v1/admin/users", externalId="anna")["users"]
    assert (anna["id"], anna["nickname"]) == (report["users"]["anna"], "anna")


def test_a_second_import_repeats(server, told):
    file, first, _ = told
    head = server.head()
    second = counts(run_import(server, file))
    assert (second["recorded"], second["repeated"], second["failed"]) == (0, counts(first)["recorded"], 0)
    assert server.head() == head


def test_appended_lines_are_added(server, told):
    file, _, report = told
    longer = [*STORY, line(11, "message", "dora", "new here"), line(10, "message", "anna", "again")]
    before = server.head()
    third = counts(run_import(server, history.write(longer, file.with_name("longer.jsonl"))))
    # A user, a join and two messages. One of the messages equals an earlier line.
    assert third["recorded"] == 4 and server.head() == before + 4
    anna = Api(server, server.token, act_as=report["users"]["anna"])
    texts = [message["text"] for message in timeline(anna, report["rooms"]["#tea"])]
    assert texts[-3:] == ["again", "new here", "again"]


def test_from_standard_input(server, told):
    file, first, _ = told
    outcome = hansard(
        "import", "--server", server.url, "--token-file", server.data / "admin-token", "-", stdin=file.read_bytes()
    )
    assert counts(outcome)["repeated"] == counts(first)["recorded"]


def test_bad_lines_fail_and_are_named(server, tmp_path):
    entries = [
        line(0, "message", "eve", "fine", room="#bad"), line(1, "message", "eve", "x" * 16_385, room="#bad"),
        line(2, "message", "eve", "also fine", room="#bad"),
    ]
    outcome = run_import(server, history.write(entries, tmp_path / "bad.jsonl"), expect=1)
    assert counts(outcome)["failed"] == 1
    assert "2" in outcome.errors and "text" in outcome.errors


@pytest.mark.parametrize("content", ["nonsense\n", '{"at":"yesterday"}\n', '{"at":"2020-05-01T10:00:00.000Z"}\n'])
def test_a_file_that_is_not_a_history(server, tmp_path, content):
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps(line(0, "join", "eve")) + "\n" + content)
    outcome = run_import(server, file, expect=None)
    assert outcome.status != 0 and "2" in outcome.errors


def test_unreachable_servers_and_unreadable_files(server, tmp_path):
    file = history.write(STORY, tmp_path / "story.jsonl")
    token = tmp_path / "token"
    token.write_text("nonsense")
    refused = hansard("import", "--server", server.url, "--token-file", token, file, expect=None)
    assert refused.status == 2 and "access_token_invalid" in refused.errors
    nobody = hansard(
        "import", "--server", "http://127.0.0.1:9", "--token-file", server.data / "admin-token", file, expect=None
    )
    assert nobody.status == 2
    assert "http://127.0.0.1:9 cannot be reached. Connection refused. start it, or correct --server" in nobody.errors
    missing = run_import(server, tmp_path / "missing.jsonl", expect=None)
    assert missing.status == 2 and "missing.jsonl" in missing.errors
