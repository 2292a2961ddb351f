"""`hansard backup` beside a running server, and `hansard restore`: incremental, checked, and safe to interrupt."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

from harness.command import check_data, hansard, settle, stat
from harness.people import World, timeline
from harness.places import hansard_binary
from harness.server import Server

TIMEOUT_SECONDS = 120
# The calls that change what is on the disk. The backup is killed at each of them.
CHANGES = ("link", "symlink", "rename", "fsync", "fdatasync", "mkdir", "unlink", "pwrite64")
# This bounds how long the test takes.
KILLS_PER_CALL = 12


def upload(person, content: bytes) -> str:
    response = person.request("POST", "/v1/media?name=leaves.bin", data=content)
    assert response.status_code == 201, response.text
    return response.json()["id"]


def backup(data, to, *flags, expect=0):
    return hansard("backup", "--data", data, "--to", to, *flags, expect=expect)


def copies(to: pathlib.Path) -> list[str]:
    return sorted(path.name for path in to.glob("backup-*"))


def segments(copy: pathlib.Path) -> dict[str, int]:
    """The inode of each segment, by name."""
    return {path.name: path.stat().st_ino for path in (copy / "log").glob("*.seg")}


@contextlib.contextmanager
def writing(person, room):
    """Sends messages within the block."""
    ended = threading.Event()
    sent = []

    def write():
        while not ended.is_set():
            sent.append(person.send(room, f"message {len(sent)}")["id"])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield sent
    finally:
        ended.set()
        thread.join()


class Story:
    """A server with one sealed segment, messages and uploads, and two backups, made while somebody was writing."""

    def __init__(self, folder: pathlib.Path):
        self.server = server = Server(folder / "data").start()
        self.to = folder / "backup"
        world = World(server)
        self.anna, self.ben = world.user("Anna"), world.user("Ben")
        self.room = self.anna.room("Tea", self.ben)
        self.content = os.urandom(300_000)
        self.media = [upload(self.anna, self.content)]
        for number in range(50):
            self.anna.send(self.room, f"sealed {number}")
        server.stop()
        hansard("log", "seal", "--data", server.data)
        server.start()
        with writing(self.ben, self.room):
            self.first = backup(server.data, self.to)
            self.first_copy = (self.to / "current").resolve()
            self.first_segments = segments(self.to / "current")
        self.media.append(upload(self.ben, os.urandom(1000)))
        with writing(self.ben, self.room):
            self.second = backup(server.data, self.to)
        self.head = settle(server)
        self.last = backup(server.data, self.to)

    def views(self, server: Server) -> dict:
        """What both users see."""
        seen = {}
        for person in (self.anna, self.ben):
            person.server, own = server, person.server
            seen[person.id] = [
                timeline(person, self.room.id), person.get("/v1/rooms"), person.get("/v1/badge"), person.get("/v1/me")]
            person.server = own
        return seen


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    story = Story(tmp_path_factory.mktemp("backup"))
    yield story
    story.server.end()


def test_a_backup_copies_only_what_is_new(story):
    assert re.match(r"ok: [\d,]+ events, copied 2 of 2 segments, .*\n1 media files, copied 1, 293\.0 KiB", story.first.output)
    assert "copied 1 of 2 segments" in story.second.output and "2 media files, copied 1, 1000 B" in story.second.output
    assert story.last.output.startswith(f"ok: {story.head:,} events, copied 1 of 2 segments")
    assert "2 media files, copied 0, 0 B" in story.last.output
    # The sealed segment is the same file in each backup. Only the newest backup is kept.
    sealed = f"{1:020}.seg"
    assert segments(story.to / "current")[sealed] == story.first_segments[sealed]
    assert not story.first_copy.exists() and copies(story.to) == [f"backup-{story.head}"]
    assert {path.stat().st_mode & 0o777 for path in story.to.rglob("*") if path.is_file()} == {0o600}


def test_a_backup_is_a_log_that_every_tool_reads(story):
    assert stat(story.to / "current")["head"] == story.head
    hansard("log", "verify", "--data", story.to / "current")
    assert len(hansard("audit", "--data", story.to / "current", "--format", "jsonl").rows) == story.head


def test_a_restored_server_shows_the_same(story, tmp_path):
    data = tmp_path / "restored"
    said = hansard("restore", "--from", story.to, "--data", data).output
    assert said.startswith(f"ok: {story.head:,} events and 2 media files in {data}")
    hansard("log", "verify", "--data", data)
    expected = story.views(story.server)
    server = Server(data).start()
    try:
        assert server.head() == story.head
        assert story.views(server) == expected
        story.anna.server, own = server, story.anna.server
        assert story.anna.request("GET", f"/v1/media/{story.media[0]}").content == story.content
        story.anna.send(story.room, "after the restore")
        story.anna.server = own
    finally:
        server.end()
    check_data(data)


@pytest.fixture
def stopped(story, tmp_path):
    """A copy of the data and of the backup, which no server uses. The data has more than the backup."""
    data, to = tmp_path / "data", tmp_path / "backup"
    story.server.stop()
    shutil.copytree(story.server.data, data)
    shutil.copytree(story.to, to, symlinks=True)
    story.server.start()
    server = Server(data).start()
    World(server).user("Carla")
    upload(World(server).user("Dora"), b"a new file")
    server.stop()
    return data, to


def killed_at(call: str, number: int, data, to, trace) -> bool:
    """Runs a backup that is killed at the nth of these calls. False if it ended before."""
    command = ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}",
               hansard_binary(), "backup", "--data", data, "--to", to]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    assert done.returncode in (0, -9, 137), done.stderr
    return done.returncode != 0


def test_a_backup_that_is_killed_leaves_the_one_before(story, stopped, tmp_path):
    data, to = stopped
    head = stat(data)["head"]
    assert head > story.head
    before = tmp_path / "before"
    shutil.copytree(to, before, symlinks=True)
    kills = 0
    for call in CHANGES:
        for number in range(1, KILLS_PER_CALL + 1):
            if not killed_at(call, number, data, to, tmp_path / "trace"):
                shutil.rmtree(to)
                shutil.copytree(before, to, symlinks=True)
                break
            kills += 1
            shown = stat(to / "current")["head"]
            assert shown in (story.head, head), f"{call} {number}"
            if shown == head:
                shutil.rmtree(to)
                shutil.copytree(before, to, symlinks=True)
    assert kills > 15
    hansard("restore", "--from", to, "--data", tmp_path / "restored")
    assert "copied 1 of 2 segments" in backup(data, to).output
    assert copies(to) == [f"backup-{head}"] and stat(to / "current")["head"] == head


def test_what_the_data_lost_stays_in_the_backup_until_it_is_pruned(stopped):
    data, to = stopped
    (lost, *_), count = sorted(data.glob("media/??/*")), len(list(data.glob("media/??/*")))
    name = lost.relative_to(data)
    assert f"{count} media files" in backup(data, to).output
    lost.unlink()
    backup(data, to)
    assert (to / name).exists()
    assert "removed 1" in backup(data, to, "--prune").output
    assert not (to / name).exists() and len(list(to.glob("media/??/*"))) == count - 1


def test_damage_is_reported(stopped, tmp_path):
    data, to = stopped
    damaged = next(data.glob("media/??/*"))
    (to / damaged.relative_to(data)).unlink(missing_ok=True)
    damaged.write_bytes(b"other bytes")
    outcome = backup(data, to, expect=1)
    assert f"{damaged} was not copied" in outcome.errors and outcome.output.startswith("ok: ")
    # A damaged segment of the backup is replaced.
    sealed = to / "current" / "log" / f"{1:020}.seg"
    with sealed.open("r+b") as file:
        file.seek(5000)
        file.write(b"damage")
    outcome = backup(data, to, expect=1)
    assert "everything is copied again" in outcome.errors and "copied 2 of 2 segments" in outcome.output
    # A damaged file of the data is not.
    with (data / "log" / f"{1:020}.seg").open("r+b") as file:
        file.seek(5000)
        file.write(b"damage")
    head = stat(to / "current")["head"]
    errors = backup(data, tmp_path / "other", expect=2).errors
    assert "log_corrupt" in errors and errors.count("everything is copied again") == 1
    assert not (tmp_path / "other" / "current").exists()
    assert stat(to / "current")["head"] == head


def test_a_directory_with_something_else_is_refused(story, stopped, tmp_path):
    data, to = stopped
    assert "neither empty nor the directory of an earlier backup" in backup(data, data, expect=2).errors
    stranger = Server(tmp_path / "stranger").start()
    World(stranger).user("Eve")
    stranger.stop()
    assert "it has the backup of another log" in backup(stranger.data, to, expect=2).errors
    backup(data, to)
    assert "so the log has lost some" in backup(story.server.data, to, expect=2).errors
    assert "it is not empty" in hansard("restore", "--from", to, "--data", data, expect=2).errors
    assert "is not a backup" in hansard("restore", "--from", data, "--data", tmp_path / "new", expect=2).errors
    assert not (tmp_path / "new").exists()
    (data / "hansard.key").unlink()
    assert "hansard.key is missing" in backup(data, tmp_path / "keyless", expect=2).errors
    assert not (tmp_path / "keyless").exists()
