"""A file system that is really full: nothing acknowledged is lost, and after a restart with more space writing
continues."""

import base64
import os
import random
import subprocess
import time

import pytest
import requests

from harness.client import new_id
from harness.command import check_data
from harness.people import World, timeline
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

# One segment of 64 MiB fits, but not a second one.
SMALL = "100m"
LARGE = "300m"
TEXT_BYTES = 12_000
LINES = 800


@pytest.fixture
def small_disk(tmp_path):
    """A separate file system for the log."""
    assert os.geteuid() == 0, "mounting a small file system needs root: run the tests as root"
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def lines(anna, room, dice):
    """Messages that do not compress, so that a segment fills up soon."""
    return [
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(),
         "text": base64.b64encode(dice.randbytes(TEXT_BYTES * 3 // 4)).decode()}
        for _ in range(LINES)
    ]


@pytest.fixture
def data(tmp_path, small_disk):
    """A data directory whose log is on the small file system."""
    data = tmp_path / "data"
    data.mkdir()
    (small_disk / "log").mkdir()
    (data / "log").symlink_to(small_disk / "log")
    return data


def resize(disk, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


def storage(server) -> dict:
    return requests.get(f"{server.url}/readyz", timeout=60).json()["storage"]


def test_a_full_disk_loses_nothing_and_a_restart_goes_on(data, small_disk):
    server = Server(data).start()
    acknowledged = {}
    refused = None
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        dice = random.Random(20)
        while refused is None:
            assert len(acknowledged) < 20 * LINES, "the disk never became full"
            sent = lines(anna, room, dice)
            for line, result in zip(sent, world.admin.ingest(sent), strict=True):
                if result["status"] == 201:
                    acknowledged[line["id"]] = result["position"]
                else:
                    refused = result
        assert refused["code"] == "log_poisoned"
        anna.refused("log_poisoned", "PUT", room.message(new_id()), {"text": "more"})
        red = requests.get(f"{server.url}/readyz", timeout=60)
        assert (red.status_code, red.json()["code"]) == (503, "log_poisoned")
        assert "log_full_disk" in server.tail()
        assert len(anna.texts(room)) == 30
        server.kill()
        resize(small_disk, LARGE)
        server.start()
        shown = {message["id"]: message["position"] for message in timeline(anna, room.id)}
        lost = [id for id, position in acknowledged.items() if shown.get(id) != position]
        assert acknowledged and not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are lost"
        anna.send(room, "there is room again")
        assert anna.texts(room)[-1] == "there is room again"
    finally:
        server.end()
    check_data(data)


def test_space_is_reported_before_a_write_fails(data, small_disk):
    resize(small_disk, LARGE)
    server = Server(data, environment=UNLIMITED | {"HANSARD_STORAGE_LOW_MEBIBYTES": "200"}).start()
    try:
        anna = World(server).user("Anna")
        room = anna.room("Tea")
        # One segment of 64 MiB is there from the beginning.
        ample = storage(server)
        assert ample["status"] == "ok" and "detail" not in ample and 200 << 20 <= ample["freeBytes"] < 300 << 20
        for size, status, line in (("200m", "low", "disk space is low"), ("100m", "full", "the disk is full"),
                                   ("200m", "low", "no longer full"), (LARGE, "ok", "enough disk space again")):
            resize(small_disk, size)
            wait_until(lambda: storage(server)["status"] == status, f"the space is not {status}")
            wait_until(lambda: line in server.tail(), f"the log does not say: {line}")
            assert f"{data.name}/log" in server.tail() and "event log" in server.tail()
            assert "Uploads" not in server.tail() and "uploads" not in server.tail()
            assert ("detail" in storage(server)) == (status != "ok")
            # The server continues as long as its writes succeed.
            anna.send(room, status)
            assert requests.get(f"{server.url}/readyz", timeout=60).json()["status"] == "ready"
    finally:
        server.end()
    check_data(data)


def fill(world, anna, room) -> dict[str, int]:
    """Sends messages until the log has failed. Returns the positions of those that were acknowledged."""
    dice = random.Random(21)
    acknowledged: dict[str, int] = {}
    while len(acknowledged) < 20 * LINES:
        sent = lines(anna, room, dice)
        for line, result in zip(sent, world.admin.ingest(sent), strict=True):
            if result["status"] != 201:
                assert result["code"] == "log_poisoned"
                return acknowledged
            acknowledged[line["id"]] = result["position"]
    raise AssertionError("the disk never became full")


def test_a_server_whose_log_failed_ends_by_itself_and_starts_again_with_space(data, small_disk):
    server = Server(data, environment=UNLIMITED | {"HANSARD_STORAGE_EXIT_AFTER_FAILURE": "1"}).start()
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        acknowledged = fill(world, anna, room)
        # Longer than the server would wait with space.
        for _ in range(5):
            time.sleep(1)
            assert len(anna.texts(room)) == 30, "reads continue while the disk is full"
        resize(small_disk, LARGE)
        assert server.process.wait(timeout=120) == 2
        assert "event log failed" in server.tail() and "log_full_disk" in server.tail()
        server.kill()
        server.start()
        shown = {message["id"]: message["position"] for message in timeline(anna, room.id)}
        assert acknowledged and not [id for id, position in acknowledged.items() if shown.get(id) != position]
        anna.send(room, "there is room again")
    finally:
        server.end()
    check_data(data)


def test_by_default_a_server_whose_log_failed_continues(data, small_disk):
    server = Server(data).start()
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        fill(world, anna, room)
        assert server.process.poll() is None and len(anna.texts(room)) == 30
    finally:
        server.kill()
    check_data(data)
