"""Clients that open streams and do not read them, or do not complete what they send."""

import socket
import struct
import time

from harness import cost, websocket
from harness.client import TIMEOUT_SECONDS, new_id
from harness.live_sockets import connect, open_socket
from harness.live_streams import LiveClient, open_all, open_events
from harness.long_polls import STREAMS_OF_USER
from harness.people import World
from harness.server import Server
from harness.waiting import wait_until

MESSAGE_BYTES = 16 * 1024
# Much more than fits into all buffers between the server and a client that reads nothing.
UNREAD_MESSAGES = 300
# The largest number that `resumeAfterMilliseconds` can have.
RESUME_MILLISECONDS = 10_000
# Limits.bodyBytesOfAddress, and the sockets that fill it, each with a message of this length.
BYTES_OF_ADDRESS = 32 * cost.MIB
UNFINISHED_BYTES = 130_000
HELD = BYTES_OF_ADDRESS // UNFINISHED_BYTES
# The setting `connections.bodyBytesPerSecond`.
BYTES_PER_SECOND = 512
# Limits.streamFirstMessageBytes.
FIRST_MESSAGE_BYTES = 16 * 1024


def test_a_client_that_reads_nothing_loses_its_stream_and_resumes(anna, ben, room):
    slow = LiveClient(ben, open=lambda *all, **query: open_events(*all, receive_bytes=4096, **query)).begin()
    sent = [f"{number} {'x' * MESSAGE_BYTES}"[:MESSAGE_BYTES] for number in range(UNREAD_MESSAGES)]
    anna.ingest([{"op": "message.send", "roomId": room.id, "id": new_id(), "text": text} for text in sent])
    # With the slow one these are one too many, so the last is opened when that has ended.
    others = open_all(ben, STREAMS_OF_USER)
    frame = slow.stream.last_frame()
    assert frame.data["code"] == "reader_too_slow"
    assert 0 <= frame.data["resumeAfterMilliseconds"] <= RESUME_MILLISECONDS
    for stream in others:
        stream.close()
    slow.drop()
    slow.open = open_events
    slow.connect().follow()
    texts = [item["message"]["text"] for item in slow.items if item["type"] == "message"]
    assert texts == sent


def behind_a_stream(person, method: str, path: str, body: str = "") -> socket.socket:
    """A connection with an open stream, and a request that was sent together with the one for the stream."""
    connection = socket.create_connection(("127.0.0.1", person.server.port), TIMEOUT_SECONDS)
    head = f"Host: test\r\nAuthorization: Bearer {person.token}\r\n"
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    connection.sendall(
        f"GET /v1/sync/stream HTTP/1.1\r\n{head}\r\n{method} {path} HTTP/1.1\r\n{head}{length}\r\n{body}".encode())
    received = b""
    while b": open" not in received:
        piece = connection.recv(65536)
        assert piece, received
        received += piece
    return connection


def test_a_request_behind_a_stream_is_not_performed_and_holds_nothing(anna, ben, room):
    message = new_id()
    connections = [behind_a_stream(anna, "PUT", room.message(message), '{"text": "behind"}')]
    connections += [behind_a_stream(anna, "GET", "/v1/badge") for _ in range(STREAMS_OF_USER - 1)]
    for connection in connections:
        # With this option, closing resets the connection.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def opens() -> bool:
        with open_socket(anna) as stream:
            return stream.frame().name == "ready"

    wait_until(opens, "the streams of connections that were reset still count")
    ben.refused("message_not_found", "GET", room.message(message))


def send_part(stream, opcode: int, payload: bytes, is_final: bool = False) -> None:
    stream.connection.socket.sendall(websocket.encode(opcode, payload, is_final))


def is_open(stream) -> bool:
    """Whether the server still responds after what was sent."""
    return stream.connection.ping().wait(TIMEOUT_SECONDS)


def test_unfinished_messages_of_one_address_have_a_limit(world):
    part = b" " * UNFINISHED_BYTES
    people = [world.acting_as(world.user().id) for _ in range(HELD // STREAMS_OF_USER + 1)]
    streams = [open_socket(people[number // STREAMS_OF_USER]) for number in range(HELD)]
    for stream in streams:
        send_part(stream, websocket.TEXT, part)
    assert all(is_open(stream) for stream in streams)
    refused = open_socket(people[-1])
    send_part(refused, websocket.TEXT, part)
    end = refused.last_frame()
    assert end.data["code"] == "overloaded"
    assert refused.close_code == 1013
    # Others go on, and what is complete is no longer charged.
    command = {"type": "typing", "roomId": new_id()}
    send_part(streams[0], websocket.CONTINUATION, str(command).replace("'", '"').encode(), is_final=True)
    assert is_open(streams[0])
    streams.append(open_socket(people[-1]))
    send_part(streams[-1], websocket.TEXT, part)
    assert is_open(streams[-1])
    for stream in streams:
        stream.close()


def test_a_message_that_its_client_does_not_complete_ends_the_stream(tmp_path):
    server = Server(tmp_path / "data", environment={"HANSARD_CONNECTIONS_BODY_SECONDS": "1"}).start()
    try:
        anna = World(server).user("Anna")
        room = anna.room("Tea")
        with open_socket(anna) as stream, open_socket(anna) as other:
            send_part(stream, websocket.TEXT, b" " * BYTES_PER_SECOND)
            # The other one never has an unfinished message for long.
            for _ in range(3):
                send_part(other, websocket.TEXT, b" " * BYTES_PER_SECOND)
                time.sleep(1)
                send_part(other, websocket.CONTINUATION, b'{"type":"typing","roomId":"%b"}' % room.id.encode(), is_final=True)
            assert is_open(other)
            end = stream.last_frame().data
            assert (end["code"], stream.close_code) == ("websocket_malformed", 1008) and "slowly" in end["detail"]
    finally:
        server.end()


def test_a_message_before_authentication_must_be_short(anna):
    stream = connect(anna, token=False)
    send_part(stream, websocket.TEXT, b" " * FIRST_MESSAGE_BYTES)
    assert is_open(stream)
    send_part(stream, websocket.CONTINUATION, b" ")
    assert stream.last_frame().data["code"] == "frame_too_large"
    assert stream.close_code == 1009
