"""Tests every limit at one below, at, and one above it."""

import itertools

import pytest

from harness.client import new_id
from harness.people import PASSWORD
from harness.stream import IngestStream
from harness.times import later

MESSAGE_TEXT_BYTES = 16 * 1024
ROOM_NAME_BYTES = 256
WORKSPACE_NAME_BYTES = 256
REPORT_TEXT_BYTES = 2 * 1024
OPEN_REPORTS = 20
CHANNELS = 1000
DIRECT_ROOMS = 4000
NICKNAME_BYTES = 128
EMAIL_BYTES = 254
EXTERNAL_ID_BYTES = 256
PASSWORD_CHARACTERS = 8
PASSWORD_BYTES = 1024
DEVICE_TEXT_BYTES = 128
PUSH_TOKEN_BYTES = 4096
DEVICES = 50
SESSIONS = 100
INVITES = 1000
INVITE_USES = 100_000
INVITE_DAYS = 365
PAGE = 200
BODY_BYTES = 128 * 1024
LINE_BYTES = 128 * 1024
INGEST_BYTES = 16 * 1024 * 1024
MEMBERS = 100_000


def of_bytes(count: int) -> str:
    """A text of this many bytes, most of them in characters of three bytes."""
    return "길" * (count // 3) + "x" * (count % 3)


def around(limit: int):
    return pytest.mark.parametrize("size", [limit - 1, limit, limit + 1])


def judged(api, size: int, limit: int, code: str, method: str, path: str, body: dict) -> None:
    if size > limit:
        api.refused(code, method, path, body)
    else:
        api.call(method, path, body, expect=None)


@around(MESSAGE_TEXT_BYTES)
def test_text_of_a_message(anna, room, size):
    judged(anna, size, MESSAGE_TEXT_BYTES, "text_too_long", "PUT", room.message(new_id()), {"text": of_bytes(size)})
    sent = anna.send(room, "short")
    judged(anna, size, MESSAGE_TEXT_BYTES, "text_too_long", "PATCH", room.message(sent["id"]), {"text": of_bytes(size)})


@around(REPORT_TEXT_BYTES)
def test_comment_and_note_of_a_report(anna, ben, room, size):
    path = f"{room.path}/reports"
    body = {"userId": ben.id, "reason": "spam", "comment": of_bytes(size)}
    judged(anna, size, REPORT_TEXT_BYTES, "report_comment_too_long", "POST", path, body)
    report = f"{path}/{anna.post(path, body | {'comment': None})['id']}"
    resolution = {"outcome": "other", "note": of_bytes(size)}
    judged(anna, size, REPORT_TEXT_BYTES, "report_note_too_long", "POST", f"{report}/resolve", resolution)


@around(OPEN_REPORTS)
def test_open_reports_of_a_user(anna, ben, room, size):
    path, body = f"{room.path}/reports", {"userId": ben.id, "reason": "spam"}
    reports = [anna.post(path, body)["id"] for _ in range(min(size, OPEN_REPORTS))]
    if size > OPEN_REPORTS:
        anna.refused("too_many_reports", "POST", path, body)
        anna.post(f"{path}/{reports[0]}/resolve", {"outcome": "no_action"})
        anna.post(path, body)


@around(ROOM_NAME_BYTES)
def test_name_of_a_room(anna, room, size):
    judged(anna, size, ROOM_NAME_BYTES, "room_name_too_long", "POST", "/v1/rooms", {"name": of_bytes(size)})
    judged(anna, size, ROOM_NAME_BYTES, "room_name_too_long", "PATCH", room.path, {"name": of_bytes(size)})


@around(WORKSPACE_NAME_BYTES)
def test_name_of_a_workspace(anna, size):
    judged(anna, size, WORKSPACE_NAME_BYTES, "workspace_name_too_long", "POST", "/v1/workspaces",
           {"name": of_bytes(size)})


def test_a_workspace_needs_a_name(anna):
    anna.refused("workspace_name_empty", "POST", "/v1/workspaces", {"name": ""})


def test_channels_of_a_workspace(anna):
    office = anna.workspace()
    for _ in range(CHANNELS):
        last = anna.channel(office)
    body = {"id": new_id(), "kind": "channel", "name": "one more", "workspaceId": office.id, "isPublic": True}
    anna.refused("too_many_channels", "POST", "/v1/rooms", body)
    anna.delete(last.path)
    anna.post("/v1/rooms", body)


def test_direct_rooms_of_a_user_in_a_workspace(world, anna):
    office, others = anna.workspace(), world.users(*(f"User {number}" for number in range(20)))
    for other in others:
        office.take_in(world, other)
    groups = itertools.chain.from_iterable(itertools.combinations(others, size) for size in (1, 2, 3, 4))
    body = {"kind": "direct", "workspaceId": office.id}
    for group in itertools.islice(groups, DIRECT_ROOMS):
        anna.post("/v1/rooms", body | {"memberIds": [other.id for other in group]}, expect=201)
    body["memberIds"] = [other.id for other in next(groups)]
    anna.refused("too_many_direct_rooms", "POST", "/v1/rooms", body)
    anna.post("/v1/rooms", body | {"workspaceId": None})


@around(NICKNAME_BYTES)
def test_nickname(world, anna, size):
    judged(anna, size, NICKNAME_BYTES, "nickname_too_long", "PATCH", "/v1/me", {"nickname": of_bytes(size)})
    judged(world.admin, size, NICKNAME_BYTES, "nickname_too_long", "POST", "/v1/accounts", {"nickname": of_bytes(size)})


@around(EMAIL_BYTES)
def test_email(world, size):
    end = f"{new_id()}@example.org"
    body = {"email": "a" * (size - len(end)) + end, "password": PASSWORD, "nickname": "Anna"}
    judged(world.nobody, size, EMAIL_BYTES, "email_malformed", "POST", "/v1/accounts", body)


@around(EXTERNAL_ID_BYTES)
def test_external_id(world, size):
    external = (new_id() + of_bytes(size))[:36] + of_bytes(size - 36)
    body = {"nickname": "Anna", "externalId": external}
    judged(world.admin, size, EXTERNAL_ID_BYTES, "external_id_malformed", "POST", "/v1/accounts", body)


def test_an_external_id_needs_a_byte(world):
    world.admin.refused("external_id_malformed", "POST", "/v1/accounts", {"nickname": "Anna", "externalId": ""})


@pytest.mark.parametrize("size", [PASSWORD_CHARACTERS - 1, PASSWORD_CHARACTERS, PASSWORD_CHARACTERS + 1])
def test_shortest_password(world, size):
    body = {"email": f"{new_id()}@example.org", "password": "길" * size, "nickname": "Anna"}
    if size < PASSWORD_CHARACTERS:
        world.nobody.refused("password_too_short", "POST", "/v1/accounts", body)
    else:
        world.nobody.post("/v1/accounts", body)


@around(PASSWORD_BYTES)
def test_longest_password(world, size):
    body = {"email": f"{new_id()}@example.org", "password": of_bytes(size), "nickname": "Anna"}
    judged(world.nobody, size, PASSWORD_BYTES, "password_too_long", "POST", "/v1/accounts", body)


@around(DEVICE_TEXT_BYTES)
@pytest.mark.parametrize("field", ["name", "type", "osVersion"])
def test_texts_of_a_device(anna, field, size):
    body = {field: of_bytes(size)}
    judged(anna, size, DEVICE_TEXT_BYTES, "device_text_too_long", "PUT", f"/v1/devices/{new_id()}", body)


@around(PUSH_TOKEN_BYTES)
@pytest.mark.parametrize("field", ["apnsToken", "fcmToken"])
def test_push_tokens(anna, field, size):
    judged(anna, size, PUSH_TOKEN_BYTES, "push_token_too_long", "PUT", f"/v1/devices/{new_id()}", {field: "t" * size})


@pytest.mark.parametrize("field", ["apnsToken", "fcmToken"])
def test_an_empty_push_token_is_none(anna, field):
    anna.refused("push_token_empty", "PUT", f"/v1/devices/{new_id()}", {field: ""})
    anna.put(f"/v1/devices/{new_id()}", {field: "t"})
    anna.put(f"/v1/devices/{new_id()}", {field: None})


@pytest.mark.parametrize("token", ["\0", "t\n", "t\x7f", "\x85t"])
@pytest.mark.parametrize("field", ["apnsToken", "fcmToken"])
def test_a_push_token_has_no_control_characters(anna, field, token):
    anna.refused("push_token_malformed", "PUT", f"/v1/devices/{new_id()}", {field: token})


def test_devices_of_a_user(anna):
    devices = [new_id() for _ in range(DEVICES)]
    for device in devices:
        anna.put(f"/v1/devices/{device}", {"name": "x"})
    anna.refused("too_many_devices", "PUT", f"/v1/devices/{new_id()}", {"name": "x"})
    anna.put(f"/v1/devices/{devices[0]}", {"name": "changed"})
    anna.delete(f"/v1/devices/{devices[0]}")
    anna.put(f"/v1/devices/{new_id()}", {"name": "x"})


def test_open_sessions_of_a_user(world, anna):
    service = world.acting_as(anna.id)
    sessions = [service.post("/v1/sessions", {}) for _ in range(SESSIONS - 1)]

    def opened():
        return {session["id"] for session in anna.get("/v1/sessions")["sessions"]}

    # Anna's own login would be the oldest session, so it is refreshed first.
    world.nobody.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
    before = opened()
    assert len(before) == SESSIONS
    newest = service.post("/v1/sessions", {})
    assert opened() == before - {sessions[0]["sessionId"]} | {newest["sessionId"]}
    world.nobody.refused("session_ended", "POST", "/v1/sessions/refresh", {"refreshToken": sessions[0]["refreshToken"]})


def test_open_invites_of_a_room(anna, room):
    for _ in range(INVITES):
        last = anna.post(f"{room.path}/invites", {})
    anna.refused("too_many_invites", "POST", f"{room.path}/invites", {})
    anna.delete(f"{room.path}/invites/{last['id']}")
    anna.post(f"{room.path}/invites", {})


@pytest.mark.parametrize(
    "uses, good",
    [
        (-1, False), (0, False), (1, True), (2, True),
        (INVITE_USES - 1, True), (INVITE_USES, True), (INVITE_USES + 1, False),
    ],
)
def test_uses_of_an_invite(anna, room, uses, good):
    if good:
        assert anna.post(f"{room.path}/invites", {"maxUses": uses})["maxUses"] == uses
    else:
        anna.refused("invite_uses_out_of_range", "POST", f"{room.path}/invites", {"maxUses": uses})


def test_life_of_an_invite(anna, room):
    for expires in (later(seconds=-1), "1999-01-01T00:00:00Z", later(days=INVITE_DAYS, minutes=1)):
        anna.refused("invite_expiry_out_of_range", "POST", f"{room.path}/invites", {"expiresAt": expires})
    for expires in (later(minutes=1), later(days=INVITE_DAYS, minutes=-1)):
        assert anna.post(f"{room.path}/invites", {"expiresAt": expires})["expiresAt"] == expires


@around(PAGE)
def test_items_of_a_page(anna, room, size):
    for path in (f"{room.path}/messages", f"{room.path}/members", "/v1/rooms"):
        if size > PAGE:
            anna.refused("invalid_query", "GET", f"{path}?limit={size}")
        else:
            anna.get(path, limit=size)
    anna.refused("invalid_query", "GET", f"{room.path}/messages?limit=0")
    anna.get(f"{room.path}/messages", limit=1)


@around(BODY_BYTES)
def test_body_of_a_request(anna, room, size):
    data = b'{"text":"x"}'.ljust(size)
    if size > BODY_BYTES:
        anna.refused("body_too_large", "PUT", room.message(new_id()), data=data)
    else:
        assert anna.request("PUT", room.message(new_id()), data=data).status_code == 201


@around(LINE_BYTES)
def test_line_of_an_ingest(anna, room, size):
    def line() -> bytes:
        return b'{"op":"message.send","roomId":"%s","id":"%s","text":"x"}' % (room.id.encode(), new_id().encode())

    results = anna.ingest_bytes(b"\n".join([line(), line().ljust(size), line()]))
    assert [result["status"] for result in results] == [201, 413 if size > LINE_BYTES else 201, 201]
    if size > LINE_BYTES:
        assert results[1]["code"] == "line_too_long"


@around(INGEST_BYTES)
def test_body_of_an_ingest(world, anna, room, size):
    def line() -> bytes:
        return b'{"op":"message.send","roomId":"%s","id":"%s","text":"x"}\n' % (room.id.encode(), new_id().encode())

    blank = b" " * 65_535 + b"\n"
    first, last = line(), line()
    blanks = (size - len(first) - len(last)) // len(blank)
    rest = size - len(first) - len(last) - blanks * len(blank)
    with IngestStream(world.server, anna.token, content_length=size) as stream:
        stream.send_bytes(first + blank * blanks + b" " * (rest - 1) + (b"\n" if rest else b"") + last)
        results = list(stream.results())
    assert results[0]["status"] == 201
    if size > INGEST_BYTES:
        assert len(results) == 2 and results[1]["code"] == "body_too_large"
        assert len(anna.texts(room)) == 1
    else:
        assert [result["status"] for result in results] == [201, 201]
        assert results[1]["line"] == blanks + (1 if rest else 0) + 2


def test_members_of_a_room(world):
    room = {"op": "room.create", "id": new_id(), "name": "Stadium"}
    users = [new_id() for _ in range(MEMBERS + 1)]
    world.admin.ingest_all([room])
    world.admin.ingest_all([{"op": "user.register", "id": user, "nickname": "x"} for user in users], each=100_000)
    joins = [{"op": "member.join", "as": user, "roomId": room["id"]} for user in users]
    world.admin.ingest_all(joins[:MEMBERS], each=100_000)
    (refused,) = world.admin.ingest(joins[MEMBERS:])
    assert refused["code"] == "too_many_members"
    first = world.acting_as(users[0])
    assert first.get(f"/v1/rooms/{room['id']}")["memberCount"] == MEMBERS
    first.post(f"/v1/rooms/{room['id']}/leave")
    world.admin.ingest_all(joins[MEMBERS:])
    assert first.refused("room_not_found", "GET", f"/v1/rooms/{room['id']}")
