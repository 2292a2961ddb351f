"""What the official suite of Engine.IO, protocol 4, expects of a server, on `/conformance/engine.io/`."""

import concurrent.futures
import time

import pytest

from harness.engine import (  # noqa: F401
    SEPARATOR, Engine, TransportCases, closes, conformance, error, receive, receive_message, timely)

PATH = "/conformance/engine.io/"


@pytest.fixture
def engine(conformance):  # noqa: F811
    return Engine(conformance, PATH)


class TestTransports(TransportCases):
    pass


class TestPollingMessages:
    @pytest.mark.parametrize("packets", [
        ["4hello"], ["4test1", "4test2", "4test3"], ["4hello", "bAQIDBA=="],
    ], ids=["one", "several", "binary"])
    @timely
    def test_a_post_is_sent_back(self, engine, packets):
        sid = engine.open()
        body = SEPARATOR.join(packets)
        response = engine.post(sid, body)
        assert (response.status_code, response.text) == (200, "ok")
        response = engine.get(sid)
        assert (response.status_code, response.text) == (200, body)

    @timely
    def test_a_malformed_packet_ends_the_session(self, engine):
        sid = engine.open()
        assert error(engine.post(sid, "abc")) == (400, 3, "engine_request_invalid")
        assert error(engine.get(sid)) == (400, 1, "engine_session_unknown")

    @timely
    def test_a_second_get_ends_the_session(self, engine):
        sid = engine.open()
        with concurrent.futures.ThreadPoolExecutor() as threads:
            polls = [threads.submit(engine.poll, sid, t=name) for name in "ab"]
            answers = sorted((poll.result().status_code, poll.result().text[:1]) for poll in polls)
        # Whichever comes first gets a close packet.
        assert answers == [(200, "1"), (400, "{")]
        assert engine.get(sid).status_code == 400

    @timely
    def test_a_client_that_leaves_while_polling_ends_the_session(self, engine):
        sid = engine.open()
        engine.leave_while_polling(sid)
        assert engine.get(sid).status_code == 400


class TestSocketMessages:
    @pytest.mark.parametrize("packet", ["4hello", b"\x01\x02\x03\x04"], ids=["text", "binary"])
    @timely
    def test_a_message_is_sent_back(self, engine, packet):
        with engine.opened() as ws:
            ws.send(packet)
            assert receive_message(ws) == packet

    def test_a_malformed_packet_ends_the_session(self, engine):
        with engine.opened() as ws:
            ws.send("abc")
            assert closes(ws)
            assert (ws.close_code, ws.close_reason) == (1008, "engine_request_invalid")


class TestBeyondTheSuite:
    @timely
    def test_the_slash_at_the_end_can_be_left_out(self, conformance):  # noqa: F811
        engine = Engine(conformance, PATH.rstrip("/"))
        sid = engine.open()
        assert engine.post(sid, "4hello").status_code == 200
        with engine.socket(sid) as ws:
            ws.send("2probe")
            assert receive(ws) == "3probe"

    @timely
    def test_a_second_post_ends_the_session(self, engine):
        sid = engine.open()

        def slow():
            yield b"4he"
            second.result()
            yield b"llo"

        with concurrent.futures.ThreadPoolExecutor() as threads:
            second = threads.submit(lambda: (time.sleep(0.05), engine.post(sid, "4b"))[1])
            assert engine.post(sid, slow()).status_code == 400
            assert error(second.result()) == (400, 3, "engine_request_invalid")
        assert engine.get(sid).status_code == 400

    @pytest.mark.parametrize("length,status", [(999_999, 200), (1_000_000, 200), (1_000_001, 400)])
    @timely
    def test_the_body_of_a_post_has_a_limit(self, engine, length, status):
        sid = engine.open()
        body = "4" + "x" * (length - 1)
        assert engine.post(sid, body).status_code == status
        if status == 200:
            assert engine.get(sid).text == body
        else:
            assert error(engine.get(sid)) == (400, 1, "engine_session_unknown")

    @timely
    def test_a_response_has_16_packets_at_most(self, engine):
        sid = engine.open()
        packets = [f"4{number}" for number in range(33)]
        assert engine.post(sid, SEPARATOR.join(packets)).text == "ok"
        assert [engine.get(sid).text.split(SEPARATOR) for _ in range(3)] == [packets[:16], packets[16:32], packets[32:]]

    @timely
    def test_messages_keep_their_order_through_an_upgrade(self, engine):
        sid = engine.open()
        assert engine.post(sid, SEPARATOR.join(["4a", "4b"])).text == "ok"
        with engine.socket(sid) as ws:
            ws.send("2probe")
            assert receive(ws) == "3probe"
            ws.send("5")
            ws.send("4c")
            assert [receive_message(ws) for _ in range(3)] == ["4a", "4b", "4c"]

    @pytest.mark.parametrize("sid", ["abc", "A" * 22, "A" * 23, "%00"])
    def test_an_unknown_session_is_refused(self, engine, sid):
        assert error(engine.get(sid)) == (400, 1, "engine_session_unknown")
        assert error(engine.post(sid, "4hello")) == (400, 1, "engine_session_unknown")

    def test_a_head_request_opens_no_session(self, engine):
        response = engine.request("HEAD")
        assert (response.status_code, response.text) == (400, "")
