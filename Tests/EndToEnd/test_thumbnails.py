"""Thumbnails of images, and files of which the server makes none."""

import os

import pytest
from PIL import Image

from harness.images import SIZE, encoded, opened, photograph, png_bomb, swapping_profile, with_camera_notes
from harness.people import World
from harness.server import Server

# libheif writes HEIC only with an encoder that Pillow does not bring, so HEIC itself is not among these.
KINDS = {"JPEG": "image/jpeg", "PNG": "image/webp", "WEBP": "image/webp", "GIF": "image/webp", "AVIF": "image/webp"}
# More than Limits.imagePixels.
BOMB = (20_000, 20_000)


def upload(person, content: bytes) -> dict:
    response = person.request("POST", "/v1/media", data=content)
    assert response.status_code in (200, 201), response.text[:600]
    return response.json()


def thumbnail(person, media: dict, **params):
    return person.request("GET", f"/v1/media/{media['id']}/thumbnail", params=params)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_image(anna, kind):
    receipt = upload(anna, encoded(kind))
    assert (receipt["width"], receipt["height"]) == SIZE
    for requested, width in [(None, 320), (320, 320), (81, 160), (1, 80), (640, 640), (1920, 1600)]:
        response = thumbnail(anna, receipt, **({} if requested is None else {"width": requested}))
        assert response.status_code == 200, response.text[:300]
        assert response.headers["Content-Type"] == KINDS[kind]
        assert opened(response.content).size == (width, width * 3 // 4), requested
    small = opened(thumbnail(anna, receipt, width=320).content).convert("RGB")
    wanted = photograph().resize(small.size)
    for place in [(40, 30), (160, 120), (100, 180)]:
        assert all(abs(one - other) < 24 for one, other in zip(small.getpixel(place), wanted.getpixel(place)))


def test_transparency_is_kept(anna):
    image = photograph((400, 300)).convert("RGBA")
    image.putalpha(60)
    small = opened(thumbnail(anna, upload(anna, encoded("PNG", image)), width=80).content)
    assert small.mode == "RGBA" and abs(small.getpixel((40, 30))[3] - 60) < 8


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "PNG"])
def test_colours_are_those_that_the_profile_means(anna, kind):
    """Phones take photos in wider color spaces than sRGB. Without the profile, the numbers mean other colors."""
    red = Image.new("RGB", (400, 300), (255, 0, 0))
    for options, wanted in [({}, (255, 0, 0)), ({"icc_profile": swapping_profile()}, (0, 255, 0))]:
        response = thumbnail(anna, upload(anna, encoded(kind, red, **options)), width=80)
        image = opened(response.content)
        seen = image.convert("RGB").getpixel((40, 30))
        assert all(abs(one - other) < 8 for one, other in zip(seen, wanted)), (options.keys(), seen)
        assert "icc_profile" not in image.info, "it is sRGB, as is what says nothing"


def test_a_profile_that_does_not_fit_the_image_counts_as_none(anna):
    grey = Image.new("L", (400, 300), 77)
    for kind in ("JPEG", "PNG"):
        response = thumbnail(anna, upload(anna, encoded(kind, grey, icc_profile=swapping_profile())), width=80)
        assert response.status_code == 200, response.text[:300]
        assert all(abs(value - 77) < 4 for value in opened(response.content).convert("RGB").getpixel((40, 30)))


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "PNG"])
def test_a_photograph_is_rotated_and_has_no_camera_metadata(anna, kind):
    content = with_camera_notes(kind)
    assert b"SecretCameraMaker" in content
    receipt = upload(anna, content)
    assert (receipt["width"], receipt["height"]) == (SIZE[1], SIZE[0])
    response = thumbnail(anna, receipt, width=160)
    image = opened(response.content)
    assert image.size == (160, 213)
    assert b"SecretCameraMaker" not in response.content and not dict(image.getexif())


def test_a_tall_image_stays_within_its_box(anna):
    small = opened(thumbnail(anna, upload(anna, encoded("PNG", photograph((200, 4000)))), width=80).content)
    assert small.size == (16, 320)


def test_a_thumbnail_is_made_once_and_known_again(own_server):
    anna = World(own_server).user("Anna")
    receipt = upload(anna, encoded("JPEG"))
    first = thumbnail(anna, receipt, width=300)
    cached = list((own_server.data / "media" / "thumbnails").glob("*/*"))
    assert len(cached) == 1
    made = cached[0].stat().st_mtime_ns
    again = thumbnail(anna, receipt, width=320)
    assert again.content == first.content and again.headers["ETag"] == first.headers["ETag"]
    assert cached[0].stat().st_mtime_ns == made
    known = anna.request("GET", f"/v1/media/{receipt['id']}/thumbnail", headers={"If-None-Match": first.headers["ETag"]})
    assert known.status_code == 304


def test_a_decompression_bomb_is_refused(anna):
    content = png_bomb(*BOMB)
    assert len(content) < 2_000_000
    receipt = upload(anna, content)
    assert (receipt["width"], receipt["height"]) == BOMB
    anna.refused("image_too_large", "GET", f"/v1/media/{receipt['id']}/thumbnail")


@pytest.mark.parametrize("content", [
    b"\x89PNG\r\n\x1a\n" + b"garbage" * 100, b"\xff\xd8\xff\xe0" + b"garbage" * 100, b"GIF89a" + b"\xff" * 300,
    b"RIFF\x10\x00\x00\x00WEBPVP8 garbage", b"just words", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    b"%PDF-1.7 no image either",
], ids=["PNG", "JPEG", "GIF", "WebP", "text", "SVG", "PDF"])
def test_a_file_that_is_not_an_image_is_refused(anna, content):
    receipt = upload(anna, content)
    assert receipt["width"] is None and receipt["height"] is None
    anna.refused("image_undecodable", "GET", f"/v1/media/{receipt['id']}/thumbnail")


def test_without_the_programs_there_are_none(tmp_path):
    path = os.environ["PATH"]
    os.environ["PATH"] = str(tmp_path)
    try:
        server = Server(tmp_path / "data").start()
    finally:
        os.environ["PATH"] = path
    try:
        anna = World(server).user("Anna")
        receipt = upload(anna, encoded("PNG"))
        assert receipt["contentType"] == "image/png" and receipt["width"] is None
        problem = anna.refused("thumbnails_unavailable", "GET", f"/v1/media/{receipt['id']}/thumbnail")
        assert "libvips-tools" in problem["detail"]
        assert "libvips-tools" in server.errors.read_text()
    finally:
        server.end()
