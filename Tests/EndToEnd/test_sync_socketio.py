"""The sync and commands over Socket.IO, with the clients of PyPI's `python-socketio` and with packets of our own."""

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import queue

import pytest
import requests
import socketio
from websockets.exceptions import ConnectionClosed

from harness.client import new_id
from harness.engine import PATIENCE_SECONDS, SEPARATOR, Engine, closes, error, receive
from harness.people import World, timeline
from harness.server import UNLIMITED, Server
from harness.shifted_clock import ShiftedClock
from harness.sockets import wait_until_read
from harness.waiting import wait_until
from test_presence import notified, outcomes
from test_sync_socket import cursor_of
from test_sync_sse import NOTICE_SECONDS, RESUME_MILLISECONDS, TOKEN_SECONDS

PATH = "/socket.io/"
TRANSPORTS = {"polling": ["polling"], "websocket": ["websocket"], "upgrade": ["polling", "websocket"]}
EVENTS = ("sync", "typing", "presence", "expiring", "end", "connect_error", "disconnect")
REFUSED_IN_A_ROW = 100
# Limits.controlFrames
CONTROL_PACKETS = 1_000
COMMANDS = 200
APP, OTHER = "https://app.example.org", "https://evil.example.org"


def texts(page: dict) -> list[str]:
    return [item["message"]["text"] for item in page["items"] if item["type"] == "message"]


class ThreadClient:
    """One connection of the client with threads. Its events are in a queue."""

    def __init__(self, url: str, auth: dict, transports: list[str], namespace: str = "/"):
        self.events: queue.Queue = queue.Queue()
        self.namespace = namespace
        self.client = socketio.Client(reconnection=False)
        for name in EVENTS:
            self.client.on(name, lambda *data, name=name: self.events.put((name, *data)), namespace=namespace)
        try:
            self.client.connect(
                url, auth=auth, transports=transports, namespaces=[namespace], wait_timeout=PATIENCE_SECONDS)
        except socketio.exceptions.ConnectionError:
            pass

    def next(self, name: str):
        """The first argument of the next event, which must have this name."""
        event = self.events.get(timeout=PATIENCE_SECONDS)
        assert event[0] == name, event
        return event[1] if len(event) > 1 else None

    def until(self, name: str, **fields) -> dict:
        """The next event with this name and these fields."""
        while True:
            event, *data = self.events.get(timeout=PATIENCE_SECONDS)
            if event == name and fields.items() <= data[0].items():
                return data[0]
            assert event not in ("end", "disconnect", "connect_error"), (event, data)

    def command(self, method: str, path: str, body=None, **fields) -> dict:
        return self.call("command", {"method": method, "path": path, "body": body} | fields)

    def call(self, name: str, data) -> dict:
        return self.client.call(name, data, namespace=self.namespace, timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        self.client.disconnect()


class AsyncClient:
    """The same with asyncio, on a thread of its own."""

    def __init__(self, url: str, auth: dict, transports: list[str], namespace: str = "/"):
        self.events: queue.Queue = queue.Queue()
        self.namespace = namespace
        self.loop = asyncio.new_event_loop()
        self.threads = concurrent.futures.ThreadPoolExecutor(1)
        self.threads.submit(self.loop.run_forever)
        self.run(self.connect(url, auth, transports))

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_SECONDS)

    async def connect(self, url: str, auth: dict, transports: list[str]) -> None:
        self.client = socketio.AsyncClient(reconnection=False)
        for name in EVENTS:

            async def put(*data, name=name):
                self.events.put((name, *data))

            self.client.on(name, put, namespace=self.namespace)
        await self.client.connect(
            url, auth=auth, transports=transports, namespaces=[self.namespace], wait_timeout=PATIENCE_SECONDS)

    next = ThreadClient.next
    until = ThreadClient.until
    command = ThreadClient.command

    def call(self, name: str, data) -> dict:
        return self.run(self.client.call(name, data, namespace=self.namespace, timeout=PATIENCE_SECONDS))

    def close(self) -> None:
        if not self.loop.is_running():
            return
        self.run(self.client.disconnect())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.threads.shutdown()


@pytest.fixture
def engine(server):
    return Engine(server, PATH)


@pytest.fixture
def open_client():
    """Opens clients, and closes them at the end of the test."""
    clients = []

    def opened(person, kind=ThreadClient, transports=TRANSPORTS["websocket"], namespace="/", **auth):
        client = kind(person.server.url, {"token": person.token} | auth, transports, namespace)
        clients.append(client)
        return client

    yield opened
    for client in clients:
        client.close()


def caught_up(client) -> str:
    """Reads the initial state. Returns the cursor that continues it."""
    while True:
        page = client.next("sync")
        assert set(page) == {"items", "cursor", "more"}
        if not page["more"]:
            return page["cursor"]


def newest(client, text: str) -> str:
    """Reads until a page has this message. Returns its cursor."""
    while True:
        page = client.next("sync")
        if text in texts(page):
            return page["cursor"]


# MARK: Clients


@pytest.mark.parametrize("kind", [ThreadClient, AsyncClient], ids=["threads", "asyncio"])
@pytest.mark.parametrize("transports", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_client_follows_sends_and_resumes(world, open_client, kind, transports):
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    client = open_client(anna, kind, transports)
    caught_up(client)
    ben.send(room, "first")
    newest(client, "first")
    id = new_id()
    answer = client.command("PUT", room.message(id), {"text": "second"})
    assert answer["status"] == 201 and answer["body"]["id"] == id
    cursor = newest(client, "second")
    client.close()
    ben.send(room, "third")
    client = open_client(anna, kind, transports, since=cursor)
    page = client.next("sync")
    assert texts(page) == ["third"]


def test_a_namespace_of_one_room_has_only_that_room(world, open_client):
    anna, ben = world.users("Anna", "Ben")
    tea, cake = anna.room("Tea", ben), anna.room("Cake", ben)
    client = open_client(anna, namespace=f"/rooms-{tea.id}", include=["message"])
    ben.send(cake, "not here")
    ben.send(tea, "here")
    newest(client, "here")
    with pytest.raises(queue.Empty):
        while True:
            assert "not here" not in texts(client.events.get_nowait()[1])


# A second presence of a user is shown only after ten seconds, so there are not all combinations.
@pytest.mark.parametrize("kind, transports", [
    (ThreadClient, TRANSPORTS["polling"]), (AsyncClient, TRANSPORTS["upgrade"])], ids=["polling", "upgrade"])
def test_a_client_shows_who_types_and_who_is_online(world, open_client, kind, transports):
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    bens = open_client(ben, kind, transports)
    annas = open_client(anna, kind, transports)
    head = world.head
    shown = bens.until("presence", userId=anna.id)
    assert shown == {"type": "presence", "userId": anna.id, "presence": "online"}
    body = {"roomId": room.id, "typing": True}
    assert annas.call("typing", body) == {"status": 200, "body": body}
    shown = bens.until("typing")
    assert shown["until"] and shown == {
        "type": "typing", "roomId": room.id, "userId": anna.id, "until": shown["until"]}
    body["typing"] = False
    assert annas.call("typing", body) == {"status": 200, "body": body}
    assert bens.until("typing") == shown | {"until": None}
    assert annas.call("presence", {"presence": "away"}) == {"status": 200, "body": {"presence": "away"}}
    assert bens.until("presence") == {"type": "presence", "userId": anna.id, "presence": "away"}
    assert world.head == head, "nothing is recorded"
    refused = {
        "room_not_found": ("typing", {"roomId": new_id(), "typing": True}),
        "invalid_field": ("presence", {"presence": "offline"}),
        "unknown_field": ("open", {"roomIds": [], "colour": "red"}),
    }
    for code, (name, data) in refused.items():
        assert annas.call(name, data)["body"]["code"] == code


def test_a_device_gets_no_push_for_a_room_that_its_client_shows(pushing, sink, open_client):
    world, phone = World(pushing), new_id()
    anna, ben = world.user("Anna"), world.user("Ben", deviceId=phone)
    tea, cake = anna.room("Tea", ben), anna.room("Cake", ben)
    ben.put(f"/v1/devices/{phone}", {"apnsToken": f"token of {phone}"})
    client = open_client(ben)
    assert client.call("open", {"roomIds": [tea.id]}) == {"status": 200, "body": {"roomIds": [tea.id]}}
    shown, _ = anna.send(tea, "shown"), anna.send(cake, "elsewhere")
    expected = {phone: ("abandoned", "room_open")}
    wait_until(lambda: outcomes(pushing, shown) == expected, f"the outcomes do not become {expected}")
    wait_until(lambda: notified(sink, "elsewhere") == [phone], "the phone gets no push")
    assert client.call("open", {"roomIds": []}) == {"status": 200, "body": {"roomIds": []}}
    anna.send(tea, "not shown any more")
    wait_until(lambda: notified(sink, "not shown any more") == [phone], "the phone gets no push")
    assert not notified(sink, "shown")


def test_a_client_renews_its_token_before_it_expires(tmp_path, open_client):
    clock = ShiftedClock(tmp_path)
    server = Server(
        tmp_path / "data", f"--access-token-lifetime={TOKEN_SECONDS}", environment=UNLIMITED | clock.environment).start()
    try:
        world = World(server)
        anna, ben = world.users("Anna", "Ben")
        room = anna.room("Tea", ben)
        renews, expires = (open_client(anna, since=caught_up(open_client(anna)), include=["message"]) for _ in range(2))
        clock.shift(wall=TOKEN_SECONDS - NOTICE_SECONDS)
        notices = [client.until("expiring") for client in (renews, expires)]
        assert notices[0] == notices[1] and set(notices[0]) == {"type", "expiresAt"}
        fresh = anna.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
        answer = renews.call("authenticate", {"token": fresh["accessToken"]})
        assert answer["status"] == 200 and answer["body"]["expiresAt"] > notices[0]["expiresAt"]
        clock.shift(wall=TOKEN_SECONDS)
        assert expires.until("end")["code"] == "access_token_expired"
        sent = world.acting_as(ben.id).put(room.message(new_id()), {"text": "after"})
        newest(renews, "after")
        answer = renews.command("PUT", room.message(new_id()), {"text": "with the new token"})
        assert answer["status"] == 201 and answer["body"]["position"] > sent["position"]
    finally:
        server.end()


# MARK: Packets


def polled(engine: Engine, sid: str) -> list[str]:
    response = engine.get(sid)
    assert response.status_code == 200, response.text
    packets = response.text.split(SEPARATOR)
    assert len(packets) <= 16
    return [packet for packet in packets if packet != "2"]


def read_until(engine: Engine, sid: str, done) -> list[str]:
    packets: list[str] = []
    while not any(done(packet) for packet in packets):
        packets += polled(engine, sid)
    return packets


def connect_error(ws, packet: str, namespace: str = "") -> dict:
    """The problem with which a CONNECT is refused."""
    ws.send(f"40{namespace}{packet}")
    answer = receive(ws)
    assert answer.startswith(f"44{namespace}"), answer
    answer = json.loads(answer.removeprefix(f"44{namespace}"))
    assert answer["message"] == answer["data"]["detail"]
    assert set(answer["data"]) == {"type", "title", "status", "detail", "code", "requestId"}
    return answer["data"]


def opened(ws, person, namespace: str = "", **fields) -> None:
    ws.send(f"40{namespace}" + json.dumps({"token": person.token} | fields))
    assert receive(ws).startswith(f'40{namespace}{{"sid":"')


def event_after_sync(ws, namespace: str = "") -> list:
    """The next event that is not `sync`."""
    while True:
        packet = receive(ws)
        if not packet.startswith(f'42{namespace}["sync"') and packet != "2":
            return packet


def test_a_refused_connect_says_why(world, engine):
    anna = world.user("Anna")
    room = anna.room("Tea")

    def payload(**fields) -> str:
        return json.dumps({"token": anna.token} | fields)

    cases = [
        ("", "", "access_token_missing", 401),
        ("", '{"token":"abc"}', "access_token_invalid", 401),
        ("", payload(since="abc"), "invalid_cursor", 400),
        ("", payload(perRoom=0), "invalid_query", 400),
        ("", payload(include=["abc"]), "invalid_query", 400),
        ("", payload(rooms="abc"), "invalid_field", 400),
        ("", payload(other=1), "unknown_field", 400),
        ("/other,", payload(), "namespace_unknown", 404),
        ("/rooms-abc,", payload(), "namespace_unknown", 404),
        (f"/rooms-{room.id},", payload(rooms=[room.id]), "invalid_query", 400),
    ]
    with engine.opened() as ws:
        for namespace, packet, code, status in cases:
            problem = connect_error(ws, packet, namespace)
            assert (problem["code"], problem["status"]) == (code, status), packet
        # The session can still be used.
        opened(ws, anna)


def test_a_token_in_the_header_serves_every_namespace_without_one(world, engine):
    anna = world.user("Anna")
    with engine.socket(headers={"Authorization": f"Bearer {anna.token}"}) as ws:
        receive(ws)
        ws.send("40")
        assert receive(ws).startswith('40{"sid":"')


def test_each_namespace_has_its_own_token_and_end(world, engine):
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    with engine.opened() as ws:
        opened(ws, anna, include=["message"])
        opened(ws, ben, f"/rooms-{room.id},", include=["message"])
        ben.call("DELETE", f"/v1/sessions/{ben.tokens['sessionId']}", expect=None)
        packets = [receive(ws), receive(ws)]
        name, end = json.loads(packets[0].removeprefix(f"42/rooms-{room.id},"))
        assert (name, end["code"]) == ("end", "session_ended")
        assert packets[1] == f"41/rooms-{room.id},"
        anna.send(room, "still here")
        assert "still here" in receive(ws)


def test_a_token_is_renewed_within_a_stream(world, engine):
    anna, ben = world.users("Anna", "Ben")
    fresh = anna.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
    with engine.opened() as ws:
        opened(ws, anna, include=["message"])
        ws.send("421" + json.dumps(["authenticate", {"token": fresh["accessToken"]}]))
        answer = event_after_sync(ws)
        [answer] = json.loads(answer.removeprefix("431"))
        assert answer["status"] == 200 and answer["body"]["expiresAt"]
        ws.send("422" + json.dumps(["authenticate", {"token": ben.token}]))
        [answer] = json.loads(event_after_sync(ws).removeprefix("432"))
        assert (answer["status"], answer["body"]["code"]) == (401, "access_token_invalid")
        name, end = json.loads(event_after_sync(ws).removeprefix("42"))
        assert (name, end["code"]) == ("end", "access_token_invalid")
        assert receive(ws) == "41"


def test_a_bad_event_gets_a_problem(world, engine):
    anna = world.user("Anna")
    room = anna.room("Tea")
    message = {"method": "PUT", "path": room.message(new_id()), "body": {"text": ""}}
    cases = [
        (["command", message], 422, "empty_text"),
        (["command", {"method": "GET", "path": "/v1/me"}], 405, "method_not_allowed"),
        (["command", {"method": "PUT", "path": "/v1/nothing"}], 404, "route_not_found"),
        (["command", {"method": "PUT"}], 400, "invalid_field"),
        (["command", {"method": "PUT", "path": "/v1/me", "other": 1}], 400, "unknown_field"),
        (["command", "text"], 400, "invalid_field"),
        (["command"], 400, "invalid_frame"),
        (["other", {}], 400, "invalid_frame"),
    ]
    head = world.head
    with engine.opened() as ws:
        opened(ws, anna, include=["message"])
        for number, (event, status, code) in enumerate(cases):
            ws.send(f"42{number}" + json.dumps(event))
            [answer] = json.loads(event_after_sync(ws).removeprefix(f"43{number}"))
            assert (answer["status"], answer["body"]["code"]) == (status, code), event
        # The attachments of a command are read, but it takes none.
        ws.send(f'451-9["command",{{"_placeholder":true,"num":0}}]')
        ws.send(b"\x01")
        [answer] = json.loads(event_after_sync(ws).removeprefix("439"))
        assert answer["body"]["code"] == "invalid_frame"
        assert world.head == head
        # Nobody waits for this answer, so the stream ends with it.
        ws.send('42["other",{}]')
        name, end = json.loads(event_after_sync(ws).removeprefix("42"))
        assert (name, end["code"]) == ("end", "invalid_frame")
        assert receive(ws) == "41"


def test_commands_are_answered_in_any_number(world, engine):
    anna = world.user("Anna")
    room = anna.room("Tea")
    sid = engine.open()
    assert engine.post(sid, "40" + json.dumps({"token": anna.token, "include": ["preferences"]})).text == "ok"
    read_until(engine, sid, lambda packet: packet.startswith("40"))
    commands = [
        f"42{number}" + json.dumps(
            ["command", {"method": "PUT", "path": room.message(new_id()), "body": {"text": f"{number}"}}])
        for number in range(100)
    ]
    answers: dict[int, int] = {}
    with concurrent.futures.ThreadPoolExecutor() as threads:
        post = threads.submit(engine.post, sid, SEPARATOR.join(commands))
        while len(answers) < 100:
            for packet in polled(engine, sid):
                if packet.startswith("43"):
                    number, _, rest = packet[2:].partition("[")
                    answers[int(number)] = json.loads("[" + rest)[0]["status"]
        assert post.result().text == "ok"
    assert set(answers.values()) == {201}
    # They are performed in their order.
    assert anna.texts(room, limit=100) == [f"{number}" for number in range(100)]


def test_what_waits_for_a_client_that_does_not_poll_is_bounded(world, engine):
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    sid = engine.open()
    engine.post(sid, "40" + json.dumps({"token": anna.token, "include": ["message"]}))
    read_until(engine, sid, lambda packet: packet.startswith("40"))
    # Much more than a session keeps.
    sent = [f"{number} " + "x" * 16_000 for number in range(40)]
    for text in sent:
        ben.send(room, text)
    seen: list[str] = []
    while len(seen) < len(sent):
        for packet in polled(engine, sid):
            if packet.startswith('42["sync"'):
                seen += texts(json.loads(packet[2:])[1])
    assert seen == sent


# MARK: Requests


def test_pages_of_other_origins_are_refused(tmp_path):
    server = Server(tmp_path / "data", environment=UNLIMITED | {"HANSARD_CROSS_ORIGIN_ORIGINS": APP}).start()
    try:
        engine = Engine(server, PATH)
        for origin, status in [(OTHER, 403), (APP, 200), (server.url, 200), ("null", 403)]:
            response = engine.request("GET", headers={"Origin": origin})
            assert response.status_code == status, origin
            if status == 403:
                assert error(response) == (403, 4, "origin_not_allowed")
        assert engine.request("GET", headers={"Origin": APP}).headers["Access-Control-Allow-Origin"] == APP
        preflight = requests.options(server.url + PATH, timeout=PATIENCE_SECONDS, headers={
            "Origin": APP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"})
        assert preflight.status_code == 204
        assert preflight.headers["Access-Control-Allow-Methods"] == "GET, HEAD, POST"
        with pytest.raises(Exception, match="403"):
            engine.socket(headers={"Origin": OTHER})
        with engine.socket(headers={"Origin": APP}) as ws:
            assert receive(ws).startswith("0{")
    finally:
        server.end()


def test_other_methods_are_refused(engine):
    assert error(engine.request("PUT")) == (400, 2, "engine_method_invalid")
    assert error(engine.request("DELETE", sid="A" * 22)) == (400, 3, "engine_request_invalid")
    response = engine.request("PROPFIND")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD, POST")


def test_a_packet_that_is_not_possible_ends_the_session(engine):
    for packet in ["4", "49", '42["message"]', "2probe", "b@", "4" + "x" * 131_072]:
        with engine.opened() as ws:
            ws.send(packet)
            assert closes(ws), packet


@pytest.mark.parametrize("packet", ["3", "6", "431[]", "40/other,"], ids=["pong", "noop", "acknowledgement", "connect"])
def test_many_packets_that_ask_for_nothing_end_the_session(world, engine, packet):
    with engine.opened() as ws:
        opened(ws, world.user("Anna"), include=["message"])
        with contextlib.suppress(ConnectionClosed):
            for _ in range(3 * CONTROL_PACKETS):
                ws.send(packet)
        assert closes(ws)
        assert (ws.protocol.close_code, ws.protocol.close_reason) == (1008, "too_many_commands")


def test_many_bad_events_in_a_row_end_the_namespace(world, engine):
    with engine.opened() as ws:
        opened(ws, world.user("Anna"), include=["message"])
        for _ in range(REFUSED_IN_A_ROW):
            ws.send('421["command",{"method":"GET","path":"/v1/me"}]')
        answers = [event_after_sync(ws) for _ in range(REFUSED_IN_A_ROW)]
        assert {json.loads(answer.removeprefix("431"))[0]["status"] for answer in answers} == {405}
        name, end = json.loads(event_after_sync(ws).removeprefix("42"))
        assert (name, end["code"]) == ("end", "too_many_commands")


def test_a_token_in_a_packet_counts_like_a_request(tmp_path):
    environment = {"HANSARD_RATE_LIMITS_ADDRESS_REQUESTS": "20", "HANSARD_RATE_LIMITS_ADDRESS_SECONDS": "1000"}
    server = Server(tmp_path / "data", environment=environment).start()
    try:
        with Engine(server, PATH).opened() as ws:
            codes = [connect_error(ws, '{"token":"abc"}')["code"] for _ in range(21)]
            assert codes[0] == "access_token_invalid" and codes[-1] == "rate_limited", codes
    finally:
        server.end()


def test_an_address_has_a_limited_number_of_sessions(tmp_path):
    server = Server(tmp_path / "data").start()
    try:
        engine = Engine(server, PATH)
        with requests.Session() as http:
            def status() -> int:
                return http.get(engine.url, params={"EIO": 4, "transport": "polling"}, timeout=60).status_code

            assert {status() for _ in range(1_000)} == {200}
            assert status() == 429
        with pytest.raises(Exception, match="429"):
            engine.socket()
    finally:
        server.end()


# MARK: The server stops


def begin_poll(engine: Engine, sid: str) -> http.client.HTTPConnection:
    """Sends a GET, and returns once the server has read it. What it reads, it answers before it stops."""
    connection = http.client.HTTPConnection(*engine.address, timeout=PATIENCE_SECONDS)
    connection.request("GET", f"{PATH}?EIO=4&transport=polling&sid={sid}")
    wait_until_read(connection.sock)
    return connection


def check_end(packets: list[str]) -> None:
    """The last packets of a namespace say when to resume."""
    name, end = json.loads(packets[0].removeprefix("42"))
    assert (name, end["code"], packets[1]) == ("end", "shutting_down", "41")
    assert 0 <= end["resumeAfterMilliseconds"] <= RESUME_MILLISECONDS


def opened_by_polling(engine: Engine, person, **fields) -> str:
    sid = engine.open()
    assert engine.post(sid, "40" + json.dumps({"token": person.token} | fields)).text == "ok"
    read_until(engine, sid, lambda packet: packet.startswith("40"))
    return sid


def test_a_stop_is_announced(own_world):
    anna = own_world.user("Anna")
    engine = Engine(own_world.server, PATH)
    # Nothing but the end answers the GET.
    sid = opened_by_polling(engine, anna, include=["preferences"], since=cursor_of(anna))
    poll = begin_poll(engine, sid)
    with engine.opened() as ws, concurrent.futures.ThreadPoolExecutor() as threads:
        opened(ws, anna, include=["message"])
        stop = threads.submit(own_world.server.stop)
        check_end([event_after_sync(ws), receive(ws)])
        check_end(poll.getresponse().read().decode().split(SEPARATOR))
        assert closes(ws)
        stop.result()


def commands_of(room) -> list[str]:
    return [
        f"42{number}" + json.dumps(
            ["command", {"method": "PUT", "path": room.message(new_id()), "body": {"text": f"{number}"}}])
        for number in range(COMMANDS)
    ]


def acknowledged(packets: list[str]) -> list[int]:
    """The numbers of the commands that were performed."""
    answers = {}
    for packet in packets:
        if packet.startswith("43"):
            number, _, rest = packet.removeprefix("43").partition("[")
            [answer] = json.loads("[" + rest)
            assert answer["status"] in (200, 201) and int(number) not in answers, packet
            answers[int(number)] = answer["body"]["text"]
    assert all(text == f"{number}" for number, text in answers.items())
    return sorted(answers)


def test_commands_in_flight_have_acknowledgements_before_the_end(own_world):
    """Each command that was performed has one, and no other."""
    anna = own_world.user("Anna")
    room = anna.room("Tea")
    with Engine(own_world.server, PATH).opened() as ws, concurrent.futures.ThreadPoolExecutor() as threads:
        opened(ws, anna, include=["preferences"])
        for command in commands_of(room):
            ws.send(command)
        packets = [event_after_sync(ws)]
        stop = threads.submit(own_world.server.stop)
        with contextlib.suppress(ConnectionClosed):
            while True:
                packets.append(receive(ws))
        stop.result()
    check_end(packets[-2:])
    own_world.server.start()
    numbers = acknowledged(packets)
    assert numbers and [message["text"] for message in timeline(anna, room.id)] == [f"{each}" for each in numbers]


def stopped_while_polling(world: World, anna, commands: list[str]) -> list[str]:
    """Sends the commands, and stops the server when the first has been acknowledged. Returns all packets that came."""
    engine = Engine(world.server, PATH)
    sid = opened_by_polling(engine, anna, include=["preferences"], since=cursor_of(anna))
    with concurrent.futures.ThreadPoolExecutor() as threads:
        post = threads.submit(engine.post, sid, SEPARATOR.join(commands))
        packets = read_until(engine, sid, lambda packet: packet.startswith("43"))
        stop = threads.submit(world.server.stop)
        with contextlib.suppress(requests.ConnectionError):
            while not any(packet.startswith("41") for packet in packets):
                packets += polled(engine, sid)
        with contextlib.suppress(requests.ConnectionError):
            assert post.result().text == "ok"
        stop.result()
    world.server.start()
    return packets


def test_commands_over_polling_can_be_repeated_after_a_stop(own_world):
    anna = own_world.user("Anna")
    room = anna.room("Tea")
    commands = commands_of(room)
    numbers = acknowledged(stopped_while_polling(own_world, anna, commands))
    performed = [message["text"] for message in timeline(anna, room.id)]
    assert numbers and performed == [f"{each}" for each in range(len(performed))] and len(performed) > numbers[-1]
    engine = Engine(own_world.server, PATH)
    sid = opened_by_polling(engine, anna, include=["preferences"], since=cursor_of(anna))
    with concurrent.futures.ThreadPoolExecutor() as threads:
        post = threads.submit(engine.post, sid, SEPARATOR.join(commands))
        packets: list[str] = []
        while len(numbers := acknowledged(packets)) < COMMANDS:
            packets += polled(engine, sid)
        assert post.result().text == "ok"
    assert [message["text"] for message in timeline(anna, room.id)] == [f"{each}" for each in numbers]


def test_commands_in_flight_over_polling_have_acknowledgements_before_the_end(own_world):
    anna = own_world.user("Anna")
    room = anna.room("Tea")
    packets = stopped_while_polling(own_world, anna, commands_of(room))
    assert [message["text"] for message in timeline(anna, room.id)] == [f"{each}" for each in acknowledged(packets)]
    check_end([packet for packet in packets if packet[:2] in ("42", "41")])
