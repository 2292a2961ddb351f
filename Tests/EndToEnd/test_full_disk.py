"""A file system that is really full: nothing acknowledged is lost, and after a restart with more space writing
continues."""

import base64
import os
import random
import subprocess

import pytest
import requests

from harness.client import new_id
from harness.command import check_data
from harness.people import World, timeline
from harness.server import Server

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


def test_a_full_disk_loses_nothing_and_a_restart_goes_on(tmp_path, small_disk):
    data = tmp_path / "data"
    data.mkdir()
    (small_disk / "log").mkdir()
    (data / "log").symlink_to(small_disk / "log")
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
        subprocess.run(["mount", "-o", f"remount,size={LARGE}", small_disk], check=True)
        server.start()
        shown = {message["id"]: message["position"] for message in timeline(anna, room.id)}
        lost = [id for id, position in acknowledged.items() if shown.get(id) != position]
        assert acknowledged and not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are lost"
        anna.send(room, "there is room again")
        assert anna.texts(room)[-1] == "there is room again"
    finally:
        server.end()
    check_data(data)
