"""The key that signs access tokens, and the key set with which others verify them."""

import time

import jwt
import pytest

from harness.client import Api, new_id
from harness.people import World
from harness.server import Server

ROTATE = "/v1/admin/signing-keys/rotate"
KEYS = "/.well-known/jwks.json"


@pytest.fixture
def world(own_world):
    return own_world


def checked(world: World, token: str) -> dict:
    """The claims, verified with the published keys as another server does it."""
    keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(world.nobody.get(KEYS)).keys}
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key.key, algorithms=["EdDSA"])


def test_others_can_check_tokens_by_the_published_keys(world):
    anna = world.user("Anna")
    assert checked(world, anna.token)["sub"] == anna.id
    response = Api(world.server, "nonsense").request("GET", KEYS)
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert [key["kid"] for key in response.json()["keys"]] == ["hansard-1"]


def test_old_tokens_remain_valid_and_new_ones_have_the_new_key(world):
    before = world.user("Anna")
    done = world.admin.post(ROTATE)
    assert (done["kid"], done["position"]) == ("hansard-2", world.head)
    after = world.user("Ben")
    assert jwt.get_unverified_header(before.token)["kid"] == "hansard-1"
    assert jwt.get_unverified_header(after.token)["kid"] == "hansard-2"
    before.get("/v1/me")
    after.get("/v1/me")
    assert [key["kid"] for key in world.nobody.get(KEYS)["keys"]] == ["hansard-2", "hansard-1"]
    for person in (before, after):
        assert checked(world, person.token)["sub"] == person.id
    world.server.restart()
    before.get("/v1/me")
    after.get("/v1/me")
    assert [key["kid"] for key in world.nobody.get(KEYS)["keys"]] == ["hansard-2", "hansard-1"]
    fresh = before.post("/v1/sessions/refresh", {"refreshToken": before.tokens["refreshToken"]})
    assert jwt.get_unverified_header(fresh["accessToken"])["kid"] == "hansard-2"


def test_a_rotation_sent_again_is_one(world):
    key = new_id()
    first = world.admin.post(ROTATE, key=key)
    second = world.admin.post(ROTATE, key=new_id())
    assert (first["kid"], second["kid"]) == ("hansard-2", "hansard-3")
    assert world.admin.post(ROTATE, key=key, expect=200) == first
    world.server.restart()
    assert world.admin.post(ROTATE, key=key, expect=200) == first
    assert world.admin.post(ROTATE)["kid"] == "hansard-4"


def test_the_same_pair_is_issued_again_after_a_rotation(world):
    anna = world.user("Anna")
    body = {"id": new_id()}
    first = world.acting_as(anna.id).post("/v1/sessions", body)
    world.admin.post(ROTATE)
    again = world.acting_as(anna.id).post("/v1/sessions", body, expect=200)
    assert again["accessToken"] == first["accessToken"]


def test_only_services_rotate(world):
    anna = world.user("Anna")
    anna.refused("service_only", "POST", ROTATE)
    world.nobody.refused("access_token_missing", "POST", ROTATE)


def test_keys_that_no_token_needs_are_no_longer_published(tmp_path):
    server = Server(tmp_path / "data", "--access-token-lifetime", "2").start()
    try:
        world = World(server)
        world.admin.post(ROTATE)
        time.sleep(2.2)
        assert [key["kid"] for key in world.nobody.get(KEYS)["keys"]] == ["hansard-2"]
    finally:
        server.end()
