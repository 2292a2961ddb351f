"""Invites with a code that a person can type."""

import re
import urllib.parse

import pytest

from harness.client import new_id
from harness.people import World
from harness.server import UNLIMITED, Server

FORM = re.compile(r"([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}")
# Could be a code. That an invite has it is less likely than one in 10^17.
WRONG = "0000-0000-0000"
FREE_ATTEMPTS = 5


@pytest.fixture(params=["room", "workspace"])
def space(request, anna):
    return anna.room("Tea") if request.param == "room" else anna.workspace("Office")


def path(code: str) -> str:
    return f"/v1/invites/{urllib.parse.quote(code, safe='')}"


def test_an_invite_has_a_code_if_it_is_asked_for(anna, space):
    assert anna.post(f"{space.path}/invites", {})["code"] is None
    assert anna.post(f"{space.path}/invites", {"code": False})["code"] is None
    body = {"id": new_id(), "code": True}
    made = anna.post(f"{space.path}/invites", body)
    assert FORM.fullmatch(made["code"])
    assert anna.post(f"{space.path}/invites", body, expect=200) == made
    anna.refused("id_in_use", "POST", f"{space.path}/invites", {"id": body["id"]})
    assert anna.get(f"{space.path}/invites")["invites"][0] == made
    assert anna.post(f"{space.path}/invites", {"code": True})["code"] != made["code"]


def test_a_code_does_what_the_link_does(world, anna, space):
    made = anna.post(f"{space.path}/invites", {"code": True, "maxUses": 2})
    first, second, third = world.users("First", "Second", "Third")
    assert first.get(path(made["code"])) == first.get(f"/v1/invites/{made['token']}")
    joined = first.post(f"{path(made['code'])}/accept")
    assert space.id in (joined["roomId"], joined["workspaceId"])
    assert first.post(f"/v1/invites/{made['token']}/accept", expect=200) == joined
    second.post(f"/v1/invites/{made['token']}/accept")
    third.refused("invite_used_up", "POST", f"{path(made['code'])}/accept")
    anna.delete(f"{space.path}/invites/{made['id']}")
    third.refused("invite_revoked", "GET", path(made["code"]))


def test_a_code_is_read_as_people_type_it(world, anna, space):
    code = anna.post(f"{space.path}/invites", {"code": True})["code"]
    guest = world.user("Guest")
    plain = code.replace("-", "")
    swapped = code.replace("1", "l").replace("0", "o")
    for typed in (code.lower(), plain, plain.lower(), code.replace("-", " "), f" {code} ", code.replace("-", "–"), swapped):
        assert guest.get(path(typed))["role"] == "member", typed
    guest.refused("invite_not_found", "GET", path(plain[:-1]))
    guest.refused("invite_not_found", "GET", path(plain + "0"))
    guest.post(f"{path(swapped.lower())}/accept")


@pytest.fixture
def own(tmp_path):
    """A server of the test's own."""
    world = World(Server(tmp_path / "data", environment=UNLIMITED).start())
    yield world
    world.server.stop()


def test_a_code_survives_a_restart_and_is_not_in_any_file(own):
    anna, guest = own.users("Anna", "Guest")
    room, office = anna.room("Tea"), anna.workspace("Office")
    made = [anna.post(f"{space.path}/invites", {"code": True}) for space in (room, office)]
    own.server.stop()
    stored = [file.read_bytes() for file in own.server.data.rglob("*") if file.is_file()]
    for invite in made:
        for text in (invite["code"], invite["code"].replace("-", "")):
            assert not any(text.encode() in each for each in stored)
    own.server.start()
    for invite in made:
        assert guest.get(path(invite["code"]))["inviter"]["id"] == anna.id
        guest.post(f"{path(invite['code'])}/accept")


def test_wrong_codes_are_slowed(own):
    anna, guest, served = own.users("Anna", "Guest", "Served")
    code = anna.post(f"{anna.room('Tea').path}/invites", {"code": True})["code"]
    for _ in range(FREE_ATTEMPTS):
        guest.refused("invite_not_found", "GET", path(WRONG))
    # Neither a token nor what cannot be a code counts.
    for _ in range(FREE_ATTEMPTS):
        guest.refused("invite_not_found", "GET", path("kq0Wc2lzQ1e5mB7nJv9x3Q"))
    guest.get(path(code))
    statuses = [guest.request("POST", f"{path(WRONG)}/accept").status_code for _ in range(20)]
    assert statuses[0] == 404 and 429 in statuses
    refused = guest.request("GET", path(code))
    while refused.status_code == 200:
        # The delay ended in between: the next wrong codes cause a longer one.
        guest.request("GET", path(WRONG))
        refused = guest.request("GET", path(code))
    assert refused.json()["code"] == "too_many_attempts" and int(refused.headers["Retry-After"]) >= 1
    # Others are not affected, and links work.
    assert anna.get(path(code))["role"] == "member"
    assert own.acting_as(served.id).get(path(code))["role"] == "member"
