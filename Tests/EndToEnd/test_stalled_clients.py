"""Clients that send half a request, or read no response, delay nobody, and above all not a server that is stopping."""

import socket
import struct
import time

import pytest

from harness.client import new_id
from harness.command import check_data
from harness.people import World
from harness.server import UNLIMITED, Server
from harness.stream import IngestStream

# How long the server gives requests in flight when it is stopped, and how long the rest of the stop may take.
STOP_PATIENCE_SECONDS = 10
STOP_SLACK_SECONDS = 30
# This many results fill every buffer between the server and a client that reads none.
UNREAD_LINES = 60_000
MOMENT_SECONDS = 2
# Limits.ingestStreamsOfUser.
STREAMS = 4


def half_a_request(world, anna, room):
    connection = socket.create_connection(("127.0.0.1", world.server.port))
    connection.sendall(
        f"PUT {room.message(new_id())} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {anna.token}\r\n"
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"text":'.encode()
    )
    return connection


def half_a_head(world, anna, room):
    connection = socket.create_connection(("127.0.0.1", world.server.port))
    connection.sendall(b"GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthor")
    return connection


def open_ingest(world, anna, room):
    stream = IngestStream(world.server, anna.token)
    stream.send({"op": "message.send", "roomId": room.id, "id": new_id(), "text": "kept"})
    assert stream.result()["status"] == 201
    return stream.socket


def unread_ingest(world, anna, room):
    data = b"x\n" * UNREAD_LINES
    stream = IngestStream(world.server, anna.token, content_length=len(data))
    stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.send_bytes(data)
    return stream.socket


@pytest.mark.parametrize("stall", [half_a_request, half_a_head, open_ingest, unread_ingest])
def test_a_stop_has_a_time_limit(own_world, stall):
    world, server = own_world, own_world.server
    anna = world.user("Anna")
    room = anna.room("Tea")
    anna.send(room, "hello")
    connection = stall(world, anna, room)
    try:
        time.sleep(MOMENT_SECONDS)
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < STOP_PATIENCE_SECONDS + STOP_SLACK_SECONDS
    finally:
        connection.close()
    # The stop was clean: nothing is lost, and nothing is half done.
    server.start()
    assert anna.texts(room) == ["hello"] + (["kept"] if stall is open_ingest else [])
    check_data(server.data)


def half_an_upload(world, anna, room):
    connection = socket.create_connection(("127.0.0.1", world.server.port))
    connection.sendall(
        f"POST /v1/media HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {anna.token}\r\n"
        "Content-Length: 1000000\r\n\r\n".encode() + b"x" * 300_000
    )
    return connection


@pytest.mark.parametrize("goes", ["with a word", "without one"])
def test_a_client_that_disconnects_is_not_a_failure(tmp_path, goes):
    server = Server(tmp_path / "data", environment=UNLIMITED | {"LOG_LEVEL": "info"}).start()
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    for stall in (half_a_request, half_a_head, half_an_upload, open_ingest):
        connection = stall(world, anna, room)
        time.sleep(MOMENT_SECONDS)
        if goes == "without one":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    anna.send(room, "after")
    # After the server has stopped, all requests in flight have ended.
    server.stop()
    log = server.output.read_text() + server.errors.read_text()
    assert log.count("a request body ended early: the client disconnected") == 3
    assert "a request failed" not in log and " error hansard" not in log and " warning hansard" not in log, log


def test_a_client_that_resets_an_ingest_without_reading_is_not_a_failure(tmp_path):
    server = Server(tmp_path / "data").start()
    world = World(server)
    anna = world.user("Anna")
    room = anna.room("Tea")
    connections = [unread_ingest(world, anna, room) for _ in range(STREAMS)]
    # By then the server waits for the clients to read.
    time.sleep(MOMENT_SECONDS)
    for connection in connections:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    anna.send(room, "after")
    server.stop()
    log = server.output.read_text() + server.errors.read_text()
    assert " error hansard" not in log and " warning hansard" not in log, log


def test_a_client_that_disconnects_does_not_affect_the_next_one(world, anna, room):
    for stall in (half_a_request, half_a_head, open_ingest, unread_ingest):
        stall(world, anna, room).close()
    anna.send(room, "after")
    assert anna.texts(room)[-1] == "after"
    assert [result["status"] for result in anna.ingest([
        {"op": "message.send", "roomId": room.id, "id": new_id(), "text": "last"}
    ])] == [201]
