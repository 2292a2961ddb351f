"""When the machine fails or stops: writes are refused with a reason, reads go on, nothing acknowledged is lost."""

import resource
import signal
import threading
import time

import requests

from harness.client import Api, new_id
from harness.command import check_data
from harness.contract import contract
from harness.people import World, timeline
from harness.server import Server


def ignore_file_size_signal() -> None:
    """A write beyond the limit fails with EFBIG then, instead of ending the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_a_log_that_cannot_be_written_is_poisoned(tmp_path):
    server = Server(tmp_path / "data").start(prepare=ignore_file_size_signal)
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        sent = anna.send(room, "before")
        head = server.head()
        # From now on every write to a file fails.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, 1))
        id = new_id()
        anna.refused("log_poisoned", "PUT", room.message(id), {"text": "during"})
        anna.refused("log_poisoned", "PUT", room.message(new_id()), {"text": "after"})
        (result,) = anna.ingest([{"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"}])
        assert result["code"] == "log_poisoned"
        red = requests.get(f"{server.url}/readyz", timeout=10)
        contract().check("GET", f"{server.url}/readyz", red)
        assert (red.status_code, red.json()["code"]) == (503, "log_poisoned")
        assert requests.get(f"{server.url}/healthz", timeout=10).status_code == 200
        # Reads go on.
        assert anna.get(room.message(sent["id"]))["text"] == "before"
        assert anna.texts(room) == ["before"]
        server.kill()
        server.start()
        assert server.head() == head
        anna.send(room, "during", id)
        assert anna.texts(room) == ["before", "during"]
    finally:
        server.end()
    check_data(server.data)


def test_a_stop_in_the_middle_of_work_loses_nothing(own_server):
    world = World(own_server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    acknowledged: dict[str, int] = {}
    stopping = threading.Event()

    def write() -> None:
        api = anna.again()
        while not stopping.is_set():
            id = new_id()
            try:
                response = api.request("PUT", room.message(id), {"text": "x"}, timeout=10)
            except requests.RequestException:
                # The server closed the connection: not acknowledged.
                return
            if response.status_code != 201:
                assert response.json()["code"] == "shutting_down"
                return
            acknowledged[id] = response.json()["position"]

    writers = [threading.Thread(target=write) for _ in range(8)]
    for writer in writers:
        writer.start()
    time.sleep(1)
    own_server.stop()
    stopping.set()
    for writer in writers:
        writer.join()
    own_server.start()
    shown = {message["id"]: message["position"] for message in timeline(Api(own_server, anna.token), room.id)}
    lost = [id for id, position in acknowledged.items() if shown.get(id) != position]
    assert acknowledged and not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are lost"
    check_data(own_server.data)


def test_a_start_after_a_stop_reads_checkpoints_and_the_tail(own_server):
    """Starting again takes no longer for the events that the views hold already."""
    world = World(own_server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    lines = [
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": "word " * 40}
        for _ in range(60_000)
    ]
    world.admin.ingest_all(lines)
    own_server.stop()
    began = time.monotonic()
    own_server.start()
    assert time.monotonic() - began < 2
    assert len(anna.texts(room)) == 30
    readiness = anna.get("/readyz")
    assert all(projection["lag"] == 0 for projection in readiness["projections"])
