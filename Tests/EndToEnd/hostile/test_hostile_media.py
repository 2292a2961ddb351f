"""Files stay as long as something shows them, and are on the disk before their response."""

import os
import subprocess
import time

from harness.client import new_id
from harness.people import World
from harness.server import Server
from harness.times import in_time
from test_media import COLLECTED_AFTER_SECONDS, contents, download, upload, wait_until
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
        # A round of the collector that takes a younger file has looked at this one too.
        upload(anna, os.urandom(901))
        wait_until(lambda: len(contents(server)) == 1)
        assert download(ben, media).content == content
    finally:
        server.end()


def test_a_shelf_is_synced_before_each_response(own_server, tmp_path):
    """Also where the shelf was there before: another upload may have made it and not synced its name yet."""
    anna = World(own_server).user("Anna")
    trace = tmp_path / "trace"
    tracer = subprocess.Popen(
        ["strace", "-f", "-y", "-qq", "-e", "trace=rename,renameat,renameat2,fsync", "-o", trace, "-p",
         str(own_server.process.pid)], stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(1)
        content = os.urandom(500)
        receipt = upload(anna, content)
        shelf = receipt["sha256"][:2]
        upload(World(own_server).user("Ben"), content, expect=201)
    finally:
        tracer.terminate()
        tracer.wait()
    calls = []
    media = str(own_server.data / "media")
    for line in trace.read_text().splitlines():
        if "fsync(" in line and f"<{media}>" in line:
            calls.append("folder")
        elif "rename" in line and f"{media}/{shelf}/" in line:
            calls.append("rename")
        elif "fsync(" in line and f"<{media}/{shelf}>" in line:
            calls.append("shelf")
    assert calls[:3] == ["folder", "rename", "shelf"] and calls[3:] == calls[:3], calls
