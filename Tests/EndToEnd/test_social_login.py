"""Logging in with an OpenID Connect ID token, with real signatures from a local issuer."""

import concurrent.futures
import hashlib
import hmac
import json
import os
import time
import urllib.parse

import jwt
import pytest

from harness.client import Api, new_id
from harness.config import configured
from harness.issuer import AUDIENCE, Issuer, Key, unsigned
from harness.people import PASSWORD, World

LEEWAY = 60
IDENTITIES = 20
# How old an ID token may be with which an account is deleted.
FRESH_SECONDS = 600


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer(Key("RS256", "r1"), Key("ES256", "e1"), Key("EdDSA", "d1"))
    yield issuer
    issuer.close()


@pytest.fixture(scope="module")
def world(issuer, tmp_path_factory):
    settings = {"identity": {"providers": {"local": issuer.settings()}}}
    with configured(tmp_path_factory.mktemp("social"), settings) as world:
        yield world


def login(world: World, token: str, expect: int = 201, **more) -> dict:
    return world.nobody.post("/v1/sessions", {"idToken": token} | more, expect=expect)


def refused(world: World, token: str, code: str = "id_token_invalid", **more) -> str:
    return world.nobody.refused(code, "POST", "/v1/sessions", {"idToken": token} | more)["detail"]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_first_login_makes_the_account_and_later_ones_find_it(world, issuer, index):
    key, subject = issuer.keys[index], new_id()
    first = login(world, issuer.token(subject, key, name="Anna Kim"))
    assert first["user"]["nickname"] == "Anna Kim"
    again = login(world, issuer.token(subject, key, name="Other"))
    assert again["user"] == first["user"] and again["sessionId"] != first["sessionId"]
    me = Api(world.server, again["accessToken"]).get("/v1/me")
    assert me["identities"] == [{"issuer": issuer.url, "subject": subject}]
    assert (me["email"], me["externalId"], me["hasPassword"], me["isGuest"]) == (None, None, False, False)
    assert Api(world.server, first["accessToken"]).get("/v1/me")["id"] == me["id"]


def test_a_repeated_login_starts_one_session(world, issuer):
    token, session = issuer.token(new_id()), new_id()
    first = login(world, token, id=session)
    again = login(world, token, 200, id=session)
    assert (first["accessToken"], first["refreshToken"]) == (again["accessToken"], again["refreshToken"])


def test_two_first_logins_at_once_make_one_account(world, issuer):
    token = issuer.token(new_id())

    def go(_):
        return Api(world.server).post("/v1/sessions", {"idToken": token})["user"]["id"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(go, range(16)))) == 1


def test_nicknames_come_from_the_token_and_fit(world, issuer):
    assert login(world, issuer.token(new_id(), nickname="Nick", name="Name"))["user"]["nickname"] == "Nick"
    assert login(world, issuer.token(new_id()))["user"]["nickname"] == "New user"
    assert login(world, issuer.token(new_id(), name="  "))["user"]["nickname"] == "New user"
    long = login(world, issuer.token(new_id(), name="한" * 100))["user"]["nickname"]
    assert long == "한" * 42


def test_any_of_the_audiences_will_do(world, issuer):
    login(world, issuer.token(new_id(), aud="second.example"))
    login(world, issuer.token(new_id(), aud=["other.example", AUDIENCE]))
    assert "its audience" in refused(world, issuer.token(new_id(), aud="other.example"))
    assert "its audience" in refused(world, issuer.token(new_id(), aud=[]))


def test_times_count_with_a_leeway(world, issuer):
    now = int(time.time())
    login(world, issuer.token(new_id(), exp=now - LEEWAY + 20))
    refused(world, issuer.token(new_id(), exp=now - LEEWAY - 1), "id_token_expired")
    login(world, issuer.token(new_id(), nbf=now + LEEWAY - 20, iat=now + LEEWAY - 20))
    assert "not valid yet" in refused(world, issuer.token(new_id(), nbf=now + LEEWAY + 20))
    assert "not valid yet" in refused(world, issuer.token(new_id(), iat=now + LEEWAY + 20))
    for missing in ("exp", "iat"):
        assert "not a signed JWT" in refused(world, issuer.token(new_id(), **{missing: None}))


def test_the_nonce_counts_when_it_is_given(world, issuer):
    nonce = new_id()
    digest = hashlib.sha256(nonce.encode()).hexdigest()
    login(world, issuer.token(new_id(), nonce=nonce), nonce=nonce)
    # The nonce in the token itself is no proof, because anyone who obtains the token can read it.
    assert "nonce" in refused(world, issuer.token(new_id(), nonce=digest), nonce=nonce)
    assert "nonce" in refused(world, issuer.token(new_id(), nonce=nonce))
    assert "nonce" in refused(world, issuer.token(new_id(), nonce=nonce), nonce=new_id())
    assert "nonce" in refused(world, issuer.token(new_id()), nonce=nonce)
    world.nobody.refused("invalid_field", "POST", "/v1/sessions", {"nonce": nonce, "email": "a@b", "password": "x" * 8})


def test_a_provider_may_have_the_hash_of_the_nonce(tmp_path, issuer):
    nonce = new_id()
    digest = hashlib.sha256(nonce.encode()).hexdigest()
    with configured(tmp_path, {"identity": {"providers": {"local": issuer.settings(nonce="sha256")}}}) as world:
        login(world, issuer.token(new_id(), nonce=digest), nonce=nonce)
        login(world, issuer.token(new_id()))
        assert "nonce" in refused(world, issuer.token(new_id(), nonce=digest), nonce=digest)
        assert "nonce" in refused(world, issuer.token(new_id(), nonce=nonce), nonce=nonce)
        assert "nonce" in refused(world, issuer.token(new_id(), nonce=digest))


def test_the_length_of_the_subject(world, issuer):
    login(world, issuer.token("s" * 256))
    for subject in ("", "s" * 257, "a\u0000b"):
        assert "subject (sub)" in refused(world, issuer.token(subject))


def test_forged_tokens_are_refused(world, issuer):
    rsa_key, ec_key = issuer.keys[:2]
    subject = new_id()
    claims = issuer.claims(subject)
    good = issuer.token(subject)
    header, body, signature = good.split(".")
    assert "signature" in refused(world, f"{header}.{issuer.token(new_id()).split('.')[1]}.{signature}")
    assert "signature" in refused(world, f"{header}.{body}.{signature[:-4]}AAAA")
    assert "signature" in refused(world, f"{header}.{body}.")
    assert "signature" in refused(world, issuer.token(subject, Key("RS256", "r1")))
    for name in ("none", "None", "NONE"):
        assert "algorithm" in refused(world, unsigned({"alg": name, "kid": "r1"}, claims))
    # The public key used as the secret of an HMAC.
    head = jwt.utils.base64url_encode(json.dumps({"alg": "HS256", "kid": "r1"}).encode()).decode()
    text = f"{head}.{body}"
    mac = hmac.new(rsa_key.public_pem, text.encode(), hashlib.sha256).digest()
    assert "algorithm" in refused(world, f"{text}.{jwt.utils.base64url_encode(mac).decode()}")
    # A token of one algorithm that names a key of another kind.
    assert "not among the keys" in refused(world, issuer.token(subject, ec_key, {"kid": "r1"}))
    assert "not among the keys" in refused(world, issuer.token(subject, headers={"kid": "odd"}))
    assert "algorithm" in refused(world, issuer.token(subject, headers={"crit": ["exp"]}))
    for nonsense in ("", "x", "a.b", "a.b.c", "." * 3, "x" * 20_000):
        assert "not a signed JWT" in refused(world, nonsense)
    world.nobody.refused("invalid_field", "POST", "/v1/sessions", {"idToken": good, "email": "a@b"})


def test_an_issuer_that_is_not_configured_is_refused(world, issuer):
    other = Issuer(Key("RS256", "r1"))
    try:
        assert "issuer" in refused(world, other.token(new_id()))
        assert "issuer" in refused(world, issuer.token(new_id(), iss=issuer.url + "/"))
        assert other.fetches == 0
    finally:
        other.close()


def test_a_provider_may_be_bound_to_fewer_algorithms(tmp_path, issuer):
    settings = {"identity": {"providers": {"local": issuer.settings(algorithms=["ES256"])}}}
    with configured(tmp_path, settings) as world:
        login(world, issuer.token(new_id(), issuer.keys[1]))
        assert "algorithm" in refused(world, issuer.token(new_id(), issuer.keys[0]))


def test_keys_are_fetched_once_and_again_for_a_new_one(tmp_path):
    issuer = Issuer(Key("RS256", "r1"))
    try:
        with configured(tmp_path, {"identity": {"providers": {"local": issuer.settings()}}}) as world:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _: login(world.__class__(world.server), issuer.token(new_id())), range(8)))
            assert issuer.fetches == 1
            # The key set is younger than a minute, so the server does not look for a missing key.
            issuer.keys.append(Key("ES256", "e2"))
            for _ in range(3):
                assert "not among the keys" in refused(world, issuer.token(new_id(), issuer.keys[1]))
            assert issuer.fetches == 1
    finally:
        issuer.close()


@pytest.mark.parametrize(
    ("status", "body"), [(500, None), (302, None), (99, None), (200, b"{"), (200, b'{"keys": [' + b" " * 300_000 + b"]}")],
    ids=["failing", "elsewhere", "no valid status", "no JSON", "too large"],
)
def test_without_the_keys_logins_fail_and_the_server_reports_it(tmp_path, status, body):
    issuer = Issuer(Key("RS256", "r1"))
    issuer.status, issuer.body = status, body
    try:
        with configured(tmp_path, {"identity": {"providers": {"local": issuer.settings()}}}) as world:
            refused(world, issuer.token(new_id()), "issuer_unavailable")
            fetches = issuer.fetches
            refused(world, issuer.token(new_id()), "issuer_unavailable")
            assert issuer.fetches == fetches, "a failed fetch was tried again at once"
    finally:
        issuer.close()


def test_keys_can_come_from_a_file(tmp_path, issuer):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [issuer.keys[1].jwk]}))
    settings = {"identity": {"providers": {"local": issuer.settings(jwks=str(path))}}}
    with configured(tmp_path, settings) as world:
        login(world, issuer.token(new_id(), issuer.keys[1]))


def test_a_fifo_in_place_of_the_file_blocks_neither_logins_nor_the_stop(tmp_path, issuer):
    path = tmp_path / "keys.json"
    os.mkfifo(path)
    settings = {"identity": {"providers": {"local": issuer.settings(jwks=str(path))}}}
    with configured(tmp_path, settings) as world:
        refused(world, issuer.token(new_id()), "issuer_unavailable")
        world.server.stop()


def test_a_login_is_linked_to_an_existing_account(world, issuer):
    anna, subject = world.account(), new_id()
    body = {"idToken": issuer.token(subject), "currentPassword": PASSWORD}
    linked = anna.post("/v1/me/identities", body)
    assert linked["identities"] == [{"issuer": issuer.url, "subject": subject}]
    again = anna.post("/v1/me/identities", body | {"idToken": issuer.token(subject)}, expect=200)
    assert again["position"] == linked["position"]
    assert login(world, issuer.token(subject))["user"]["id"] == anna.id
    ben = world.acting_as(world.user("Ben").id)
    body = {"idToken": issuer.token(subject)}
    ben.refused("identity_in_use", "POST", "/v1/me/identities", body)
    ben.refused("id_token_invalid", "POST", "/v1/me/identities", {"idToken": "x"})
    ben.refused("id_token_expired", "POST", "/v1/me/identities", {"idToken": issuer.token(new_id(), exp=1)})
    for number in range(IDENTITIES):
        ben.post("/v1/me/identities", {"idToken": issuer.token(f"{subject} {number}")})
    ben.refused("too_many_identities", "POST", "/v1/me/identities", {"idToken": issuer.token(f"{subject} more")})


def test_a_session_alone_links_no_login(world, issuer):
    anna, path = world.account(), "/v1/me/identities"
    body = {"idToken": issuer.token(new_id())}
    head = world.head
    anna.refused("password_wrong", "POST", path, body)
    anna.refused("password_wrong", "POST", path, body | {"currentPassword": "another horse"})
    assert world.head == head
    anna.post(path, body | {"currentPassword": PASSWORD})
    # If the account has a password, another login of the account does not replace it.
    further = {"idToken": issuer.token(new_id())}
    anna.refused("password_wrong", "POST", path, further | {"linkedIdToken": body["idToken"]})
    both = {"currentPassword": "wrong " + PASSWORD, "linkedIdToken": body["idToken"]}
    anna.refused("password_wrong", "POST", path, further | both)
    own = issuer.token(new_id())
    ben = Api(world.server, login(world, own)["accessToken"])
    ben.refused("linked_login_required", "POST", path, further)
    ben.refused("linked_login_required", "POST", path, further | {"linkedIdToken": body["idToken"]})
    ben.refused("password_missing", "POST", path, further | {"currentPassword": PASSWORD})
    assert len(ben.post(path, further | {"linkedIdToken": own})["identities"]) == 2


def test_a_login_is_unlinked_but_not_the_last_one(world, issuer):
    first, second = new_id(), new_id()
    tokens = login(world, issuer.token(first))
    ben = Api(world.server, tokens["accessToken"])
    service, key = world.acting_as(tokens["user"]["id"]), new_id()

    def query(subject: str) -> str:
        return "/v1/me/identities?" + urllib.parse.urlencode({"issuer": issuer.url, "subject": subject})

    ben.refused("last_login", "DELETE", query(first))
    ben.refused("identity_not_found", "DELETE", query(second))
    ben.refused("invalid_query", "DELETE", "/v1/me/identities?issuer=x")
    link_key = new_id()
    body = {"idToken": issuer.token(second), "linkedIdToken": issuer.token(first)}
    ben.post("/v1/me/identities", body, key=link_key)
    left = ben.delete(query(second), key=key)
    assert left["identities"] == [{"issuer": issuer.url, "subject": first}]
    # A late retry of the link does not undo the unlinking, and a late retry of the unlinking does not undo newer
    # changes.
    assert ben.post("/v1/me/identities", body, key=link_key, expect=200)["identities"] == left["identities"]
    stranger = login(world, issuer.token(second))["user"]["id"]
    assert stranger != tokens["user"]["id"]
    assert ben.delete(query(second), key=key, expect=200)["position"] == left["position"]
    # The session continues, a service may remove the last login, and both survive a restart.
    assert service.delete(query(first))["identities"] == []
    world.server.restart()
    assert ben.get("/v1/me")["identities"] == []
    assert login(world, issuer.token(first))["user"]["id"] != tokens["user"]["id"]


def test_an_account_is_deleted_with_a_fresh_id_token(world, issuer):
    subject = new_id()
    tokens = login(world, issuer.token(subject))
    ben, now = Api(world.server, tokens["accessToken"]), int(time.time())
    head = world.head
    for code, body in (
        ("linked_login_required", {}), ("password_missing", {"currentPassword": PASSWORD}),
        ("id_token_invalid", {"idToken": "x"}), ("linked_login_required", {"idToken": issuer.token(new_id())}),
        ("id_token_expired", {"idToken": issuer.token(subject, iat=now - FRESH_SECONDS - 1)}),
        ("id_token_expired", {"idToken": issuer.token(subject, iat=now - FRESH_SECONDS, exp=now - LEEWAY - 1)}),
        ("id_token_invalid", {"idToken": issuer.token(subject, nonce="one"), "nonce": "two"}),
        ("id_token_invalid", {"idToken": issuer.token(subject), "nonce": "two"}),
    ):
        ben.refused(code, "DELETE", "/v1/me", body)
    assert world.head == head and ben.get("/v1/me")["id"] == tokens["user"]["id"]
    # A minute is left for a slow machine.
    fresh = {"idToken": issuer.token(subject, iat=now - FRESH_SECONDS + 60, nonce="one"), "nonce": "one"}
    key = new_id()
    deleted = ben.call("DELETE", "/v1/me", fresh, expect=None, key=key)
    assert deleted["userId"] == tokens["user"]["id"]
    ben.refused("session_ended", "GET", "/v1/me")
    again = ben.call("DELETE", "/v1/me", fresh, expect=200, key=key)
    assert again["position"] == deleted["position"]
    assert login(world, issuer.token(subject))["user"]["id"] != tokens["user"]["id"], "the login is free again"


def test_a_linked_login_deletes_an_account_with_a_password(world, issuer):
    anna, subject = world.account(), new_id()
    anna.refused("linked_login_required", "DELETE", "/v1/me", {"idToken": issuer.token(subject)})
    anna.post("/v1/me/identities", {"idToken": issuer.token(subject), "currentPassword": PASSWORD})
    deleted = anna.call("DELETE", "/v1/me", {"idToken": issuer.token(subject)}, expect=None)
    assert deleted["userId"] == anna.id
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})


def test_logins_survive_a_restart(tmp_path, issuer):
    with configured(tmp_path, {"identity": {"providers": {"local": issuer.settings()}}}) as world:
        subject = new_id()
        first = login(world, issuer.token(subject, name="Anna"))
        world.server.restart()
        assert login(world, issuer.token(subject))["user"] == first["user"]
        ben = world.acting_as(world.user("Ben").id)
        ben.refused("identity_in_use", "POST", "/v1/me/identities", {"idToken": issuer.token(subject)})


def test_settings_that_would_admit_anyone_are_refused(tmp_path, issuer):
    from harness.command import hansard
    from harness.config import write

    wrong = [
        ({"jwks": "http://id.example.org/keys"}, "neither an https URL nor a file"), ({"audiences": []}, "any other app"),
        ({"algorithms": ["HS256"]}, "only RS256"), ({"issuer": ""}, "it is missing"),
    ]
    for change, complaint in wrong:
        settings = {"identity": {"providers": {"local": issuer.settings(**change)}}}
        outcome = hansard("serve", "--data", tmp_path / "data", "--config", write(tmp_path, settings), expect=None)
        assert outcome.status == 2 and complaint in outcome.errors, outcome.errors
    twice = {"identity": {"providers": {"a": issuer.settings(), "b": issuer.settings()}}}
    outcome = hansard("serve", "--data", tmp_path / "data", "--config", write(tmp_path, twice), expect=None)
    assert outcome.status == 2 and "another provider" in outcome.errors
