"""Damaged, full, failing and busy files of read models: the server reports them, returns no wrong result, and recovers
without a restart."""

import contextlib
import os
import sqlite3
import subprocess
import time

import pytest
import requests

from harness import times
from harness.client import Api, new_id
from harness.command import check_data, hansard
from harness.contract import contract
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.read_models import (
    PAGE_BYTES, aside, lines, locked, read_model, read_model_names, readiness, unready, until_ready, zero)
from harness.waiting import PATIENCE_SECONDS, wait_until
from test_media import noise

# Long enough that SQLite stores most of it on pages that hold nothing else.
LONG_TEXT = "kettle " + "tea and biscuits " * 400
# A small quota, so that the tests can use it up.
WORKSPACES = 2
FEW_WORKSPACES = UNLIMITED | {
    "HANSARD_QUOTAS_ENABLED": "true", "HANSARD_QUOTAS_WORKSPACES_PER_DAY": str(WORKSPACES)}


def stop_with_whole_files(server: Server) -> None:
    """Stops the server and completes the files. Otherwise a part of each read model is in a write-ahead log, which has
    its own SQLite checksums."""
    server.stop()
    hansard("replay", "--data", server.data)


class Conversation:
    """A little of everything, and what the API returns for it."""

    def __init__(self, world: World):
        # The UTC day must not change during the tests, because that resets the quotas.
        times.within_one_day(600)
        self.world = world
        self.anna, self.ben = world.user("Anna"), world.user("Ben")
        self.room = self.anna.room("Tea", self.ben)
        self.sent = [self.anna.send(self.room, f"{LONG_TEXT} number {number}") for number in range(60)]
        self.file = noise(20_000)
        self.media = self.anna.post("/v1/media", data=self.file)["id"]
        self.anna.put(self.room.message(new_id()), {"attachments": [{"mediaId": self.media}]})
        for number in range(WORKSPACES):
            self.anna.workspace(f"Office {number}")

    def seen(self) -> dict:
        """What clients see. Some of the requests are writes, but none of them changes anything."""
        search = wait_until(self.searched, "the search does not come back")
        seventh = self.room.message(self.sent[7]["id"])
        return {
            "rooms": self.request_until_current(self.ben, "GET", "/v1/rooms").json(),
            "badge": self.request_until_current(self.ben, "GET", "/v1/badge").json(),
            "messages": self.request_until_current(self.ben, "GET", f"{self.room.path}/messages?limit=200").json(),
            "me": self.request_until_current(self.anna, "GET", "/v1/me").json(),
            "message": self.request_until_current(self.anna, "GET", seventh).json(),
            "search": search,
            # What the read model `ids` has of a message.
            "repeat": self.request_until_current(self.anna, "PUT", seventh, {"text": self.sent[7]["text"]}).json(),
            "conflict": self.request_until_current(self.anna, "PUT", seventh, {"text": "x"}, expect=409).json()["code"],
            # What `media` has of an upload, and of who may see it.
            "upload": self.request_until_current(self.anna, "POST", "/v1/media", data=self.file).json(),
            "file": self.request_until_current(self.ben, "GET", f"/v1/media/{self.media}").content == self.file,
            # What `usage` has.
            "quota": self.request_until_current(self.anna, "POST", "/v1/workspaces", {"name": "Attic"}, expect=429).json()["code"],
        }

    def searched(self) -> list | None:
        response = self.anna.request("GET", "/v1/search", params={"q": "kettle", "limit": 50})
        if response.status_code == 503:
            return None
        body = response.json()
        return body["results"] if body["position"] >= self.sent[-1]["position"] else None

    def request_until_current(self, api: Api, method: str, path: str, body=None, expect: int = 200, **options) -> requests.Response:
        """Repeats the request while it gets 503 `projection_behind`. Returns the response with the expected status."""
        # In a list, because a `Response` with an error status is false.
        def request() -> list[requests.Response]:
            response = api.request(method, path, body, **options)
            if response.status_code == expect:
                return [response]
            assert response.status_code == 503, f"{path}: {response.status_code}: {response.text[:500]}"
            assert response.json()["code"] == "projection_behind"
            assert int(response.headers["Retry-After"]) >= 1
            return []
        return wait_until(request, f"{path} does not come back")[0]


@pytest.fixture(scope="module")
def conversation(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("views") / "data", environment=FEW_WORKSPACES).start()
    conversation = Conversation(World(server))
    conversation.server = server
    conversation.expected = conversation.seen()
    yield conversation
    server.end()


# --- Damage


@pytest.mark.parametrize("name", read_model_names())
def test_a_zeroed_read_model_is_rebuilt_at_startup(conversation, name):
    """Zeros all pages but the first, so the header still says that the file is a database."""
    stop_with_whole_files(conversation.server)
    aside(conversation.server, name).unlink(missing_ok=True)
    zero(read_model(conversation.server, name), first=2)
    begin = len(conversation.server.errors.read_text())
    conversation.server.start()
    assert conversation.seen() == conversation.expected
    conversation.anna.send(conversation.room, "still here")
    newest = conversation.anna.get(f"{conversation.room.path}/messages")["messages"][-1]
    conversation.anna.delete(conversation.room.message(newest["id"]))
    until_ready(conversation.server)
    errors = conversation.server.errors.read_text()[begin:]
    assert read_model(conversation.server, name).name in errors
    assert aside(conversation.server, name).exists()
    conversation.expected = conversation.seen()


@pytest.mark.parametrize("name", read_model_names())
def test_a_zeroed_page_never_changes_a_result(conversation, name):
    """Zeros one page at a time. Whatever it held, every response is right, or 503 until it is right."""
    for part in (0.1, 0.5, 0.9, 1):
        stop_with_whole_files(conversation.server)
        pages = read_model(conversation.server, name).stat().st_size // PAGE_BYTES
        page = max(2, int(part * pages))
        zero(read_model(conversation.server, name), first=page, end=page + 1)
        conversation.server.start()
        assert conversation.seen() == conversation.expected, f"{name}, page {page} of {pages}"


@pytest.mark.parametrize("name", read_model_names())
def test_a_read_model_that_is_zeroed_while_the_server_runs_is_rebuilt(conversation, name):
    """A write makes SQLite read the pages again, so a query or the next event finds the damage."""
    aside(conversation.server, name).unlink(missing_ok=True)
    stop_with_whole_files(conversation.server)
    conversation.server.start()
    zero(read_model(conversation.server, name), first=2)
    sent = new_id()
    for method, path, body, expect in (
        ("PUT", conversation.room.message(sent),
         {"text": "after the damage", "attachments": [{"mediaId": conversation.media}]}, 201),
        ("PUT", f"{conversation.room.path}/read-marker", {"messageId": sent}, 200),
        ("PATCH", "/v1/me", {"nickname": f"Anna of {name}"}, 200),
    ):
        conversation.request_until_current(conversation.anna, method, path, body, expect)
    wait_until(lambda: conversation.seen() and aside(conversation.server, name).exists(), "the damage was not found")
    conversation.anna.delete(conversation.room.message(sent))
    until_ready(conversation.server)
    fresh = conversation.seen()
    conversation.server.stop()
    check_data(conversation.server.data)
    conversation.server.start()
    assert conversation.seen() == fresh
    conversation.expected = fresh


# --- Temporary faults


@pytest.fixture
def small_disk(tmp_path):
    """A separate file system for the read models."""
    assert os.geteuid() == 0, "mounting a small file system needs root: run the tests as root"
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_read_models_on_a_full_disk_pause_writes_and_recover_once_there_is_space(tmp_path, small_disk):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (small_disk / "views").mkdir(mode=0o700)
    (data / "views").symlink_to(small_disk / "views")
    server = Server(data).start()
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        acknowledged = []
        paused = None
        for _ in range(60):
            sent = lines(anna, room, 400, os.urandom(1500).hex())
            for line, result in zip(sent, world.admin.ingest(sent), strict=True):
                if result["status"] == 201:
                    acknowledged.append(line["id"])
                else:
                    paused = result
            if paused:
                break
        assert paused and paused["code"] == "projection_behind", "writes were not paused"
        red = readiness(server)
        assert red.status_code == 503 and red.json()["code"] == "projection_behind"
        detail = red.json()["detail"]
        assert ".sqlite" in detail and "full" in detail and "Free some disk space" in detail, detail
        assert str(data) not in detail
        assert "full" in server.tail() and "Free some disk space" in server.tail()
        # The space is checked from time to time.
        report = wait_until(
            lambda: next((line for line in server.errors.read_text().splitlines() if "the disk is full" in line), None),
            "the full disk is not reported")
        assert "Read models cannot follow the log" in report and "event log" not in report, report
        assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200
        anna.refused("projection_behind", "PUT", room.message(new_id()), {"text": "x"})
        subprocess.run(["mount", "-o", "remount,size=400m", small_disk], check=True)
        until_ready(server)
        last = anna.send(room, "there is room again")
        assert anna.see(room)["lastMessage"]["id"] == last["id"]
        assert anna.get(room.message(acknowledged[-1]))["id"] == acknowledged[-1]
    finally:
        server.end()
    check_data(data)


def test_a_rebuild_on_a_full_disk_is_reported_and_the_old_file_continues(tmp_path, small_disk):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    subprocess.run(["mount", "-o", "remount,size=400m", small_disk], check=True)
    (small_disk / "views").mkdir(mode=0o700)
    (data / "views").symlink_to(small_disk / "views")
    server = Server(data).start()
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        world.admin.ingest_all(lines(anna, room, 4_000, os.urandom(1000).hex()))
        until_ready(server)
        used = sum(file.stat().st_size for file in (small_disk / "views").iterdir())
        subprocess.run(["mount", "-o", f"remount,size={used + 3 * 1024 * 1024}", small_disk], check=True)
        world.admin.post("/v1/admin/projections/timeline/rebuild", expect=202)

        def ended():
            listed = world.admin.get("/v1/admin/projections")["projections"]
            found = next(each for each in listed if each["name"] == "timeline")["rebuild"]
            return found if found["state"] in ("complete", "cancelled", "failed") else None
        failed = wait_until(ended, "the rebuild does not end")
        assert failed["state"] == "failed" and "Free some disk space" in failed["problem"], failed
        assert str(data) not in failed["problem"]
        assert len(anna.texts(room)) == 30
        assert not [file for file in (small_disk / "views").iterdir() if ".rebuild" in file.name]
        subprocess.run(["mount", "-o", "remount,size=400m", small_disk], check=True)
        until_ready(server)
        world.admin.post("/v1/admin/projections/timeline/rebuild", expect=202)
        assert wait_until(ended, "the rebuild does not end")["state"] == "complete"
    finally:
        server.end()
    check_data(data)


def test_a_read_model_that_another_process_locks_is_reported_and_recovers(conversation):
    with locked(read_model(conversation.server, "timeline")):
        sent = conversation.anna.send(conversation.room, "while it is held")
        wait_until(
            lambda: unready(conversation.server, "timeline", "Another process"), "a file that is held is not reported")
        conversation.anna.refused("projection_behind", "GET", f"{conversation.room.path}/messages")
        # Requests that do not need that read model still succeed.
        assert conversation.anna.see(conversation.room)["lastMessage"]["id"] == sent["id"]
    until_ready(conversation.server)
    assert conversation.anna.texts(conversation.room)[-1] == "while it is held"
    conversation.anna.delete(conversation.room.message(sent["id"]))
    conversation.expected = conversation.seen()


def test_without_the_search_the_server_is_ready_but_degraded(conversation):
    with locked(read_model(conversation.server, "search")):
        sent = conversation.anna.send(conversation.room, "while the search is held")
        def degraded():
            response = readiness(conversation.server)
            assert response.status_code == 200
            return response.json()["status"] == "degraded" and response.json()
        body = wait_until(degraded, "the search's fault is not reported")
        (fault,) = [each["fault"] for each in body["projections"] if "fault" in each]
        assert "search" in fault
        conversation.anna.refused("projection_behind", "GET", "/v1/search?q=kettle")
        assert conversation.anna.texts(conversation.room)[-1] == "while the search is held"
    assert until_ready(conversation.server)["status"] == "ready"
    conversation.anna.delete(conversation.room.message(sent["id"]))
    conversation.expected = conversation.seen()


# --- Starting


def launched(server: Server) -> list[tuple[str, requests.Response]]:
    """Starts the server, and returns every response to a probe until it is ready."""
    server.launch()
    seen = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        assert server.process.poll() is None, server.tail()
        assert time.monotonic() < deadline, server.tail()
        for path in ("/healthz", "/v1/me", "/readyz"):
            try:
                seen.append((path, requests.get(server.url + path, timeout=60)))
            except requests.ConnectionError:
                assert not seen, f"the port was open and closed again:\n{server.tail()}"
                continue
        if seen and seen[-1][1].status_code == 200:
            return seen


def test_the_server_responds_while_it_rebuilds_its_read_models(tmp_path):
    server = Server(tmp_path / "data").start()
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    world.admin.ingest_all(lines(anna, room, 20_000))
    head = server.head()
    server.stop()
    for file in (server.data / "views").glob("*"):
        file.unlink()
    try:
        seen = launched(server)
        for path, response in seen:
            contract().check("GET", server.url + path, response)
        waiting = [(path, response) for path, response in seen if response.status_code == 503]
        assert {response.status_code for path, response in seen if path == "/healthz"} == {200}
        assert {path for path, _ in waiting} == {"/readyz", "/v1/me"}
        for _, response in waiting:
            assert response.json()["code"] == "projection_behind" and int(response.headers["Retry-After"]) >= 1
        details = [response.json()["detail"] for path, response in waiting if path == "/readyz"]
        assert any(f"of {head} events" in detail for detail in details), details[:3]
        assert anna.see(room)["unreadCount"] == 0
    finally:
        server.end()


def test_a_server_that_is_told_to_stop_while_it_starts_ends_at_once(tmp_path):
    """A read model that another process holds makes the start wait as long as it is held."""
    server = Server(tmp_path / "data").start()
    world = World(server)
    anna = world.user("Anna")
    anna.send(anna.room("Tea"), "x")
    server.stop()
    name = read_model(server, "timeline")
    name.unlink()
    holder = sqlite3.connect(name, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    server.launch()
    try:
        def waiting():
            with contextlib.suppress(requests.ConnectionError):
                return unready(server, "timeline")
        wait_until(waiting, "the start does not say what it waits for")
        assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200
        server.stop()
        server.launch()
        wait_until(waiting, "the start does not say what it waits for")
        holder.close()
        name.unlink(missing_ok=True)
        until_ready(server)
    finally:
        server.end()


# --- Search


def test_a_removed_user_finds_nothing_once_the_response_is_sent(conversation):
    """The index follows a moment later. What it finds in the meantime is not shown to a former member."""
    ben, anna = conversation.ben, conversation.anna
    endings = [
        lambda room: anna.delete(f"{room.path}/members/{ben.id}"),
        lambda room: anna.put(f"{room.path}/bans/{ben.id}"),
        lambda room: ben.post(f"{room.path}/leave"),
        lambda room: anna.delete(room.path),
    ]
    for number, end in enumerate(endings * 5):
        room = anna.room(f"Room {number}", ben)
        word = f"samovar{number}"
        position = anna.send(room, word)["position"]
        wait_until(lambda: ben.get("/v1/search", q=word)["position"] >= position, "the search does not follow")
        assert len(ben.get("/v1/search", q=word)["results"]) == 1
        end(room)
        for _ in range(5):
            assert ben.get("/v1/search", q=word)["results"] == [], f"ending {number % len(endings)}"
            ben.refused("room_not_found", "GET", f"/v1/search?q={word}&roomId={room.id}")
