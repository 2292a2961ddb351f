"""Files stay as long as something refers to them, and are on disk before the response."""

import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import time
import uuid
from collections.abc import Iterator

from harness.client import new_id
from harness.cost import until_idle
from harness.people import World
from harness.server import Server
from harness.times import in_time
from harness.waiting import wait_until
from test_media import COLLECTED_AFTER_SECONDS, contents, download, upload
from test_scheduled_messages import failure, path


def test_the_file_of_a_message_that_could_not_be_sent_is_kept(tmp_path):
    settings = {"HANSARD_MEDIA_UNREFERENCED_AGE": str(COLLECTED_AFTER_SECONDS), "HANSARD_RATE_LIMITS_ENABLED": "false"}
    server = Server(tmp_path / "data", environment=settings).start()
    try:
        anna, ben = World(server).users("Anna", "Ben")

        def leave(moment):
            room = anna.room("Tea", ben)
            content = os.urandom(900)
            media = upload(ben, content)["id"]
            body = {"text": "later", "sendAt": moment, "attachments": [{"mediaId": media, "name": "tea.bin"}]}
            made = ben.put(path(room, new_id()), body)
            ben.post(f"{room.path}/leave")
            return content, media, made["id"]

        _, (content, media, id) = in_time(leave)
        assert failure(ben, id)["attachments"][0]["mediaId"] == media
        # The collector has looked at this file too once it has collected a younger one.
        upload(anna, os.urandom(901))
        wait_until(lambda: len(contents(server)) == 1, "nothing was collected")
        assert download(ben, media).content == content
    finally:
        server.end()


def test_a_directory_of_files_is_synced_before_each_response(own_server, tmp_path):
    """This includes an existing directory: another upload may have created it without having synced its name."""
    anna = World(own_server).user("Anna")
    trace = tmp_path / "trace"
    tracer = subprocess.Popen(
        ["strace", "-f", "-y", "-qq", "-e", "trace=rename,renameat,renameat2,fsync", "-o", trace, "-p",
         str(own_server.process.pid)], stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(1)
        content = os.urandom(500)
        receipt = upload(anna, content)
        directory = receipt["sha256"][:2]
        upload(World(own_server).user("Ben"), content, expect=201)
    finally:
        tracer.terminate()
        tracer.wait()
    calls = []
    media = str(own_server.data / "media")
    for line in trace.read_text().splitlines():
        if "fsync(" in line and f"<{media}>" in line:
            calls.append("folder")
        elif "rename" in line and f"{media}/{directory}/" in line:
            calls.append("rename")
        elif "fsync(" in line and f"<{media}/{directory}>" in line:
            calls.append("directory")
    assert calls[:3] == ["folder", "rename", "directory"] and calls[3:] == calls[:3], calls


# Files that every message has, messages of the room, and the most rows that one transaction may delete.
FILES, MESSAGES, ROWS_AT_ONCE = 10, 1_000, 4_096


def commits(file: pathlib.Path) -> Iterator[int]:
    """The end of each transaction in the write-ahead log of an SQLite file
    (<https://www.sqlite.org/fileformat2.html>)."""
    log = file.with_name(file.name + "-wal").read_bytes()
    page_bytes, salts = struct.unpack(">I", log[8:12])[0], log[16:24]
    for start in range(32, len(log), 24 + page_bytes):
        frame = log[start : start + 24]
        if frame[8:16] != salts:
            return
        if struct.unpack(">I", frame[4:8])[0]:
            yield start + 24 + page_bytes


def rows_after_each_commit(file: pathlib.Path, sql: str, *values) -> list[int]:
    """The result of a query after each transaction in the write-ahead log."""
    found = []
    copy = file.parent.parent / "copy.sqlite"
    for end in commits(file):
        for old in copy.parent.glob("copy.sqlite*"):
            old.unlink()
        shutil.copy(file, copy)
        log = file.with_name(file.name + "-wal").read_bytes()
        copy.with_name(copy.name + "-wal").write_bytes(log[:end])
        # The write-ahead log may start before the tables were created.
        has_tables = count(copy, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'")
        found.append(count(copy, sql, *values) if has_tables else 0)
    return found


def count(file: pathlib.Path, sql: str, *values) -> int:
    database = sqlite3.connect(file)
    try:
        return database.execute(sql, values).fetchone()[0]
    finally:
        database.close()


def test_the_rows_of_a_deleted_room_are_deleted_in_steps(own_server, own_world):
    """Observed: one transaction deleted all of them, and every upload and download waited for it."""
    anna = own_world.user("Anna")
    room = anna.room("Tea")
    files = [upload(anna, os.urandom(20))["id"] for _ in range(FILES)]
    own_world.admin.ingest_all([
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(),
         "attachments": [{"mediaId": media} for media in files]} for _ in range(MESSAGES)])
    until_idle(own_server)
    (file,) = (own_server.data / "views").glob("media-v*.sqlite")
    rows = "SELECT count(*) FROM attachment WHERE roomId = ?", uuid.UUID(room.id).bytes
    # While a reader uses an older snapshot, SQLite keeps each later transaction in its write-ahead log.
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute(rows[0], rows[1:]).fetchone()[0] == FILES * MESSAGES
    anna.delete(room.path)
    wait_until(lambda: count(file, *rows) == 0, "the attachments of the deleted room are left")
    until_idle(own_server)
    left = rows_after_each_commit(file, *rows)
    reader.close()
    steps = [before - after for before, after in zip(left, left[1:], strict=False) if after < before]
    assert sum(steps) == FILES * MESSAGES and max(steps) <= ROWS_AT_ONCE, steps
