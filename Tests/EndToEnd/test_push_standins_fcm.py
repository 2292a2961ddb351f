"""The stand-in for FCM accepts what independent clients send, and each of its checks can fail."""

import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from harness.push_fcm import EMAIL, GRANT, KEY_ID, PROJECT, SCOPE, Fcm
from harness.push_fcm_rules import ERRORS, FCM_ERROR
from harness.push_service import DROP, Reply
from test_push_standins import client

DAY = 86_400
MESSAGE = {
    "token": "abc:def", "data": {"kind": "message", "badge": "3"}, "notification": {"title": "Tea", "body": "hello"},
    "android": {
        "priority": "high", "ttl": "86400s", "collapse_key": "room",
        "notification": {"channel_id": "messages", "notification_count": 3}},
    "apns": {"headers": {"apns-priority": "10"}, "payload": {"aps": {"badge": 3, "mutable-content": 1}}},
}


@pytest.fixture
def fcm(authority):
    service = Fcm(authority)
    yield service
    service.close()


@pytest.fixture
def http(authority):
    with client(authority) as http:
        yield http


def grant(fcm: Fcm, http, key=None, algorithm="RS256", kid=KEY_ID, form=None, **changes):
    now = int(fcm.now())
    claims = {"iss": EMAIL, "scope": SCOPE, "aud": fcm.token_url, "iat": now, "exp": now + 3600} | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    assertion = jwt.encode(claims, key or fcm.key, algorithm=algorithm, headers={"kid": kid})
    return http.post(fcm.token_url, data=form or {"grant_type": GRANT, "assertion": assertion})


def send(fcm: Fcm, http, message=MESSAGE, token: str | None = None, **options):
    if token is None:
        token = grant(fcm, http).json()["access_token"]
    headers = {"authorization": f"Bearer {token}"}
    return http.post(f"{fcm.url}/v1/projects/{PROJECT}/messages:send", **(
        {"headers": headers, "json": {"message": message}} | options))


def with_changes(message: dict, changes: dict) -> dict:
    """The message with the changes merged into it. None removes a field."""
    merged = dict(message)
    for key, value in changes.items():
        if value is None:
            del merged[key]
        else:
            old = merged.get(key)
            merged[key] = with_changes(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return merged


def test_fcm_grants_an_access_token_and_accepts_a_message(fcm, http):
    response = grant(fcm, http).json()
    assert set(response) == {"access_token", "expires_in", "token_type"} and response["expires_in"] == 3599
    sent = send(fcm, http, token=response["access_token"])
    assert sent.status_code == 200 and sent.json()["name"].startswith(f"projects/{PROJECT}/messages/")
    (push,) = fcm.taken()
    assert (push.token, push.data["badge"], push.collapse_key, push.protocol) == ("abc:def", "3", "room", "h2")
    assert push.notification == {"title": "Tea", "body": "hello", "channelId": "messages", "notificationCount": 3}
    assert fcm.delivered("abc:def") == [push] and fcm.grants == 1 and fcm.faults == []


def test_fcm_speaks_http_1_1_too(fcm, authority):
    with client(authority, http2=False) as http:
        token = grant(fcm, http).json()["access_token"]
        assert [send(fcm, http, token=token).status_code for _ in range(3)] == [200] * 3
        fcm.respond = lambda push: Reply(503, goes_away=True)
        assert send(fcm, http, token=token).headers["connection"] == "close"
    assert {push.protocol for push in fcm.taken()} == {"http/1.1"} and fcm.faults == [] and fcm.connections == 1


WRONG_ASSERTIONS = {
    "another account": {"iss": "somebody@example.com"},
    "another scope": {"scope": "https://www.googleapis.com/auth/cloud-platform"},
    "another audience": {"aud": "https://oauth2.googleapis.com/token"},
    "no audience": {"aud": None},
    "no end": {"exp": None},
    "no time": {"iat": None},
    "an end two hours later": {"exp": 2**40},
    "an end in the past": {"iat": 1_000_000_000, "exp": 1_000_003_600},
    "a time in the future": {"iat": 2**40, "exp": 2**40 + 60},
    "another key ID": {"kid": "0" * 40},
    "another algorithm": {"key": "x" * 64, "algorithm": "HS256"},
    "another grant": {"form": {"grant_type": "password", "assertion": "x"}},
    "no assertion": {"form": {"grant_type": GRANT}},
}


@pytest.mark.parametrize("case", WRONG_ASSERTIONS)
def test_google_refuses_an_assertion_with(fcm, http, case):
    response = grant(fcm, http, **WRONG_ASSERTIONS[case])
    assert (response.status_code, response.json()["error"]) == (400, "invalid_grant")
    assert len(fcm.faults) == 1 and fcm.access_tokens == {}


def test_google_refuses_an_assertion_of_another_key(fcm, http):
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert grant(fcm, http, key=other).status_code == 400 and len(fcm.faults) == 1


def test_an_access_token_expires(fcm, http):
    token = grant(fcm, http).json()["access_token"]
    assert send(fcm, http, token="ya29.invented").status_code == 401 and len(fcm.faults) == 1
    assert send(fcm, http, token=token).status_code == 200
    fcm.expire_access_tokens()
    expired = send(fcm, http, token=token)
    assert (expired.status_code, expired.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
    now = fcm.now()
    fcm.now = lambda: now
    token = grant(fcm, http).json()["access_token"]
    fcm.now = lambda: now + 3_598
    assert send(fcm, http, token=token).status_code == 200
    fcm.now = lambda: now + 3_599
    assert send(fcm, http, token=token).status_code == 401 and len(fcm.faults) == 1


WRONG = {
    "no token": {"token": None},
    "a token with a space": {"token": "abc:d f"},
    "an unknown field": {"priority": "high"},
    "an unknown field of Android": {"android": {"channel_id": "x"}},
    "an unknown field of the notification": {"notification": {"text": "x"}},
    "a number as data": {"data": {"badge": 3}},
    "a reserved key": {"data": {"from": "x"}},
    "a reserved prefix": {"data": {"google.x": "x"}},
    "another reserved prefix": {"data": {"gcm.x": "x"}},
    "an unknown priority": {"android": {"priority": "urgent"}},
    "a TTL without a unit": {"android": {"ttl": "86400"}},
    "a TTL of more than four weeks": {"android": {"ttl": f"{28 * DAY + 1}s"}},
    "a count as text": {"android": {"notification": {"notification_count": "3"}}},
    "a field twice": {"android": {"collapseKey": "x"}},
    "too much data": {"data": {"text": "x" * 4_096}},
    "a header that is no string": {"apns": {"headers": {"apns-priority": 10}}},
    "a long collapse ID": {"apns": {"headers": {"apns-collapse-id": "x" * 65}}},
    "a background notification at once": {"apns": {"headers": {"apns-push-type": "background"}}},
    "an unknown key of aps": {"apns": {"payload": {"aps": {"thread": "x"}}}},
}


@pytest.mark.parametrize("case", WRONG)
def test_fcm_refuses(fcm, http, case):
    response = send(fcm, http, with_changes(MESSAGE, WRONG[case]))
    assert (response.status_code, response.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert len(fcm.faults) == 1 and fcm.taken() == []


def test_fcm_refuses_other_bodies_and_paths(fcm, http):
    token = grant(fcm, http).json()["access_token"]
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    for body in (b"{", b"[]", b'{"message":[]}', b'{"messages":{}}'):
        assert send(fcm, http, headers=headers, content=body, json=None).status_code == 400
    plain = headers | {"content-type": "text/plain"}
    assert send(fcm, http, headers=plain, content=json.dumps({"message": MESSAGE}), json=None).status_code == 400
    assert http.post(f"{fcm.url}/v1/projects/other/messages:send", headers=headers).status_code == 404
    assert len(fcm.faults) == 6


@pytest.mark.parametrize("code", ERRORS)
def test_fcm_responds_with_each_documented_error(fcm, http, code):
    fcm.respond = lambda push: fcm.error(code, headers={"retry-after": "7"})
    response = send(fcm, http)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (ERRORS[code][0], ERRORS[code][0], ERRORS[code][1])
    assert error["details"][0] == {"@type": FCM_ERROR, "errorCode": code} and response.headers["retry-after"] == "7"
    assert fcm.taken()[0].error == code and fcm.delivered() == [] and fcm.faults == []


def test_grants_and_messages_can_fail(fcm, http):
    fcm.respond_to_grant = lambda: Reply(503)
    assert grant(fcm, http).status_code == 503
    fcm.respond_to_grant = lambda: None
    fcm.respond = lambda push: DROP
    with pytest.raises(Exception, match="disconnected|closed|reset|EOF"):
        send(fcm, http)
