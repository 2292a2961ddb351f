"""The stand-in for push services of browsers accepts what `pywebpush` and `py-vapid` send, and each of its checks can
fail."""

import secrets
import socket
import time

import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from pywebpush import WebPusher, webpush

from harness.push_service import DROP, Reply
from harness.push_webpush import CONTACT, WebPushes, encoded, point
from test_push_standins import client

HOSTS = ("127.0.0.1", "updates.push.services.mozilla.com", "fcm.googleapis.com")
TEXT = "The kettle is on. 길"


@pytest.fixture
def service(authority):
    service = WebPushes(authority, HOSTS)
    yield service
    service.close()


@pytest.fixture
def http(authority):
    with client(authority) as http:
        yield http


@pytest.fixture
def resolving(service, monkeypatch):
    """Resolves the names of the push services as `ResolvedNames` does for the server."""
    real = socket.getaddrinfo

    def resolve(name, port, *arguments, **options):
        return real("127.0.0.1", service.ports.get(name, port), *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def subscription(subscribed) -> dict:
    body = subscribed.body
    return {"endpoint": body["endpoint"], "keys": {"p256dh": body["p256dh"], "auth": body["auth"]}}


@pytest.mark.parametrize("origin", range(len(HOSTS)))
def test_it_accepts_what_pywebpush_sends(service, resolving, authority, origin):
    browser = service.subscribe(origin)
    session = requests.Session()
    session.trust_env, session.verify = False, str(authority.file)
    response = webpush(
        subscription(browser), TEXT, vapid_private_key=Vapid02(service.key), vapid_claims={"sub": CONTACT}, ttl=60,
        headers={"urgency": "high", "topic": "room"}, requests_session=session)
    assert response.status_code == 201 and response.headers["location"].startswith(service.origins[origin])
    (push,) = service.delivered(browser.endpoint)
    assert (push.content.decode(), push.ttl, push.urgency, push.topic) == (TEXT, 60, "high", "room")
    assert service.faults == [] and push.protocol == "http/1.1"


def vapid(service: WebPushes, key=None, shown=None, **changes) -> str:
    """The header field with a token, whose claims can be changed. None removes a claim."""
    claims = {"aud": service.url, "exp": int(time.time()) + 3600, "sub": CONTACT} | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    token = jwt.encode(claims, key or service.key, algorithm="ES256")
    return f"vapid t={token}, k={encoded(point(shown or service.key))}"


def push(service: WebPushes, http, content: bytes = TEXT.encode(), path: str | None = None, body=None, **changes):
    browser = service.subscribe()
    body = WebPusher(subscription(browser)).encode(content, "aes128gcm")["body"] if body is None else body
    headers = {
        "ttl": "60", "content-encoding": "aes128gcm", "authorization": vapid(service), "urgency": "normal",
        "topic": "a-b_c", "content-type": "application/octet-stream",
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    headers = {name: value for name, value in headers.items() if value is not None}
    return http.post(path or browser.endpoint, headers=headers, content=body)


def test_it_speaks_http_2(service, http):
    response = push(service, http)
    assert (response.status_code, response.http_version) == (201, "HTTP/2")
    (taken,) = service.taken()
    assert taken.content.decode() == TEXT and taken.protocol == "h2" and service.faults == []
    # The header field of py-vapid has no space after the comma.
    signed = Vapid02(service.key).sign({"aud": service.url, "sub": CONTACT})["Authorization"]
    assert push(service, http, authorization=signed).status_code == 201 and service.faults == []


DAY = 86_400
WRONG = {
    "no TTL": (400, lambda service: {"ttl": None}),
    "a TTL in words": (400, lambda service: {"ttl": "1 day"}),
    "an unknown urgency": (400, lambda service: {"urgency": "urgent"}),
    "a long topic": (400, lambda service: {"topic": "x" * 33}),
    "a topic with a space": (400, lambda service: {"topic": "a b"}),
    "the older encoding": (400, lambda service: {"content_encoding": "aesgcm"}),
    "no encryption": (400, lambda service: {"body": b"hello"}),
    "an empty body": (400, lambda service: {"body": b""}),
    "a body of 4,097 bytes": (413, lambda service: {"body": b"x" * 4_097}),
    "no authorization": (401, lambda service: {"authorization": None}),
    "another scheme": (401, lambda service: {"authorization": "WebPush abc"}),
    "another origin": (403, lambda service: {"authorization": vapid(service, aud=service.origins[1])}),
    "no origin": (403, lambda service: {"authorization": vapid(service, aud=None)}),
    "no contact": (403, lambda service: {"authorization": vapid(service, sub=None)}),
    "a contact that is no URL": (403, lambda service: {"authorization": vapid(service, sub="me")}),
    "no end": (403, lambda service: {"authorization": vapid(service, exp=None)}),
    "an end in the past": (403, lambda service: {"authorization": vapid(service, exp=1_000_000_000)}),
    "an end in two days": (403, lambda service: {"authorization": vapid(service, exp=int(time.time()) + 2 * DAY)}),
    "a token of another key": (
        403, lambda service: {"authorization": vapid(service, key=ec.generate_private_key(ec.SECP256R1()))}),
    "another key": (403, lambda service: {
        "authorization": vapid(service, *[ec.generate_private_key(ec.SECP256R1())] * 2)}),
    "an unknown subscription": (404, lambda service: {"path": f"{service.url}/wpush/v2/{secrets.token_hex(8)}"}),
}


@pytest.mark.parametrize("case", WRONG)
def test_it_refuses(service, http, case):
    status, changes = WRONG[case]
    assert push(service, http, **changes(service)).status_code == status
    assert len(service.faults) == 1 and service.taken() == []


def test_it_refuses_a_body_for_another_browser_and_another_method(service, http):
    other = WebPusher(subscription(service.subscribe())).encode(b"x", "aes128gcm")["body"]
    assert push(service, http, body=other).status_code == 400
    assert http.get(service.subscribe().endpoint).status_code == 405 and len(service.faults) == 2


def test_it_accepts_the_largest_message(service, http):
    # 86 bytes of header, one of padding and 16 of the tag.
    assert push(service, http, b"x" * 3_993).status_code == 201
    assert push(service, http, b"x" * 3_994).status_code == 413


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 429, 500, 503])
def test_it_responds_with_any_status(service, http, status):
    service.respond = lambda push: Reply(status, {"retry-after": "5"})
    response = push(service, http)
    assert (response.status_code, response.headers["retry-after"]) == (status, "5")
    assert service.taken()[0].status == status and service.delivered() == []


def test_it_can_drop_the_connection(service, http):
    service.respond = lambda push: DROP
    with pytest.raises(Exception, match="disconnected|closed|reset|EOF"):
        push(service, http)
    assert service.delivered() == [] and len(service.taken()) == 1
