"""Invalid requests: each gets a clear problem with its own code, and nothing is written."""

import base64
import json

import pytest

from harness.client import Api, new_id
from harness.contract import contract
from harness.people import World
from harness.server import Server

OPERATIONS = {operation.id: operation for operation in contract().operations}
WITH_BODY = [
    operation for operation in OPERATIONS.values()
    if "application/json" in operation.spec.get("requestBody", {}).get("content", {})
]
WITH_TOKEN = [operation for operation in OPERATIONS.values() if operation.access != "open"]
OF_USERS = [operation for operation in OPERATIONS.values() if operation.access == "user"]
ID_PARAMETERS = ("userId", "deviceId", "roomId", "messageId", "inviteId", "sessionId", "workspaceId", "mediaId")
WITH_IDS = [operation for operation in WITH_TOKEN if any("{" + name + "}" in operation.path for name in ID_PARAMETERS)]

KEYED = [operation for operation in OPERATIONS.values() if operation.takes("idempotencyKey")]
CONDITIONAL = [operation for operation in OPERATIONS.values() if operation.takes("ifMatch")]
UNCONDITIONAL = [
    operation for operation in OPERATIONS.values() if operation.method != "GET" and operation not in CONDITIONAL
]


def by_id(operation) -> str:
    return operation.id


@pytest.fixture(scope="module")
def scene(shared_world):
    """A room with a message and an invite, and values for the parameters of every path (of a medium none is needed)."""
    anna = shared_world.user("Anna")
    room = anna.room("Tea")
    device = new_id()
    anna.put(f"/v1/devices/{device}", {"name": "phone"})
    invite = anna.post(f"{room.path}/invites", {})
    values = {
        "roomId": room.id, "messageId": anna.send(room, "hello")["id"], "userId": anna.id, "deviceId": device,
        "inviteId": invite["id"], "sessionId": anna.tokens["sessionId"], "token": invite["token"],
        "workspaceId": anna.workspace("Office").id, "mediaId": new_id(), "emoji": "%F0%9F%91%8D",
    }
    return anna, values


@pytest.fixture(autouse=True)
def nothing_written(scene, world):
    head = world.head
    yield
    assert world.head == head, "a refused request has written"


def path_of(operation, values: dict) -> str:
    return operation.path.format(**values)


def good_body(operation) -> dict:
    return operation.spec["requestBody"]["content"]["application/json"]["example"]


def schema_of(operation) -> dict:
    return contract().resolve(operation.spec["requestBody"]["content"]["application/json"]["schema"])


def fields_of(operation) -> dict[str, dict]:
    """All fields that a body may have, in any of its forms."""
    schema = schema_of(operation)
    forms = [schema] if "properties" in schema else [contract().resolve(form) for form in schema["anyOf"]]
    return {name: field for form in forms for name, field in form["properties"].items()}


def caller_of(operation, anna, world) -> Api:
    """The caller whose token the operation accepts."""
    return {"open": world.nobody, "service": world.admin}.get(operation.access, anna)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_no_json(scene, operation):
    anna, values = scene
    path = path_of(operation, values)
    text = json.dumps(good_body(operation))
    for data in (b"", b"   ", b"{", b"nonsense", text[:-1].encode(), (text + "}").encode(), b"{'a': 1}", b'{"a" 1}'):
        anna.refused("invalid_json", operation.method, path, data=data)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_no_objects(scene, operation):
    anna, values = scene
    for data in (b"[]", b'"text"', b"1", b"null", b"true"):
        anna.refused("invalid_field", operation.method, path_of(operation, values), data=data)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_fields_that_are_not_taken(scene, operation):
    anna, values = scene
    body = good_body(operation) | {"colour": "red"}
    problem = anna.refused("unknown_field", operation.method, path_of(operation, values), body)
    assert "colour" in problem["detail"]
    if example_field := next(iter(good_body(operation)), None):
        body = {example_field.upper() if example_field != "id" else "ID": "x"} | good_body(operation)
        anna.refused("unknown_field", operation.method, path_of(operation, values), body)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_fields_of_the_wrong_type(scene, operation):
    anna, values = scene
    for name, field in fields_of(operation).items():
        is_taken = contract().quick.check(field)
        wrong = [value for value in ({}, [], True, 1.5, 7) if not is_taken(value)]
        if field.get("format") in ("uuid", "date-time"):
            wrong += ["", "nonsense", "2026-02-30T00:00:00Z", "018f2f4e-6b5a-7c31-9f0e-3d1f5a7b9c0"]
        for value in wrong:
            body = good_body(operation) | {name: value}
            problem = anna.refused("invalid_field", operation.method, path_of(operation, values), body)
            # A number that does not fit is reported before the parser knows the field.
            named = name in problem["detail"] or (value == 1.5 and "number" in problem["detail"])
            assert named, f"{problem['detail']!r} does not name the field {name}"


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_fields_that_are_missing(scene, operation):
    anna, values = scene
    for name in schema_of(operation).get("required", []):
        without = {key: value for key, value in good_body(operation).items() if key != name}
        for body in (without, without | {name: None}):
            problem = anna.refused("invalid_field", operation.method, path_of(operation, values), body)
            assert name in problem["detail"]


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_not_utf8(scene, operation):
    anna, values = scene
    # A lone continuation, an overlong form, a surrogate, a sequence cut off, beyond the last plane.
    for bad in (b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe3\x81", b"\xf4\x90\x80\x80", b"\xff\xfe"):
        name = next(iter(fields_of(operation)))
        data = b'{"' + name.encode() + b'":"' + bad + b'"}'
        anna.refused("invalid_utf8", operation.method, path_of(operation, values), data=data)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_too_large(scene, operation):
    anna, values = scene
    data = json.dumps(good_body(operation)).encode() + b" " * (128 * 1024)
    anna.refused("body_too_large", operation.method, path_of(operation, values), data=data)

    def pieces():
        for _ in range(40):
            yield b" " * 4096

    anna.refused("body_too_large", operation.method, path_of(operation, values), data=pieces())


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_declared_as_something_else(scene, operation):
    anna, values = scene
    data = json.dumps(good_body(operation)).encode()
    for media in ("text/plain", "application/xml", "multipart/form-data; boundary=x", "application/x-ndjson"):
        anna.refused(
            "unsupported_media_type", operation.method, path_of(operation, values), data=data,
            headers={"Content-Type": media},
        )


@pytest.mark.parametrize("operation", WITH_IDS, ids=by_id)
def test_paths_with_what_is_no_uuid(world, scene, operation):
    anna, values = scene
    caller = caller_of(operation, anna, world)
    body = good_body(operation) if operation in WITH_BODY else None
    for name in ID_PARAMETERS:
        if "{" + name + "}" not in operation.path:
            continue
        nil = "00000000-0000-0000-0000-000000000000"
        for wrong in ("1", "nonsense", values[name] + "0", values[name].replace("-", "_"), nil):
            caller.refused("invalid_id", operation.method, path_of(operation, values | {name: wrong}), body)


@pytest.mark.parametrize("operation", KEYED, ids=by_id)
def test_keys_that_are_no_uuid(world, scene, operation):
    anna, values = scene
    caller = caller_of(operation, anna, world)
    body = good_body(operation) if operation in WITH_BODY else None
    for wrong in ("1", "nonsense", new_id() + "0"):
        caller.refused("invalid_idempotency_key", operation.method, path_of(operation, values), body, key=wrong)


@pytest.mark.parametrize("operation", CONDITIONAL, ids=by_id)
def test_preconditions_that_are_none(world, scene, operation):
    anna, values = scene
    caller = caller_of(operation, anna, world)
    # The header is checked before the body.
    body = {"nonsense": 1} if operation in WITH_BODY else None
    for wrong in ("", "41", '"41', '"41" "42"', '*, "41"', '"41",x'):
        caller.refused(
            "invalid_if_match", operation.method, path_of(operation, values), body, headers={"If-Match": wrong})


@pytest.mark.parametrize("operation", UNCONDITIONAL, ids=by_id)
def test_preconditions_where_nothing_would_be_held_against_them(world, scene, operation):
    """Whoever sends one counts on it: it is not passed over."""
    anna, values = scene
    caller = caller_of(operation, anna, world)
    body = good_body(operation) if operation in WITH_BODY else None
    for header in ("*", '"41"', "nonsense"):
        caller.refused(
            "if_match_unsupported", operation.method, path_of(operation, values), body, headers={"If-Match": header})


@pytest.mark.parametrize("operation", WITH_TOKEN, ids=by_id)
def test_requests_without_a_good_token(world, scene, operation):
    anna, values = scene
    path = path_of(operation, values)
    body = good_body(operation) if operation in WITH_BODY else None
    world.nobody.refused("access_token_missing", operation.method, path, body)
    for token in forgeries(anna.token):
        Api(world.server, token).refused("access_token_invalid", operation.method, path, body)


def forgeries(token: str) -> list[str]:
    """Tokens that look like tokens of this server."""
    made_up = ["nonsense", "a.b.c", token + "A", token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB"), token[::-1]]
    parts = token.split(".")
    if len(parts) == 3:
        none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
        claims |= {"sub": new_id()}
        other = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
        made_up += [f"{none}.{parts[1]}.", f"{none}.{parts[1]}.{parts[2]}", f"{parts[0]}.{other}.{parts[2]}"]
    return made_up


def test_a_token_of_another_server_is_worth_nothing(tmp_path, world, scene):
    other = Server(tmp_path / "other").start()
    try:
        stranger = World(other).user("Stranger")
        Api(world.server, stranger.token).refused("access_token_invalid", "GET", "/v1/me")
        Api(world.server, other.token).refused("access_token_invalid", "GET", "/v1/admin/users?externalId=x")
        world.nobody.refused(
            "refresh_token_invalid", "POST", "/v1/sessions/refresh", {"refreshToken": stranger.tokens["refreshToken"]}
        )
    finally:
        other.end()


def test_a_service_token_that_is_wrong_is_wrong_on_an_open_route_too(world, scene):
    body = {"id": new_id(), "email": f"{new_id()}@example.org", "password": "correct horse", "nickname": "A"}
    for token in ("hsa_", "hsa_nonsense", world.server.token + "A", world.server.token[:-1]):
        Api(world.server, token).refused("access_token_invalid", "POST", "/v1/accounts", body)
        login = {"email": body["email"], "password": body["password"]}
        Api(world.server, token).refused("access_token_invalid", "POST", "/v1/sessions", login)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_whoever_asks_is_told_of_the_server(world, scene, path):
    for authorization in ("", "Bearer", "Bearer nonsense", "Bearer hsa_nonsense", "Basic YTpi", "Bearer a b c"):
        headers = {"Authorization": authorization, "Hansard-Act-As": "nonsense"}
        answer = world.nobody.request("GET", path, headers=headers)
        assert answer.status_code == 200, f"{authorization}: {answer.text}"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=by_id)
def test_parameters_that_a_route_does_not_have(world, scene, operation):
    anna, values = scene
    caller = caller_of(operation, anna, world)
    path = path_of(operation, values)
    body = good_body(operation) if operation in WITH_BODY else None
    for query in ("colour=red", "colour", "LIMIT=1", "=", "roomId=x"):
        caller.refused("invalid_query", operation.method, f"{path}?{query}", body)


@pytest.mark.parametrize("operation", OF_USERS, ids=by_id)
def test_a_service_has_to_say_for_whom(world, scene, operation):
    anna, values = scene
    path = path_of(operation, values)
    body = good_body(operation) if operation in WITH_BODY else None
    world.admin.refused("acting_user_required", operation.method, path, body)
    world.acting_as("nonsense").refused("invalid_act_as", operation.method, path, body)
    world.acting_as(new_id()).refused("user_not_found", operation.method, path, body)
    Api(world.server, anna.token, act_as=anna.id).refused("service_only", operation.method, path, body)


def test_what_the_api_does_not_have(world, scene):
    anna, values = scene
    for path in ("/", "/v1", "/v2/me", "/v1/nonsense", f"/v1/rooms/{values['roomId']}/nonsense"):
        anna.refused("route_not_found", "GET", path)
    for method, path in (("POST", "/v1/me"), ("PUT", "/v1/rooms"), ("PATCH", "/healthz"), ("GET", "/v1/ingest")):
        answer = anna.request(method, path)
        assert answer.json()["code"] == "method_not_allowed", answer.text
    allowed = anna.request("PUT", "/v1/me").headers["Allow"]
    assert {method.strip() for method in allowed.split(",")} >= {"GET", "PATCH"}


def test_ingest_refuses_what_is_wrong_with_the_whole(world, scene):
    anna, _ = scene
    anna.refused("unsupported_media_type", "POST", "/v1/ingest", data=b"{}\n", headers={"Content-Type": "text/plain"})
    world.acting_as("nonsense").refused(
        "invalid_act_as", "POST", "/v1/ingest", data=b"", headers={"Content-Type": "application/x-ndjson"}
    )


def test_problems_have_a_request_id_of_their_own(scene):
    anna, _ = scene
    ids = {anna.refused("room_not_found", "GET", f"/v1/rooms/{new_id()}")["requestId"] for _ in range(5)}
    assert len(ids) == 5
