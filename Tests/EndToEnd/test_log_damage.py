"""A torn tail is cut off. Any other damage is reported with its location."""

import json
import random
import shutil
import threading

import pytest

from harness.client import new_id
from harness.command import audit, check_data, hansard, settle, stat
from harness.people import World, timeline
from harness.server import Server
from harness.stream import IngestStream
from harness.tampering import BLOCK_HEADER_BYTES, blocks, flip, holding, known_durable


# How often a server is killed until the kill hits it while it writes.
KILLS = 10


def busy_kill(server: Server) -> tuple[World, str, str]:
    """Kills the server while it receives many messages. Returns a user who can read the room."""
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Busy")

    def pour(stream: IngestStream) -> None:
        try:
            for number in range(100_000):
                line = {"op": "message.send", "roomId": room.id, "id": new_id(), "text": f"{number} " + "word " * 20}
                stream.send(line)
        except OSError:
            # The server was killed while this thread was sending.
            return

    with IngestStream(server, anna.token) as stream:
        thread = threading.Thread(target=pour, args=(stream,))
        thread.start()
        for _ in range(800):
            stream.result()
        server.kill()
        stream.socket.close()
        thread.join()
    return world, anna.id, room.id


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The data of a server that was stopped normally: several blocks, all known to be durable."""
    folder = tmp_path_factory.mktemp("whole")
    server = Server(folder / "data").start()
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    for number in range(60):
        anna.send(room, f"word {number} " * 5)
    server.stop()
    return folder / "data"


@pytest.fixture
def damaged(whole, tmp_path):
    """A copy of the data for a test to damage."""
    shutil.copytree(whole, tmp_path / "data")
    return tmp_path / "data"


def test_a_torn_tail_is_saved_aside_and_cut(own_server, tmp_path):
    data = own_server.data
    for _ in range(KILLS):
        if own_server.process is None:
            own_server.start()
        _, reader, room = busy_kill(own_server)
        last = blocks(data)[-1]
        # If the machine holds up the sender, the server becomes idle, and then nothing can be torn.
        if known_durable(data) < last.first:
            break
    assert known_durable(data) < last.first, "the server was idle whenever it was killed, so nothing can be torn"
    for cut in sorted({last.offset + 1, last.offset + BLOCK_HEADER_BYTES, last.end - 1}, reverse=True):
        copy = tmp_path / f"cut-{cut}"
        shutil.copytree(data, copy)
        with (copy / "log" / last.file.name).open("r+b") as stream:
            stream.truncate(cut)
        server = Server(copy).start()
        try:
            assert server.head() == last.first - 1
            aside = list((copy / "log").glob("torn-*"))
            assert aside and sum(file.stat().st_size for file in aside) > 0, "the torn tail was not saved aside"
            messages = timeline(World(server).acting_as(reader), room)
            assert all(message["position"] < last.first for message in messages)
            sent = World(server).acting_as(reader).put(f"/v1/rooms/{room}/messages/{new_id()}", {"text": "goes on"})
            assert sent["position"] == last.first
        finally:
            server.end()
        check_data(copy)


def test_a_log_cut_anywhere_in_its_last_block_opens_with_all_earlier_ones(own_server):
    anna = World(own_server).user("Anna")
    room = anna.room("Tea")
    own_server.stop()
    data = own_server.data
    superblock = data / "log" / "superblock"
    known = superblock.read_bytes()
    own_server.start()
    anna.send(room, "the last word")
    own_server.kill()
    # Restores the superblock from before the log became idle, so that the last block is not known to be durable.
    superblock.write_bytes(known)
    last = blocks(data)[-1]
    assert known_durable(data) == last.first - 1
    block = last.file.read_bytes()[last.offset:last.end]
    # Each cut runs two tools, so only every fifth byte is tried, and all bytes near the end of the header and of the
    # block.
    offsets, header = range(last.offset, last.end), BLOCK_HEADER_BYTES
    for cut in sorted({*offsets[::5], *offsets[header - 2:header + 3], *offsets[-9:]}):
        with last.file.open("r+b") as stream:
            stream.seek(last.offset)
            stream.write(block)
            stream.truncate(cut)
        superblock.write_bytes(known)
        # The tool opens the log as the server does, and so repairs it.
        hansard("replay", "--data", data, "--projection", "accounts")
        assert stat(data)["head"] == last.first - 1, f"cut at byte {cut - last.offset} of {len(block)}"
    assert len(list((data / "log").glob("torn-*"))) > 0


def test_what_is_known_to_be_durable_is_never_cut(damaged):
    last = blocks(damaged)[-1]
    with last.file.open("r+b") as stream:
        stream.truncate(last.end - 1)
    size = last.file.stat().st_size
    refused_to_start(damaged, last.file.name)
    assert last.file.stat().st_size == size
    outcome = hansard("log", "verify", "--data", damaged, expect=1)
    assert last.file.name in outcome.text


def test_a_flipped_bit_is_found_by_verify_and_on_first_read(damaged):
    source = random.Random(5)
    first, middle = holding(damaged, 1), holding(damaged, stat(damaged)["head"] // 2)
    hansard("log", "verify", "--data", damaged)
    for victim in (first, middle):
        for offset in (
            victim.offset, victim.offset + source.randrange(BLOCK_HEADER_BYTES),
            victim.offset + BLOCK_HEADER_BYTES, victim.end - 1,
        ):
            bit = source.randrange(8)
            flip(victim.file, offset, bit)
            damage = hansard("log", "verify", "--data", damaged, "--json", expect=1)
            shown = json.loads(damage.output)
            assert shown["ok"] is False and shown["file"].endswith(victim.file.name), shown
            assert shown["offset"] is not None
            reading = hansard("audit", "--data", damaged, "--format", "jsonl", expect=None)
            assert reading.status != 0 and victim.file.name in reading.errors, "a damaged block was read"
            assert all(json.loads(row)["position"] < victim.first for row in reading.output.splitlines())
            flip(victim.file, offset, bit)
    hansard("log", "verify", "--data", damaged)


def test_a_flipped_bit_in_the_last_block_is_refused_on_opening(damaged):
    last = blocks(damaged)[-1]
    flip(last.file, last.end - 1)
    refused_to_start(damaged, last.file.name)


def test_a_flipped_bit_in_the_header_of_a_segment_is_refused(damaged):
    file = holding(damaged, 1).file
    for offset in (0, 20, 40):
        flip(file, offset)
        assert file.name in hansard("log", "verify", "--data", damaged, expect=None).text
        refused_to_start(damaged, file.name)
        flip(file, offset)
    hansard("log", "verify", "--data", damaged)


def refused_to_start(data, name: str) -> None:
    server = Server(data)
    with pytest.raises(AssertionError, match=r"ended with \d+ before it was ready"):
        server.start()
    assert name in server.tail(), f"the refusal does not name {name}"


def test_a_second_server_is_refused(server):
    second = Server(server.data)
    second.output, second.errors = server.data.parent / "second.output", server.data.parent / "second.errors"
    with pytest.raises(AssertionError, match=r"ended with \d+ before it was ready"):
        second.start()
    assert "lock" in second.tail()
    assert server.head() >= 0


def test_the_log_can_be_read_beside_the_server(server):
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    sent = anna.send(room, "hello")
    settle(server)
    rows = audit(server.data, "--from", sent["position"])
    assert [row["detail"]["text"] for row in rows] == ["hello"]
    check_data(server.data)
