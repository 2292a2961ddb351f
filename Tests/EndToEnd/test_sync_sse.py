"""`GET /v1/sync/stream`: server-sent events bring every change once and in order, and say why they end."""

import socket
import ssl

import httpx
import pytest
import requests

from harness import certificates
from harness.client import TIMEOUT_SECONDS, Api, new_id
from harness.http2 import Http2
from harness.live_streams import (
    STREAM, EventStream, LiveClient, mark, open_all, open_events, open_events_over_http2, refused)
from harness.long_polls import STREAMS_OF_USER
from harness.mirror import SyncClient
from harness.people import PASSWORD, Person, World
from harness.server import UNLIMITED, Server
from harness.shifted_clock import ShiftedClock
from harness.sync_changes import BLOCKED, CHANGES, SyncScenario
from harness.waiting import wait_until

APP = "https://app.example.org"
TICKETS = "/v1/sync/tickets"
STREAMS_OF_DEVICE = 8
RESUME_MILLISECONDS = 10_000
# Less than a jump of the clock that the server does not trust at once.
TOKEN_SECONDS = 240
# A stream is told this long before its token expires.
NOTICE_SECONDS = 60
MESSAGE_BYTES = 16 * 1024
# More than fits into all buffers between the server and a client that reads nothing.
UNREAD_MESSAGES = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    environment = UNLIMITED | {"HANSARD_CROSS_ORIGIN_ORIGINS": APP}
    server = Server(tmp_path_factory.mktemp("shared") / "data", environment=environment).start()
    yield server
    server.end()


def live(api: Api, **query) -> LiveClient:
    """A client that has the current state, and follows."""
    return LiveClient(api, query=query).begin()


def messages_of(items: list[dict]) -> list[str]:
    return [item["message"]["text"] for item in items if item["type"] == "message" and not item.get("removed")]


def ticket_of(api: Api) -> str:
    return api.post(TICKETS, expect=200)["ticket"]


# MARK: Following


def test_the_current_state_and_then_what_happens(anna, ben, room):
    anna.send(room, "before")
    client = LiveClient(ben).connect()
    assert client.stream.frame().name == ": open"
    client.page()
    assert messages_of(client.items) == ["before"]
    for number in range(5):
        sent = anna.send(room, f"message {number}")
        page = client.page()
        assert messages_of(page["items"]) == [f"message {number}"]
        assert client.position >= sent["position"]
    client.check()


def test_every_change_reaches_the_streams_of_all_whom_it_concerns(world):
    people = world.users("Anna", "Ben", "Carla")
    clients = [live(person.again()) for person in people]
    scenario = SyncScenario(world, *people)
    for change in CHANGES.values():
        try:
            change(scenario)
        except AssertionError:
            # It is not possible any more, or changes nothing. The users are the same in all scenarios.
            for person in people:
                for other in people:
                    person.request("DELETE", f"{BLOCKED}/{other.id}")
            scenario = SyncScenario(world, *people)
            for client in clients:
                client.follow()
            change(scenario)
        for client in clients:
            client.follow()
    for client in clients:
        client.check()
        assert SyncClient(client.api, client.cursor).catch_up() == []


def test_nothing_reaches_users_whom_it_does_not_concern(world, anna, room):
    other = live(world.user("Other"))
    anna.send(room, "hello")
    position = mark(other.api)
    page = other.page()
    assert {item["type"] for item in page["items"]} == {"device"}
    assert other.position >= position


def test_filters(world):
    scenario = SyncScenario(world)
    client = live(scenario.ben, rooms=scenario.private.id, include="message,device")
    assert messages_of(client.items) == ["for members"]
    scenario.anna.send(scenario.room, "elsewhere")
    scenario.anna.send(scenario.private, "here")
    assert [item["type"] for item in client.page()["items"]] == ["message"]
    client.reach(mark(scenario.ben))
    assert messages_of(client.items) == ["for members", "here"]
    assert {item["type"] for item in client.items} == {"message", "device"}


def test_a_gap_leads_to_what_a_page_leaves_out(anna, ben, room):
    client = live(ben, perRoom=2)
    client.drop()
    for number in range(5):
        anna.send(room, f"message {number}")
    client.connect().page()
    assert messages_of(client.items) == ["message 3", "message 4"]
    client.check()


@pytest.mark.parametrize(("name", "value"), [
    ("limit", 10), ("wait", 1), ("perRoom", 0), ("perRoom", 201), ("rooms", "x"), ("include", "tea"),
])
def test_bad_queries_are_refused(anna, name, value):
    refused(anna, "invalid_query", **{name: value})


def test_a_bad_cursor_is_refused_before_the_stream_begins(anna, own_world):
    cursor = SyncClient(own_world.user("Anna")).page()["cursor"]
    for headers, query in (({}, {"since": cursor}), ({"Last-Event-ID": cursor}, {})):
        refused(anna, "cursor_unknown", headers, **query)
    refused(anna, "invalid_cursor", since="")
    refused(anna, "invalid_cursor", {"Last-Event-ID": "x"}, since=SyncClient(anna).page()["cursor"])


def test_a_service_follows_as_a_user(world, anna, room):
    service = world.acting_as(anna.id)
    client = live(service)
    anna.send(room, "hello")
    client.check()
    refused(world.admin, "acting_user_required")
    refused(world.nobody, "access_token_missing")


# MARK: Resuming


@pytest.mark.parametrize("how", ["since", "last_event_id", "both"])
def test_a_client_resumes_without_a_gap_and_without_a_repetition(anna, ben, room, how):
    def resume(api: Api, cursor: str | None, **query) -> EventStream:
        newest = {"last_event_id": cursor} if how != "since" else {"since": cursor}
        # What a browser began with is older than what it has now.
        return open_events(api, **newest, **({"since": began} if how == "both" else {}), **query)

    stays, drops = live(ben), live(ben.again())
    began, drops.open = drops.cursor, resume
    drop_and_resume(anna, room, stays, drops)


def drop_and_resume(sender, room, stays: LiveClient, drops: LiveClient) -> None:
    """One client stays while the other drops and resumes again and again. Both get each message once and in order."""
    sent = []
    for number in range(12):
        sent.append(sender.send(room, f"message {number}")["text"])
        if number % 3 == 0:
            drops.drop()
        if number % 3 == 2:
            drops.connect().page()
    for client in (stays, drops):
        client.check()
        assert messages_of(client.items) == sent


def test_an_interrupted_current_state_continues(anna, ben):
    rooms = [anna.room(f"Room {number}", ben) for number in range(25)]
    for room in rooms:
        for number in range(8):
            anna.send(room, f"message {number}")
    client = LiveClient(ben)
    while True:
        more = client.connect().page()["more"]
        client.drop()
        anna.send(rooms[0], "meanwhile")
        if not more:
            break
    client.connect().check()


def test_a_slow_reader_delays_nobody_and_misses_nothing(anna, ben, room):
    slow = LiveClient(ben, open=lambda *all, **query: open_events(*all, receive_bytes=4096, **query)).begin()
    fast = live(ben.again())
    sent = [f"{number} {'x' * MESSAGE_BYTES}"[:MESSAGE_BYTES] for number in range(UNREAD_MESSAGES)]
    for start in range(0, UNREAD_MESSAGES, UNREAD_MESSAGES // 10):
        results = anna.ingest([{"op": "message.send", "roomId": room.id, "id": new_id(), "text": text}
                               for text in sent[start:start + UNREAD_MESSAGES // 10]])
        fast.reach(results[-1]["position"])
    assert messages_of(fast.items) == sent
    slow.page()
    assert len(messages_of(slow.items)) < len(sent)
    # The rest of the page that was being sent is lost with the connection, and comes again.
    slow.drop()
    slow.connect().reach(fast.position)
    assert messages_of(slow.items) == sent


# MARK: Tickets


def test_a_ticket_opens_one_stream_as_its_user(world, anna, room):
    ticket = ticket_of(anna)
    nobody = world.nobody
    client = LiveClient(nobody, query={"ticket": ticket}).connect()
    client.page()
    anna.send(room, "hello")
    assert messages_of(client.page()["items"]) == ["hello"]
    refused(nobody, "ticket_invalid", ticket=ticket)
    service = ticket_of(world.acting_as(anna.id))
    assert LiveClient(nobody, query={"ticket": service}).connect().page()["items"]
    # A browser that connects again by itself sends the same ticket. Its page then needs a new one, and resumes.
    client.drop()
    anna.send(room, "meanwhile")
    client.query = {"ticket": ticket_of(anna)}
    client.connect().page()
    assert messages_of(client.items) == ["hello", "meanwhile"]


def test_what_is_no_ticket(world, anna):
    nobody = world.nobody
    for ticket in ("", "x", "A" * 22, anna.token):
        refused(nobody, "ticket_invalid", ticket=ticket)
    # The header wins, and the ticket remains.
    ticket = ticket_of(anna)
    open_events(anna, ticket=ticket).close()
    open_events(nobody, ticket=ticket).close()
    # A request that fails uses its ticket up.
    ticket = ticket_of(anna)
    refused(nobody, "invalid_cursor", ticket=ticket, since="x")
    refused(nobody, "ticket_invalid", ticket=ticket)
    # It is of no use elsewhere.
    nobody.refused("access_token_missing", "GET", "/v1/sync", params={"ticket": ticket_of(anna)})
    nobody.refused("access_token_missing", "POST", TICKETS)
    world.admin.refused("acting_user_required", "POST", TICKETS)


def test_a_ticket_is_as_valid_as_its_session(world, anna):
    tickets = [ticket_of(anna) for _ in range(2)]
    world.nobody.refused("access_token_missing", "DELETE", "/v1/sessions")
    anna.again().delete(f"/v1/sessions/{anna.get('/v1/sessions')['sessions'][0]['id']}")
    refused(world.nobody, "session_ended", ticket=tickets[0])
    anna.refused("session_ended", "POST", TICKETS)


# MARK: The end


def with_device(world: World) -> Person:
    """A user whose session belongs to a device."""
    device = new_id()
    anna = world.user("Anna", deviceId=device)
    mark(anna, device)
    return anna


def own_session(person: Person) -> str:
    return next(each["id"] for each in person.get("/v1/sessions")["sessions"] if each["isCurrent"])


ENDINGS = {
    "session_ended, logged out": lambda world, anna: anna.delete(f"/v1/sessions/{own_session(anna)}"),
    "session_ended, device removed": lambda world, anna: anna.delete(
        f"/v1/devices/{anna.get('/v1/devices')['devices'][0]['id']}"),
    "session_ended, by a service": lambda world, anna: world.admin.delete(f"/v1/admin/users/{anna.id}/sessions"),
    "account_disabled": lambda world, anna: world.admin.post(f"/v1/admin/users/{anna.id}/disable"),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_a_stream_ends_with_its_permission(world, how):
    anna, stays = with_device(world), live(world.user("Other"))
    client = live(anna.again())
    ENDINGS[how](world, anna)
    frame = client.stream.last_frame()
    assert frame.data["code"] == how.split(",")[0]
    assert "resumeAfterMilliseconds" not in frame.data and frame.retry is None
    # The end of an account also ends its sessions.
    refused(anna, "session_ended", since=client.cursor)
    stays.check()


def test_a_new_password_ends_the_streams_of_the_other_sessions(world):
    anna = world.account("Anna")
    other = Api(world.server, world.acting_as(anna.id).post("/v1/sessions", {})["accessToken"])
    ends, stays = live(other), live(anna)
    anna.again().put("/v1/me/password", {"currentPassword": PASSWORD, "newPassword": "another kettle on the hob"})
    assert ends.stream.last_frame().data["code"] == "session_ended"
    stays.check()


def test_a_stream_ends_when_its_token_expires(tmp_path):
    clock = ShiftedClock(tmp_path)
    environment = UNLIMITED | clock.environment
    server = Server(tmp_path / "data", f"--access-token-lifetime={TOKEN_SECONDS}", environment=environment).start()
    try:
        client = live(World(server).user("Anna"))
        clock.shift(wall=TOKEN_SECONDS - NOTICE_SECONDS)
        assert client.stream.frame().name == "expiring"
        clock.shift(wall=TOKEN_SECONDS)
        frame = client.stream.last_frame()
        assert frame.data["code"] == "access_token_expired" and "resumeAfterMilliseconds" not in frame.data
    finally:
        server.end()


def test_a_server_that_stops_says_when_to_resume(own_world):
    anna, ben = own_world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    clients = [live(person.again()) for person in (anna, ben)]
    own_world.server.stop()
    for client in clients:
        frame = client.stream.last_frame()
        assert frame.data["code"] == "shutting_down"
        assert 0 <= frame.data["resumeAfterMilliseconds"] <= RESUME_MILLISECONDS
    own_world.server.start()
    anna.send(room, "after")
    for client in clients:
        client.connect().check()


def test_a_server_that_is_killed_loses_nothing_that_was_sent(own_world):
    anna, ben = own_world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    client = live(ben)
    sent = [anna.send(room, f"message {number}")["text"] for number in range(20)]
    client.page()
    own_world.server.kill()
    client.drop()
    own_world.server.start()
    sent.append(anna.send(room, "after")["text"])
    client.connect().check()
    assert messages_of(client.items) == sent


# MARK: Limits


def test_a_user_has_a_limited_number_of_streams(world, anna):
    streams = open_all(anna)
    refused(anna, "too_many_streams")
    # A service has streams of its own users only, and another user has others.
    refused(world.acting_as(anna.id), "too_many_streams")
    open_events(world.user("Other")).close()
    for stream in streams:
        stream.close()
    streams = open_all(anna)
    refused(anna, "too_many_streams")
    for stream in streams:
        stream.close()


def test_a_device_has_a_limited_number_of_streams(world):
    anna = with_device(world)
    streams = open_all(anna, STREAMS_OF_DEVICE)
    refused(anna, "too_many_streams")
    streams[0].close()
    streams += open_all(anna, 1) + open_all(world.acting_as(anna.id), 1)
    for stream in streams:
        stream.close()


def test_head_opens_no_stream(server, anna):
    token = {"Authorization": f"Bearer {anna.token}"}
    with open_events(anna) as stream:
        shown = stream.response.headers
    for _ in range(STREAMS_OF_USER + 1):
        head = requests.head(server.url + STREAM, headers=token, timeout=60)
        assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Type", "Cache-Control", "X-Accel-Buffering"):
        assert head.headers[name] == shown[name]
    assert (head.headers["Content-Type"], head.headers["X-Accel-Buffering"]) == ("text/event-stream", "no")
    for stream in open_all(anna):
        stream.close()


def test_head_ends_its_connection(anna, ben, room):
    message = new_id()
    head = f"Host: test\r\nAuthorization: Bearer {anna.token}\r\n"
    body = '{"text": "behind"}'
    behind = (f"PUT {room.message(message)} HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
              f"Content-Length: {len(body)}\r\n\r\n{body}")
    for after in ("", behind):
        with socket.create_connection(("127.0.0.1", anna.server.port), TIMEOUT_SECONDS) as connection:
            connection.sendall(f"HEAD {STREAM} HTTP/1.1\r\n{head}\r\n{after}".encode())
            received = b""
            while piece := connection.recv(65536):
                received += piece
        assert received.startswith(b"HTTP/1.1 200 ") and b"\r\nconnection: close\r\n" in received.lower(), received
        assert received.endswith(b"\r\n\r\n") and received.count(b"HTTP/1.1") == 1, received
    ben.refused("message_not_found", "GET", room.message(message))


# MARK: Browsers, TLS and HTTP/2


def test_a_page_of_an_allowed_origin_can_follow_and_resume(server, anna, room):
    names = "authorization,last-event-id,cache-control"
    preflight = requests.options(server.url + STREAM, timeout=60, headers={
        "Origin": APP, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": names})
    assert preflight.status_code == 204
    allowed = {name.strip().lower() for name in preflight.headers["Access-Control-Allow-Headers"].split(",")}
    assert {"authorization", "last-event-id"} <= allowed
    client = live(anna)
    stream = open_events(anna, last_event_id=client.cursor, headers={"Origin": APP})
    assert stream.response.headers["Access-Control-Allow-Origin"] == APP
    anna.send(room, "hello")
    assert messages_of(stream.page()["items"]) == ["hello"]
    for origin in ("https://evil.example.org", "null"):
        other = open_events(anna, headers={"Origin": origin})
        assert "Access-Control-Allow-Origin" not in other.response.headers
        other.close()


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    certificate = certificates.make(folder / "certificate")
    server = Server(
        folder / "data", environment=UNLIMITED | certificate.environment, authority=str(certificate.authority)).start()
    yield World(server)
    server.end()


def http2_client(world: World) -> httpx.Client:
    return httpx.Client(http2=True, verify=ssl.create_default_context(cafile=world.server.authority), timeout=60)


def test_an_unread_stream_does_not_delay_the_others_of_its_connection(secure):
    anna, ben = secure.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    with http2_client(secure) as http2:
        opening = open_events_over_http2(http2)
        unread, read = (LiveClient(ben.again(), open=opening).begin() for _ in range(2))
        sent = [anna.send(room, f"{number} {'x' * MESSAGE_BYTES}"[:MESSAGE_BYTES]) for number in range(60)]
        for client in (read, unread):
            client.reach(sent[-1]["position"])
            assert messages_of(client.items) == [message["text"] for message in sent]


def test_streams_of_http_2_that_are_reset_do_not_count(secure):
    anna = secure.user("Anna")
    with Http2(secure.server) as connection:
        for _ in range(2):
            streams = [connection.request(STREAM, ("authorization", f"Bearer {anna.token}")) for _ in range(STREAMS_OF_USER)]
            assert set(connection.statuses(len(streams)).values()) == {200}
            for stream in streams:
                connection.protocol.reset_stream(stream)
            connection.flush()
            wait_until(lambda: open_and_leave(anna), "the streams still count")


def open_and_leave(person: Person) -> bool:
    response = person.again().request("GET", STREAM, stream=True)
    response.close()
    return response.status_code == 200


def test_streams_over_tls_and_http_2(secure):
    anna, ben = secure.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    with http2_client(secure) as http2:
        opening = open_events_over_http2(http2)
        clients = [live(ben)] + [LiveClient(ben.again(), open=opening).begin() for _ in range(5)]
        for number in range(3):
            anna.send(room, f"message {number}")
        for client in clients:
            client.check()
            assert messages_of(client.items) == ["message 0", "message 1", "message 2"]
        clients[1].drop()
        anna.send(room, "meanwhile")
        clients[1].connect().check()
        ben.again().delete(f"/v1/sessions/{own_session(ben)}")
        for client in clients:
            assert client.stream.last_frame().data["code"] == "session_ended"
