"""Guests: accounts with a password and no email address."""

import pytest

from harness.client import Api, new_id
from harness.config import configured
from harness.people import PASSWORD
from harness.issuer import Issuer, Key


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer(Key("EdDSA", "d1"))
    yield issuer
    issuer.close()


@pytest.fixture(scope="module")
def world(issuer, tmp_path_factory):
    settings = {"identity": {"guests": True, "providers": {"local": issuer.settings()}}}
    with configured(tmp_path_factory.mktemp("guests"), settings) as world:
        yield world


def guest(world, nickname: str = "Guest") -> tuple[dict, Api]:
    account = world.nobody.post("/v1/accounts", {"id": new_id(), "nickname": nickname, "password": PASSWORD})
    tokens = world.nobody.post("/v1/sessions", {"userId": account["id"], "password": PASSWORD})
    return account, Api(world.server, tokens["accessToken"])


def test_guests_are_off_unless_the_operator_says_otherwise(tmp_path):
    with configured(tmp_path, {}) as world:
        body = {"id": new_id(), "nickname": "Guest", "password": PASSWORD}
        world.nobody.refused("credential_incomplete", "POST", "/v1/accounts", body)
        world.admin.refused("credential_incomplete", "POST", "/v1/accounts", body)


def test_a_guest_logs_in_by_its_id(world):
    body = {"id": new_id(), "nickname": "Guest", "password": PASSWORD}
    account = world.nobody.post("/v1/accounts", body)
    assert account["isGuest"] is True and account["email"] is None
    assert world.nobody.post("/v1/accounts", body, expect=200) == account
    login = {"userId": account["id"], "password": PASSWORD}
    me = Api(world.server, world.nobody.post("/v1/sessions", login)["accessToken"]).get("/v1/me")
    assert me == account
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", login | {"password": "wrong password"})
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", login | {"userId": new_id()})
    world.nobody.refused("invalid_field", "POST", "/v1/sessions", login | {"email": "a@example.org"})
    world.nobody.refused("invalid_field", "POST", "/v1/sessions", {"userId": account["id"]})


def test_others_see_that_it_is_one(world):
    account, _ = guest(world)
    anna = world.user("Anna")
    profile = anna.get(f"/v1/users/{account['id']}")
    assert profile == {"id": account["id"], "nickname": "Guest", "picture": None, "isGuest": True}
    assert anna.get(f"/v1/users/{anna.id}")["isGuest"] is False
    assert anna.get("/v1/me")["isGuest"] is False


def test_a_guest_takes_part_and_makes_no_rooms(world):
    _, person = guest(world)
    anna = world.user("Anna")
    room = anna.room("Tea")
    invite = anna.post(f"{room.path}/invites", {"id": new_id()})
    person.post(f"/v1/invites/{invite['token']}/accept")
    person.put(room.message(new_id()), {"text": "hello"})
    body = {"id": new_id(), "name": "Mine"}
    person.refused("guest_not_allowed", "POST", "/v1/rooms", body)
    (line,) = person.ingest([{"op": "room.create", "id": new_id(), "name": "Mine", "kind": "group"}])
    assert line["code"] == "guest_not_allowed"


def test_a_guest_finds_a_direct_room_and_makes_none(world):
    account, person = guest(world)
    anna = world.user("Anna")
    body = {"kind": "direct", "memberIds": [anna.id]}
    person.refused("guest_not_allowed", "POST", "/v1/rooms", body)
    made = anna.post("/v1/rooms", {"kind": "direct", "memberIds": [account["id"]]})
    assert person.post("/v1/rooms", body, expect=200)["id"] == made["id"]


def test_guests_make_rooms_where_the_operator_lets_them(tmp_path):
    with configured(tmp_path, {"identity": {"guests": True, "guestsCreateRooms": True}}) as world:
        guest(world)[1].post("/v1/rooms", {"id": new_id(), "name": "Mine"})


def test_an_address_makes_a_guest_a_full_account(world):
    account, person = guest(world)
    email = f"{new_id()}@example.org"
    changed = person.patch("/v1/me", {"email": email, "currentPassword": PASSWORD})
    assert (changed["isGuest"], changed["email"]) == (False, email)
    assert world.login(email)["user"]["id"] == account["id"]
    person.post("/v1/rooms", {"id": new_id(), "name": "Mine"})
    assert person.get(f"/v1/users/{account['id']}")["isGuest"] is False


def test_a_linked_login_makes_a_guest_a_full_account(world, issuer):
    _, person = guest(world)
    linked = person.post("/v1/me/identities", {"idToken": issuer.token(new_id()), "currentPassword": PASSWORD})
    assert linked["isGuest"] is False
    person.post("/v1/rooms", {"id": new_id(), "name": "Mine"})


def test_guests_survive_a_restart(world):
    account, person = guest(world)
    world.server.restart()
    assert person.get("/v1/me") == account
    person.refused("guest_not_allowed", "POST", "/v1/rooms", {"id": new_id(), "name": "Mine"})
