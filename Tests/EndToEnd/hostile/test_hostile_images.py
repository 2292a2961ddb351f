"""Images that are slow to read or have large thumbnails, and uploads that hold many upload slots."""

import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import socket

import pytest
import requests

from harness import cost
from harness.client import Api
from harness.images import animated_webp, encoded, noise_png, opened, photograph
from harness.people import Person, World
from harness.server import PATIENT, UNLIMITED, Server
from harness.waiting import wait_until
from test_media import unfinished, upload
from test_thumbnails import thumbnail

MIB = 1024 * 1024
# The time that vipsheader takes grows with the square of the number of frames: 10 seconds for these.
FRAMES = 130_000
# Limits.webPFrames.
FRAMES_READ = 1_000
# What the programs for a few uploads may take. Each normally takes some 0.06 seconds.
PROGRAM_SECONDS = 1.0
# Limits.uploadsOfUser, uploadsOfAddress and uploads.
UPLOADS_OF_USER, UPLOADS_OF_ADDRESS, UPLOADS = 4, 16, 64
# ConfinedProcess.headerProcessorSeconds and outputBytes.
HEADER_SECONDS, OUTPUT_BYTES = 1, 8 * MIB
# A thumbnail of noise with this width has some 280 KB.
WIDTH = 640
CACHE = {"HANSARD_MEDIA_THUMBNAIL_CACHE_MEBIBYTES": "1"}


def animated_upload(person: Api, number: int, frames: int = FRAMES) -> dict:
    return upload(person, animated_webp(frames, number.to_bytes(4, "little")))


# Reading headers


def test_a_webp_of_very_many_frames_holds_up_nobody(tmp_path):
    """Observed: vipsheader took 10 seconds for each, and all uploads waited for that process."""
    runs = tmp_path / "runs"
    server = Server(tmp_path / "data", environment=noting_runs(tmp_path / "programs", runs)).start()
    try:
        world = World(server)
        hostile, ben = world.users("Anna", "Cleo", "Dora"), world.user("Ben")
        with concurrent.futures.ThreadPoolExecutor(2 * len(hostile)) as threads:
            uploads = [
                threads.submit(animated_upload, person.again(), number) for number, person in enumerate(hostile * 2)]
            assert upload(ben, encoded("PNG", photograph((20, 10))))["width"] == 20
            receipts = [each.result() for each in uploads]
        assert {(receipt["contentType"], receipt["width"]) for receipt in receipts} == {("image/webp", None)}
        hostile[0].refused("image_undecodable", "GET", f"/v1/media/{receipts[0]['id']}/thumbnail")
        assert runs.read_text().split() == ["vipsheader"], "only the other user's image is read by a program"
        spent = cost.children_seconds(server)
        assert spent <= PROGRAM_SECONDS, f"the programs used {spent:.2f} s of processor time"
    finally:
        server.end()


def test_an_animation_of_as_many_frames_as_are_read_is_an_image(anna):
    receipt = animated_upload(anna, 0, FRAMES_READ)
    assert (receipt["width"], receipt["height"]) == (1, 1)
    assert thumbnail(anna, receipt, width=80).status_code == 200
    assert animated_upload(anna, 0, FRAMES_READ + 1)["width"] is None


def programs(folder: pathlib.Path, **scripts: str) -> dict[str, str]:
    """The environment of a server that finds these programs before the real ones."""
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return UNLIMITED | {"PATH": f"{folder}:{os.environ['PATH']}"}


def noting_runs(folder: pathlib.Path, runs: pathlib.Path, **scripts: str) -> dict[str, str]:
    """The environment of a server whose image programs append their names to a file."""
    noting = {
        name: f'echo {name} >> {runs}\n{scripts.get(name, "")}\nexec {shutil.which(name)} "$@"'
        for name in ("vipsheader", "vipsthumbnail")}
    # With the limits of prlimit, a program could not write to a file.
    limiter = 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"'
    return programs(folder, prlimit=limiter, **noting)


def test_a_header_that_takes_long_is_given_up(tmp_path):
    """This applies to every format; here the program never ends by itself."""
    environment = programs(tmp_path / "programs", vipsheader="while :; do :; done")
    server = Server(tmp_path / "data", environment=environment).start()
    try:
        anna = World(server).user("Anna")
        receipt = upload(anna, encoded("PNG", photograph((20, 10))))
        assert receipt["contentType"] == "image/png" and receipt["width"] is None
        spent = cost.children_seconds(server)
        assert spent <= HEADER_SECONDS + 0.5, f"the program used {spent:.2f} s of processor time"
    finally:
        server.end()


# Thumbnails on disk


def cached_bytes(server: Server) -> int:
    sizes = []
    for path in (server.data / "media" / "thumbnails").glob("*/*"):
        # The file may be deleted between the listing and `stat`.
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return sum(sizes)


def fill(server: Server, person: Person, count: int = 12) -> list[dict]:
    """Requests thumbnails that have more than 1 MiB together."""
    receipts, total = [], 0
    for _ in range(count):
        receipts.append(upload(person, noise_png(WIDTH)))
        response = thumbnail(person, receipts[-1], width=WIDTH)
        assert response.status_code == 200 and opened(response.content).size == (WIDTH, WIDTH)
        total += len(response.content)
        if server.environment.items() >= CACHE.items():
            assert cached_bytes(server) <= MIB
    assert total > 1.5 * MIB, "this fills no cache"
    return receipts


@pytest.fixture
def small_cache(tmp_path):
    server = Server(tmp_path / "small" / "data", environment=UNLIMITED | CACHE).start()
    yield server
    server.end()


def test_thumbnails_take_no_more_of_the_disk_than_is_set(small_cache):
    """Observed: thumbnails had no limit, and one account could make 117 GB of them in a day."""
    anna = World(small_cache).user("Anna")
    receipts = fill(small_cache, anna)
    folder = small_cache.data / "media" / "thumbnails"
    newest, oldest = (list(folder.glob(f"*/{each['sha256'][2:]}-*")) for each in (receipts[-1], receipts[0]))
    assert newest and not oldest, "the oldest go first"
    # A removed thumbnail is made again.
    assert thumbnail(anna, receipts[0], width=WIDTH).status_code == 200
    assert cached_bytes(small_cache) <= MIB


def test_a_lower_limit_applies_to_existing_thumbnails_at_startup(own_server):
    fill(own_server, World(own_server).user("Anna"))
    assert cached_bytes(own_server) > MIB
    own_server.stop()
    own_server.environment = UNLIMITED | CACHE
    own_server.start()
    wait_until(lambda: cached_bytes(own_server) <= MIB, "the cache exceeds its limit")


def test_a_thumbnail_that_is_too_large_affects_no_other_width(tmp_path):
    """Observed: after a request for the widest thumbnail, all others were rejected for ten minutes."""
    runs = tmp_path / "runs"
    script = f'case "$*" in *1920x*) exec head -c {OUTPUT_BYTES + 1} /dev/zero;; esac'
    environment = noting_runs(tmp_path / "programs", runs, vipsthumbnail=script)
    server = Server(tmp_path / "data", environment=environment).start()
    try:
        anna = World(server).user("Anna")
        receipt = upload(anna, encoded("JPEG", photograph((400, 300))))
        for _ in range(2):
            anna.refused("image_undecodable", "GET", f"/v1/media/{receipt['id']}/thumbnail", params={"width": 1920})
        assert runs.read_text().split().count("vipsthumbnail") == 1, "it is remembered"
        for width in (320, 80):
            response = thumbnail(anna, receipt, width=width)
            assert response.status_code == 200 and opened(response.content).width == width
    finally:
        server.end()


# Upload slots


def begin_upload(server: Server, person: Person, source: str) -> socket.socket:
    """Sends a part of a file, and no more."""
    connection = socket.create_connection(("127.0.0.1", server.port), source_address=(source, 0))
    connection.settimeout(60)
    head = (
        f"POST /v1/media HTTP/1.1\r\nHost: h\r\nContent-Length: {40 * MIB}\r\n"
        f"Authorization: Bearer {person.token}\r\n\r\n")
    connection.sendall(head.encode() + b"x" * 1_000)
    return connection


class From(requests.adapters.HTTPAdapter):
    """Connects from a given source address."""

    def __init__(self, source: str):
        self.source = source
        super().__init__()

    def init_poolmanager(self, *arguments, **options):
        super().init_poolmanager(*arguments, source_address=(self.source, 0), **options)


@pytest.fixture
def patient_server(tmp_path):
    server = Server(tmp_path / "patient" / "data", environment=PATIENT).start()
    yield server
    server.end()


def test_users_of_one_address_leave_upload_slots_to_others(patient_server):
    """Observed: 17 users at one address held all 64 slots with four slow uploads each."""
    world = World(patient_server)
    people = world.users(*(f"Anna {number}" for number in range(UPLOADS // UPLOADS_OF_USER + 1)))
    here, elsewhere = world.users("Ben", "Cleo")
    elsewhere.http.mount("http://", From("127.0.0.2"))
    with contextlib.ExitStack() as stack:
        for person in people:
            for _ in range(UPLOADS_OF_USER):
                stack.enter_context(begin_upload(patient_server, person, "127.0.0.1"))
        wait_until(lambda: len(unfinished(patient_server)) >= UPLOADS_OF_ADDRESS, "too few uploads begin")
        cost.until_idle(patient_server)
        assert len(unfinished(patient_server)) == UPLOADS_OF_ADDRESS
        problem = here.refused("too_many_uploads", "POST", "/v1/media", data=b"tea")
        assert "address" in problem["detail"]
        upload(elsewhere, b"tea")
        # A service may upload, because it acts for many users.
        response = world.acting_as(here.id).request("POST", "/v1/media", data=b"more tea")
        assert response.status_code == 201, response.text
    # Slots are free again after their clients have left.
    wait_until(lambda: here.request("POST", "/v1/media", data=b"tea").status_code in (200, 201), "no place is free")
