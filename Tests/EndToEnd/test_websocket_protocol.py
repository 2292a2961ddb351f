"""The WebSocket protocol (RFC 6455) against the echo of `hansard serve --conformance`: what the categories 1 to 7, 9
and 10 of Autobahn's suite require of a server. Each message is sent back; each broken rule ends the connection with its
code."""

import pytest
from websockets.exceptions import ConnectionClosedOK
from websockets.sync.client import connect

from harness.server import Server
from harness.websocket import (
    BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Connection, WebSocket, close_payload, encode, header, upgrade,
)

PATH = "/conformance/ws"
NORMAL, PROTOCOL_ERROR, INVALID_DATA, TOO_BIG = 1000, 1002, 1007, 1009
MEBIBYTE = 1 << 20
# Limits.conformanceMessageBytes and Limits.conformanceFragments.
MESSAGE_BYTES = 32 * MEBIBYTE
FRAGMENTS = 65_537
LENGTHS = [0, 1, 125, 126, 127, 128, 65_535, 65_536]
TEXTS = [
    "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\x00", "\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufffd",
    "\uffff", "\U00010000", "\U0010ffff", "a\u0300", "😀👍",
]
INVALID = [
    b"\x80", b"\xbf", b"\xc0\xaf", b"\xc1\xbf", b"\xc2", b"\xe0\x80\xaf", b"\xe0\x9f\xbf", b"\xe2\x82", b"\xed\xa0\x80",
    b"\xed\xbf\xbf", b"\xf0\x80\x80\xaf", b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80", b"\xfe", b"\xff",
    b"\xce\xba\xe1\xbd\xb9\xed\xa0\x80edited",
]
VALID_CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
INVALID_CODES = [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("conformance") / "data", "--conformance").start()
    yield server
    server.end()


@pytest.fixture
def echo(server):
    with WebSocket(server, PATH) as socket:
        yield socket


def fragments(opcode: int, parts: list[bytes]) -> bytes:
    last = len(parts) - 1
    return b"".join(
        encode(CONTINUATION if index else opcode, part, is_final=index == last) for index, part in enumerate(parts))


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start:start + size] for start in range(0, len(data), size)]


def expect_failure(server, data: bytes, code: int) -> None:
    """The message before is sent back, and the one after is not."""
    with WebSocket(server, PATH) as socket:
        socket.send(encode(TEXT, b"before") + data + encode(TEXT, b"after"))
        socket.expect(TEXT, b"before")
        socket.expect_close(code)


# Categories 1 and 10: framing


def test_messages_of_all_lengths(echo):
    for opcode in (TEXT, BINARY):
        for length in LENGTHS:
            payload = b"*" * length if opcode == TEXT else bytes(255 - n % 256 for n in range(length))
            echo.send_frame(opcode, payload)
            echo.expect(opcode, payload)


def test_messages_in_small_writes(echo):
    data = encode(TEXT, b"slow") + encode(BINARY, b"\xfe" * 300)
    for piece in pieces(data, 1):
        echo.send(piece)
    echo.expect(TEXT, b"slow")
    echo.expect(BINARY, b"\xfe" * 300)
    for piece in pieces(encode(TEXT, b"*" * 65_536), 997):
        echo.send(piece)
    echo.expect(TEXT, b"*" * 65_536)


def test_a_message_in_frames_of_one_packet(echo):
    payload = b"*" * 65_536
    echo.send(fragments(TEXT, pieces(payload, 1300)))
    echo.expect(TEXT, payload)


# Category 2: pings and pongs


def test_each_ping_gets_its_pong(echo):
    payloads = [b"", b"Hello, world!", bytes([0, 0xFF, 0xFE, 0xFD, 0]), b"\xfe" * 125] + [b"%d" % n for n in range(10)]
    echo.send(b"".join(encode(PING, payload) for payload in payloads))
    for payload in payloads:
        echo.expect(PONG, payload)
    for piece in pieces(encode(PING, b"\xfe" * 125), 1):
        echo.send(piece)
    echo.expect(PONG, b"\xfe" * 125)


def test_unsolicited_pongs_are_ignored(echo):
    echo.send(encode(PONG) + encode(PONG, b"unasked") + encode(PING, b"asked"))
    echo.expect(PONG, b"asked")


# Categories 3 and 4: reserved bits and opcodes


@pytest.mark.parametrize("reserved", range(1, 8))
def test_reserved_bits(server, reserved):
    for opcode in (TEXT, BINARY, PING, CLOSE):
        expect_failure(server, encode(opcode, reserved=reserved), PROTOCOL_ERROR)


def test_unknown_opcodes(server):
    for opcode in [*range(3, 8), *range(11, 16)]:
        expect_failure(server, encode(opcode, b""), PROTOCOL_ERROR)
        expect_failure(server, encode(opcode, b"payload"), PROTOCOL_ERROR)


def test_frames_without_a_mask(server):
    for opcode in (TEXT, PING, CLOSE):
        expect_failure(server, encode(opcode, b"", is_masked=False), PROTOCOL_ERROR)


def test_control_frames_are_short_and_whole(server):
    for opcode in (PING, PONG, CLOSE):
        expect_failure(server, encode(opcode, b"\xfe" * 126), PROTOCOL_ERROR)
        expect_failure(server, encode(opcode, b"", is_final=False), PROTOCOL_ERROR)


# Category 5: fragments


def test_control_frames_between_fragments(echo):
    parts = [b"fragment%d" % number for number in range(5)]
    for opcode in (TEXT, BINARY):
        data = encode(opcode, parts[0], is_final=False)
        for number, part in enumerate(parts[1:]):
            data += encode(PING, b"ping%d" % number) + encode(PONG, b"ignored")
            data += encode(CONTINUATION, part, is_final=part is parts[-1])
        for piece in [data] if opcode == TEXT else pieces(data, 1):
            echo.send(piece)
        for number in range(4):
            echo.expect(PONG, b"ping%d" % number)
        echo.expect(opcode, b"".join(parts))


def test_empty_fragments(echo):
    for parts in ([b"", b"", b""], [b"", b"middle", b""]):
        echo.send(fragments(TEXT, parts))
        echo.expect(TEXT, b"".join(parts))


def test_fragments_out_of_order(server):
    for is_final in (True, False):
        expect_failure(server, encode(CONTINUATION, b"nothing before", is_final=is_final), PROTOCOL_ERROR)
        expect_failure(
            server, encode(TEXT, b"begun", is_final=False) + encode(TEXT, b"next", is_final=is_final), PROTOCOL_ERROR)
    with WebSocket(server, PATH) as socket:
        socket.send(fragments(TEXT, [b"a", b"b"]) + encode(CONTINUATION, b"c"))
        socket.expect(TEXT, b"ab")
        socket.expect_close(PROTOCOL_ERROR)


# Category 6: UTF-8


def test_valid_text(echo):
    for text in TEXTS:
        data = text.encode()
        echo.send_frame(TEXT, data)
        echo.expect(TEXT, data)
        echo.send(fragments(TEXT, pieces(data, 1)))
        echo.expect(TEXT, data)


def test_invalid_text(server):
    for data in INVALID:
        expect_failure(server, encode(TEXT, data), INVALID_DATA)
        expect_failure(server, fragments(TEXT, pieces(b"valid " + data, 1)), INVALID_DATA)


def test_invalid_text_ends_the_connection_before_the_message_is_complete(server):
    for data in (b"\xce\xba\xf4\x90", b"\xff", b"\xed\xa0"):
        expect_failure(server, encode(TEXT, data, is_final=False), INVALID_DATA)


def test_binary_messages_may_be_anything(echo):
    for data in INVALID:
        echo.send_frame(BINARY, data)
        echo.expect(BINARY, data)


# Category 7: closing


def test_a_close_gets_its_code_back(server):
    for code in VALID_CODES:
        with WebSocket(server, PATH) as socket:
            socket.send(encode(CLOSE, close_payload(code, b"*" * 123)) + encode(TEXT, b"after") + encode(PING))
            socket.expect_close(code)
    with WebSocket(server, PATH) as socket:
        socket.send(encode(CLOSE) + encode(CLOSE))
        socket.expect_close(None)


def test_a_close_within_a_fragmented_message(echo):
    close = encode(CLOSE, close_payload(NORMAL))
    echo.send(encode(TEXT, b"begun", is_final=False) + close + encode(CONTINUATION, b"end"))
    echo.expect_close(NORMAL)


def test_invalid_closes(server):
    for code in INVALID_CODES:
        expect_failure(server, encode(CLOSE, close_payload(code)), PROTOCOL_ERROR)
    expect_failure(server, encode(CLOSE, b"\x03"), PROTOCOL_ERROR)
    expect_failure(server, encode(CLOSE, close_payload(NORMAL, INVALID[-1])), INVALID_DATA)


# Category 9: limits


def test_large_messages(echo):
    binary = bytes(range(251)) * (16 * MEBIBYTE // 251)
    echo.send_frame(BINARY, binary)
    echo.expect(BINARY, binary)
    text = ("ä€😀" * 150_000).encode()
    echo.send_frame(TEXT, text)
    echo.expect(TEXT, text)
    echo.send(fragments(BINARY, pieces(binary[:4 * MEBIBYTE], 4096)))
    echo.expect(BINARY, binary[:4 * MEBIBYTE])


def test_many_small_messages(echo):
    payloads = [b"%d" % number for number in range(1000)]
    echo.send(b"".join(encode(TEXT, payload) for payload in payloads))
    for payload in payloads:
        echo.expect(TEXT, payload)


def test_the_longest_message(server):
    with WebSocket(server, PATH) as socket:
        longest = b"\x00" * MESSAGE_BYTES
        socket.send_frame(BINARY, longest)
        socket.expect(BINARY, longest)
        socket.send(header(BINARY, MESSAGE_BYTES + 1) + b"mask")
        socket.expect_close(TOO_BIG)
    with WebSocket(server, PATH) as socket:
        socket.send(encode(BINARY, longest, is_final=False) + encode(CONTINUATION, b"1"))
        socket.expect_close(TOO_BIG)


def test_the_most_fragments(server):
    one = encode(CONTINUATION, b"x", is_final=False)
    begun = encode(BINARY, b"x", is_final=False) + one * (FRAGMENTS - 2)
    with WebSocket(server, PATH) as socket:
        socket.send(begun + encode(CONTINUATION, b"x"))
        socket.expect(BINARY, b"x" * FRAGMENTS)
        socket.send(begun + one + encode(CONTINUATION, b"x"))
        socket.expect_close(TOO_BIG)


def test_a_length_that_no_frame_can_have(server):
    expect_failure(server, bytes([0x82, 0xFF]) + b"\xff" * 8 + b"mask", TOO_BIG)


# A real client


def test_the_websockets_package(server):
    url = f"ws://127.0.0.1:{server.port}{PATH}"
    with connect(url, max_size=None) as client:
        # The client offers compression.
        assert client.protocol.extensions == []
        for message in ["text", "ä€😀", b"\x00\xff", b"", "x" * 200_000]:
            client.send(message)
            assert client.recv() == message
        client.send(["in ", "three ", "fragments"])
        assert client.recv() == "in three fragments"
        client.ping(b"here").wait(60)
        client.close(1000, "done")
        with pytest.raises(ConnectionClosedOK):
            client.recv()
        assert client.protocol.close_rcvd.code == 1000


def test_an_upgrade_with_another_field_order_and_case(server):
    request = upgrade(PATH).decode().replace("Upgrade:", "upgrade:").replace("websocket", "WebSocket")
    lines = request.strip().split("\r\n")
    with Connection(server) as connection:
        connection.send(("\r\n".join([lines[0], *reversed(lines[1:])]) + "\r\n\r\n").encode())
        assert connection.head().startswith("HTTP/1.1 101 ")
