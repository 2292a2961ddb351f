"""Bearer tokens from the server of the app's own team."""

import concurrent.futures
import time

import pytest

from harness.client import Api, new_id
from harness.config import configured
from harness.issuer import Issuer, Key
from harness.times import within

LEEWAY_SECONDS = 60
TOKEN_SECONDS = 5


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer(Key("ES256", "e1"))
    yield issuer
    issuer.close()


@pytest.fixture(scope="module")
def world(issuer, tmp_path_factory):
    settings = {"identity": {"externalTokens": issuer.settings()}}
    with configured(tmp_path_factory.mktemp("external"), settings) as world:
        yield world


def bearer(world, token: str) -> Api:
    return Api(world.server, token)


def test_a_first_request_registers_the_user(world, issuer):
    subject = f"customer-{new_id()}|한"
    anna = bearer(world, issuer.token(subject, nickname="Anna"))
    me = anna.get("/v1/me")
    assert (me["externalId"], me["nickname"], me["isGuest"]) == (subject, "Anna", False)
    found = world.admin.get("/v1/admin/users", externalId=subject)["users"]
    assert [user["id"] for user in found] == [me["id"]]
    assert bearer(world, issuer.token(subject, nickname="Other")).get("/v1/me") == me
    # Without a name, the subject becomes the nickname.
    other = f"customer-{new_id()}"
    assert bearer(world, issuer.token(other)).get("/v1/me")["nickname"] == other


def test_a_user_that_a_service_registered_is_found(world, issuer):
    subject = new_id()
    account = world.admin.post("/v1/accounts", {"nickname": "Anna", "externalId": subject})
    assert bearer(world, issuer.token(subject)).get("/v1/me")["id"] == account["id"]


def test_first_requests_at_once_make_one_account(world, issuer):
    token = issuer.token(new_id())
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len({me["id"] for me in pool.map(lambda _: bearer(world, token).get("/v1/me"), range(16))}) == 1


def test_they_are_accepted_wherever_a_users_token_is(world, issuer):
    anna = bearer(world, issuer.token(new_id()))
    room = anna.post("/v1/rooms", {"id": new_id(), "name": "Tea"})
    message = new_id()
    anna.put(f"/v1/rooms/{room['id']}/messages/{message}", {"text": "hello"})
    assert anna.get(f"/v1/rooms/{room['id']}/messages/{message}")["text"] == "hello"
    assert anna.get("/v1/sessions")["sessions"] == []
    anna.refused("service_only", "GET", "/v1/admin/users?externalId=x")
    anna.refused("service_only", "GET", "/v1/me", headers={"Hansard-Act-As": new_id()})


def test_wrong_tokens_are_refused(world, issuer):
    def refused(token: str, code: str = "access_token_invalid") -> None:
        bearer(world, token).refused(code, "GET", "/v1/me")

    now = int(time.time())
    refused(issuer.token(new_id(), exp=now - 61), "access_token_expired")
    refused(issuer.token(new_id(), aud="other.example"))
    refused(issuer.token(new_id(), iss="https://id.example.org"))
    refused(issuer.token(new_id(), nbf=int(time.time()) + 90))
    refused(issuer.token(""))
    refused(issuer.token("a\u0007b"))
    refused(issuer.token(new_id(), Key("ES256", "e1")))
    refused(issuer.token(new_id(), Key("RS256", "r9")))


def test_a_cached_token_still_expires(world, issuer):
    def attempt() -> Api | None:
        token = issuer.token(new_id(), exp=int(time.time()) - LEEWAY_SECONDS + TOKEN_SECONDS)
        anna = bearer(world, token)
        return anna if anna.request("GET", "/v1/me").status_code == 200 else None

    anna = within(TOKEN_SECONDS - 1, attempt)
    time.sleep(TOKEN_SECONDS + 0.2)
    anna.refused("access_token_expired", "GET", "/v1/me")


def test_a_disabled_user_is_refused_at_once_and_let_in_again(world, issuer):
    anna = bearer(world, issuer.token(new_id()))
    me = anna.get("/v1/me")
    world.admin.post(f"/v1/admin/users/{me['id']}/disable")
    head = world.head
    anna.refused("account_disabled", "GET", "/v1/me")
    anna.refused("account_disabled", "PATCH", "/v1/me", {"nickname": "Late"})
    assert world.head == head
    world.server.restart()
    anna.refused("account_disabled", "GET", "/v1/me")
    world.admin.post(f"/v1/admin/users/{me['id']}/enable")
    assert anna.get("/v1/me")["id"] == me["id"]


def test_without_the_setting_they_are_refused(tmp_path, issuer):
    with configured(tmp_path, {}) as world:
        bearer(world, issuer.token(new_id())).refused("access_token_invalid", "GET", "/v1/me")


def test_own_tokens_remain_valid(world):
    assert world.account().get("/v1/me")["nickname"] == "Anna"


def test_without_the_issuers_keys_the_server_says_so(tmp_path):
    issuer = Issuer(Key("ES256", "e1"))
    issuer.status = 503
    try:
        with configured(tmp_path, {"identity": {"externalTokens": issuer.settings()}}) as world:
            bearer(world, issuer.token(new_id())).refused("issuer_unavailable", "GET", "/v1/me")
    finally:
        issuer.close()
