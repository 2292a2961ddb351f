"""JSON bodies that are expensive or ambiguous: they are rejected before decoding, or read once at little cost.

The limits on processor time are several times what a release build uses.
"""

import base64
import datetime
import json

import pytest

from harness.client import NDJSON, new_id
from harness.cost import costs_at_most, responds, thread_seconds
from harness.waiting import wait_until
from test_search import follow

# Two combining marks in reverse canonical order: normalizing a run of them has to sort it.
MARKS = "\u0315\u0300"
MARKS_IN_A_ROW = 30
DEPTH = 64
KEY_BYTES = 1024
VALUES = 32 * 1024
NUMBER_BYTES = 1024
BODY_BYTES = 128 * 1024
# Processor seconds for a rejected body of 128 KiB.
SECONDS = 0.05


def marks(count: int) -> str:
    return (MARKS * (count // 2 + 1))[:count]


def nested(depth: int, inner: str = "1") -> str:
    return "[" * depth + inner + "]" * depth


def message(data: str) -> bytes:
    return b'{"type":"x","data":' + data.encode() + b"}"


@pytest.fixture(scope="module")
def scenario(shared_world):
    anna = shared_world.user("Anna")
    return anna, anna.room("Tea")


@pytest.mark.parametrize("number", [
    f"{mantissa}{exponent}" for mantissa in ("1", "0", "-1.5")
    for exponent in ("e1001", "e9223372036854775807", "e-9223372036854775808", "e-9223372036854775809")])
def test_a_number_with_an_extreme_exponent_ends_no_server(server, scenario, number):
    anna, room = scenario
    response = anna.request("PUT", room.message(new_id()), data=message(number))
    assert response.status_code in (201, 400), response.text
    responds(server)


# Requests whose bodies are decoded, with a token and without one. `%s` marks a place in a name or in a text.
BODIES = {
    "a name in a login": ("POST", "/v1/sessions", '{"a%s":1}'),
    "a name in a registration": ("POST", "/v1/accounts", '{"a%s":1}'),
    "a password in a login": ("POST", "/v1/sessions", '{"email":"a@example.org","password":"a%s"}'),
    "a password in a registration": (
        "POST", "/v1/accounts",
        '{"id":"018f2f4e-6b5a-7c31-9f0e-3d1f5a7b9c01","email":"a@example.org","nickname":"A","password":"a%s"}'),
    "a nickname": ("PATCH", "/v1/me", '{"nickname":"a%s"}'),
    "a text": ("PUT", "{message}", '{"text":"a%s"}'),
    "a text in data": ("PUT", "{message}", '{"type":"x","data":["a%s"]}'),
    "a name in data": ("PUT", "{message}", '{"type":"x","data":{"a%s":1}}'),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("escaped", [False, True], ids=["as they are", "escaped"])
def test_many_marks_in_a_row(world, scenario, name, escaped):
    anna, room = scenario
    method, path, body = BODIES[name]
    caller = world.nobody if "login" in name or "registration" in name else anna
    run = MARKS.encode("unicode_escape").decode() * 10_000 if escaped else marks(60_000)
    data = (body % run).encode()
    assert BODY_BYTES // 2 < len(data) < BODY_BYTES
    with costs_at_most(world.server, SECONDS):
        problem = caller.refused("invalid_json", method, path.format(message=room.message(new_id())), data=data)
    assert "combining marks" in problem["detail"]


@pytest.mark.parametrize("count", [MARKS_IN_A_ROW - 1, MARKS_IN_A_ROW, MARKS_IN_A_ROW + 1])
def test_the_limit_of_combining_marks_in_a_row(world, scenario, count):
    anna, room = scenario
    text = "a" + marks(count) + " b" + marks(count)
    for body in ({"text": text}, {"type": "x", "data": {text: [text]}}):
        path = room.message(new_id())
        if count > MARKS_IN_A_ROW:
            anna.refused("invalid_json", "PUT", path, body)
        else:
            sent = anna.put(path, body)
            assert anna.get(path) == sent
            assert {name: sent[name] for name in body} == body
    password = {"email": f"{new_id()}@example.org", "password": text}
    world.nobody.refused("invalid_json" if count > MARKS_IN_A_ROW else "credentials_rejected", "POST", "/v1/sessions", password)


@pytest.mark.parametrize("length", [1024, 1025, 100_000])
def test_a_long_password_is_not_normalised(world, length):
    body = {"id": new_id(), "email": f"{new_id()}@example.org", "password": "가" * (length // 3) + "x" * (length % 3), "nickname": "A"}
    if length > 1024:
        with costs_at_most(world.server, SECONDS):
            world.nobody.refused("password_too_long", "POST", "/v1/accounts", body)
    else:
        world.nobody.post("/v1/accounts", body)


def test_a_body_with_the_maximum_of_combining_marks_costs_little(world, scenario):
    """The cost of every accepted body is proportional to its length, also in the search index and in a search."""
    anna, room = scenario
    word = "q" + marks(MARKS_IN_A_ROW)
    text = " ".join([word] * 250)
    with costs_at_most(world.server, 1.5):
        for _ in range(20):
            anna.send(room, text)
        # The search index may lag behind the log.
        follow(anna)
        for _ in range(10):
            page = anna.get("/v1/search", q=word, roomId=room.id)
    assert len(page["results"]) == 20


@pytest.mark.parametrize("path", [
    "/v1/search?q=a{marks}", "/v1/me?{marks}=1", "/v1/rooms/{marks}", "{room}/messages/{id}/reactions/{marks}",
    "/v1/search?q=%FFa{marks}", "/v1/media?name=a{marks}",
], ids=lambda path: path.replace("{", "").replace("}", ""))
def test_many_marks_in_a_path_or_a_query(world, scenario, path):
    anna, room = scenario
    run = "".join(f"%{byte:02X}" for byte in marks(1200).encode())
    method = "PUT" if "reactions" in path else "POST" if "media" in path else "GET"
    with costs_at_most(world.server, SECONDS):
        anna.refused("invalid_query", method, path.format(marks=run, room=room.path, id=new_id()))


@pytest.mark.parametrize("name", [
    "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Hansard-Act-As", "Authorization", "X-Forwarded-For",
    "Origin", "Expect",
])
def test_many_marks_in_a_header(world, scenario, name):
    anna, room = scenario
    value = b"a" + marks(8_000).encode()
    with costs_at_most(world.server, SECONDS):
        anna.refused("headers_too_large", "PUT", room.message(new_id()), {"text": "x"}, headers={name: value})


def test_many_marks_in_a_token(world):
    """The contents of a token are decoded before its signature is checked."""
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()

    run = marks(2_500)
    for header, claims in ((f'{{"alg":"EdDSA","a{run}":1}}', "{}"), ('{"alg":"EdDSA","kid":"hs-1"}', f'{{"a{run}":1}}')):
        token = f"{part(header)}.{part(claims)}.{part('x' * 64)}"
        with costs_at_most(world.server, SECONDS):
            world.nobody.refused("access_token_invalid", "GET", "/v1/me", headers={"Authorization": f"Bearer {token}"})
            world.nobody.refused("id_token_invalid", "POST", "/v1/sessions", {"idToken": token})


# MARK: Depth and breadth


@pytest.mark.parametrize("depth", [DEPTH - 2, DEPTH - 1, DEPTH, 505, 508, 10_000])
def test_depth(world, scenario, depth):
    """The body's own object is the first level."""
    anna, room = scenario
    path = room.message(new_id())
    with costs_at_most(world.server, SECONDS):
        if depth >= DEPTH:
            anna.refused("invalid_json", "PUT", path, data=message(nested(depth)))
            anna.refused("invalid_json", "PUT", path, data=message('{"a":' * depth + "1" + "}" * depth))
        else:
            sent = anna.put(path, data=message(nested(depth)))
            assert sent["data"] == json.loads(nested(depth)) and anna.get(path) == sent
        anna.get("/v1/rooms")


def test_an_ingest_line_obeys_the_same_rules(world, scenario):
    anna, room = scenario
    bad = [
        nested(DEPTH), f'{{"a{marks(31)}":1}}', '{"a":1,"a":2}', '{"\u00e9":1,"e\u0301":2}', f'{{"{"k" * (KEY_BYTES + 1)}":1}}',
        "1" * (NUMBER_BYTES + 1), "[" + "1," * VALUES + "1]",
    ]
    lines = [
        f'{{"op":"message.send","roomId":"{room.id}","id":"{new_id()}","type":"x","data":{data}}}' for data in bad + ["1"]
    ]
    with costs_at_most(world.server, 0.2):
        results = anna.ingest_bytes("\n".join(lines).encode())
    assert [result.get("code") for result in results] == ["invalid_json"] * len(bad) + [None]
    results = anna.ingest_bytes(b'{"op":"member.join","op":"member.leave"}\n\xff\n')
    assert [result["code"] for result in results] == ["invalid_json", "invalid_utf8"]


@pytest.mark.parametrize("size", [KEY_BYTES - 1, KEY_BYTES, KEY_BYTES + 1])
def test_length_of_a_name(scenario, size):
    anna, room = scenario
    path, body = room.message(new_id()), {"type": "x", "data": {"길" * (size // 3) + "k" * (size % 3): 1}}
    anna.refused("invalid_json", "PUT", path, body) if size > KEY_BYTES else anna.put(path, body)


@pytest.mark.parametrize("size", [NUMBER_BYTES - 1, NUMBER_BYTES, NUMBER_BYTES + 1])
def test_length_of_a_number(scenario, size):
    anna, room = scenario
    path, data = room.message(new_id()), message("0." + "1" * (size - 2))
    anna.refused("invalid_json", "PUT", path, data=data) if size > NUMBER_BYTES else anna.put(path, data=data)


@pytest.mark.parametrize("count", [VALUES - 1, VALUES, VALUES + 1])
def test_count_of_members_and_elements(world, scenario, count):
    """The body's own two members count too."""
    anna, room = scenario
    data = message("[" + ",".join(["1"] * (count - 2)) + "]")
    with costs_at_most(world.server, SECONDS):
        if count > VALUES:
            anna.refused("invalid_json", "PUT", room.message(new_id()), data=data)
        else:
            anna.put(room.message(new_id()), data=data)


COSTLY = {
    "numbers, deep": nested(60, ",".join(["1"] * 30_000)),
    "numbers with exponents": "[" + ",".join(["1e100"] * 600) + "]",
    "numbers of forty digits": "[" + ",".join(["0." + "1234567890" * 4] * 1_500) + "]",
    "small objects": "[" + ",".join(['{"a":1}'] * 8_000) + "]",
    "short names": "{" + ",".join(f'"{number}":1' for number in range(7_000)) + "}",
    "names with marks": "{" + ",".join(f'"{number}a{marks(30)}":1' for number in range(900)) + "}",
    "escapes": '"' + "\\u0001" * 10_000 + '"',
}


@pytest.mark.parametrize("name", COSTLY)
def test_data_of_64_kib(world, scenario, name):
    """It is read once. Every later response writes the same bytes."""
    anna, room = scenario
    path = room.message(new_id())
    assert len(COSTLY[name]) <= 64 * 1024
    with costs_at_most(world.server, 0.15):
        sent = anna.put(path, data=message(COSTLY[name]))
    # Python reads a number without an exponent as an integer.
    assert json.loads(json.dumps(sent["data"]), parse_int=float) == json.loads(COSTLY[name], parse_int=float)
    with costs_at_most(world.server, 0.1):
        for _ in range(5):
            assert anna.get(path) == sent


# MARK: Ambiguous bodies


@pytest.mark.parametrize("data", [
    '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"\u00e9":1,"e\u0301":2}', '{"\\u00e9":1,"e\u0301":2}', '[{"b":{"":1,"":2}}]',
    "{" + ",".join(f'"k{number}":1' for number in range(100)) + ',"k7":2}', '{"\u212b":1,"\u00c5":2}',
])
def test_the_same_name_twice_in_data(scenario, data):
    anna, room = scenario
    problem = anna.refused("invalid_json", "PUT", room.message(new_id()), data=message(data))
    assert "duplicate" in problem["detail"]


def test_the_same_field_twice(scenario):
    anna, room = scenario
    anna.refused("invalid_json", "PUT", room.message(new_id()), data=b'{"text":"a","text":"b"}')
    anna.refused("invalid_json", "PUT", room.message(new_id()), data=b'{"text":"a","t\\u0065xt":"b"}')


@pytest.mark.parametrize("data", [
    b'[1,]', b'{"a":1,}', b"01", b"+1", b".5", b"1.", b"1e", b"NaN", b"Infinity", b"'a'", b'"\\x"', b'"\\ud800"', b'"\\udc00\\ud800"',
    b'"a\tb"', b"/* */1", b"\xef\xbb\xbf1", b"tru", b'"\\u12g4"',
])
def test_what_rfc_8259_does_not_allow(scenario, data):
    anna, room = scenario
    anna.refused("invalid_json", "PUT", room.message(new_id()), data=b'{"type":"x","data":' + data + b"}")


def test_an_empty_body(scenario):
    anna, room = scenario
    assert "empty" in anna.refused("invalid_json", "PUT", room.message(new_id()), data=b"")["detail"]


@pytest.mark.parametrize("headers", [
    {"Content-Encoding": "gzip"}, {"Content-Encoding": "br, gzip"}, {"Content-Type": "application/json; charset=iso-8859-1"},
    {"Content-Type": 'application/json; charset="utf-16"'}, {"Content-Type": "application/json; x=y; charset=us-ascii"},
])
def test_a_body_in_another_encoding(scenario, headers):
    anna, room = scenario
    path = room.message(new_id())
    anna.refused("unsupported_media_type", "PUT", path, data=b'{"text":"x"}', headers=headers)
    ingest = {name: value.replace("json", "x-ndjson") for name, value in headers.items()}
    anna.refused("unsupported_media_type", "POST", "/v1/ingest", data=b"", headers={"Content-Type": NDJSON} | ingest)


@pytest.mark.parametrize("headers", [
    {"Content-Encoding": "identity"}, {"Content-Type": "application/json;charset=UTF-8"}, {"Content-Type": 'Application/JSON ; Charset="utf-8"'},
    {"Content-Type": "application/json; profile=x"},
])
def test_a_body_in_utf8(scenario, headers):
    anna, room = scenario
    anna.put(room.message(new_id()), data=b'{"text":"x"}', headers=headers)


# MARK: Accepted bodies can be returned

LARGEST = {
    "the deepest": nested(DEPTH - 1),
    "the longest name": json.dumps({"k" * KEY_BYTES: 1}),
    "the largest": json.dumps("b" * (64 * 1024 - 2)),
    "the most marks": json.dumps({"a" + marks(30): "b" + marks(30)}, ensure_ascii=False),
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_is_shown_by_every_endpoint(world, name):
    anna, ben = world.users("Anna", "Ben")
    room = anna.room("Tea", ben)
    data = message(LARGEST[name])
    body = data[:-1] + b',"text":"findme"}'
    root, reply, later = new_id(), new_id(), new_id()
    sent = anna.put(room.message(root), data=body)
    anna.put(f"{room.path}/pins/{root}")
    for each in (anna, ben):
        assert each.get(room.message(root))["data"] == sent["data"]
        assert each.get(f"{room.path}/messages")["messages"][0]["data"] == sent["data"]
        assert each.see(room)["lastMessage"]["data"] == sent["data"]
        assert each.get("/v1/rooms")["rooms"][0]["lastMessage"]["data"] == sent["data"]
        assert each.get(f"{room.path}/pins")["pins"][0]["message"]["data"] == sent["data"]
    ben.put(room.message(reply), data=body[:-1] + b',"threadId":"' + root.encode() + b'"}')
    assert anna.get(f"{room.message(root)}/thread")["messages"][0]["data"] == sent["data"]
    assert anna.get("/v1/threads")["threads"][0]["root"]["data"] == sent["data"]
    schedule = f"{room.path}/scheduled-messages"
    planned = anna.put(f"{schedule}/{later}", data=body[:-1] + b',"sendAt":"' + in_a_month() + b'"}')
    for shown in (planned, anna.get(f"{schedule}/{later}"), anna.get(schedule)["scheduledMessages"][0],
                  anna.get("/v1/scheduled-messages")["scheduledMessages"][0]):
        assert shown["data"] == sent["data"]
    # The search index may not have the room yet.
    follow(anna)

    def both() -> list | None:
        found = anna.get("/v1/search", q="findme", roomId=room.id)["results"]
        return found if len(found) >= 2 else None

    found = wait_until(both, "the search does not find both messages")
    assert all(result["message"]["data"] == sent["data"] for result in found)


def in_a_month() -> bytes:
    time = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
    return time.strftime("%Y-%m-%dT00:00:00Z").encode()


# The body that is slowest to decode for its length, about 10 ms in a release build, and how many times it is sent.
SLOW_BODY, SLOW_BODIES = message(COSTLY["numbers of forty digits"]), 40


@pytest.mark.alone
def test_a_long_body_is_decoded_on_a_thread_that_serves_no_connections(server, world):
    """If an event loop decoded such bodies, it would delay all of its other connections."""
    anna = world.user("Anna")
    before = thread_seconds(server)
    for _ in range(SLOW_BODIES):
        # The body is decoded completely, and then rejected.
        anna.refused("room_not_found", "PUT", f"/v1/rooms/{new_id()}/messages/{new_id()}", data=SLOW_BODY)
    used = {kind: seconds - before[kind] for kind, seconds in thread_seconds(server).items()}
    # In a release build, the event loops use a twentieth of the pool's time to receive the bytes.
    assert used["loops"] < used["pool"] / 4, f"processor seconds: {used}"
    responds(server)
