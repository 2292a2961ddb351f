"""Bulk ingest: streamed NDJSON in both directions."""

import contextlib
import json
import os
import pathlib
import threading
import time

import pytest

from harness.client import Api, new_id
from harness.cost import memory_limit
from harness.people import timeline
from harness.server import Server
from harness.stream import IngestStream

INGEST_BYTES = 16 * 1024 * 1024
INGEST_LINES = 256 * 1024
# The results that a client leaves unread, some 3 bytes each, and the memory that reading the lines takes.
UNREAD_BYTES = 24 * 1024 * 1024
# A process that uses no processor time for this long is idle.
IDLE_SECONDS = 1


def message(room, text="x", **more) -> dict:
    return {"op": "message.send", "roomId": room.id, "id": new_id(), "text": text} | more


def test_a_service_brings_in_a_history(world):
    anna, ben, room, sent = new_id(), new_id(), new_id(), new_id()
    head = world.head
    lines = [
        {"op": "user.register", "id": anna, "nickname": "Anna", "externalId": f"a-{anna}"},
        {"op": "user.register", "id": ben, "nickname": "Ben"},
        {"op": "room.create", "id": room, "name": "Tea", "as": anna, "sentAt": "2019-05-01T10:00:00.000Z"},
        {"op": "member.join", "roomId": room, "as": ben, "sentAt": "2019-05-01T10:00:01.000Z"},
        {"op": "message.send", "roomId": room, "id": sent, "text": "hello", "as": ben,
         "sentAt": "2019-05-01T10:00:02.5Z"},
        {"op": "message.send", "roomId": room, "id": new_id(), "text": "oops", "as": ben},
        {"op": "message.edit", "roomId": room, "id": sent, "text": "hello!", "as": ben},
        {"op": "read-marker.move", "roomId": room, "messageId": sent, "as": anna},
    ]
    results = world.admin.ingest(lines)
    assert [result["status"] for result in results] == [201] * 6 + [200] * 2
    assert not any("replayed" in result for result in results)
    assert [result["line"] for result in results] == list(range(1, len(lines) + 1))
    positions = [result["position"] for result in results]
    # Creating a room also records the join of its creator. Every other line is one event.
    assert positions[:3] == [head + 1, head + 2, head + 3] and positions[3:] == list(range(head + 5, head + 10))
    again = world.admin.ingest(lines)
    assert [(result["status"], result.get("replayed")) for result in again] == [(200, True)] * 6 + [(200, None), (200, True)]
    assert [result["position"] for result in again[:6]] == positions[:6]
    as_anna = world.acting_as(anna)
    first, second = as_anna.get(f"/v1/rooms/{room}/messages")["messages"]
    assert (first["text"], first["sentAt"], first["senderId"]) == ("hello!", "2019-05-01T10:00:02.500Z", ben)
    assert as_anna.get(f"/v1/rooms/{room}")["unreadCount"] == 1
    left = world.admin.ingest([
        {"op": "member.leave", "roomId": room, "as": ben},
        {"op": "message.delete", "roomId": room, "id": sent, "as": anna},
    ])
    assert [result["status"] for result in left] == [200, 200]
    assert as_anna.get(f"/v1/rooms/{room}")["memberCount"] == 1


def test_a_user_sends_for_itself(anna, room):
    lines = [message(room, f"{number}") for number in range(100)]
    assert [result["status"] for result in anna.ingest(lines)] == [201] * 100
    assert anna.texts(room, limit=200) == [line["text"] for line in lines]


def test_lines_without_as_are_sent_by_the_user_in_the_header(world, anna, ben, room):
    results = world.acting_as(ben.id).ingest([message(room, "ben's"), message(room, "anna's", **{"as": anna.id})])
    assert [result["status"] for result in results] == [201, 201]
    assert [item["senderId"] for item in anna.get(f"{room.path}/messages")["messages"]] == [ben.id, anna.id]


BAD_LINES = [
    ("invalid_json", b"nonsense"),
    ("invalid_json", b'{"op":"message.send"'),
    ("invalid_field", b"[]"),
    ("invalid_field", b"{}"),
    ("invalid_field", b'{"op":"message.explode"}'),
    ("invalid_field", b'{"op":7}'),
    ("invalid_field", b'{"op":"message.send","roomId":"ROOM","id":"ID"}'),
    ("invalid_field", b'{"op":"message.send","roomId":"ROOM","id":"nonsense","text":"x"}'),
    ("invalid_field", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":7}'),
    ("invalid_field", b'{"op":"room.create","id":"ID","name":"x","kind":"direct"}'),
    ("unknown_field", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"x","colour":"red"}'),
    ("unknown_field", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"x","nickname":"x"}'),
    ("unknown_field", b'{"op":"read-marker.move","roomId":"ROOM","messageId":"ID","id":"ID"}'),
    ("invalid_utf8", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"\xff"}'),
    ("unknown_field", b'{"op":"user.register","as":"ID","id":"ID","nickname":"x"}'),
    ("service_only", b'{"op":"user.register","id":"ID","nickname":"x"}'),
    ("service_only", b'{"op":"member.join","as":"ID","roomId":"ROOM"}'),
    ("service_only", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"x","as":"ID"}'),
    ("service_only", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"x","sentAt":"2020-01-01T00:00:00Z"}'),
    ("room_not_found", b'{"op":"message.send","roomId":"ID","id":"ID","text":"x"}'),
    ("message_not_found", b'{"op":"message.edit","roomId":"ROOM","id":"ID","text":"x"}'),
    ("empty_text", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":""}'),
    ("text_too_long", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"' + b"x" * 16_385 + b'"}'),
    ("line_too_long", b'{"op":"message.send","roomId":"ROOM","id":"ID","text":"' + b"x" * 140_000 + b'"}'),
]


@pytest.mark.parametrize("code, line", BAD_LINES, ids=[f"{code}-{n}" for n, (code, _) in enumerate(BAD_LINES)])
def test_a_bad_line_fails_alone(world, anna, room, code, line):
    line = line.replace(b"ROOM", room.id.encode()).replace(b"ID", new_id().encode())
    good = [json.dumps(message(room, f"{number}")).encode() for number in range(2)]
    head = world.head
    results = anna.ingest_bytes(b"\n".join([good[0], line, good[1]]) + b"\n")
    assert [result["line"] for result in results] == [1, 2, 3]
    assert [results[0]["status"], results[2]["status"]] == [201, 201]
    assert results[1]["code"] == code, results[1]
    assert world.head == head + 2
    assert anna.texts(room) == ["0", "1"]


def test_what_only_a_service_meets(world, room):
    register = {"op": "user.register", "id": new_id(), "nickname": "x"}
    codes = [result.get("code") for result in world.admin.ingest([
        message(room), message(room, **{"as": new_id()}),
        register | {"nickname": ""}, register, register | {"nickname": "y"},
        {"op": "member.join", "roomId": room.id, "as": new_id()}, {"op": "member.join", "roomId": room.id},
        {"op": "member.join", "roomId": new_id(), "as": register["id"]},
        register | {"as": register["id"]},
    ])]
    assert codes == [
        "acting_user_required", "room_not_found", "nickname_empty", None, "id_in_use", "user_not_found",
        "acting_user_required", "room_not_found", "unknown_field",
    ]


def test_an_import_may_repeat_what_was_sent_by_one_who_left(world, anna, ben, room):
    line = message(room, "before leaving", **{"as": ben.id}, sentAt="2020-01-01T00:00:00Z")
    (first,) = world.admin.ingest([line])
    ben.post(f"{room.path}/leave")
    (again,) = world.admin.ingest([line])
    assert again == {"line": 1, "status": 200, "position": first["position"], "replayed": True}
    other, new = world.admin.ingest([line | {"text": "other"}, message(room, "after leaving", **{"as": ben.id})])
    assert [other["code"], new["code"]] == ["room_not_found"] * 2


def test_blank_lines_are_counted_and_skipped(anna, room):
    lines = [json.dumps(message(room, f"{number}")) for number in range(3)]
    results = anna.ingest_bytes(f"\n{lines[0]}\r\n  \n\r\n{lines[1]}\n\n{lines[2]}".encode())
    assert [(result["line"], result["status"]) for result in results] == [(2, 201), (5, 201), (7, 201)]


def test_an_empty_body_has_no_results(anna):
    assert anna.ingest_bytes(b"") == []
    assert anna.ingest_bytes(b"\n\n") == []


def test_lines_are_decided_in_order(world, anna, room):
    first = message(room, "first")
    edit = {"op": "message.edit", "roomId": room.id, "id": first["id"]}
    key = new_id()
    results = anna.ingest([
        edit | {"text": "too early"}, first, edit | {"text": "second", "key": key}, first, edit | {"text": "third"},
        edit | {"text": "second", "key": key}, edit | {"text": "other", "key": key},
        {"op": "message.delete", "roomId": room.id, "id": first["id"]}, edit | {"text": "too late"}, first,
    ])
    assert [result.get("code", result["status"]) for result in results] == [
        "message_not_found", 201, 200, 200, 200, 200, "idempotency_key_reused", 200, "message_deleted", 200,
    ]
    assert [number for number, result in enumerate(results) if "replayed" in result] == [3, 5, 9]
    assert results[3]["position"] == results[9]["position"] == results[1]["position"]
    assert results[5]["position"] == results[2]["position"]


def test_results_come_while_the_body_is_still_being_sent(world, anna, room):
    with IngestStream(world.server, anna.token) as stream:
        for number in range(20):
            line = message(room, f"{number}")
            stream.send(line)
            result = stream.result()
            assert (result["line"], result["status"]) == (number + 1, 201)
            assert world.head >= result["position"], "the result came before its line was durable"
            assert anna.get(room.message(line["id"]))["position"] == result["position"]
        stream.finish()
        assert list(stream.results()) == []


def test_a_line_may_come_in_pieces(world, anna, room):
    text = json.dumps(message(room, "점심"), ensure_ascii=False).encode() + b"\n"
    with IngestStream(world.server, anna.token) as stream:
        for byte in text:
            stream.send_bytes(bytes([byte]))
        assert stream.result()["status"] == 201
        stream.finish()
    assert anna.texts(room) == ["점심"]


def test_a_client_that_sends_all_before_it_reads(world, anna, room):
    """The client sends 16 MiB before it reads any results. Neither side waits for the other forever."""
    line = json.dumps(message(room)).encode() + b"\n"
    count = INGEST_BYTES // len(line)
    lines = [json.dumps(message(room)).encode() + b"\n" for _ in range(count)]
    data = b"".join(lines)
    assert len(data) <= INGEST_BYTES
    with IngestStream(world.server, anna.token, content_length=len(data), timeout=600) as stream:
        stream.send_bytes(data)
        results = list(stream.results())
    assert len(results) == count
    assert {result["status"] for result in results} == {201}
    positions = [result["position"] for result in results]
    assert positions == list(range(positions[0], positions[0] + count))


def test_a_client_that_sends_more_than_a_body_may_have_before_it_reads(world, anna, room):
    """The client sends 32 MiB. The server discards what is beyond the limit, so that the client gets its results."""
    # Their results alone fill every buffer on the way to a client that does not read.
    bad = b"x\n" * 60_000
    length = len(json.dumps(message(room, "x" * 16_000)).encode() + b"\n")
    good = (INGEST_BYTES - len(bad)) // length
    lines = [json.dumps(message(room, "x" * 16_000)).encode() + b"\n" for _ in range(2 * good)]
    data = bad + b"".join(lines)
    with IngestStream(world.server, anna.token, content_length=len(data), timeout=600) as stream:
        stream.send_bytes(data)
        results = list(stream.results())
    assert stream.response_ended, "the response broke off"
    assert [result["status"] for result in results] == [400] * 60_000 + [201] * good + [413]
    assert (results[-1]["code"], results[-1]["line"]) == ("body_too_large", 60_000 + good + 1)


def test_unread_results_take_no_more_memory_than_the_lines(own_world):
    """More of the shortest lines than a body may have. The client reads the results late."""
    server = own_world.server
    before = resident_bytes(server.process.pid)
    data = b"x\n" * (INGEST_LINES + 1_000)
    with IngestStream(server, own_world.admin.token, content_length=len(data), timeout=600) as stream:
        stream.send_bytes(data)
        wait_until_idle(server)
        grown = resident_bytes(server.process.pid) - before
        results = list(stream.results())
    assert len(results) == INGEST_LINES + 1
    assert {result["code"] for result in results[:-1]} == {"invalid_json"}
    assert (results[-1]["code"], results[-1]["line"]) == ("body_too_large", INGEST_LINES + 1)
    assert grown < memory_limit(UNREAD_BYTES), f"the server grew by {grown} bytes"


def resident_bytes(pid: int) -> int:
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait_until_idle(server: Server) -> None:
    """Waits until the process has nothing to do."""
    used = -1.0
    while used != (now := server.processor_seconds()):
        used = now
        time.sleep(IDLE_SECONDS)


def test_a_broken_stream_keeps_what_was_acknowledged(world, anna, room):
    lines = [message(room, f"{number}") for number in range(500)]
    with IngestStream(world.server, anna.token) as stream:
        stream.send(*lines)
        results = [stream.result() for _ in range(300)]
    assert {result["status"] for result in results} == {201}
    for result, line in zip(results, lines):
        assert anna.get(room.message(line["id"]))["position"] == result["position"]
    again = anna.ingest(lines)
    assert {result["status"] for result in again} <= {200, 201}
    assert [item["id"] for item in timeline(anna, room.id)] == [line["id"] for line in lines]


def send_until_broken(stream: IngestStream, lines: list[dict]) -> None:
    with contextlib.suppress(OSError):
        stream.send(*lines)


def test_results_are_durable(own_world):
    world, server = own_world, own_world.server
    anna = world.user("Anna")
    room = anna.room("Tea")
    with IngestStream(server, anna.token) as stream:
        sent = [message(room, f"{number}") for number in range(2000)]
        sender = threading.Thread(target=send_until_broken, args=(stream, sent))
        sender.start()
        results = [stream.result() for _ in range(700)]
        server.kill()
        sender.join()
    server.start()
    kept = {item["id"]: item["position"] for item in timeline(Api(server, anna.token), room.id)}
    for result, line in zip(results, sent):
        assert kept[line["id"]] == result["position"]
