"""`GET /v1/sync/socket`: a WebSocket brings every change once and in order, takes commands, and says why it ends."""

import asyncio
import concurrent.futures
import contextlib
import itertools
import json
import socket
import time

import aiohttp
import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus

from harness import websocket
from harness.client import TIMEOUT_SECONDS, Api, new_id
from harness.contract import contract
from harness.errors import documented_codes
from harness.live_sockets import POLICY, SOCKET, SocketStream, connect, open_socket
from harness.live_streams import LiveClient, StreamEnded, mark
from harness.long_polls import STREAMS_OF_USER
from harness.mirror import SyncClient
from harness.people import World, timeline
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until
from test_sync_sse import (
    ENDINGS, RESUME_MILLISECONDS, drop_and_resume, messages_of, own_session, ticket_of, with_device)

APP, EVIL = "https://app.example.org", "https://evil.example.org"
COMMANDS_IN_FLIGHT = 64
COMMAND_ID_BYTES = 64
REFUSED_IN_A_ROW = 100
# Of a server with limits.
USER_REQUESTS = 50
# Limits.controlFrames
CONTROL_FRAMES = 1_000
MESSAGE_BYTES = (128 + 4) * 1024
FRAGMENTS = 1024
# More than fits into all buffers between the server and a client that reads nothing.
# `Limits.streamSendSeconds`, and what a slow machine needs to fill all buffers.
SEND_SECONDS, FILLING_SECONDS = 10, 5
UNREAD_MESSAGES, UNREAD_BYTES = 800, 16 * 1024


def cursor_of(api: Api) -> str:
    """A cursor behind everything that the user sees now."""
    client = SyncClient(api)
    client.catch_up()
    return client.cursor


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    environment = UNLIMITED | {"HANSARD_CROSS_ORIGIN_ORIGINS": APP}
    server = Server(tmp_path_factory.mktemp("shared") / "data", environment=environment).start()
    yield server
    server.end()


@pytest.fixture(scope="module", autouse=True)
def silent(server):
    """A client that does not authenticate. It is opened first, so that its time is over when it is its turn."""
    with connect(Api(server)) as stream:
        yield stream


@pytest.fixture(scope="module", autouse=True)
def stalled(shared_world):
    """A client that reads nothing, and has more to read than all buffers hold."""
    anna = shared_world.user("Anna")
    room = anna.room()
    lines = [{"op": "message.send", "roomId": room.id, "id": new_id(), "text": f"{number:04}" * (UNREAD_BYTES // 4)}
             for number in range(UNREAD_MESSAGES)]
    began = cursor_of(anna)
    for start in range(0, UNREAD_MESSAGES, 100):
        anna.ingest(lines[start:start + 100])
    stream = connect(anna.again(), since=began, receive_bytes=4096)
    yield stream, [line["text"] for line in lines], time.monotonic() + SEND_SECONDS + FILLING_SECONDS
    stream.close()


def live(api: Api, **query) -> LiveClient:
    return LiveClient(api, query=query, open=open_socket).begin()


def ended(stream: SocketStream, code: str) -> dict:
    """Reads to the end, which must have this code."""
    end = stream.last_frame().data
    assert end["code"] == code, end
    return end


@pytest.fixture
def stream(anna):
    """A stream of Anna that is open."""
    with connect(anna.again()) as stream:
        stream.ready()
        yield stream


# MARK: Authentication


def test_a_client_authenticates_with_its_first_message(anna, ben, room):
    with connect(ben, token=False) as stream:
        stream.authenticate()
        frame = stream.frame()
        assert frame.name == "ready" and frame.data["expiresAt"] is not None
        assert {item["type"] for item in stream.page()["items"]} >= {"account", "room"}
        anna.send(room, "hello")
        assert messages_of(stream.page()["items"]) == ["hello"]


def test_a_client_authenticates_with_a_header_or_a_ticket(world, anna):
    ticket = ticket_of(anna)
    for stream in (connect(anna), connect(world.nobody, ticket=ticket)):
        with stream:
            stream.ready()
            assert [item["account"]["id"] for item in stream.page()["items"] if item["type"] == "account"] == [anna.id]
    with connect(world.nobody, ticket=ticket) as stream:
        ended(stream, "ticket_invalid")


def test_a_service_acts_as_a_user(world, anna, room):
    service = world.acting_as(anna.id)
    with connect(service) as stream:
        assert stream.ready()["expiresAt"] is None
        sent = stream.command("PUT", room.message(new_id()), {"text": "as Anna"})
        assert sent["text"] == "as Anna" and sent["senderId"] == anna.id
    with connect(world.nobody, ticket=ticket_of(service)) as stream:
        stream.ready()
    for caller, code in ((world.admin, "acting_user_required"), (world.acting_as(new_id()), "user_not_found"),
                         (world.acting_as("x"), "invalid_act_as")):
        with connect(caller) as stream:
            ended(stream, code)
    with connect(world.admin, token=False) as stream:
        stream.authenticate()
        ended(stream, "acting_user_required")


@pytest.mark.parametrize("token", ["", "x", "é", "a" * 10_000, "x\r\nHansard-Act-As: y"])
def test_a_token_that_is_none(world, token):
    with connect(world.nobody, token=False) as stream:
        stream.send({"type": "authenticate", "token": token})
        assert ended(stream, "access_token_invalid").get("resumeAfterMilliseconds") is None


def test_options_of_the_first_message(anna, room):
    of_messages = {
        "invalid_query": [{"perRoom": 0}, {"rooms": ["x"]}, {"rooms": [room.id] * 51}, {"include": ["tea"]}],
        "invalid_cursor": [{"since": "x"}], "invalid_field": [{"since": 1}], "unknown_field": [{"limit": 1}]}
    of_queries = {
        "invalid_query": [{"perRoom": 0}, {"rooms": "x"}, {"include": "tea"}, {"limit": 1}], "invalid_cursor": [{"since": "x"}]}
    for code, options in of_messages.items():
        for each in options:
            with connect(anna, token=False) as stream:
                stream.authenticate(**each)
                ended(stream, code)
    for code, options in of_queries.items():
        for each in options:
            with connect(anna, **each) as stream:
                ended(stream, code)


def test_the_query_counts_for_what_the_first_message_does_not_say(anna, room):
    with connect(anna, token=False, include="room", rooms=room.id) as stream:
        stream.authenticate()
        assert [item["type"] for item in stream.page()["items"]] == ["room"]
    with connect(anna, token=False, include="room") as stream:
        stream.authenticate(include=["account"])
        assert [item["type"] for item in stream.page()["items"]] == ["account"]


def test_a_cursor_of_another_log(anna, own_world):
    cursor = SyncClient(own_world.user("Anna")).page()["cursor"]
    with connect(anna, since=cursor) as stream:
        ended(stream, "cursor_unknown")


# MARK: Following


def test_changes_reach_the_streams_of_all_whom_they_concern(world, anna, ben, room):
    carla = world.user("Carla")
    clients = [live(person.again()) for person in (anna, ben, carla)]
    id = anna.send(room, "first")["id"]
    anna.patch(room.message(id), {"text": "second"})
    ben.put(f"{room.message(id)}/reactions/%F0%9F%8D%B5")
    anna.put(f"{room.path}/members/{carla.id}")
    anna.patch(room.path, {"name": "Coffee"})
    carla.send(room, "hello")
    ben.patch("/v1/me", {"nickname": "Benjamin"})
    anna.delete(f"{room.path}/members/{ben.id}")
    for client in clients:
        client.check()


def test_a_client_resumes_without_a_gap_and_without_a_repetition(anna, ben, room):
    drop_and_resume(anna, room, live(ben), live(ben.again()))


def test_filters(anna, ben, room):
    other = anna.room("Other", ben)
    with connect(ben, token=False) as stream:
        stream.authenticate(rooms=[other.id], include=["message"], since=cursor_of(ben))
        stream.ready()
        anna.send(room, "elsewhere")
        anna.send(other, "here")
        page = stream.page()
        assert [item["type"] for item in page["items"]] == ["message"] and messages_of(page["items"]) == ["here"]


def test_with_aiohttp(anna, ben, room):
    cursor = cursor_of(ben)

    async def follow() -> None:
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{ben.server.url}{SOCKET}") as stream:
            await stream.send_json({"type": "authenticate", "token": ben.token, "since": cursor})
            assert (await stream.receive_json())["type"] == "ready"
            path = room.message(new_id())
            await stream.send_json({"type": "command", "id": "1", "method": "PUT", "path": path, "body": {"text": "tea"}})
            messages = {}
            while not {"response", "sync"} <= messages.keys():
                message = await stream.receive_json()
                messages[message.get("type", "sync")] = message
            response = messages["response"]
            assert (response["id"], response["status"], response["body"]["text"]) == ("1", 201, "tea")
            assert messages_of(messages["sync"]["items"]) == ["tea"]
            await stream.close()
            assert stream.close_code == 1000

    asyncio.run(asyncio.wait_for(follow(), 60))


# MARK: Renewal


def test_renewal_with_a_token_of_the_same_session(world, anna, stream, room):
    refreshed = world.nobody.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
    stream.authenticate(refreshed["accessToken"])
    stream.ready()
    assert stream.command("PUT", room.message(new_id()), {"text": "after"})["text"] == "after"
    # An order: what follows a renewal is done after it.
    stream.authenticate(refreshed["accessToken"])
    first = stream.begin("PUT", room.message(new_id()), {"text": "at once"})
    stream.ready()
    assert stream.response(first).status_code == 201


@pytest.mark.parametrize("whose", ["another user's", "another session's", "none"])
def test_renewal_with_another_token_ends_the_stream(world, anna, ben, stream, whose):
    other = world.acting_as(anna.id).post("/v1/sessions", {})["accessToken"]
    stream.authenticate({"another user's": ben.token, "another session's": other, "none": "x"}[whose])
    ended(stream, "access_token_invalid")


def test_a_renewal_has_only_the_token(anna, stream):
    stream.authenticate(include=["message"])
    ended(stream, "invalid_field")


@pytest.fixture
def brief(tmp_path):
    """A server with tokens that are valid for three seconds."""
    server = Server(tmp_path / "data", "--access-token-lifetime=3").start()
    yield World(server)
    server.end()


def test_a_stream_ends_when_its_token_expires_unless_it_is_renewed(brief):
    anna, ben = brief.users("Anna", "Ben")
    with connect(anna) as ends, connect(ben) as renewed:
        tokens = ben.tokens
        for _ in range(3):
            first = renewed.ready()["expiresAt"]
            assert renewed._kept(lambda frame: frame.name == "expiring").data["expiresAt"] == first
            tokens = brief.nobody.post("/v1/sessions/refresh", {"refreshToken": tokens["refreshToken"]})
            renewed.authenticate(tokens["accessToken"])
        assert renewed.ready()["expiresAt"] > first
        # The first of these tokens is long over.
        renewed.authenticate()
        ended(renewed, "access_token_expired")
        end = ended(ends, "access_token_expired")
        assert "resumeAfterMilliseconds" not in end


# MARK: Commands


def without(receipt: dict, *names: str) -> dict:
    return {name: value for name, value in receipt.items() if name not in names}


def test_a_receipt_is_that_of_a_request(anna, stream, room):
    varying = ("id", "position", "createdAt", "sentAt", "revision")
    for number, body in enumerate(({"text": "täa ☕"}, {"text": "with data", "type": "a.b", "data": {"x": [1, None, "é"]}})):
        over_http = anna.put(room.message(new_id()), body)
        assert without(stream.command("PUT", room.message(new_id()), body), *varying) == without(over_http, *varying)
    # A repeat has the receipt of the first.
    id = new_id()
    first = stream.command("PUT", room.message(id), {"text": "once"})
    assert stream.command("PUT", room.message(id), {"text": "once"}, expect=200) == first
    assert anna.send(room, "once", id, expect=200) == first
    stream.refused("id_in_use", "PUT", room.message(id), {"text": "twice"})


def test_all_methods(anna, stream, room):
    id = new_id()
    assert stream.command("POST", "/v1/rooms", {"id": id, "name": "New"})["id"] == id
    assert stream.command("PATCH", f"/v1/rooms/{id}", {"topic": "tea"})["topic"] == "tea"
    assert stream.command("PUT", f"/v1/rooms/{id}/messages/{id}", {"text": "x"})["id"] == id
    stream.command("DELETE", f"/v1/rooms/{id}/messages/{id}")
    assert anna.get(f"/v1/rooms/{id}/messages/{id}")["deletedAt"] is not None


def test_keys_and_preconditions(stream, room):
    key, body = new_id(), {"name": "Once"}
    first = stream.command("POST", "/v1/rooms", body, key=key)
    assert stream.command("POST", "/v1/rooms", body, key=key, expect=200) == first
    stream.refused("idempotency_key_reused", "POST", "/v1/rooms", {"name": "Other"}, key=key)
    path, revision = f"/v1/rooms/{first['id']}", f'"{first["revision"]}"'
    stream.command("PATCH", path, {"topic": "a"}, if_match=revision)
    stream.refused("revision_mismatch", "PATCH", path, {"topic": "b"}, if_match=revision)
    stream.refused("invalid_if_match", "PATCH", path, {"topic": "b"}, if_match="x")
    stream.refused("invalid_idempotency_key", "POST", "/v1/rooms", body, key="x" * 256)


def test_problems(world, anna, stream, room):
    other = world.user("Other").room("Other")
    stream.refused("room_not_found", "PUT", other.message(new_id()), {"text": "x"})
    stream.refused("empty_text", "PUT", room.message(new_id()), {"text": ""})
    stream.refused("unknown_field", "PUT", room.message(new_id()), {"text": "x", "colour": "red"})
    stream.refused("invalid_field", "PUT", room.message(new_id()), {"text": 1})
    stream.refused("invalid_id", "PUT", room.message("x"), {"text": "x"})
    stream.refused("invalid_query", "PUT", room.message(new_id()) + "?x=1", {"text": "x"})
    stream.refused("service_only", "POST", f"/v1/admin/users/{anna.id}/disable")
    body = stream.refused("invalid_json", "PUT", room.message(new_id()))
    assert body["requestId"]


def test_commands_are_performed_in_their_order(anna, ben, room):
    for count in (50, 5 * COMMANDS_IN_FLIGHT):
        with connect(ben.again()) as stream:
            ids = [stream.begin("PUT", room.message(new_id()), {"text": f"{number}"}) for number in range(count)]
            responses = [stream.response(id) for id in ids]
            assert {response.status_code for response in responses} == {201}
            positions = [response.body["position"] for response in responses]
            assert positions == sorted(positions)
            texts = [message["text"] for message in timeline(ben, room.id, down_to=positions[0])]
            assert texts[-count:] == [f"{number}" for number in range(count)]


def test_a_command_that_depends_on_the_one_before(stream):
    id, message = new_id(), new_id()
    commands = [
        stream.begin("POST", "/v1/rooms", {"id": id, "name": "Tea"}),
        stream.begin("PUT", f"/v1/rooms/{id}/messages/{message}", {"text": "first"}),
        stream.begin("PATCH", f"/v1/rooms/{id}/messages/{message}", {"text": "second"}),
        stream.begin("DELETE", f"/v1/rooms/{id}/messages/{message}"),
    ]
    assert [stream.response(each).status_code for each in commands] == [201, 201, 200, 200]


MALFORMED = {
    "GET": ({"method": "GET"}, "method_not_allowed"),
    "HEAD": ({"method": "HEAD"}, "method_not_allowed"),
    "lower case": ({"method": "put"}, "method_not_allowed"),
    "no method": ({"method": None}, "invalid_field"),
    "unknown field": ({"colour": "red"}, "unknown_field"),
    "unknown path": ({"path": "/v1/nothing"}, "route_not_found"),
    "a URL": ({"path": "http://example.org/v1/rooms"}, "invalid_field"),
    "another path": ({"path": "*"}, "invalid_field"),
    "no path": ({"path": ""}, "invalid_field"),
    "space": ({"path": "/v1/rooms HTTP/1.1"}, "invalid_field"),
    "line break": ({"path": "/v1/rooms\r\nX: y"}, "invalid_field"),
    "not ASCII": ({"path": "/v1/räume"}, "invalid_field"),
    "long path": ({"path": "/v1/rooms?x=" + "x" * 8192}, "target_too_long"),
    "ingest": ({"path": "/v1/ingest", "method": "POST"}, "unsupported_media_type"),
    "ingest, slashes": ({"path": "//v1//ingest/?x=1", "method": "POST"}, "unsupported_media_type"),
    "media": ({"path": "/v1/media", "method": "POST"}, "unsupported_media_type"),
    "line break in a header": ({"headers": {"Idempotency-Key": "x\r\nAuthorization: Bearer y"}}, "invalid_field"),
    "other header": ({"headers": {"Authorization": "Bearer x"}}, "unknown_field"),
    "headers": ({"headers": "x"}, "invalid_field"),
    "body is a text": ({"body": "x"}, "invalid_field"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_command_has_a_response(stream, room, name):
    wrong, code = MALFORMED[name]
    command = {"id": "1", "method": "PUT", "path": room.message(new_id()), "body": {"text": "x"}}
    response = stream.malformed(command | wrong)
    assert (response.status_code, response.body["code"]) == (documented_codes()[code], code), response.body
    # The stream goes on.
    stream.command("PUT", room.message(new_id()), {"text": "after"})


@pytest.mark.parametrize("path", ["/v1/med%69a", "/v1/inges%74", "/v1/./media", "/v1/x/../media", "/v1/media%2F"])
def test_no_path_leads_around_what_commands_cannot_do(stream, path):
    response = stream.malformed({"id": "1", "method": "POST", "path": path, "body": {"text": "x"}})
    assert response.status_code in (404, 415), response


@pytest.mark.parametrize("id", [None, "", "x" * (COMMAND_ID_BYTES + 1), "é" * (COMMAND_ID_BYTES // 2 + 1)])
def test_a_command_without_a_possible_id(stream, room, id):
    stream.send({"type": "command", "id": id, "method": "PUT", "path": room.message(new_id()), "body": {"text": "x"}})
    assert stream.response(None).body["code"] == "invalid_field"


def test_the_longest_id_of_a_command(stream, room):
    id = "é" * (COMMAND_ID_BYTES // 2)
    for _ in range(2):
        assert stream.command("PUT", room.message(new_id()), {"text": "x"}, id=id)["text"] == "x"


def test_a_body_that_is_too_large(stream, room):
    text = "x" * (128 * 1024 + 1)
    stream.refused("body_too_large", "PUT", room.message(new_id()), {"text": text})
    stream.refused("text_too_long", "PUT", room.message(new_id()), {"text": "x" * (128 * 1024 - len('{"text":""}'))})


@pytest.fixture
def limited(tmp_path):
    """A server with a limit for the requests of a user."""
    environment = {"HANSARD_RATE_LIMITS_USER_REQUESTS": f"{USER_REQUESTS}", "HANSARD_RATE_LIMITS_USER_SECONDS": "1000"}
    server = Server(tmp_path / "data", environment=environment).start()
    yield World(server)
    server.end()


def test_rate_limits(limited):
    carla = limited.user("Carla")
    path = carla.room().path
    with connect(carla) as stream:
        stream.ready()
        ids = [stream.begin("PUT", f"{path}/messages/{new_id()}", {"text": "x"}) for _ in range(60)]
        responses = [stream.response(id) for id in ids]
        statuses = [response.status_code for response in responses]
        assert set(statuses) == {201, 429} and statuses == sorted(statuses)
        refused = responses[-1]
        assert refused.body["code"] == "rate_limited" and int(refused.headers["Retry-After"]) > 0
        refused_before = statuses.count(429)
        # How many count already is unknown: a success that was slower than a rejection begins the count again.
        with contextlib.suppress(ConnectionClosed):
            for _ in range(REFUSED_IN_A_ROW):
                stream.begin("DELETE", path)
        assert ended(stream, "too_many_commands").get("resumeAfterMilliseconds") is None
        rejected = [response for response in stream.responses.values() if response.status_code == 429]
        assert refused_before + len(rejected) >= REFUSED_IN_A_ROW


def test_malformed_commands_count_like_requests(limited):
    dora = limited.user("Dora")
    with connect(dora) as stream:
        stream.ready()
        kinds = [({}, "invalid_field"), ({"method": "GET", "path": "/v1/me"}, "method_not_allowed")]
        for number in range(USER_REQUESTS + 1):
            fields, code = kinds[number % len(kinds)]
            response = stream.malformed({"id": f"{number}"} | fields)
            assert response.body["code"] in (code, "rate_limited")
        assert response.body["code"] == "rate_limited" and int(response.headers["Retry-After"]) > 0
        dora.refused("rate_limited", "GET", "/v1/me")


def test_many_malformed_commands_in_a_row_end_the_stream(stream, room):
    for number in range(REFUSED_IN_A_ROW - 1):
        stream.malformed({"id": f"{number}"})
    # This one begins the count again.
    stream.command("PUT", room.message(new_id()), {"text": "x"})
    for number in range(REFUSED_IN_A_ROW - 1):
        stream.malformed({"id": f"{number}"})
    stream.send({"type": "command", "id": "last", "method": "GET", "path": "/v1/me"})
    ended(stream, "too_many_commands")


@pytest.mark.parametrize("opcode", [websocket.PING, websocket.PONG])
def test_many_pings_and_pongs_end_the_stream(stream, room, opcode):
    frame = websocket.encode(opcode, b"")
    stream.connection.socket.sendall(frame * CONTROL_FRAMES)
    stream.command("PUT", room.message(new_id()), {"text": "x"})
    # The server can close before it has all of them.
    with contextlib.suppress(OSError):
        stream.connection.socket.sendall(frame * (3 * CONTROL_FRAMES))
    ended(stream, "too_many_commands")


# MARK: Messages that mean nothing


@pytest.mark.parametrize("message", [
    "", "x", "[]", "1", "null", '"x"', "{}", '{"type":1}', '{"type":"tea"}', '{"type":"command"', '{"type":"response","id":"1"}',
    b"{}", b"",
])
def test_a_message_that_means_nothing_ends_the_stream(stream, message):
    stream.send(message)
    ended(stream, "invalid_frame")


def test_a_command_before_authentication_ends_the_stream(anna, room):
    for command in ({"method": "PUT", "path": room.path}, {"x": 1}):
        with connect(anna, token=False) as stream:
            stream.send({"type": "command", "id": "1"} | command)
            ended(stream, "access_token_missing")


def padded(size: int) -> str:
    command = json.dumps({"type": "command", "id": "1", "method": "GET", "path": "/v1/me"})
    return command + " " * (size - len(command))


def test_the_size_of_a_message(stream):
    stream.send(padded(MESSAGE_BYTES))
    assert stream.response("1").body["code"] == "method_not_allowed"
    stream.send(padded(MESSAGE_BYTES + 1))
    ended(stream, "frame_too_large")


def test_the_fragments_of_a_message(stream):
    message = padded(FRAGMENTS)
    # The library ends a message with an empty frame.
    stream.connection.send(itertools.chain(message[:FRAGMENTS - 1]))
    assert stream.response("1").body["code"] == "method_not_allowed"
    # The server closes before it has the last fragment.
    with contextlib.suppress(ConnectionClosed):
        stream.connection.send(itertools.chain(padded(2 * FRAGMENTS)))
    ended(stream, "websocket_malformed")


def test_a_text_that_is_not_utf_8(stream):
    stream.connection.send(b'{"type":"\xff"}', text=True)
    ended(stream, "invalid_utf8")


def test_a_client_that_closes(stream):
    stream.connection.close()
    assert stream.close_code == 1000


# MARK: Origins, and requests that do not become a WebSocket

HANDSHAKE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


@pytest.mark.parametrize("origin", [APP, "http://{host}", "https://{host}"])
def test_an_allowed_origin(anna, origin):
    origin = origin.format(host=f"127.0.0.1:{anna.server.port}")
    with connect(anna, headers={"Origin": origin}) as stream:
        stream.ready()


@pytest.mark.parametrize("origin", [EVIL, "null", "", "http://127.0.0.1", f"{APP}.evil.example.org"])
def test_an_origin_that_is_not_allowed(anna, origin):
    with pytest.raises(InvalidStatus) as refused:
        connect(anna, headers={"Origin": origin})
    problem = json.loads(refused.value.response.body)
    assert (refused.value.response.status_code, problem["code"]) == (403, "origin_not_allowed")


@pytest.mark.parametrize("origins", [
    (APP, EVIL), (EVIL, APP), (f"{APP}, {EVIL}",), (f"{APP}:444",), (f"{APP}.",), (APP.upper(),), (APP.replace("//", "//sub."),),
    (APP.replace("https", "http"),), (f"{APP}@evil.example.org",), ("NULL",), ("*",),
], ids=lambda origins: " ".join(origins))
@pytest.mark.parametrize("path", [SOCKET, "/socket.io/?EIO=4&transport=websocket"], ids=["socket", "socket.io"])
def test_fields_that_only_resemble_an_allowed_origin(server, path, origins):
    fields = "".join(f"Origin: {origin}\r\n" for origin in origins)
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS) as connection:
        connection.sendall(websocket.upgrade(path, more=fields))
        assert connection.recv(65536).startswith(b"HTTP/1.1 403 ")


def test_requests_that_do_not_become_a_websocket(world, anna):
    nobody = world.nobody
    response = nobody.request("GET", SOCKET)
    assert (response.status_code, response.json()["code"]) == (426, "upgrade_required")
    assert (response.headers["Upgrade"], response.headers["Sec-WebSocket-Version"]) == ("websocket", "13")
    nobody.refused("upgrade_required", "GET", SOCKET, headers=HANDSHAKE | {"Sec-WebSocket-Version": "8"})
    for wrong in ({"Sec-WebSocket-Key": "x"}, {"Sec-WebSocket-Key": None}, {"Upgrade": "h2c"}):
        headers = {name: value for name, value in (HANDSHAKE | wrong).items() if value is not None}
        nobody.refused("websocket_malformed", "GET", SOCKET, headers=headers)
    nobody.refused("origin_not_allowed", "GET", SOCKET, headers=HANDSHAKE | {"Origin": "https://evil.example.org"})
    nobody.refused("invalid_query", "GET", SOCKET + "?x=1")
    assert requests.post(nobody.server.url + SOCKET, timeout=60).status_code == 405
    # Elsewhere, the field changes nothing but that the connection ends.
    response = anna.request("GET", "/v1/me", headers=HANDSHAKE)
    assert response.status_code == 200 and response.headers["Connection"] == "close"


# MARK: The end


@pytest.mark.parametrize("how", ENDINGS)
def test_a_stream_ends_with_its_permission(world, how):
    anna, stays = with_device(world), live(world.user("Other"))
    client = live(anna.again())
    ENDINGS[how](world, anna)
    end = ended(client.stream, how.split(",")[0])
    assert "resumeAfterMilliseconds" not in end and client.stream.close_code == POLICY
    with connect(anna, since=client.cursor) as stream:
        ended(stream, "session_ended")
    stays.check()


def test_a_command_that_ends_its_own_session_has_a_response(anna, stream):
    stream.command("DELETE", f"/v1/sessions/{own_session(anna)}")
    ended(stream, "session_ended")


def test_a_server_that_stops(own_world):
    """Each command that was performed has a response, and no other."""
    anna, ben = own_world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    client, writer = live(anna.again()), connect(ben.again())
    writer.ready()
    ids = [writer.begin("PUT", room.message(new_id()), {"text": f"{number}"}) for number in range(200)]
    writer.response(ids[0])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        stopped = pool.submit(own_world.server.stop)
        for stream in (client.stream, writer):
            end = ended(stream, "shutting_down")
            assert 0 <= end["resumeAfterMilliseconds"] <= RESUME_MILLISECONDS and stream.close_code == 1001
        stopped.result()
    own_world.server.start()
    answered = [writer.responses[id].body["text"] for id in ids if id in writer.responses]
    assert [message["text"] for message in timeline(ben, room.id)] == ["0", *answered]
    client.items.clear()
    client.connect().check()


def test_a_server_that_is_killed_loses_nothing_that_was_sent(own_world):
    anna, ben = own_world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    client, writer = live(ben), connect(anna.again())
    sent = [writer.command("PUT", room.message(new_id()), {"text": f"{number}"})["text"] for number in range(20)]
    client.page()
    own_world.server.kill()
    with pytest.raises((ConnectionClosed, StreamEnded)):
        while True:
            client.stream.frame()
    own_world.server.start()
    sent.append(anna.send(room, "after")["text"])
    client.connect().check()
    assert sorted(messages_of(client.items)) == sorted(sent)


def test_a_user_has_a_limited_number_of_streams(world, anna):
    streams = [connect(anna) for _ in range(STREAMS_OF_USER)]
    for stream in streams:
        stream.ready()
    with connect(anna) as stream:
        # The client only has to wait, so it learns how long.
        assert ended(stream, "too_many_streams")["resumeAfterMilliseconds"] >= 1000
    streams.pop().close()

    def opens() -> bool:
        with connect(anna) as stream:
            return stream.frame().name == "ready"

    wait_until(opens, "a closed stream still counts")
    for stream in streams:
        stream.close()


def test_a_client_that_does_not_read(stalled):
    stream, sent, end_of_patience = stalled
    time.sleep(max(end_of_patience - time.monotonic(), 0))
    # A small buffer would make the kernel wait for a timer after every few kilobytes.
    stream.connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
    received, cursor = [], None
    try:
        while True:
            page = stream.page()
            received += messages_of(page["items"])
            cursor = page["cursor"]
    except StreamEnded as failure:
        end = failure.end
        assert end["code"] == "reader_too_slow" and 0 <= end["resumeAfterMilliseconds"] <= RESUME_MILLISECONDS
    except ConnectionClosed:
        # A client that still does not read after the end is cut.
        pass
    assert len(received) < len(sent)
    client = LiveClient(stream.api, open=open_socket, cursor=cursor).connect()
    client.reach(mark(client.api.again()))
    assert received + messages_of(client.items) == sent


def test_a_client_that_does_not_authenticate(silent):
    ended(silent, "authentication_timeout")
