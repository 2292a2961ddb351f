"""A user sees a file exactly if they see something that refers to it, and a reference keeps the file."""

import time

import pytest

from harness import times
from harness.client import new_id
from harness.collecting import ROUNDS_SECONDS, files, held, with_file
from harness.people import Room, World
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until


def upload(person, content: bytes) -> str:
    response = person.request("POST", "/v1/media", data=content)
    assert response.status_code in (200, 201), response.text[:600]
    return response.json()["id"]


def fresh() -> bytes:
    return f"leaves {new_id()}".encode()


def post(person, room: Room, *media: str, message: str | None = None, expect: int = 201) -> str:
    message = message or new_id()
    person.put(room.message(message), {"attachments": [{"mediaId": one, "name": "leaves.txt"} for one in media]},
               expect=expect)
    return message


def sees(person, media: str) -> bool:
    response = person.request("GET", f"/v1/media/{media}")
    assert response.status_code in (200, 404)
    return response.status_code == 200


@pytest.fixture
def carol(world):
    return world.user("Carol")


def test_the_members_of_a_room_see_it_until_they_leave_or_it_is_deleted(world, anna, ben, carol, room):
    media = upload(anna, fresh())
    assert not sees(ben, media)
    message = post(anna, room, media)
    assert sees(ben, media) and not sees(carol, media)
    shown = ben.get(room.message(message))["attachments"]
    assert [(one["mediaId"], one["name"]) for one in shown] == [(media, "leaves.txt")]
    anna.put(f"{room.path}/members/{carol.id}")
    assert sees(carol, media)
    carol.post(f"{room.path}/leave")
    assert not sees(carol, media)
    anna.delete(room.message(message))
    assert sees(anna, media) and not sees(ben, media)


def test_a_visible_medium_can_be_forwarded(world, anna, ben, carol, room):
    media = upload(anna, fresh())
    post(anna, room, media)
    other = ben.room("Coffee", carol)
    post(ben, other, media)
    assert sees(carol, media)
    carol.refused("media_not_found", "GET", f"/v1/media/{upload(anna, fresh())}")


def test_an_invisible_medium_cannot_be_sent(anna, ben, room):
    for media in (upload(anna, fresh()), new_id()):
        ben.refused("media_not_found", "PUT", room.message(new_id()), {"attachments": [{"mediaId": media}]})
    ben.refused("media_not_found", "PATCH", "/v1/me", {"picture": upload(anna, fresh())})


def test_everybody_sees_a_users_picture(anna, ben):
    media = upload(anna, fresh())
    anna.patch("/v1/me", {"picture": media})
    assert sees(ben, media)
    anna.patch("/v1/me", {"picture": None})
    assert not sees(ben, media) and sees(anna, media)


def test_the_members_of_a_room_see_its_picture(anna, ben, carol, room):
    media = upload(anna, fresh())
    anna.patch(room.path, {"picture": media})
    assert sees(ben, media) and not sees(carol, media)
    anna.refused("media_not_found", "PATCH", room.path, {"picture": new_id()})


def test_a_deleted_room_shows_nothing(anna, ben, room):
    media = upload(anna, fresh())
    post(anna, room, media)
    assert sees(ben, media)
    anna.delete(room.path)
    assert not sees(ben, media)


def test_what_is_held_is_not_collected_and_goes_with_what_held_it(collecting):
    world = World(collecting)
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    content, message = fresh(), new_id()
    media = held(anna, content, "PUT", room.message(message), with_file)
    held(anna, fresh(), "PATCH", "/v1/me", lambda picture: {"picture": picture})
    dropped = upload(anna, fresh())
    wait_until(lambda: not sees(anna, dropped) and files(collecting) <= 2, "nothing was collected")
    time.sleep(ROUNDS_SECONDS)
    assert files(collecting) == 2 and sees(ben, media)
    anna.delete(room.message(message))
    anna.patch("/v1/me", {"picture": None})
    wait_until(lambda: files(collecting) == 0, "what nothing holds any more was not collected")
    anna.refused("media_not_found", "PUT", room.message(new_id()), {"attachments": [{"mediaId": media}]})
    # A repeat gets the first response, whatever happened to the file.
    other, sent = anna.room("Coffee"), new_id()
    assert held(anna, content, "PUT", other.message(sent), with_file) == media
    post(anna, other, media, message=sent, expect=200)
    assert sees(anna, media)


def test_a_repeat_gets_the_first_response(world, anna, ben, room):
    theirs, other = upload(anna, fresh()), ben.room("Other")
    post(anna, room, theirs)
    body = {"text": "look", "attachments": [{"mediaId": theirs, "name": "a.txt"}]}
    sent, deleted, waiting = new_id(), new_id(), new_id()
    first = ben.put(room.message(sent), body)
    gone = ben.put(room.message(deleted), body)
    plan = body | {"sendAt": times.later(hours=1)}
    planned = ben.put(f"{other.path}/scheduled-messages/{waiting}", plan)
    assert first["attachments"][0]["size"] > 0 and planned["attachments"] == first["attachments"]
    ben.delete(room.message(deleted))
    assert ben.put(room.message(deleted), body, expect=200) == gone
    ben.delete(f"{other.path}/scheduled-messages/{waiting}")
    ben.post(f"{room.path}/leave")
    assert not sees(ben, theirs)
    service = world.acting_as(ben.id)
    assert service.put(room.message(sent), body, expect=200) == first
    assert service.put(room.message(deleted), body, expect=200) == gone
    assert ben.put(f"{other.path}/scheduled-messages/{waiting}", plan, expect=200) == planned
    # The same text in another message is rejected, because he does not see the file.
    ben.refused("media_not_found", "PUT", other.message(new_id()), body)


def test_a_quota_counts_bytes(tmp_path):
    times.within_one_day()
    quotas = {"HANSARD_QUOTAS_ENABLED": "true", "HANSARD_QUOTAS_MEDIA_BYTES_PER_DAY": "100"}
    server = Server(tmp_path / "data", environment=UNLIMITED | quotas).start()
    try:
        anna = World(server).user("Anna")
        upload(anna, b"x" * 60)
        upload(anna, b"x" * 60)
        anna.refused("quota_exceeded", "POST", "/v1/media", data=b"y" * 41)
        upload(anna, b"y" * 40)
        anna.refused("quota_exceeded", "POST", "/v1/media", data=b"z")
    finally:
        server.end()
