"""Clients that request files and read nothing: the open files and memory that they hold, and the effect on others."""

import base64
import collections
import contextlib
import os
import resource

import pytest

from harness import certificates, cost
from harness.client import new_id
from harness.http2 import Http2, bearer
from harness.people import World
from harness.server import PATIENT, Server
from harness.waiting import wait_until
from test_media import download, upload

# Limits.downloadsOfUser and downloadsOfAddress.
OF_USER = 16
OF_ADDRESS = 64
# Streams of one HTTP/2 connection, and connections of one client.
STREAMS = 100
CONNECTIONS = 9
# A limit on open files, and the number of downloads that it allows: a quarter of what exceeds OpenFiles.reserve.
FEW_FILES = 400
OF_FEW_FILES = 36
# Lines per ingest and the size of their texts. A segment of 64 MiB holds the lines of six or seven ingests.
LINES, TEXT_BYTES = 1_000, 9_000
PARTS = 12


def secure_server(folder, prepare=None) -> Server:
    certificate = certificates.make(folder / "certificate")
    environment = PATIENT | certificate.environment
    return Server(folder / "data", environment=environment, authority=str(certificate.authority)).start(prepare)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    server = secure_server(tmp_path_factory.mktemp("tls"))
    yield server
    server.end()


def open_files(server: Server) -> list[str]:
    found = []
    folder = f"/proc/{server.process.pid}/fd"
    for name in os.listdir(folder):
        # The file may have been closed in the meantime.
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"{folder}/{name}"))
    return found


def open_media(server: Server) -> int:
    return sum(path.startswith(f"{server.data}/media/") for path in open_files(server))


def request(connection: Http2, person, media: str, count: int) -> list[int]:
    return [connection.request(f"/v1/media/{media}", bearer(person)) for _ in range(count)]


def test_unread_streams_of_one_user_hold_few_files_and_little_memory(secure):
    """Observed: each of 900 streams kept a file open and 300 KB in memory until it was closed for being idle."""
    anna, ben = World(secure).users("Anna", "Ben")
    contents = os.urandom(cost.MIB), os.urandom(cost.MIB)
    own, other = upload(anna, contents[0])["id"], upload(ben, contents[1])["id"]
    room = ben.room()
    ben.send(room, "x")
    assert download(anna, own).content == contents[0]
    cost.until_idle(secure)
    before = cost.resident_bytes(secure)
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(Http2(secure, window=0)) for _ in range(CONNECTIONS)]
        for connection in connections:
            request(connection, anna, own, STREAMS)
        wait_until(lambda: open_media(secure) == OF_USER, f"the user's downloads do not hold {OF_USER} files")
        # Neither other downloads nor JSON requests wait for them.
        assert download(ben, other).content == contents[1]
        assert ben.texts(room) == ["x"]
        assert anna.get("/v1/me")["id"] == anna.id
        statuses = collections.Counter()
        for connection in connections:
            statuses.update(connection.statuses(STREAMS).values())
        assert statuses == {200: OF_USER, 503: CONNECTIONS * STREAMS - OF_USER}
        assert open_media(secure) == OF_USER
        assert cost.resident_bytes(secure) - before < cost.memory_limit(96 * cost.MIB)
    wait_until(lambda: open_media(secure) == 0, "files of downloads that ended are still open")
    assert download(anna, own).content == contents[0]


@pytest.mark.parametrize("size", [40_000, 300_000])
def test_a_download_keeps_its_place_until_its_last_piece_is_taken(secure, size):
    """This includes a file of one piece, which can be written completely at once."""
    anna = World(secure).user("Anna")
    media = upload(anna, os.urandom(size))["id"]
    with Http2(secure, window=0) as holder, Http2(secure) as waiter:
        held = request(holder, anna, media, OF_USER)
        assert list(holder.statuses(OF_USER).values()) == [200] * OF_USER
        assert waiter.status(waiter.request(f"/v1/media/{media}/thumbnail", bearer(anna))) == 503
        assert waiter.status(waiter.request(f"/v1/media/{media}", bearer(anna))) == 503
        assert open_media(secure) == OF_USER
        holder.set_window(65_535)
        holder.take_all(held, {})
        wait_until(lambda: open_media(secure) == 0, "files of downloads that ended are still open")
        assert waiter.status(waiter.request(f"/v1/media/{media}", bearer(anna))) == 200


def test_downloads_of_many_users_of_one_address_hold_up_no_other_address(secure):
    users = World(secure).users(*(f"Anna {number}" for number in range(OF_ADDRESS // OF_USER + 1)))
    media = [upload(user, os.urandom(40_000))["id"] for user in users]
    with contextlib.ExitStack() as stack:
        for user, each in zip(users[:-1], media, strict=False):
            request(stack.enter_context(Http2(secure, window=0)), user, each, OF_USER)
        wait_until(lambda: open_media(secure) == OF_ADDRESS, f"the downloads of the address do not hold {OF_ADDRESS} files")
        path, last = f"/v1/media/{media[-1]}", bearer(users[-1])
        waiter, other = stack.enter_context(Http2(secure)), stack.enter_context(Http2(secure, "127.0.0.2"))
        assert other.status(other.request(path, last)) == 200
        assert waiter.status(waiter.request(path, last)) == 503
        assert waiter.status(waiter.request("/v1/me", last)) == 200
    wait_until(lambda: open_media(secure) == 0, "files of downloads that ended are still open")


def test_with_few_open_files_downloads_leave_enough_for_connections_and_the_log(tmp_path):
    """Observed: one user took every file descriptor. Connections timed out, and the next segment poisoned the log."""
    limit = (FEW_FILES, FEW_FILES)
    server = secure_server(tmp_path, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    try:
        world = World(server)
        users = world.users("Anna", "Ben", "Cid", "Dan")
        media = [upload(user, os.urandom(cost.MIB))["id"] for user in users]
        room = users[0].room()
        segments = segments_of(server)
        with contextlib.ExitStack() as stack:
            for user, each in zip(users, media, strict=True):
                request(stack.enter_context(Http2(server, window=0)), user, each, STREAMS)
            wait_until(lambda: open_media(server) == OF_FEW_FILES, f"the downloads do not hold {OF_FEW_FILES} files")
            cost.responds(server)
            for _ in range(PARTS):
                world.admin.ingest_all([line(users[0], room) for _ in range(LINES)])
                assert open_media(server) <= OF_FEW_FILES and len(open_files(server)) < FEW_FILES
                if segments_of(server) > segments:
                    break
            assert segments_of(server) > segments, "no segment was begun"
            users[0].send(room, "x")
            cost.responds(server)
        wait_until(lambda: open_media(server) == 0, "files of downloads that ended are still open")
        assert download(users[0], media[0]).status_code == 200
    finally:
        server.end()


def segments_of(server: Server) -> int:
    return len(list((server.data / "log").glob("*.seg")))


def line(person, room) -> dict:
    text = base64.b64encode(os.urandom(TEXT_BYTES)).decode()
    return {"op": "message.send", "as": person.id, "roomId": room.id, "id": new_id(), "text": text}


def test_a_download_that_finds_no_descriptor_is_refused_without_an_error_line(own_server, own_world):
    anna = own_world.user("Anna")
    content = os.urandom(40_000)
    media = upload(anna, content)["id"]
    room = anna.room()
    anna.send(room, "x")
    assert anna.texts(room) == ["x"] and download(anna, media).content == content
    process = own_server.process.pid
    limits = resource.prlimit(process, resource.RLIMIT_NOFILE)
    # Open descriptors stay open, and no others can be opened.
    resource.prlimit(process, resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        for _ in range(5):
            anna.refused("overloaded", "GET", f"/v1/media/{media}")
        anna.send(room, "y")
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, limits)
    assert download(anna, media).content == content
    assert "a request failed" not in own_server.output.read_text() + own_server.errors.read_text()
