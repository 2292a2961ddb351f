"""TLS and HTTP/2 with real clients: httpx, requests and the ssl module."""

import contextlib
import errno
import json
import os
import pathlib
import socket
import ssl
import time

import h2.connection
import h2.events
import h2.settings
import httpx
import pytest

from harness import certificates
from harness.client import Api, new_id
from harness.command import hansard
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.waiting import wait_until

# Seconds after which a connection that the server no longer waits for is certainly closed, on a slow machine too.
LATE = 15


def environment_of(certificate: certificates.Certificate, **settings: str) -> dict[str, str]:
    return UNLIMITED | {
        "HANSARD_TLS_CERTIFICATE_FILE": str(certificate.certificate), "HANSARD_TLS_KEY_FILE": str(certificate.key),
    } | {f"HANSARD_{name}": value for name, value in settings.items()}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return certificates.make(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def secure(tmp_path_factory, certificate):
    server = Server(
        tmp_path_factory.mktemp("tls") / "data", environment=environment_of(certificate),
        authority=str(certificate.authority)).start()
    yield server
    server.end()


@pytest.fixture(scope="module")
def impatient(tmp_path_factory, certificate):
    """A server that waits four seconds for a handshake and a head."""
    server = Server(
        tmp_path_factory.mktemp("impatient") / "data", authority=str(certificate.authority),
        environment=environment_of(certificate, CONNECTIONS_HEAD_SECONDS="4")).start()
    yield server
    server.end()


def client(server: Server, http2: bool) -> httpx.Client:
    """A client that waits long for responses, and keeps a connection open longer than any test lasts."""
    return httpx.Client(
        base_url=server.url, http2=http2, verify=ssl.create_default_context(cafile=server.authority), timeout=60,
        limits=httpx.Limits(keepalive_expiry=600))


@contextlib.contextmanager
def speaking_http2(server: Server):
    """A connection on which each read waits at most a tenth of a second."""
    context = ssl.create_default_context(cafile=server.authority)
    context.set_alpn_protocols(["h2"])
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.settimeout(0.1)
        yield H2Events(connection, server.port)


@pytest.mark.parametrize(("http2", "version"), [(True, "HTTP/2"), (False, "HTTP/1.1")])
def test_both_versions_of_http_give_the_same_results(secure, http2, version):
    anna = World(secure).user("Anna")
    room = anna.room("Tea")
    with client(secure, http2) as http:
        headers = {"Authorization": f"Bearer {anna.token}"}
        sent = [new_id() for _ in range(20)]
        for id in sent:
            response = http.put(room.message(id), json={"text": "한글 " * 100}, headers=headers)
            assert (response.status_code, response.http_version) == (201, version)
        page = http.get(f"{room.path}/messages?limit=20", headers=headers)
        assert {message["id"] for message in page.json()["messages"]} == set(sent)
        assert page.headers["X-Content-Type-Options"] == "nosniff" and page.headers["Cache-Control"] == "private, no-cache"
        told = http.head("/v1/me", headers=headers)
        assert told.content == b"" and told.headers["Content-Length"] == str(
            len(http.get("/v1/me", headers=headers).content))
        assert http.get("/v1/me").status_code == 401
        # HTTP/2 forbids the field.
        assert ("Upgrade" in http.get("/v1/sync/socket").headers) == (not http2)
        assert http.get("/v1/nothing").json()["code"] == "route_not_found"
        assert http.get("/v1/me?x=" + "y" * 9_000, headers=headers).json()["code"] == "target_too_long"
        big = http.post("/v1/accounts", content=b"x" * 200_000)
        assert big.status_code == 413 and big.json()["code"] == "body_too_large"


def test_the_server_says_https(secure):
    assert f"listens on {secure.url}" in secure.output.read_text()
    assert secure.url.startswith("https://")


def test_http2_can_be_switched_off(tmp_path, certificate):
    server = Server(
        tmp_path / "data", environment=environment_of(certificate, TLS_HTTP2="false"),
        authority=str(certificate.authority)).start()
    try:
        with client(server, http2=True) as http:
            response = http.get("/healthz")
            assert (response.status_code, response.http_version) == (200, "HTTP/1.1")
    finally:
        server.end()


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_old_versions_and_plain_text_are_not_spoken(secure):
    context = ssl.create_default_context(cafile=secure.authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_connection(("127.0.0.1", secure.port), timeout=60) as plain:
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped:
            assert wrapped.version() == "TLSv1.2"
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", secure.port), timeout=60) as plain:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            old.wrap_socket(plain)
    with socket.create_connection(("127.0.0.1", secure.port), timeout=60) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
        assert b"200" not in plain.recv(4096)


def test_a_handshake_that_is_never_finished_is_cut_off(impatient):
    for first in (b"\x16\x03\x01\x02\x00", b"\x16"):
        with socket.create_connection(("127.0.0.1", impatient.port), timeout=60) as connection:
            began = time.monotonic()
            connection.sendall(first)
            assert connection.recv(1024) == b""
            assert 3.5 < time.monotonic() - began < LATE


def test_a_stream_with_a_body_sent_byte_by_byte_is_cut_off(tmp_path, certificate):
    settings = {"CONNECTIONS_BODY_SECONDS": "2", "CONNECTIONS_BODY_BYTES_PER_SECOND": "1000"}
    server = Server(
        tmp_path / "data", environment=environment_of(certificate, **settings),
        authority=str(certificate.authority)).start()
    try:
        with speaking_http2(server) as events:
            began = time.monotonic()
            slow = events.request("POST", "/v1/accounts", ends=False)
            while slow not in events.reset and time.monotonic() - began < 2 * LATE:
                events.send(slow, b" ")
                events.read()
            assert 1.5 < time.monotonic() - began < LATE
            # Other streams on the connection are not delayed.
            quick = events.request("GET", "/healthz", ends=True)
            started = time.monotonic()
            while quick not in events.ended and time.monotonic() - started < 2 * LATE:
                events.read()
            assert events.statuses[quick] == "200"
    finally:
        server.end()


def test_a_client_that_reads_nothing_over_http2_is_cut_off(tmp_path, certificate):
    settings = {"CONNECTIONS_BODY_SECONDS": "2", "CONNECTIONS_ANSWER_BYTES_PER_SECOND": "50000"}
    server = Server(
        tmp_path / "data", environment=environment_of(certificate, **settings),
        authority=str(certificate.authority)).start()
    try:
        anna = World(server).user("Anna")
        uploaded = anna.request("POST", "/v1/media", data=os.urandom(8 * 1024 * 1024))
        context = ssl.create_default_context(cafile=server.authority)
        context.set_alpn_protocols(["h2"])
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(60)
        plain.connect(("127.0.0.1", server.port))
        with plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            events = H2Events(connection, server.port, window=8 * 1024 * 1024)
            events.request(
                "GET", f"/v1/media/{uploaded.json()['id']}", ends=True, authorization=f"Bearer {anna.token}")
            wait_until(
                lambda: connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET,
                "the connection is not reset")
    finally:
        server.end()


def test_uploads_that_break_off_leave_neither_a_file_nor_a_descriptor(secure):
    anna = World(secure).user("Anna")
    incoming = secure.data / "media" / "incoming"
    descriptors = pathlib.Path(f"/proc/{secure.process.pid}/fd")

    def target(descriptor: pathlib.Path) -> str:
        try:
            return os.readlink(descriptor)
        except FileNotFoundError:
            return "closed meanwhile"

    def is_open() -> bool:
        return any("/incoming/" in target(descriptor) for descriptor in list(descriptors.iterdir()))

    for _ in range(3):
        with speaking_http2(secure) as events:
            stream = events.request("POST", "/v1/media", ends=False, authorization=f"Bearer {anna.token}")
            events.read()
            for _ in range(3):
                events.send(stream, b"x" * 16_000)
            wait_until(lambda: any(incoming.iterdir()), "the upload does not begin")
    wait_until(lambda: not any(incoming.iterdir()), "a file of an unfinished upload is left")
    wait_until(lambda: not is_open(), "a descriptor of an unfinished upload is left")
    assert "a request failed" not in secure.output.read_text()


def test_a_client_that_expects_100_continue_gets_it_over_http2(secure):
    anna = World(secure).user("Anna")
    with speaking_http2(secure) as events:
        fields = {"authorization": f"Bearer {anna.token}", "expect": "100-continue", "content-length": "4"}
        stream = events.request("POST", "/v1/media", ends=False, **fields)
        wait_until(lambda: events.read() or stream in events.continued, "the server does not ask for the body")
        assert stream not in events.statuses
        events.send(stream, os.urandom(4))
        events.end(stream)
        wait_until(lambda: events.read() or stream in events.ended, "the upload gets no response")
        assert events.statuses[stream] == "201"


class H2Events:
    """The events of a connection, by stream. httpx is not enough: it reads responses only after the whole body is
    sent."""

    def __init__(self, connection: ssl.SSLSocket, port: int, window: int | None = None):
        self.connection, self.port = connection, port
        self.protocol = h2.connection.H2Connection()
        self.reset: set[int] = set()
        self.ended: set[int] = set()
        self.continued: set[int] = set()
        self.statuses: dict[int, str] = {}
        self.protocol.initiate_connection()
        if window:
            self.protocol.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
            self.protocol.increment_flow_control_window(window)
        self._flush()

    def request(self, method: str, path: str, ends: bool, **fields: str) -> int:
        stream = self.protocol.get_next_available_stream_id()
        self.protocol.send_headers(stream, [
            (":method", method), (":scheme", "https"), (":authority", f"127.0.0.1:{self.port}"), (":path", path),
            *fields.items(),
        ], end_stream=ends)
        self._flush()
        return stream

    def send(self, stream: int, data: bytes) -> None:
        self.protocol.send_data(stream, data)
        self._flush()

    def end(self, stream: int) -> None:
        self.protocol.end_stream(stream)
        self._flush()

    def read(self) -> None:
        """Waits at most a tenth of a second."""
        try:
            data = self.connection.recv(65_536)
        except TimeoutError:
            return
        assert data, "the connection was closed"
        for event in self.protocol.receive_data(data):
            match event:
                case h2.events.StreamReset(stream_id=stream):
                    self.reset.add(stream)
                case h2.events.StreamEnded(stream_id=stream):
                    self.ended.add(stream)
                case h2.events.InformationalResponseReceived(stream_id=stream):
                    self.continued.add(stream)
                case h2.events.ResponseReceived(stream_id=stream, headers=fields):
                    self.statuses[stream] = {name.decode(): value.decode() for name, value in fields}[":status"]
        self._flush()

    def _flush(self) -> None:
        if data := self.protocol.data_to_send():
            self.connection.sendall(data)


def test_an_idle_connection_of_http2_is_kept_beyond_the_time_for_a_head(impatient):
    with client(impatient, http2=True) as http:
        assert http.get("/healthz").status_code == 200
        before = http._transport._pool.connections[0]
        time.sleep(6)
        assert http.get("/healthz").status_code == 200
        assert http._transport._pool.connections[0] is before


def test_files_that_do_not_serve_are_named_before_anything_is_made(tmp_path, certificate):
    other = certificates.make(tmp_path / "other")
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("nonsense")

    def errors(**tls) -> str:
        (tmp_path / "h.json").write_text(json.dumps({"tls": {k: str(v) for k, v in tls.items()}}))
        outcome = hansard("serve", "--data", tmp_path / "data", "--config", tmp_path / "h.json", expect=2)
        assert not (tmp_path / "data").exists()
        return outcome.errors

    assert "tls.keyFile is not set" in errors(certificateFile=certificate.certificate)
    assert "tls.certificateFile is not set" in errors(keyFile=certificate.key)
    assert "none.pem" in errors(certificateFile=tmp_path / "none.pem", keyFile=certificate.key)
    assert "garbage.pem" in errors(certificateFile=certificate.certificate, keyFile=garbage)
    assert "cannot be used for TLS" in errors(certificateFile=certificate.certificate, keyFile=other.key)


def test_a_client_that_does_not_know_the_authority_refuses(secure):
    with pytest.raises(httpx.ConnectError, match="(?i)certificate"):
        httpx.get(f"{secure.url}/healthz", timeout=60)
    assert Api(secure).request("GET", "/healthz").status_code == 200
