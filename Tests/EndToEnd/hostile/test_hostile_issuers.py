"""JWK sets of a hostile identity provider, and what forged tokens of a stranger then cost the server.

The limits on processor time are several times what a release build uses.
"""

import base64
import json

import pytest

from harness import cost
from harness.client import new_id
from harness.config import configured
from harness.issuer import Issuer, Key, unsigned

# Two combining marks in reverse canonical order: normalizing a run of them has to sort it.
MARKS = "\u0315\u0300"
# At two bytes per mark, nearly the maximum size of a set.
MARKS_IN_SET = 120_000
SET_BYTES = 256 * 1024
# The number of keys in a set that are used, and the maximum length of a `kid` in bytes.
KEYS, KID_BYTES = 64, 256
# The limit for one forged token in processor seconds, including its share of the fetch. It once took 3.4 to 10 s.
SECONDS = 0.03
TOKENS = 10

PUBLIC = Key("ES256", "e1").jwk
LONG = "a" + MARKS * (MARKS_IN_SET // 2)
SETS = {
    "a kid": PUBLIC | {"kid": LONG},
    "a kty": PUBLIC | {"kty": LONG},
    "a use": PUBLIC | {"use": LONG},
    "an alg": PUBLIC | {"alg": LONG},
    "a crv": PUBLIC | {"crv": LONG},
    "a name": PUBLIC | {LONG: 1},
}


@pytest.fixture(scope="module")
def issuers():
    issuers = {name: Issuer() for name in (*SETS, "full")}
    for name, key in SETS.items():
        issuers[name].body = encoded(key)
        assert SET_BYTES * 0.9 < len(issuers[name].body) <= SET_BYTES
    yield issuers
    for issuer in issuers.values():
        issuer.close()


@pytest.fixture(scope="module")
def world(issuers, tmp_path_factory):
    providers = {f"p{index}": issuer.settings() for index, issuer in enumerate(issuers.values())}
    folder = tmp_path_factory.mktemp("issuers")
    with configured(folder, {"identity": {"providers": providers}}) as world:
        yield world


def encoded(*keys: dict) -> bytes:
    return json.dumps({"keys": keys}, ensure_ascii=False).encode()


def forged(issuer: Issuer, kid: str) -> str:
    """Writes the header in UTF-8, because with escapes a long `kid` would not fit into 1 KiB."""
    header = json.dumps({"alg": "ES256", "kid": kid}, ensure_ascii=False).encode()
    _, claims, signature = unsigned({}, issuer.claims("s"), b"x" * 64).split(".")
    return ".".join((base64.urlsafe_b64encode(header).rstrip(b"=").decode(), claims, signature))


def refused(world, token: str, code: str) -> dict:
    return world.nobody.refused(code, "POST", "/v1/sessions", {"idToken": token, "id": new_id()})


@pytest.mark.parametrize("name", SETS)
def test_forged_tokens_under_a_set_with_many_marks_cost_little(world, issuers, name):
    """Observed: with such a `kid`, each token took 3.4 s. With such a name, `kty` or `use`, the fetch took up to 10
    s."""
    issuer = issuers[name]
    cost.until_idle(world.server)
    with cost.costs_at_most(world.server, SECONDS * TOKENS):
        codes = {
            world.nobody.request("POST", "/v1/sessions", {"idToken": forged(issuer, "ab")}).json()["code"]
            for _ in range(TOKENS)
        }
    # The set is rejected as a whole, and not fetched again at once.
    assert codes == {"issuer_unavailable"}
    assert issuer.fetches == 1
    cost.responds(world.server)


def test_forged_tokens_under_a_set_at_the_limits_cost_little(world, issuers):
    """Every key is compared, and its `kid` differs from the token's only in the last byte."""
    issuer = issuers["full"]
    # No more than 30 combining marks in a row.
    start = ("a" + MARKS * 15) * 4
    kids = [start + "k" * (KID_BYTES - 2 - len(start.encode())) + f"{number:02}" for number in range(KEYS)]
    assert {len(kid.encode()) for kid in kids} == {KID_BYTES}
    issuer.body = encoded(*(PUBLIC | {"kid": kid} for kid in kids))
    token = forged(issuer, kids[0][:-2] + "xx")
    cost.until_idle(world.server)
    with cost.costs_at_most(world.server, SECONDS * TOKENS):
        for _ in range(TOKENS):
            assert "not among the keys" in refused(world, token, "id_token_invalid")["detail"]
    assert issuer.fetches == 1


def test_a_kid_has_at_most_256_bytes_and_is_compared_by_its_bytes(tmp_path):
    composed, decomposed = "\u00e9", "e\u0301"
    kids = ["k" * KID_BYTES, composed, decomposed, "k" * (KID_BYTES + 1)]
    issuer = Issuer(*(Key("ES256", kid) for kid in kids))
    try:
        with configured(tmp_path, {"identity": {"providers": {"local": issuer.settings()}}}) as world:
            for key in issuer.keys[:3]:
                world.nobody.post("/v1/sessions", {"idToken": issuer.token(new_id(), key)}, expect=201)
            token = issuer.token(new_id(), issuer.keys[3])
            assert "not among the keys" in refused(world, token, "id_token_invalid")["detail"]
    finally:
        issuer.close()
