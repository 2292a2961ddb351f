"""Uploads as forms (multipart/form-data), as browsers and upload components send them."""

import os
import socket

import pytest
import requests

from harness.client import new_id
from harness.images import encoded
from harness.people import World

OTHER_BYTES = 64 * 1024
MIB = 1024 * 1024


def post(person, files, **options) -> requests.Response:
    return requests.post(
        f"{person.server.url}/v1/media", files=files, headers={"Authorization": f"Bearer {person.token}"}, timeout=120,
        **options)


def raw(person, body: bytes, boundary: str = "x", **options) -> dict:
    return person.refused(
        "invalid_form", "POST", "/v1/media", data=body,
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}"}, **options)


def part(disposition: str, content: bytes) -> bytes:
    return f"--x\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content + b"\r\n"


def download(person, media: str) -> bytes:
    response = person.request("GET", f"/v1/media/{media}")
    assert response.status_code == 200
    return response.content


@pytest.mark.parametrize("size", [1, 70_000, 3 * MIB])
def test_a_form_gives_the_same_as_the_bytes(anna, size):
    # A zero byte, so that the content is not taken for a text.
    content = b"\0" + os.urandom(size - 1)
    response = post(anna, {"file": ("kettle.bin", content, "image/png")}, data={"roomId": new_id(), "caption": "tea\r\n--"})
    assert response.status_code == 201, response.text
    media = response.json()
    assert (media["size"], media["name"], media["contentType"]) == (size, "kettle.bin", "application/octet-stream")
    assert response.headers["Location"] == f"/v1/media/{media['id']}"
    assert download(anna, media["id"]) == content
    again = anna.request("POST", "/v1/media", data=content)
    assert (again.status_code, again.json()) == (200, media)


def test_the_name_of_the_form_and_of_the_query(anna):
    for filename, name in (("tea pot.png", "tea pot.png"), ("주전자.png", "주전자.png"), ("C:\\tea\\pot.png", "pot.png")):
        body = part(f'form-data; name="photo"; filename="{filename}"', os.urandom(9)) + b"--x--\r\n"
        response = anna.request("POST", "/v1/media", data=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
        assert (response.status_code, response.json()["name"]) == (201, name)
    named = post(anna, {"file": ("form.bin", os.urandom(9))}, params={"name": "query.bin"})
    assert named.json()["name"] == "query.bin"
    bare = post(anna, {"file": (None, os.urandom(9))})
    assert bare.status_code == 201 and bare.json()["name"] is None
    refused = post(anna, {"file": ("a%0Ab.png", os.urandom(9))})
    assert refused.json()["code"] == "media_name_malformed"


def test_an_input_without_a_chosen_file_is_skipped(anna):
    unchosen = part('form-data; name="second"; filename=""', b"")
    chosen = part('form-data; name="first"; filename="pot.png"', os.urandom(9))
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (chosen + unchosen, unchosen + chosen):
        response = anna.request("POST", "/v1/media", data=body + b"--x--\r\n", headers=form)
        assert response.status_code in (200, 201) and response.json()["name"] == "pot.png"
    raw(anna, unchosen + b"--x--\r\n")


def test_an_image_in_a_form_is_measured(anna):
    media = post(anna, {"file": ("kettle.png", encoded("PNG"))}).json()
    assert media["contentType"] == "image/png" and media["width"] and media["height"]


def test_content_that_looks_like_a_delimiter(anna):
    for content in (b"\r\n", b"\r\n--", b"\r\n--y", b"--x--", b"\r\n--\r\n\r\n", b"\r" * 100_000, b"\r\n--" * 50_000):
        body = part("form-data; name=file", content) + b"--x--"
        response = anna.request("POST", "/v1/media", data=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
        assert response.status_code in (200, 201) and download(anna, response.json()["id"]) == content


def test_malformed_forms_are_refused_and_store_nothing(own_world):
    anna, head = own_world.user("Anna"), None
    head = own_world.head
    good = part('form-data; name="file"; filename="a"', b"tea")
    for body in (
        b"", b"tea", b"--x--", good, good + b"--x", good + good + b"--x--", part("form-data; name=a", b"tea") + b"--x--",
        b"--x\r\n\r\ntea\r\n--x--", part("attachment; name=file", b"tea") + b"--x--", b"--x\n\ntea\n--x--",
        good + part("form-data; name=b; filename=b", b"milk") + b"--x--", good + b"--x\r\nbroken\r\n\r\n--x--",
    ):
        raw(anna, body)
    for boundary in ("", '""', "x" * 71, "a\tb", '"x'):
        raw(anna, good + b"--x--", boundary)
    files = [file for file in (own_world.server.data / "media").rglob("*") if file.is_file()]
    assert files == [] and own_world.head == head
    anna.refused(
        "media_empty", "POST", "/v1/media", data=part("form-data; name=file", b"") + b"--x--",
        headers={"Content-Type": "multipart/form-data; boundary=x"})


def test_everything_but_the_file_has_a_limit(anna):
    def form(size: int) -> bytes:
        return part("form-data; name=a", b"y" * size) + part("form-data; name=file", os.urandom(9)) + b"--x--"

    type = {"Content-Type": "multipart/form-data; boundary=x"}
    assert anna.request("POST", "/v1/media", data=form(OTHER_BYTES - 500), headers=type).status_code == 201
    assert "bytes" in raw(anna, form(OTHER_BYTES + 500))["detail"]
    raw(anna, b"y" * (2 * OTHER_BYTES))
    raw(anna, b"--x\r\nX: " + b"y" * 10_000)


def test_a_form_that_breaks_off_leaves_nothing(own_server):
    anna = World(own_server).user("Anna")
    head = (
        f"POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {anna.token}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n")
    with socket.create_connection(("127.0.0.1", own_server.port), timeout=60) as connection:
        connection.sendall(head.encode() + part('form-data; name="file"', b"tea"))
    anna.get("/v1/me")
    post(anna, {"file": ("a", b"milk")})
    stored = [file for file in (own_server.data / "media").rglob("*") if file.is_file() and file.read_bytes() == b"tea"]
    assert stored == []
