"""A disk that fails for a while, simulated by a preloaded library: the server reports it, pauses writes in time, and recovers
without a restart."""

import pytest

from harness.client import new_id
from harness.command import check_data
from harness.failing_disk import FailingDisk
from harness.people import World, timeline
from harness.server import UNLIMITED, Server
from harness.read_models import aside, lines, readiness, unready, until_ready, read_model
from harness.waiting import wait_until

# Messages that exist before a disk fails.
EARLIER = 2_000
# Lines per ingest, and the number of lines by which writes must be paused: a read model may lag by 4,096 events, and
# the writer notices with a delay that it lags by more.
BATCH, LATEST_PAUSE = 400, 12_000
FAULTS = {"reads": {"reads": True}, "writes": {"writes": True}}


@pytest.fixture
def failing(tmp_path):
    """A server with a room, restarted so that it has no pages of its read models in memory."""
    disk = FailingDisk(tmp_path)
    server = Server(tmp_path / "data", environment=UNLIMITED | disk.environment).start()
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    world.admin.ingest_all(lines(anna, room, EARLIER))
    server.restart()
    until_ready(server)
    yield disk, world, anna, room
    server.end()


def send_until_paused(world: World, anna, room) -> list[str]:
    """Sends messages until writes are paused. Returns the acknowledged ones."""
    acknowledged = []
    while len(acknowledged) <= LATEST_PAUSE:
        sent = lines(anna, room, BATCH)
        results = world.admin.ingest(sent)
        acknowledged += [line["id"] for line, result in zip(sent, results, strict=True) if result["status"] == 201]
        refused = [result for result in results if result["status"] != 201]
        if refused:
            assert {result["code"] for result in refused} == {"projection_behind"}
            return acknowledged
    raise AssertionError(f"writes were not paused after {len(acknowledged)} events that the read model lacks")


def reported(server: Server, file: str) -> str:
    """Waits until /readyz and the server's output report the failing disk. Returns the reason in /readyz."""
    detail = wait_until(lambda: unready(server, file, "disk I/O error"), "the failing disk is not reported")
    assert "Check the disk" in detail and str(server.data) not in detail
    assert "disk I/O error" in server.tail() and "the server tries again" in server.tail()
    return detail


def check_afterwards(server: Server, process: int, anna, room, acknowledged: list[str]) -> None:
    """Checks that the same process follows the log again and has each acknowledged event."""
    # A successful query ends the report of an earlier one that failed.
    wait_until(lambda: anna.request("GET", f"{room.path}/messages").status_code == 200, "the messages cannot be read again")
    until_ready(server)
    assert server.process.pid == process and server.process.poll() is None
    acknowledged = [*acknowledged, anna.send(room, "the disk works again")["id"]]
    assert [message["id"] for message in timeline(anna, room.id)][EARLIER:] == acknowledged
    server.stop()
    check_data(server.data)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_read_model_on_a_failing_disk_is_reported_and_recovers(failing, fault):
    disk, world, anna, room = failing
    server, process = world.server, world.server.process.pid
    with disk.fails("/views/timeline-", **FAULTS[fault]):
        acknowledged = [anna.send(room, f"while the disk fails, {number}")["id"] for number in range(20)]
        # Only a query notices that the file cannot be read: to apply events, the read model has the needed pages in
        # memory.
        anna.refused("projection_behind", "GET", f"{room.path}/messages")
        reported(server, "timeline-")
        # Requests that do not need that read model still succeed.
        assert anna.see(room)["lastMessage"]["id"] == acknowledged[-1]
    check_afterwards(server, process, anna, room, acknowledged)


def test_writes_pause_while_a_disk_fails_for_long(failing):
    disk, world, anna, room = failing
    server, process = world.server, world.server.process.pid
    with disk.fails("/views/timeline-", writes=True):
        acknowledged = send_until_paused(world, anna, room)
        reported(server, "timeline-")
        anna.refused("projection_behind", "PUT", room.message(new_id()), {"text": "x"})
    check_afterwards(server, process, anna, room, acknowledged)


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_temporarily_unreadable_file_is_not_moved_aside(failing, ending):
    """The file is intact, and a rebuild is expensive if the log is long. New pages are read from the write-ahead
    log."""
    disk, world, anna, room = failing
    # The paths of the files beside it are longer, so they do not match.
    with disk.fails(f"/views/{read_model(world.server, 'timeline').name}{ending}", reads=True):
        acknowledged = [anna.send(room, "while the disk fails")["id"]]
        anna.refused("projection_behind", "GET", f"{room.path}/messages")
        reported(world.server, "timeline-")
    check_afterwards(world.server, world.server.process.pid, anna, room, acknowledged)
    assert not aside(world.server, "timeline").exists()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_search_on_a_failing_disk_leaves_the_server_ready(failing, fault):
    disk, world, anna, room = failing
    server = world.server
    with disk.fails("/views/search-", **FAULTS[fault]):
        sent = anna.send(room, "samovar")

        def degraded() -> dict | None:
            # The writing connection may have every page that it needs in memory. A new reader has none.
            anna.request("GET", "/v1/search?q=samovar")
            response = readiness(server)
            assert response.status_code == 200, response.text
            return response.json() if response.json()["status"] == "degraded" else None

        body = wait_until(degraded, "the failing disk is not reported")
        (reason,) = [each["fault"] for each in body["projections"] if "fault" in each]
        # The write that fails first can also be that of a checkpoint.
        causes = ("disk I/O error", "the write-ahead log could not be truncated")
        assert "search-" in reason and any(cause in reason for cause in causes) and "Check the disk" in reason
        anna.refused("projection_behind", "GET", "/v1/search?q=samovar")
        assert anna.texts(room)[-1] == "samovar"
    # A degraded server responds with 200 too. A successful query ends the report of an earlier one that failed.
    wait_until(lambda: anna.request("GET", "/v1/search?q=samovar").status_code == 200, "the messages cannot be found again")
    wait_until(lambda: readiness(server).json()["status"] == "ready", "the server is degraded still")
    # A search does not wait for the index, which can still be behind when the fault is over.
    found = wait_until(lambda: anna.get("/v1/search", q="samovar")["results"], "the message is not found")
    assert [result["message"]["id"] for result in found] == [sent["id"]]


def test_user_content_is_not_logged_when_a_response_fails(failing):
    disk, world, anna, room = failing
    secret = "samovar" + new_id().replace("-", "")
    sent = anna.send(room, secret)["id"]
    anna.patch("/v1/me", {"nickname": secret[:30]})
    world.server.restart()
    failed = set()
    with disk.fails("/data/views/", reads=True):
        for path in (
            f"{room.path}/messages", room.message(sent), "/v1/rooms", f"/v1/search?q={secret}", f"/v1/users/{anna.id}",
            "/v1/me", f"{room.path}/members",
        ):
            if anna.request("GET", path).status_code >= 500:
                failed.add(path)
        anna.request("PUT", room.message(new_id()), {"text": secret})
        anna.request("PATCH", "/v1/me", {"nickname": secret[:30]})
    assert len(failed) >= 3, f"only {failed} failed"
    until_ready(world.server)
    logged = world.server.errors.read_text() + world.server.output.read_text()
    assert "disk I/O error" in logged
    assert secret[:30] not in logged
