"""Uploads, access to them, ranges of them, and the collection of unreferenced files."""

import contextlib
import hashlib
import os
import pathlib
import random
import socket
import subprocess
import urllib.parse

import pytest
import requests

from harness.client import new_id
from harness.cost import memory_limit
from harness.people import World
from harness.server import Server
from harness.times import within
from harness.waiting import wait_until

MIB = 1024 * 1024
UPLOADS_OF_USER = 4
COLLECTED_AFTER_SECONDS = 2


def upload(person, content: bytes, expect: int = 201, **params) -> dict:
    query = "&".join(f"{name}={urllib.parse.quote(value)}" for name, value in params.items())
    response = person.request("POST", f"/v1/media?{query}", data=content)
    assert response.status_code == expect, response.text[:600]
    return response.json()


def download(person, media: str, **headers):
    return person.request("GET", f"/v1/media/{media}", headers={name.replace("_", "-"): value
                                                                for name, value in headers.items()})


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def contents(server: Server) -> list[pathlib.Path]:
    """The stored files, without thumbnails and unfinished uploads."""
    return [path for path in (server.data / "media").glob("??/*") if path.is_file()]


def unfinished(server: Server) -> list[pathlib.Path]:
    return list((server.data / "media" / "incoming").iterdir())


def test_an_upload_comes_back_as_it_was(anna):
    content = noise(300_000)
    receipt = upload(anna, content, name="tea leaves.bin")
    digest = hashlib.sha256(content).hexdigest()
    assert receipt["size"] == len(content) and receipt["sha256"] == digest
    assert receipt["contentType"] == "application/octet-stream" and receipt["name"] == "tea leaves.bin"
    response = download(anna, receipt["id"])
    assert response.status_code == 200 and response.content == content
    headers = response.headers
    assert headers["ETag"] == f'"{digest}"' and headers["Content-Length"] == str(len(content))
    assert headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Accept-Ranges"] == "bytes"
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''tea%20leaves.bin"
    assert "sandbox" in headers["Content-Security-Policy"]


def test_the_same_upload_is_the_same_medium_and_another_users_is_not(anna, ben):
    content = noise(1000, seed=2)
    first = upload(anna, content, name="a")
    assert upload(anna, content, expect=200, name="b") == first
    other = upload(ben, content)
    assert other["id"] != first["id"] and other["sha256"] == first["sha256"]


def test_the_type_is_found_in_the_bytes_and_a_page_is_never_served_as_one(anna):
    for content, name, kind, shown in [
        (b"<!DOCTYPE html><script>alert(1)</script>", "x.html", "text/plain; charset=utf-8", "inline"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "x.svg", "text/plain; charset=utf-8", "inline"),
        (b"%PDF-1.7 ...", "x.pdf", "application/pdf", "attachment"),
        ("차를 끓이다".encode(), "차.txt", "text/plain; charset=utf-8", "inline"),
    ]:
        response = anna.request("POST", "/v1/media", data=content, params={"name": name},
                                headers={"Content-Type": "text/html"})
        assert response.status_code == 201 and response.json()["contentType"] == kind
        headers = download(anna, response.json()["id"]).headers
        assert headers["Content-Type"] == kind and headers["Content-Disposition"].startswith(shown)
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_matching_etag_gets_not_modified(anna):
    receipt = upload(anna, noise(1000, seed=3))
    tag = f'"{receipt["sha256"]}"'
    for known in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        response = download(anna, receipt["id"], If_None_Match=known)
        assert response.status_code == 304 and response.content == b"" and response.headers["ETag"] == tag
    assert download(anna, receipt["id"], If_None_Match='"x"').status_code == 200


def test_a_range_is_served(anna):
    content = noise(200_000, seed=4)
    receipt = upload(anna, content)
    size, tag = len(content), f'"{receipt["sha256"]}"'
    for requested, first, last in [
        ("bytes=0-0", 0, 0), ("bytes=10-99", 10, 99), ("bytes=150000-", 150_000, size - 1), ("bytes=-5", size - 5, size - 1),
        (f"bytes=0-{size * 9}", 0, size - 1), (f"bytes=-{size * 9}", 0, size - 1), (f"bytes={size - 1}-", size - 1, size - 1),
    ]:
        response = download(anna, receipt["id"], Range=requested)
        assert response.status_code == 206, requested
        assert response.headers["Content-Range"] == f"bytes {first}-{last}/{size}"
        assert response.content == content[first : last + 1], requested
    for requested in ("bytes=0-1,5-6", "lines=1-2", "bytes=5-3", "bytes", "bytes=a-b"):
        assert download(anna, receipt["id"], Range=requested).content == content, requested
    assert download(anna, receipt["id"], Range="bytes=0-1", If_Range=tag).status_code == 206
    assert download(anna, receipt["id"], Range="bytes=0-1", If_Range='"x"').content == content
    assert download(anna, receipt["id"], Range="bytes=0-1", If_Range=f"W/{tag}").content == content
    for requested in (f"bytes={size}-", "bytes=-0"):
        anna.refused("range_not_satisfiable", "GET", f"/v1/media/{receipt['id']}", headers={"Range": requested})
    response = anna.request("GET", f"/v1/media/{receipt['id']}", headers={"Range": f"bytes={size}-"})
    assert response.headers["Content-Range"] == f"bytes */{size}"


def test_strangers_see_nothing_and_a_service_everything(world, anna, ben):
    receipt = upload(anna, noise(1000, seed=5))
    path = f"/v1/media/{receipt['id']}"
    for what in (path, f"{path}/thumbnail", f"/v1/media/{new_id()}"):
        ben.refused("media_not_found", "GET", what)
    world.nobody.refused("access_token_missing", "GET", path)
    assert world.admin.request("GET", path).status_code == 200
    world.acting_as(ben.id).refused("media_not_found", "GET", path)


def test_what_is_refused(anna, world):
    anna.refused("media_empty", "POST", "/v1/media", data=b"")
    known = noise(100, seed=7)
    upload(anna, known)
    for name in ("", "a/b", "a\nb", "x" * 256):
        for content in (b"x", known):
            anna.refused("media_name_malformed", "POST", "/v1/media", data=content, params={"name": name})
    assert upload(anna, noise(100, seed=6), name="x" * 255)["name"] == "x" * 255
    world.admin.refused("acting_user_required", "POST", "/v1/media", data=b"x")
    anna.refused("invalid_id", "GET", "/v1/media/nothing")
    for width in ("0", "1921", "wide", "-1", "+320"):
        anna.refused("invalid_query", "GET", f"/v1/media/{new_id()}/thumbnail", params={"width": width})


@pytest.fixture
def limited(tmp_path):
    """A small size limit, and a short age after which uploads are collected."""
    os.environ |= {"HANSARD_MEDIA_LIMIT": "1000", "HANSARD_MEDIA_UNREFERENCED_AGE": str(COLLECTED_AFTER_SECONDS)}
    try:
        server = Server(tmp_path / "data").start()
        yield server
        server.end()
    finally:
        del os.environ["HANSARD_MEDIA_LIMIT"], os.environ["HANSARD_MEDIA_UNREFERENCED_AGE"]


def test_the_limit(limited):
    anna = World(limited).user("Anna")
    for size in (999, 1000):
        upload(anna, noise(size, seed=7))
    anna.refused("body_too_large", "POST", "/v1/media", data=noise(1001))
    # Without a Content-Length, the server has to count.
    anna.refused("body_too_large", "POST", "/v1/media", data=iter([noise(600), noise(401)]))
    # Waits, because the file of a rejected upload stays there for a moment.
    wait_until(lambda: unfinished(limited) == [], "an unfinished upload is left")


def test_what_nothing_refers_to_is_collected_and_can_be_uploaded_again(limited):
    anna = World(limited).user("Anna")

    def kept() -> tuple[bytes, dict] | None:
        content = os.urandom(900)
        receipt = upload(anna, content)
        return (content, receipt) if len(contents(limited)) == 1 else None

    def came_back() -> bool:
        assert upload(anna, content, expect=200) == receipt
        return download(anna, receipt["id"]).content == content

    content, receipt = within(COLLECTED_AFTER_SECONDS, kept)
    wait_until(lambda: contents(limited) == [], "nothing was collected")
    anna.refused("media_not_found", "GET", f"/v1/media/{receipt['id']}")
    within(COLLECTED_AFTER_SECONDS, came_back)


def resident_kilobytes(server: Server) -> int:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def test_a_large_upload_does_not_go_through_memory(own_server):
    anna = World(own_server).user("Anna")
    before = resident_kilobytes(own_server)
    content = noise(40 * MIB, seed=9)
    receipt = upload(anna, iter([content[start : start + MIB] for start in range(0, len(content), MIB)]))
    assert receipt["size"] == len(content) and receipt["sha256"] == hashlib.sha256(content).hexdigest()
    assert download(anna, receipt["id"]).content == content
    grown = resident_kilobytes(own_server) - before
    assert grown < memory_limit(16 * 1024), f"the server grew by {grown} KiB for a file of 40 MiB"


def test_a_kill_within_an_upload_leaves_nothing(own_server):
    anna = World(own_server).user("Anna")
    head = own_server.head()
    with socket.create_connection(("127.0.0.1", own_server.port)) as connection:
        connection.sendall(
            f"POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {anna.token}\r\n"
            f"Content-Length: {4 * MIB}\r\n\r\n".encode() + noise(2 * MIB)
        )
        wait_until(
            lambda: unfinished(own_server) and unfinished(own_server)[0].stat().st_size > 0,
            "the upload is not written to the disk")
        own_server.kill()
    assert unfinished(own_server) != []
    own_server.start()
    assert unfinished(own_server) == [] and contents(own_server) == [] and own_server.head() == head


def test_an_upload_that_breaks_off_leaves_nothing(own_server):
    anna = World(own_server).user("Anna")
    with socket.create_connection(("127.0.0.1", own_server.port)) as connection:
        connection.sendall(
            f"POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {anna.token}\r\n"
            f"Content-Length: {4 * MIB}\r\n\r\n".encode() + noise(MIB)
        )
        wait_until(lambda: unfinished(own_server), "the upload does not begin")
    wait_until(lambda: unfinished(own_server) == [], "an unfinished upload is left")
    assert contents(own_server) == []


def test_one_user_does_not_take_the_places_of_all_uploads(own_server):
    world = World(own_server)
    anna, ben = world.user("Anna"), world.user("Ben")
    with contextlib.ExitStack() as open_uploads:
        for _ in range(UPLOADS_OF_USER):
            connection = open_uploads.enter_context(socket.create_connection(("127.0.0.1", own_server.port)))
            connection.sendall(
                f"POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {anna.token}\r\n"
                "Content-Length: 10\r\n\r\nx".encode()
            )
        wait_until(lambda: len(unfinished(own_server)) == UPLOADS_OF_USER, "not every upload begins")
        anna.refused("too_many_uploads", "POST", "/v1/media", data=b"x")
        upload(ben, b"x")
    # The slot becomes free a moment after the file is gone.
    wait_until(lambda: anna.request("POST", "/v1/media", data=b"x").status_code == 201, "no place is free")
    assert unfinished(own_server) == []


def test_a_full_disk_is_reported(tmp_path):
    assert os.geteuid() == 0, "mounting a small file system needs root: run the tests as root"
    place = tmp_path / "data" / "media"
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=True)
    server = Server(tmp_path / "data").start()
    try:
        anna = World(server).user("Anna")
        anna.refused("media_storage_full", "POST", "/v1/media", data=noise(3 * MIB))
        assert unfinished(server) == []
        upload(anna, noise(MIB))
        # Only uploads are on the full file system, so nothing else is said to fail.
        report = next(line for line in server.tail().splitlines() if "the disk is full" in line)
        detail = requests.get(f"{server.url}/readyz", timeout=60).json()["storage"]["detail"]
        assert str(place) in report
        for text in (report, detail):
            assert "Uploads are rejected" in text and "event log" not in text and "Read models" not in text, text
        subprocess.run(["mount", "-o", "remount,size=300m", place], check=True)
        upload(anna, noise(3 * MIB))
    finally:
        server.end()
        subprocess.run(["umount", place], check=True)


def test_the_directory_is_private_to_its_owner(own_server):
    for folder in ("media", "media/incoming", "media/thumbnails"):
        assert (own_server.data / folder).stat().st_mode & 0o777 == 0o700
    upload(World(own_server).user("Anna"), b"x")
    assert contents(own_server)[0].stat().st_mode & 0o777 == 0o600
