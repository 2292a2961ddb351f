"""Failures and stops of the machine: writes fail with a reason, reads continue, and nothing acknowledged is lost."""

import http.client
import json
import pathlib
import resource
import select
import shutil
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable

import pytest
import requests

from harness.client import Api, new_id
from harness.command import check_data, hansard
from harness.contract import contract
from harness.people import PASSWORD, World, timeline
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until


# More concurrent logins than the server lets wait for a hashing thread.
LOGINS = 60
PATIENCE_SECONDS = 60
# The number of acknowledged writes after which the server is stopped in the middle of its work.
WRITES = 200
# A start with existing read models takes less than this share of the time of a start that rebuilds them.
START_SHARE = 0.25


def has_no_lag(api: Api) -> bool:
    return not any(model["lag"] for model in api.get("/readyz")["projections"])


def ignore_file_size_signal() -> None:
    """Makes a write beyond the limit fail with EFBIG instead of ending the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_a_log_that_cannot_be_written_is_poisoned(tmp_path):
    server = Server(tmp_path / "data").start(prepare=ignore_file_size_signal)
    try:
        world = World(server)
        anna = world.user("Anna")
        room = anna.room("Tea")
        sent = anna.send(room, "before")
        head = server.head()
        # SQLite cannot write any more either, so every read model must have reached this position first.
        anna.get("/v1/badge")
        wait_until(lambda: has_no_lag(anna), "the read models do not follow the log")
        # From here on every write to a file fails.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, 1))
        id = new_id()
        anna.refused("log_poisoned", "PUT", room.message(id), {"text": "during"})
        anna.refused("log_poisoned", "PUT", room.message(new_id()), {"text": "after"})
        (result,) = anna.ingest([{"op": "message.send", "roomId": room.id, "id": new_id(), "text": "x"}])
        assert result["code"] == "log_poisoned"
        red = requests.get(f"{server.url}/readyz", timeout=60)
        contract().check("GET", f"{server.url}/readyz", red)
        assert (red.status_code, red.json()["code"]) == (503, "log_poisoned")
        assert requests.get(f"{server.url}/healthz", timeout=60).status_code == 200
        # Reads continue.
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


def delete_log(log: pathlib.Path) -> None:
    shutil.rmtree(log)


def replace_segment(log: pathlib.Path) -> Callable[[], object]:
    (segment,) = log.glob("*.seg")
    moved = segment.rename(segment.with_name(f"{segment.name}.x"))
    shutil.copy(moved, segment)
    return lambda: moved.replace(segment)


def replace_directory(log: pathlib.Path) -> Callable[[], object]:
    moved = log.rename(log.with_name("log.old"))
    shutil.copytree(moved, log)

    def put_back() -> None:
        shutil.rmtree(log)
        moved.rename(log)

    return put_back


@pytest.mark.parametrize("lose", [delete_log, replace_segment, replace_directory])
def test_a_log_that_is_deleted_under_a_running_server_is_poisoned(own_server, lose):
    """This was observed: the server acknowledged writes that the next start could not see."""
    anna = World(own_server).user("Anna")
    room = anna.room("Tea")
    anna.send(room, "before")
    assert anna.texts(room) == ["before"]
    head = own_server.head()
    put_back = lose(own_server.data / "log")
    anna.refused("log_poisoned", "PUT", room.message(new_id()), {"text": "after"})
    anna.refused("log_poisoned", "PUT", room.message(new_id()), {"text": "once more"})
    red = requests.get(f"{own_server.url}/readyz", timeout=60)
    contract().check("GET", f"{own_server.url}/readyz", red)
    assert (red.status_code, red.json()["code"]) == (503, "log_poisoned")
    assert "log_detached: A file of the log was deleted, moved or replaced" in own_server.tail()
    # Reads continue.
    assert anna.texts(room) == ["before"]
    # A normal stop would close the log, but its files are not in their place.
    own_server.kill()
    if put_back is None:
        return
    put_back()
    own_server.start()
    # The first rejected write was synced, so it may be found.
    assert own_server.head() >= head
    assert anna.texts(room) in (["before"], ["before", "after"])
    own_server.stop()
    check_data(own_server.data)


def test_a_damaged_read_model_is_rebuilt(own_server):
    """The response hides the details of the failure. Its ID is in the server's output, which has all of them."""
    world = World(own_server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    anna.send(room, "hello")
    assert anna.texts(room) == ["hello"]
    (file,) = (own_server.data / "views").glob("timeline-v*.sqlite")
    database = sqlite3.connect(file)
    database.execute("DROP TABLE message")
    database.commit()
    database.close()
    problem = anna.refused("internal_error", "GET", f"{room.path}/messages")
    assert "SQL" not in problem["detail"] and "table" not in problem["detail"]
    assert problem["requestId"] in own_server.tail()
    own_server.stop()
    hansard("replay", "--data", own_server.data, "--projection", "timeline")
    own_server.start()
    assert anna.texts(room) == ["hello"]
    check_data(own_server.data)


def test_more_logins_than_can_wait_are_sent_away(tmp_path):
    """Hashing passwords is slow on purpose. A login that would wait too long is told to try again."""
    # Otherwise the server would reject so many logins to one account before they wait.
    own_server = Server(tmp_path / "data", environment=UNLIMITED | {"HANSARD_LOGINS_SLOWED": "false"}).start()
    world = World(own_server)
    anna = world.account()
    body = json.dumps({"email": anna.email, "password": PASSWORD}).encode()
    request = (
        f"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    crowd = [socket.create_connection(("127.0.0.1", own_server.port), timeout=60) for _ in range(LOGINS)]
    for one in crowd:
        one.sendall(request)
    try:
        for response in refusals(crowd):
            contract().check("POST", f"{own_server.url}/v1/sessions", response)
            assert response.json()["code"] == "overloaded"
        # Requests other than logins are still served.
        assert anna.get("/v1/me")["id"] == anna.id
    finally:
        # The remaining logins would take minutes.
        own_server.kill()
        for one in crowd:
            one.close()


def refusals(crowd: list[socket.socket]) -> list[requests.Response]:
    """The responses to rejected logins. Waits for the first ones, which do not wait for the logins queued before
    them."""
    waiting, refused = list(crowd), []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not refused:
        assert waiting and time.monotonic() < deadline, "nobody was sent away"
        for one in select.select(waiting, [], [], 1)[0]:
            waiting.remove(one)
            if (response := response_of(one)).status_code == 503:
                refused.append(response)
    return refused


def response_of(one: socket.socket) -> requests.Response:
    """The whole response, as a `requests` object."""
    message = http.client.HTTPResponse(one)
    message.begin()
    response = requests.Response()
    response.status_code = message.status
    response.headers.update(message.getheaders())
    response._content = message.read()
    return response


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
                response = api.request("PUT", room.message(id), {"text": "x"})
            except requests.RequestException:
                # The server closed the connection, so the message was not acknowledged.
                return
            if response.status_code != 201:
                assert response.json()["code"] == "shutting_down"
                return
            acknowledged[id] = response.json()["position"]

    writers = [threading.Thread(target=write) for _ in range(8)]
    for writer in writers:
        writer.start()
    wait_until(lambda: len(acknowledged) >= WRITES, "hardly anything was written")
    own_server.stop()
    stopping.set()
    for writer in writers:
        writer.join()
    own_server.start()
    shown = {message["id"]: message["position"] for message in timeline(Api(own_server, anna.token), room.id)}
    lost = [id for id, position in acknowledged.items() if shown.get(id) != position]
    assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged messages are lost"
    check_data(own_server.data)


@pytest.mark.alone
def test_a_start_after_a_stop_reads_checkpoints_and_the_tail(own_server):
    """A restart takes no longer because of events that the read models already have."""
    world = World(own_server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    lines = [
        {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": "word " * 40}
        for _ in range(60_000)
    ]
    world.admin.ingest_all(lines)
    # Only the search index may be behind when a server starts, and it would then have work to do.
    wait_until(lambda: has_no_lag(anna), "the read models do not follow the log")
    own_server.stop()
    own_server.start()
    known = own_server.processor_seconds()
    assert has_no_lag(anna)
    assert len(anna.texts(room)) == 30
    own_server.stop()
    shutil.rmtree(own_server.data / "views")
    own_server.start()
    anew = own_server.processor_seconds()
    assert len(anna.texts(room)) == 30
    assert known < START_SHARE * anew, f"{known} s of processor time, and {anew} s where the read models are rebuilt"
