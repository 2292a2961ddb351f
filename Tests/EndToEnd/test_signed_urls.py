"""Signed URLs: files and thumbnails without a header, for as long as the user can see them."""

import base64
import re

import pytest
import requests

from harness.client import Api, new_id
from harness.images import encoded
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.shifted_clock import ShiftedClock

URLS = "/v1/media/urls"
FILES = 50
PERIOD_SECONDS = 3600
# The user, the session, the expiry and the code.
SIGNATURE_BYTES = 16 + 16 + 8 + 32


def upload(person, content: bytes) -> str:
    response = person.request("POST", "/v1/media", data=content)
    assert response.status_code in (200, 201), response.text[:600]
    return response.json()["id"]


def fresh() -> bytes:
    return f"leaves {new_id()}".encode()


def signed(person, *files) -> list[dict]:
    """The URLs of files, each given as an ID or as an ID and a width."""
    wanted = [{"mediaId": file} if isinstance(file, str) else {"mediaId": file[0], "width": file[1]} for file in files]
    return person.post(URLS, {"files": wanted}, expect=200)["urls"]


def load(person, url: str, **headers) -> requests.Response:
    """Requests it as an image loader does: without a token."""
    return Api(person.server).request("GET", url, headers=headers)


def refused(response: requests.Response, code: str) -> None:
    assert response.json()["code"] == code and response.status_code == (404 if code.endswith("not_found") else 401)


def test_a_file_and_its_thumbnail_load_without_a_header(anna, ben, room):
    content = encoded("PNG")
    media = upload(anna, content)
    anna.put(room.message(new_id()), {"attachments": [{"mediaId": media}]})
    whole, small = signed(ben, media, (media, 80))
    assert (whole["mediaId"], "width" in whole, small["width"]) == (media, False, 80)
    assert whole["url"].startswith(f"/v1/media/{media}?signature=")
    assert small["url"].startswith(f"/v1/media/{media}/thumbnail?width=80&signature=")
    response = load(ben, whole["url"])
    assert (response.status_code, response.content) == (200, content)
    again = load(ben, whole["url"], **{"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304 and again.headers["ETag"] == response.headers["ETag"]
    part = load(ben, whole["url"], Range="bytes=0-7")
    assert (part.status_code, part.content) == (206, content[:8])
    plain = ben.request("GET", f"/v1/media/{media}")
    assert plain.content == content and plain.headers["ETag"] == response.headers["ETag"]
    thumbnail = load(ben, small["url"])
    assert thumbnail.status_code == 200 and thumbnail.headers["Content-Type"] == "image/webp"
    assert requests.head(ben.server.url + whole["url"], timeout=60).status_code == 200


def test_caches_keep_it_until_the_url_expires(anna):
    media = upload(anna, fresh())
    (first,), (second,) = signed(anna, media), signed(anna, media)
    response = load(anna, first["url"])
    found = re.fullmatch(r"private, max-age=([0-9]+), immutable", response.headers["Cache-Control"])
    assert PERIOD_SECONDS - 60 < int(found[1]) <= 2 * PERIOD_SECONDS
    assert first["expiresAt"].endswith(":00:00.000Z")
    # The same URL for the same file, unless an hour began in between.
    assert first == second or first["expiresAt"] < second["expiresAt"]
    unsigned = anna.request("GET", f"/v1/media/{media}")
    assert unsigned.headers["Cache-Control"] == "private, max-age=31536000, immutable"


def test_only_visible_files_get_a_url(anna, ben, room):
    mine, hers = upload(ben, fresh()), upload(anna, fresh())
    assert [one["mediaId"] for one in signed(ben, hers, mine, new_id(), mine)] == [mine, mine]
    assert signed(ben, hers) == []


def test_access_that_ended_is_refused_at_the_download(world, anna, ben, room):
    media = upload(anna, fresh())
    message = new_id()
    anna.put(room.message(message), {"attachments": [{"mediaId": media}]})
    (url,) = (one["url"] for one in signed(ben, media))
    assert load(ben, url).status_code == 200
    anna.delete(room.message(message))
    refused(load(ben, url), "media_not_found")
    other = new_id()
    anna.put(room.message(other), {"attachments": [{"mediaId": media}]})
    assert load(ben, url).status_code == 200
    ben.post(f"{room.path}/leave")
    refused(load(ben, url), "media_not_found")


def test_a_url_ends_with_its_session(world):
    dora = world.user("Dora")
    media = upload(dora, fresh())
    (url,) = (one["url"] for one in signed(dora, media))
    assert load(dora, url).status_code == 200
    dora.delete("/v1/sessions/current")
    refused(load(dora, url), "session_ended")
    (other,) = (one["url"] for one in signed(world.acting_as(dora.id), media))
    assert load(dora, other).status_code == 200, "a service has no session that could end"


def test_a_service_gets_urls_for_a_user(world, anna):
    media = upload(anna, fresh())
    (one,) = signed(world.acting_as(anna.id), media)
    assert load(anna, one["url"]).status_code == 200
    world.admin.refused("acting_user_required", "POST", URLS, {"files": [{"mediaId": media}]})


def changed(url: str) -> list[str]:
    """The URL with one character of the signature changed, shortened, and with another file or width."""
    start, signature = url.split("signature=")
    raw = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    assert len(raw) == SIGNATURE_BYTES
    forged = [raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1:] for place in range(0, SIGNATURE_BYTES, 5)]
    texts = [base64.urlsafe_b64encode(one).decode().rstrip("=") for one in forged]
    return [f"{start}signature={text}" for text in [*texts, signature[:-1], signature + "A", "", "x" * 1000, "%00"]]


def test_a_wrong_signature_is_refused(anna, ben):
    media, other = upload(anna, encoded("PNG")), upload(anna, fresh())
    for one in signed(anna, media, (media, 80)):
        for url in [*changed(one["url"]), one["url"].replace(media, other)]:
            refused(load(anna, url), "signature_invalid")
    whole, small = signed(anna, media, (media, 80))
    signature = whole["url"].split("signature=")[1]
    refused(load(anna, f"/v1/media/{media}/thumbnail?signature={signature}"), "signature_invalid")
    refused(load(anna, small["url"].replace("width=80", "width=160")), "signature_invalid")
    # A token in the request counts instead of the signature.
    assert ben.request("GET", whole["url"]).status_code == 404
    assert anna.request("GET", changed(whole["url"])[0]).status_code == 200
    # Elsewhere, a signature is an unknown parameter.
    response = load(anna, f"/v1/me?signature={signature}")
    assert response.json()["code"] in ("access_token_missing", "invalid_query")


@pytest.mark.parametrize("count", [0, 1, FILES - 1, FILES, FILES + 1])
def test_how_many_files(anna, count):
    media = upload(anna, fresh())
    body = {"files": [{"mediaId": media}] * count}
    if 1 <= count <= FILES:
        assert len(anna.post(URLS, body, expect=200)["urls"]) == count
    else:
        assert anna.refused("invalid_field", "POST", URLS, body)["field"] == "/files"


@pytest.mark.parametrize("width", [-1, 0, 1, 1920, 1921])
def test_the_width_of_a_thumbnail(anna, width):
    media = upload(anna, fresh())
    body = {"files": [{"mediaId": media, "width": width}]}
    if 1 <= width <= 1920:
        anna.post(URLS, body, expect=200)
    else:
        assert anna.refused("invalid_field", "POST", URLS, body)["field"] == "/files/0/width"


def test_a_url_expires(tmp_path):
    clock = ShiftedClock(tmp_path)
    server = Server(tmp_path / "data", environment=UNLIMITED | clock.environment).start()
    try:
        world = World(server)
        anna = world.user("Anna")
        media = upload(anna, fresh())
        (one,) = signed(anna, media)
        assert load(anna, one["url"]).status_code == 200
        clock.shift(wall=2 * PERIOD_SECONDS, uptime=2 * PERIOD_SECONDS)
        refused(load(anna, one["url"]), "signature_expired")
        (new,) = signed(world.acting_as(anna.id), media)
        assert load(anna, new["url"]).status_code == 200 and new["expiresAt"] > one["expiresAt"]
    finally:
        server.end()


def test_urls_are_never_written_down(own_world):
    """Neither the log of the server nor its data have the signature."""
    anna = own_world.user("Anna")
    head = own_world.head
    media = upload(anna, fresh())
    (one,) = signed(anna, media)
    assert load(anna, one["url"]).status_code == 200
    refused(load(anna, one["url"] + "A"), "signature_invalid")
    assert own_world.head == head + 1, "only the upload is recorded"
    assert one["url"].split("signature=")[1] not in own_world.server.tail()
