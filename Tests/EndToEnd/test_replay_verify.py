"""`hansard replay` builds read models from the log alone, and detects a changed row."""

import sqlite3

import pytest

from harness import history
from harness.command import hansard
from harness.importing import check_rooms, run_import
from harness.people import World
from harness.server import Server
from harness.read_models import read_model, read_model_names

# A read model, one of its tables, and a statement that changes exactly one row.
TAMPERING = [
    ("timeline", "UPDATE message SET text = 'forged' WHERE rowid_of_first"),
    ("rooms", "UPDATE member SET marker = marker + 1 WHERE rowid_of_first"),
    ("accounts", "UPDATE user SET nickname = 'forged' WHERE rowid_of_first"),
    ("ids", "UPDATE message SET ordinal = ordinal + 1 WHERE rowid_of_first"),
    ("media", "UPDATE media SET contentType = 'forged' WHERE rowid_of_first"),
    ("usage", "UPDATE usage SET messages = messages + 1 WHERE rowid_of_first"),
    ("search", "UPDATE wording SET text = CAST('forged' AS BLOB) WHERE rowid_of_first"),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The data of a stopped server with a small history, and one action of each other kind."""
    folder = tmp_path_factory.mktemp("filled")
    server = Server(folder / "data").start()
    entries = history.generate(lines=2000, seed=4)
    report_file = folder / "report.json"
    run_import(server, history.write(entries, folder / "history.jsonl"), report_file)
    world = World(server)
    anna = world.account("Anna")
    ben = world.user("Ben")
    room = anna.room("Tea", ben)
    anna.put(f"/v1/devices/{anna.id}", {"name": "phone", "apnsToken": "secret"})
    sent = [anna.send(room, f"{number}") for number in range(130)]
    for message in sent[::7]:
        anna.delete(room.message(message["id"]))
    anna.patch(room.message(sent[1]["id"]), {"text": "changed"})
    ben.put(f"{room.path}/mute", {"until": "2090-01-01T00:00:00Z"})
    ben.put(f"{room.path}/read-marker", {"messageId": sent[40]["id"]})
    ben.post(f"/v1/invites/{anna.post(f'{room.path}/invites', {})['token']}/accept", expect=200)
    anna.post("/v1/media", data=b"tea leaves")
    server.stop()
    yield server, entries, history.read(report_file)[0]
    server.end()


def test_a_replay_equals_what_was_live(filled):
    server, _, _ = filled
    outcome = hansard("replay", "--data", server.data, "--verify")
    for name in read_model_names():
        assert name in outcome.text


def test_a_row_of_each_read_model_is_changed():
    assert {projection for projection, _ in TAMPERING} == set(read_model_names())


@pytest.mark.parametrize("projection, statement", TAMPERING, ids=[projection for projection, _ in TAMPERING])
def test_a_changed_row_is_seen(filled, projection, statement):
    server, _, _ = filled
    # The file may stop short of the head. A rebuild reaches it.
    hansard("replay", "--data", server.data, "--projection", projection)
    file = read_model(server, projection)
    table = statement.split()[1]
    database = sqlite3.connect(file)
    keys = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[5] > 0]
    names = ", ".join(keys)
    first = f"({names}) = (SELECT {names} FROM {table} ORDER BY {names} LIMIT 1)"
    columns = "*"
    before = database.execute(f"SELECT {columns} FROM {table} WHERE {first}").fetchone()
    changed = database.execute(statement.replace("rowid_of_first", first))
    assert changed.rowcount == 1
    database.commit()
    database.close()
    outcome = hansard("replay", "--data", server.data, "--verify", expect=1)
    assert projection in outcome.text and table in outcome.text
    only_other = "rooms" if projection != "rooms" else "accounts"
    hansard("replay", "--data", server.data, "--projection", only_other, "--verify")
    # A rebuild repairs the row.
    hansard("replay", "--data", server.data, "--projection", projection)
    hansard("replay", "--data", server.data, "--verify")
    mended = sqlite3.connect(file)
    assert mended.execute(f"SELECT {columns} FROM {table} WHERE {first}").fetchone() == before
    mended.close()


def test_a_removed_and_an_added_row_are_seen(filled):
    server, _, _ = filled
    file = read_model(server, "rooms")
    database = sqlite3.connect(file)
    database.execute("DELETE FROM member WHERE (roomId, userId) = (SELECT roomId, userId FROM member LIMIT 1)")
    database.commit()
    database.close()
    hansard("replay", "--data", server.data, "--verify", expect=1)
    hansard("replay", "--data", server.data, "--projection", "rooms")
    hansard("replay", "--data", server.data, "--verify")


def test_read_models_can_be_deleted(filled):
    server, entries, report = filled
    for file in (server.data / "views").iterdir():
        file.unlink()
    server.start()
    try:
        check_rooms(server, report["rooms"], report["users"], history.recount(entries))
    finally:
        server.stop()
    hansard("replay", "--data", server.data, "--verify")


def test_a_rebuild_is_refused_while_a_server_runs(server):
    World(server).user("Anna")
    outcome = hansard("replay", "--data", server.data, expect=None)
    assert outcome.status not in (0, 1) and "server" in outcome.errors
    hansard("replay", "--data", server.data, "--verify")


def test_a_projection_that_does_not_exist_is_named(filled):
    server, _, _ = filled
    outcome = hansard("replay", "--data", server.data, "--projection", "nonsense", expect=None)
    assert outcome.status not in (0, 1) and "timeline" in outcome.text
