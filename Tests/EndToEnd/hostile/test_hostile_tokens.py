"""Texts of many kinds in place of tokens, codes and cursors, which the server reads before it knows the caller."""

import base64
import json
import urllib.parse

import pytest
import requests

from harness import cost
from harness.people import World

# The limit for one request in processor seconds. 130,000 hyphens once took 0.13 s.
SECONDS = 0.01
REQUESTS = 20
# The longest text that fits a body with its other content, a header, and a path.
BODY, HEADER, PATH = 130_000, 7_900, 7_900
KINDS = ["-", "_", "A", "-A", "é", "%"]


def post(server, path: str, body: dict):
    data, headers = json.dumps(body, ensure_ascii=False).encode(), {"Content-Type": "application/json"}
    return lambda: requests.post(f"{server.url}{path}", data=data, headers=headers)


def get(server, path: str, token: str):
    return lambda: requests.get(f"{server.url}{path}", headers={"Authorization": f"Bearer {token}".encode()})


def requests_with(server, member: str, text: str) -> dict:
    """A function that sends the request, by the place of the text."""
    def long(length: int) -> str:
        """The text repeated to this many bytes."""
        return text * (length // len(text.encode()))

    pair = f"{long(HEADER)}.{long(HEADER)}.A"
    return {
        "refresh token": post(server, "/v1/sessions/refresh", {"refreshToken": long(BODY)}),
        "reset token": post(server, "/v1/password-resets", {"token": f"hsp_{long(BODY)}", "newPassword": "yellow kettle"}),
        "identity token": post(server, "/v1/sessions", {"idToken": pair}),
        "access token": get(server, "/v1/rooms", pair),
        # Percent-encoding turns some characters of a path into three bytes each.
        "cursor": get(server, f"/v1/rooms?cursor={urllib.parse.quote(long(PATH // 3))}", member),
    }


@pytest.mark.parametrize("text", KINDS)
def test_a_text_in_place_of_a_token_costs_little(server, text):
    """Observed: a request for rooms with 16 KB of hyphens as its token took 33 ms, and 40 connections delayed /healthz
    by 11 s."""
    member = World(server).user("Anna").token
    for place, send in requests_with(server, member, text).items():
        response = send()
        assert response.status_code in (400, 401), f"{place}: {response.status_code} {response.text}"
        with cost.measured(server) as used:
            for _ in range(REQUESTS):
                send()
        limit = SECONDS * REQUESTS * cost.SLOWNESS + cost.TICKS_SECONDS
        assert used.seconds <= limit, f"{place}: {used.seconds / REQUESTS:.3f} s each"


def test_a_header_of_a_token_with_many_members_costs_little(server):
    """The members are read before the signature is checked."""
    members = {"alg": "EdDSA", "kid": "hansard-1"} | {f"m{number}": 1 for number in range(700)}
    header = base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()
    with cost.costs_at_most(server, SECONDS * REQUESTS):
        for _ in range(REQUESTS):
            assert get(server, "/v1/rooms", f"{header}.e30.AA")().status_code == 401
