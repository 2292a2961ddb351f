"""Connections that ask for an upgrade, and the mode in which `/conformance/ws` exists."""

import socket
import ssl
import struct
import subprocess

import pytest

from harness import certificates
from harness.places import hansard_binary
from harness.server import UNLIMITED, Server
from harness.websocket import CLOSE, TEXT, Connection, WebSocket, close_payload, encode, upgrade

PATH = "/conformance/ws"
GOING_AWAY = 1001
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
# More than the buffers between the server and a client that reads nothing.
UNREAD_BYTES = 64 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("conformance") / "data", "--conformance").start()
    yield server
    server.end()


def expect_last_response(connection: Connection, status: int) -> None:
    got, head = connection.response()
    assert (got, "\r\nconnection: close" in head.lower()) == (status, True), head
    assert connection.is_ended()


def test_a_connection_can_serve_requests_before_its_upgrade(server):
    with Connection(server) as connection:
        for _ in range(2):
            connection.send(HEALTH)
            assert connection.response()[0] == 200
        connection.send(upgrade(PATH))
        assert connection.head().startswith("HTTP/1.1 101 ")
        connection.send(encode(TEXT, b"hello"))
        assert connection.take(7) == b"\x81\x05hello"


@pytest.mark.parametrize("request_bytes, status", [
    (upgrade("/nowhere"), 404), (upgrade(PATH, key="short"), 404), (upgrade(PATH, protocol="h2c"), 404),
    (upgrade("/healthz", protocol="h2c"), 200), (upgrade("/healthz"), 200),
    (upgrade(PATH, more="Content-Length: 5\r\n") + b"hello", 404),
    (upgrade(PATH).replace(b"HTTP/1.1", b"HTTP/1.0"), 404), (upgrade(PATH) + encode(TEXT, b"early"), 404), (upgrade("/healthz") + HEALTH, 200),
    (b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n", 404),
])
def test_any_other_upgrade_gets_a_response_and_the_end(server, request_bytes, status):
    with Connection(server) as connection:
        connection.send(request_bytes)
        expect_last_response(connection, status)


def test_a_pipelined_upgrade_is_answered_by_the_router(server):
    with Connection(server) as connection:
        connection.send(HEALTH + upgrade(PATH))
        assert connection.response()[0] == 200
        expect_last_response(connection, 404)


def test_clients_that_leave_at_any_time_harm_nobody(server):
    for end in (b"", encode(TEXT, b"x"), encode(TEXT, b"x" * 100_000)[:-1], encode(CLOSE, close_payload(1000))):
        for is_reset in (False, True):
            for _ in range(20):
                with Connection(server) as connection:
                    connection.send(upgrade(PATH) + end)
                    if is_reset:
                        linger = struct.pack("ii", 1, 0)
                        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    with WebSocket(server, PATH) as echo:
        echo.send_frame(TEXT, b"still there")
        echo.expect(TEXT, b"still there")


def test_a_client_that_ends_its_half_of_the_connection_is_gone(server):
    with WebSocket(server, PATH) as echo:
        echo.socket.shutdown(socket.SHUT_WR)
        assert echo.is_ended()


def test_a_client_that_reads_nothing_is_not_read_either(server):
    """Otherwise its messages, sent back, would fill the server's memory."""
    with WebSocket(server, PATH) as echo:
        echo.socket.settimeout(3)
        message, sent = encode(TEXT, b"x" * 60_000), 0
        with pytest.raises(TimeoutError):
            while sent < UNREAD_BYTES:
                echo.socket.sendall(message)
                sent += len(message)
        assert 0 < sent < UNREAD_BYTES


def test_websockets_over_tls(tmp_path):
    certificate = certificates.make(tmp_path / "certificate")
    server = Server(
        tmp_path / "data", "--conformance", authority=str(certificate.authority),
        environment=UNLIMITED | {
            "HANSARD_TLS_CERTIFICATE_FILE": str(certificate.certificate),
            "HANSARD_TLS_KEY_FILE": str(certificate.key),
        }).start()
    for protocols in ([], ["http/1.1"]):
        context = ssl.create_default_context(cafile=server.authority)
        if protocols:
            context.set_alpn_protocols(protocols)
        with WebSocket(server, PATH, context) as echo:
            for length in (5, 300, 1_000_000):
                echo.send_frame(TEXT, b"x" * length)
                echo.expect(TEXT, b"x" * length)
            echo.send_frame(CLOSE, close_payload(1000))
            # TLS is closed too, otherwise this fails.
            echo.expect_close(1000)
    server.stop()


def test_a_stop_closes_sockets(tmp_path):
    server = Server(tmp_path / "data", "--conformance").start()
    with WebSocket(server, PATH) as polite, WebSocket(server, PATH) as rude:
        server.process.terminate()
        for echo in (polite, rude):
            frame = echo.frame()
            assert (frame.opcode, frame.payload[:2]) == (CLOSE, struct.pack(">H", GOING_AWAY))
        polite.send_frame(CLOSE, close_payload(GOING_AWAY))
        assert polite.is_ended()
        # It does not respond to the close frame.
        assert rude.is_ended()
    server.stop()


def test_the_mode_takes_only_directories_of_its_own(tmp_path):
    used = Server(tmp_path / "used").start()
    with Connection(used) as connection:
        connection.send(upgrade(PATH))
        expect_last_response(connection, 404)
    used.stop()
    refused = subprocess.run(
        [hansard_binary(), "serve", "--conformance", "--data", used.data, "--listen", "127.0.0.1:0"],
        capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0
    assert "cannot be used with --conformance" in refused.stderr and str(used.data) in refused.stderr
    assert not (used.data / "conformance").exists()
    own = Server(tmp_path / "own", "--conformance")
    own.data.mkdir()
    own.start()
    assert (own.data / "conformance").is_file()
    own.restart()
    own.stop()
