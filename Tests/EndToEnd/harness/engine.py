"""A client of Engine.IO that sends what a test tells it, and the cases that Engine.IO and Socket.IO have in common."""

import base64
import concurrent.futures
import functools
import json
import socket
import time

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from .server import Server

PING_INTERVAL_SECONDS, PING_TIMEOUT_SECONDS = 0.3, 0.2
PATIENCE_SECONDS = 30
SEPARATOR = "\x1e"
CLOSE, PING, PONG = "1", "2", "3"
ATTEMPTS = 5


@pytest.fixture(scope="module")
def conformance(tmp_path_factory):
    """A server with the endpoints of the official suites."""
    server = Server(tmp_path_factory.mktemp("conformance") / "data", "--conformance").start()
    yield server
    server.end()


class Silence:
    """The longest time in which a case heard nothing of the server. A session sends a ping after 300 ms, so in a longer time
    the machine was busy with something else."""

    LIMIT_SECONDS = PING_INTERVAL_SECONDS + PING_TIMEOUT_SECONDS / 2

    def begin(self) -> None:
        self.longest, self.since = 0.0, time.monotonic()

    def broken(self) -> None:
        now = time.monotonic()
        self.longest, self.since = max(self.longest, now - self.since), now

    def was_too_long(self) -> bool:
        self.broken()
        return self.longest > self.LIMIT_SECONDS


silence = Silence()
silence.begin()


def timely(case):
    """The client answers each ping when it reads it, and the server ends a session 200 ms after a ping without an answer. A
    case that failed because the machine was too slow for that is repeated. One that waits in vain for a message is not:
    pings go on meanwhile."""

    @functools.wraps(case)
    def repeated(*arguments, **named):
        for attempt in range(ATTEMPTS):
            silence.begin()
            try:
                return case(*arguments, **named)
            except (AssertionError, ConnectionClosed, InvalidStatus):
                if not silence.was_too_long() or attempt == ATTEMPTS - 1:
                    raise

    return repeated


class Engine:
    """A path with sessions of Engine.IO."""

    def __init__(self, server: Server, path: str):
        self.url = server.url + path
        self.address = ("127.0.0.1", server.port)
        self.http = requests.Session()

    def request(self, method: str, body=None, headers=None, **query) -> requests.Response:
        """A request with the parameters of the protocol; one that is None is left out."""
        query = {name: value for name, value in ({"EIO": "4", "transport": "polling"} | query).items() if value}
        # On a connection of its own, so that requests can wait side by side.
        return requests.request(
            method, self.url, params=query, data=body, headers=headers, timeout=PATIENCE_SECONDS)

    def poll(self, sid=None, **query) -> requests.Response:
        response = self.request("GET", sid=sid, **query)
        silence.broken()
        return response

    def get(self, sid=None, **query) -> requests.Response:
        """The next response that has more than a ping, without the pings. They are answered."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (response := self.poll(sid, **query)).status_code == 200 and PING in (packets := split(response)):
            assert self.post(sid, PONG).status_code == 200
            if packets := [packet for packet in packets if packet != PING]:
                response._content = SEPARATOR.join(packets).encode()
                break
            assert time.monotonic() < end, "nothing but pings"
        return response

    def post(self, sid, body, **query) -> requests.Response:
        return self.request("POST", body, sid=sid, **query)

    def open(self) -> str:
        response = self.get()
        assert response.status_code == 200, response.text
        assert response.text.startswith("0")
        return json.loads(response.text[1:])["sid"]

    def socket(self, sid=None, headers=None, **query) -> ClientConnection:
        query = {"EIO": "4", "transport": "websocket", "sid": sid} | query
        text = "&".join(f"{name}={value}" for name, value in query.items() if value)
        return connect(
            f"{self.url.replace('http', 'ws', 1)}?{text}", ping_interval=None, compression=None, max_size=None,
            open_timeout=PATIENCE_SECONDS, additional_headers=headers, legacy=True)

    def opened(self) -> ClientConnection:
        """A WebSocket whose handshake has been read."""
        ws = self.socket()
        assert receive(ws)[0] == "0"
        return ws

    def leave_while_polling(self, sid: str) -> None:
        """Sends a GET, and closes the connection once the server has taken it."""
        with socket.create_connection(self.address, timeout=PATIENCE_SECONDS) as connection:
            path = self.url.split("/", 3)[3]
            connection.sendall(
                f"GET /{path}?EIO=4&transport=polling&sid={sid} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            # A second request on another connection is served after this one.
            time.sleep(0.05)


def split(response: requests.Response) -> list[str]:
    return response.text.split(SEPARATOR)


def receive(ws: ClientConnection) -> str | bytes:
    packet = ws.recv(timeout=PATIENCE_SECONDS)
    silence.broken()
    return packet


def receive_message(ws: ClientConnection) -> str | bytes:
    """The next packet that is not a ping. Pings are answered."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (packet := receive(ws)) == PING:
        assert time.monotonic() < end, "nothing but pings"
        ws.send(PONG)
    return packet


def closes(ws: ClientConnection) -> bool:
    """Waits until the server closes the WebSocket."""
    try:
        while True:
            receive(ws)
    except ConnectionClosed:
        return True


def error(response: requests.Response) -> tuple[int, int, str]:
    """The status, the code of Engine.IO, and the code of Hansard."""
    problem = response.json()
    assert set(problem) == {"code", "message", "problem"}
    return response.status_code, problem["code"], problem["problem"]


def refusal(engine: Engine, **query) -> int:
    """The status with which a WebSocket is refused."""
    with pytest.raises(InvalidStatus) as caught:
        engine.socket(**query).close()
    return caught.value.response.status_code


HANDSHAKE_FIELDS = {"sid", "upgrades", "pingInterval", "pingTimeout", "maxPayload"}


def check_handshake(text: str, upgrades: list[str]) -> None:
    assert text.startswith("0")
    handshake = json.loads(text[1:])
    assert set(handshake) == HANDSHAKE_FIELDS
    assert isinstance(handshake["sid"], str) and len(base64.urlsafe_b64decode(handshake["sid"] + "==")) == 16
    assert handshake["upgrades"] == upgrades
    assert (handshake["pingInterval"], handshake["pingTimeout"]) == (300, 200)
    assert handshake["maxPayload"] == 1_000_000


class TransportCases:
    """What both official suites expect of sessions. A subclass has the fixture `engine`."""

    # MARK: The handshake

    def test_polling_opens_a_session(self, engine):
        response = engine.get()
        assert response.status_code == 200
        assert response.headers["Content-Type"] == "text/plain; charset=UTF-8"
        assert response.headers["Cache-Control"] == "no-store"
        check_handshake(response.text, ["websocket"])

    @pytest.mark.parametrize("version", [None, "abc", "3"], ids=["none", "abc", "3"])
    def test_polling_needs_the_version(self, engine, version):
        assert error(engine.get(EIO=version)) == (400, 5, "engine_version_unsupported")

    @pytest.mark.parametrize("transport", [None, "abc"], ids=["none", "abc"])
    def test_polling_needs_a_known_transport(self, engine, transport):
        assert error(engine.get(transport=transport)) == (400, 0, "engine_transport_unknown")

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    def test_polling_opens_a_session_with_get_alone(self, engine, method):
        assert error(engine.request(method)) == (400, 2, "engine_method_invalid")

    @timely
    def test_websocket_opens_a_session(self, engine):
        with engine.socket() as ws:
            check_handshake(receive(ws), [])

    @pytest.mark.parametrize("version", [None, "abc"], ids=["none", "abc"])
    def test_websocket_needs_the_version(self, engine, version):
        assert refusal(engine, EIO=version) == 400

    @pytest.mark.parametrize("transport", [None, "abc"], ids=["none", "abc"])
    def test_websocket_needs_a_known_transport(self, engine, transport):
        assert refusal(engine, transport=transport) == 400

    # MARK: Heartbeats

    @timely
    def test_polling_pings_and_pongs(self, engine):
        sid = engine.open()
        for _ in range(3):
            response = engine.poll(sid)
            assert (response.status_code, response.text) == (200, PING)
            assert engine.post(sid, PONG).status_code == 200

    def test_polling_without_pong_ends_the_session(self, engine):
        sid = engine.open()
        time.sleep(PING_INTERVAL_SECONDS + PING_TIMEOUT_SECONDS)
        assert error(engine.get(sid)) == (400, 1, "engine_session_unknown")

    @timely
    def test_websocket_pings_and_pongs(self, engine):
        with engine.opened() as ws:
            for _ in range(3):
                assert receive(ws) == PING
                ws.send(PONG)

    def test_websocket_without_pong_ends_the_session(self, engine):
        with engine.socket() as ws:
            assert closes(ws)

    # MARK: The end

    @timely
    def test_polling_client_closes_the_session(self, engine):
        sid = engine.open()
        with concurrent.futures.ThreadPoolExecutor() as threads:
            poll = threads.submit(engine.get, sid)
            assert engine.post(sid, CLOSE).text == "ok"
            assert (poll.result().status_code, poll.result().text) == (200, "6")
        assert engine.get(sid).status_code == 400

    def test_websocket_client_closes_the_session(self, engine):
        with engine.opened() as ws:
            ws.send(CLOSE)
            assert closes(ws)

    # MARK: The upgrade

    @timely
    def test_a_polling_session_upgrades(self, engine):
        self.upgraded(engine).close()

    @timely
    def test_after_the_upgrade_polling_is_refused(self, engine):
        sid = engine.open()
        with self.upgraded(engine, sid) as ws:
            # Then the server has read the packet that ends the upgrade.
            self.check_alive(ws)
            assert engine.get(sid).status_code == 400
            assert receive(ws) == PING

    @timely
    def test_after_the_upgrade_a_second_websocket_is_refused(self, engine):
        sid = engine.open()
        with self.upgraded(engine, sid) as ws:
            assert refusal(engine, sid=sid) == 400
            self.check_alive(ws)

    # MARK: Steps

    def upgraded(self, engine: Engine, sid: str | None = None) -> ClientConnection:
        sid = sid or engine.open()
        ws = engine.socket(sid)
        ws.send("2probe")
        assert receive(ws) == "3probe"
        # The noop packet ends a GET, so that none is left open.
        response = engine.get(sid)
        assert (response.status_code, response.text) == (200, "6")
        ws.send("5")
        return ws

    def check_alive(self, ws: ClientConnection) -> None:
        """The session still answers."""
        ws.send("4hello")
        assert receive_message(ws) == "4hello"
