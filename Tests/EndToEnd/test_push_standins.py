"""The stand-ins for push services accept what independent clients send, and each of their checks can fail."""

import contextlib
import functools
import json
import ssl
import time
import uuid
from types import SimpleNamespace

import httpx
import jwt
import pytest
from h2.errors import ErrorCodes
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, HeadersFrame, RstStreamFrame

from harness.certificates import Authority
from harness.http2 import Http2
from harness.push_apns import KEY_ID, TEAM_ID, TOPIC, Apns
from harness.push_apns_rules import STATUS_OF
from harness.push_service import DROP, RESET, SILENCE, Reply
from harness.waiting import wait_until

TOKEN = "a1" * 32
ALERT = {"aps": {"alert": {"title": "Tea", "body": "The kettle is on."}, "badge": 3, "sound": "default"}}
CLEARS = {"aps": {"content-available": 1}}


@pytest.fixture
def apns(authority):
    service = Apns(authority)
    yield service
    service.close()


def client(authority: Authority, certificate=None, **options) -> httpx.Client:
    context = ssl.create_default_context(cafile=authority.file)
    if certificate:
        context.load_cert_chain(certificate.certificate, certificate.key)
    return httpx.Client(verify=context, trust_env=False, **{"http2": True, "timeout": 10} | options)


@functools.cache
def provider_token(apns: Apns, age: float = 0, key=None, kid: str = KEY_ID, algorithm: str = "ES256", **claims) -> str:
    claims = {"iss": TEAM_ID, "iat": int(apns.now() - age)} | claims
    return jwt.encode(claims, key or apns.key, algorithm=algorithm, headers={"kid": kid})


def fields(apns: Apns, **changes) -> dict[str, str]:
    """The header fields of a request, with changes. None leaves a field out."""
    fields = {
        "authorization": f"bearer {provider_token(apns)}", "apns-topic": TOPIC, "apns-push-type": "alert",
        "apns-priority": "10", "apns-id": str(uuid.uuid4()), "apns-collapse-id": "room",
        "apns-expiration": str(int(apns.now()) + 3600),
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in fields.items() if value is not None}


def notify(apns: Apns, http: httpx.Client, payload=ALERT, token: str = TOKEN, **changes) -> httpx.Response:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return http.post(f"{apns.url}/3/device/{token}", headers=fields(apns, **changes), content=body)


# MARK: APNs


def test_apns_accepts_a_valid_notification_and_records_it(apns, authority):
    id = str(uuid.uuid4())
    with client(authority) as http:
        response = notify(apns, http, apns_id=id)
        quiet = notify(apns, http, CLEARS, apns_push_type="background", apns_priority="5")
    assert (response.status_code, response.http_version, response.headers["apns-id"]) == (200, "HTTP/2", id)
    assert quiet.status_code == 200 and apns.faults == [] and apns.connections == 1
    first, second = apns.taken()
    assert (first.token, first.id, first.collapse_id, first.priority, first.badge) == (TOKEN, id, "room", 10, 3)
    assert (first.payload, second.push_type, second.priority) == (ALERT, "background", 5)
    assert apns.delivered(TOKEN) == [first, second] and len(apns.provider_tokens) == 1


def long(bytes: int) -> bytes:
    payload = json.dumps({"aps": {"alert": ""}})
    return payload.replace('""', '"' + "x" * (bytes - len(payload)) + '"').encode()


WRONG = {
    "no topic": ("MissingTopic", {"apns_topic": None}),
    "a topic with a space": ("BadTopic", {"apns_topic": "com example"}),
    "another topic": ("TopicDisallowed", {"apns_topic": "com.example.other"}),
    "no push type": ("InvalidPushType", {"apns_push_type": None}),
    "an unknown push type": ("InvalidPushType", {"apns_push_type": "loud"}),
    "an unknown priority": ("BadPriority", {"apns_priority": "11"}),
    "a background notification at once": (
        "BadPriority", {"apns_push_type": "background", "apns_priority": "10", "payload": CLEARS}),
    "a background notification without a priority": (
        "BadPriority", {"apns_push_type": "background", "apns_priority": None, "payload": CLEARS}),
    "an ID in upper case": ("BadMessageId", {"apns_id": str(uuid.uuid4()).upper()}),
    "an ID without hyphens": ("BadMessageId", {"apns_id": uuid.uuid4().hex}),
    "a long collapse ID": ("BadCollapseId", {"apns_collapse_id": "x" * 65}),
    "an expiration in the past": ("BadExpirationDate", {"apns_expiration": "1000000000"}),
    "an expiration in milliseconds": ("BadExpirationDate", {"apns_expiration": str(int(time.time() * 1000))}),
    "an expiration in words": ("BadExpirationDate", {"apns_expiration": "tomorrow"}),
    "a token that is not hexadecimal": ("BadDeviceToken", {"token": "xyz"}),
    "a token of half a byte": ("BadDeviceToken", {"token": "abc"}),
    "no token": ("MissingDeviceToken", {"token": ""}),
    "no payload": ("PayloadEmpty", {"payload": b""}),
    "a long payload": ("PayloadTooLarge", {"payload": long(4_097)}),
    "no JSON": ("PayloadEmpty", {"payload": b"{"}),
    "no aps": ("PayloadEmpty", {"payload": {"kind": "message"}}),
    "a badge as text": ("PayloadEmpty", {"payload": {"aps": {"alert": "x", "badge": "3"}}}),
    "an unknown key of aps": ("PayloadEmpty", {"payload": {"aps": {"alert": "x", "thread": "3"}}}),
    "an unknown key of alert": ("PayloadEmpty", {"payload": {"aps": {"alert": {"text": "x"}}}}),
    "an extension without an alert": ("PayloadEmpty", {"payload": {"aps": {"badge": 1, "mutable-content": 1}}}),
    "an alert that shows nothing": ("PayloadEmpty", {"payload": CLEARS}),
    "a background notification with a badge": (
        "PayloadEmpty", {
            "apns_push_type": "background", "apns_priority": "5",
            "payload": {"aps": {"content-available": 1, "badge": 1}}}),
    "no provider token": ("MissingProviderToken", {"authorization": None}),
    "no bearer token": ("InvalidProviderToken", {"authorization": "basic abc"}),
    "a token of text": ("InvalidProviderToken", {"authorization": "bearer abc"}),
}


@pytest.mark.parametrize("case", WRONG)
def test_apns_refuses(apns, authority, case):
    reason, changes = WRONG[case]
    with client(authority) as http:
        response = notify(apns, http, **changes)
    assert (response.json()["reason"], response.status_code) == (reason, STATUS_OF[reason])
    assert len(apns.faults) == 1 and reason in apns.faults[0] and apns.taken() == []


def test_apns_accepts_the_largest_of_everything(apns, authority):
    with client(authority) as http:
        response = notify(apns, http, long(4_096), "ab" * 100, apns_collapse_id="x" * 64)
    assert response.status_code == 200 and apns.faults == []


@pytest.mark.parametrize(("method", "path", "reason"), [
    ("GET", f"/3/device/{TOKEN}", "MethodNotAllowed"), ("POST", f"/2/device/{TOKEN}", "BadPath")])
def test_apns_refuses_another_method_and_another_path(apns, authority, method, path, reason):
    with client(authority) as http:
        response = http.request(method, apns.url + path, headers=fields(apns), content=json.dumps(ALERT))
    assert response.json()["reason"] == reason and reason in apns.faults[0]


def test_apns_refuses_a_header_that_occurs_twice(apns, authority):
    twice = [*fields(apns).items(), ("apns-priority", "5")]
    with client(authority) as http:
        response = http.post(f"{apns.url}/3/device/{TOKEN}", headers=twice, content=json.dumps(ALERT))
    assert response.json()["reason"] == "DuplicateHeaders"


WRONG_TOKENS = {
    "another key ID": ("InvalidProviderToken", {"kid": "ABC123DEFX"}),
    "another team": ("InvalidProviderToken", {"iss": "DEF123GHIX"}),
    "no time": ("InvalidProviderToken", {"iat": None}),
    "a time with a fraction": ("InvalidProviderToken", {"iat": time.time()}),
    "a time in the future": ("InvalidProviderToken", {"age": -120}),
    "an hour ago": ("ExpiredProviderToken", {"age": 3601}),
}


@pytest.mark.parametrize("case", WRONG_TOKENS)
def test_apns_refuses_a_provider_token_of(apns, authority, case):
    reason, changes = WRONG_TOKENS[case]
    with client(authority) as http:
        response = notify(apns, http, authorization=f"bearer {provider_token(apns, **changes)}")
    assert response.json()["reason"] == reason and reason in apns.faults[0]


def test_apns_refuses_a_provider_token_of_another_key_and_algorithm(authority, apns):
    other = Apns(authority)
    other.close()
    forged = provider_token(apns, key=other.key)
    symmetric = provider_token(apns, key="x" * 64, algorithm="HS256")
    with client(authority) as http:
        for token in (forged, symmetric):
            assert notify(apns, http, authorization=f"bearer {token}").json()["reason"] == "InvalidProviderToken"


def test_apns_counts_how_often_a_provider_token_is_renewed(apns, authority):
    with client(authority) as http:
        def reason(age: float) -> str | None:
            response = notify(apns, http, authorization=f"bearer {provider_token(apns, age)}")
            return None if response.status_code == 200 else response.json()["reason"]

        assert (reason(3000), reason(3000 - 1201), reason(3000 - 1300)) == (None, None, "TooManyProviderTokenUpdates")
        apns.expect_new_token()
        assert reason(100) is None


def test_apns_accepts_a_certificate_instead_of_a_provider_token(apns, authority, tmp_path):
    with client(authority, authority.certificate("client")) as http:
        assert notify(apns, http, authorization=None, apns_topic=None).status_code == 200
    assert apns.faults == []
    stranger = Authority(tmp_path).certificate("client")
    with client(authority, stranger) as http, pytest.raises((httpx.TransportError, ssl.SSLError)):
        notify(apns, http, authorization=None)


@pytest.mark.parametrize("reason", sorted(set(STATUS_OF) - {"Shutdown"}))
def test_apns_responds_with_each_documented_error(apns, authority, reason):
    apns.respond = lambda push: reason
    with client(authority) as http:
        response = notify(apns, http)
    assert response.status_code == STATUS_OF[reason] and response.json()["reason"] == reason
    assert ("timestamp" in response.json()) == (response.status_code == 410)
    assert apns.taken()[0].reason == reason and apns.delivered() == [] and apns.faults == []


# MARK: How a request can end


@contextlib.contextmanager
def frames(apns: Apns, authority: Authority):
    with Http2(SimpleNamespace(authority=authority.file, port=apns.ports["127.0.0.1"])) as connection:
        yield connection


def begin(apns: Apns, connection: Http2, ends: bool = True) -> int:
    stream = connection.request(f"/3/device/{TOKEN}", *fields(apns).items(), method="POST", ends=False)
    if ends:
        finish(connection, stream)
    return stream


def finish(connection: Http2, stream: int) -> None:
    connection.protocol.send_data(stream, json.dumps(ALERT).encode(), end_stream=True)
    connection.flush()


def read(connection: Http2, until: type | None = None) -> list[Frame]:
    """The frames up to the first of this type, or to the end of the connection. `h2` itself accepts no response after a
    GOAWAY."""
    frames, data = [], b""
    while not (until and frames and isinstance(frames[-1], until)):
        while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3]):
            frame, length = Frame.parse_frame_header(memoryview(data[:9]))
            frame.parse_body(memoryview(data[9 : 9 + length]))
            data = data[9 + length :]
            frames.append(frame)
            if until and isinstance(frame, until):
                return frames
        part = connection.socket.recv(65_536)
        if not part:
            return frames
        data += part
    return frames


def test_a_stream_can_be_reset(apns, authority):
    apns.respond = lambda push: RESET
    with frames(apns, authority) as connection:
        stream = begin(apns, connection)
        reset = read(connection, RstStreamFrame)[-1]
    assert (reset.stream_id, reset.error_code) == (stream, ErrorCodes.INTERNAL_ERROR)
    assert len(apns.taken()) == 1 and apns.delivered() == []


def test_it_is_known_if_a_client_does_not_wait_for_the_response(apns, authority):
    given_up = []
    apns.on_give_up = given_up.append
    apns.respond = lambda push: Reply(delay=30)
    with frames(apns, authority) as connection:
        connection.protocol.reset_stream(begin(apns, connection), ErrorCodes.CANCEL)
        connection.flush()
        wait_until(lambda: given_up, "the reset is not seen")
        begin(apns, connection)
        wait_until(lambda: len(apns.taken()) == 2, "the second notification does not arrive")
    wait_until(lambda: len(given_up) == 2, "the end of the connection is not seen")
    assert given_up == apns.taken()


def test_a_connection_can_be_dropped(apns, authority):
    apns.respond = lambda push: DROP
    with client(authority) as http, pytest.raises(httpx.TransportError):
        notify(apns, http)
    apns.respond = lambda push: None
    with client(authority) as http:
        notify(apns, http)
        apns.drop_connections()
        apns.is_down = True
        with pytest.raises(httpx.TransportError):
            notify(apns, http)


def test_connections_can_be_refused(apns, authority):
    apns.refuse_connections()
    with client(authority) as http, pytest.raises(httpx.ConnectError):
        notify(apns, http)
    apns.listen()
    with client(authority) as http:
        assert notify(apns, http).status_code == 200


def test_a_response_can_be_late_or_missing(apns, authority):
    apns.respond = lambda push: Reply(delay=0.3)
    with client(authority) as http:
        began = time.monotonic()
        assert notify(apns, http).status_code == 200 and time.monotonic() - began >= 0.3
    apns.respond = lambda push: SILENCE
    with client(authority, timeout=0.3) as http, pytest.raises(httpx.ReadTimeout):
        notify(apns, http)


def test_a_connection_goes_away_after_some_streams(apns, authority):
    apns.goaway_after = 2
    with frames(apns, authority) as connection:
        first, second = begin(apns, connection, ends=False), begin(apns, connection, ends=False)
        begin(apns, connection)
        finish(connection, first)
        finish(connection, second)
        seen = read(connection)
    (end,) = [frame for frame in seen if isinstance(frame, GoAwayFrame)]
    answered = {frame.stream_id for frame in seen if isinstance(frame, HeadersFrame)}
    assert (end.last_stream_id, end.error_code) == (second, ErrorCodes.NO_ERROR)
    assert answered == {first, second} and len(apns.taken()) == 2 and apns.ignored == 1


def test_a_shutdown_is_announced_with_goaway(apns, authority):
    apns.respond = lambda push: "Shutdown"
    with frames(apns, authority) as connection:
        stream = begin(apns, connection)
        seen = read(connection)
    assert [frame.last_stream_id for frame in seen if isinstance(frame, GoAwayFrame)] == [stream]
    assert json.loads(next(frame for frame in seen if isinstance(frame, DataFrame)).data) == {"reason": "Shutdown"}


def test_more_streams_than_allowed_are_a_fault(apns, authority):
    apns.max_streams = 2
    with frames(apns, authority) as connection:
        # Reads the settings only later.
        for _ in range(3):
            begin(apns, connection, ends=False)
        end = read(connection, GoAwayFrame)[-1]
    assert end.error_code != ErrorCodes.NO_ERROR and "TooManyStreams" in apns.faults[0]


def test_apns_speaks_only_http_2(apns, authority):
    with client(authority, http2=False) as http, pytest.raises(httpx.TransportError):
        http.get(apns.url)
    assert "offers no protocol" in apns.faults[0]
