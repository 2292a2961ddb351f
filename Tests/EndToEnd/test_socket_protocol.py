"""What the official suite of Socket.IO, protocol 5, expects of a server, on `/conformance/socket.io/`."""

import json

import pytest

from harness.engine import (  # noqa: F401
    PING, Engine, TransportCases, closes, conformance, receive, receive_message, timely)


@pytest.fixture
def engine(conformance):  # noqa: F811
    return Engine(conformance, "/conformance/socket.io/")


@pytest.fixture
def connected(engine):
    """Opens a WebSocket that is connected to the namespace `/`."""
    opened = []

    def open_socket():
        ws = engine.opened()
        opened.append(ws)
        connect(ws)
        return ws

    yield open_socket
    for ws in opened:
        ws.close()


def connect(ws, namespace: str = "", payload: str = "") -> None:
    ws.send(f"40{namespace}{payload}")
    answer = receive_message(ws)
    assert answer.startswith(f"40{namespace}")
    handshake = json.loads(answer.removeprefix(f"40{namespace}"))
    assert set(handshake) == {"sid"} and isinstance(handshake["sid"], str)
    assert receive_message(ws) == f'42{namespace}["auth",{payload or "{}"}]'


class TestTransports(TransportCases):
    def check_alive(self, ws) -> None:
        connect(ws)


class TestConnecting:
    @pytest.mark.parametrize("namespace", ["", "/custom,"], ids=["main", "custom"])
    @pytest.mark.parametrize("payload", ["", '{"token":"123"}'], ids=["bare", "payload"])
    @timely
    def test_a_client_connects(self, engine, namespace, payload):
        with engine.opened() as ws:
            connect(ws, namespace, payload)

    @timely
    def test_an_unknown_namespace_is_refused(self, engine):
        with engine.opened() as ws:
            ws.send("40/random")
            assert receive_message(ws) == '44/random,{"message":"Invalid namespace"}'

    @pytest.mark.parametrize("packet", ["4abc", '42["message"]', "41", '40["token"]', "40{", "44{}"])
    def test_anything_else_before_it_ends_the_session(self, engine, packet):
        with engine.opened() as ws:
            ws.send(packet)
            assert closes(ws)

    def test_a_session_without_a_namespace_ends(self, engine):
        with engine.opened() as ws:
            assert closes(ws)


class TestDisconnecting:
    @timely
    def test_a_client_leaves_the_main_namespace(self, connected):
        ws = connected()
        ws.send("41")
        assert receive(ws) == PING

    @timely
    def test_a_client_leaves_one_of_two_namespaces(self, connected):
        ws = connected()
        connect(ws, "/custom,")
        ws.send("41/custom")
        ws.send('42["message","message to main namespace"]')
        assert receive_message(ws) == '42["message-back","message to main namespace"]'


PLACEHOLDERS = '{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}'


class TestEvents:
    @timely
    def test_an_event_is_sent_back(self, connected):
        ws = connected()
        ws.send('42["message",1,"2",{"3":[true]}]')
        assert receive_message(ws) == '42["message-back",1,"2",{"3":[true]}]'

    @timely
    def test_a_binary_event_is_sent_back(self, connected):
        ws = connected()
        for part in (f'452-["message",{PLACEHOLDERS}]', b"\x01\x02\x03", b"\x04\x05\x06"):
            ws.send(part)
        assert [receive_message(ws) for _ in range(3)] == [
            f'452-["message-back",{PLACEHOLDERS}]', b"\x01\x02\x03", b"\x04\x05\x06"]

    @timely
    def test_an_event_is_acknowledged(self, connected):
        ws = connected()
        ws.send('42456["message-with-ack",1,"2",{"3":[false]}]')
        assert receive_message(ws) == '43456[1,"2",{"3":[false]}]'

    @timely
    def test_a_binary_event_is_acknowledged(self, connected):
        ws = connected()
        for part in (f'452-789["message-with-ack",{PLACEHOLDERS}]', b"\x01\x02\x03", b"\x04\x05\x06"):
            ws.send(part)
        assert [receive_message(ws) for _ in range(3)] == [
            f"462-789[{PLACEHOLDERS}]", b"\x01\x02\x03", b"\x04\x05\x06"]

    @pytest.mark.parametrize(
        "packet", ["4abc", "42{}", '42abc["message-with-ack",1,"2",{"3":[false]}]'], ids=["type", "payload", "id"])
    def test_a_malformed_packet_ends_the_session(self, connected, packet):
        ws = connected()
        ws.send(packet)
        assert closes(ws)
