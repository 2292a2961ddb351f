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
ID_PARAMETERS = ("userId", "deviceId", "roomId", "messageId", "inviteId", "sessionId", "workspaceId", "mediaId",
                 "reportId")
WITH_IDS = [operation for operation in WITH_TOKEN if any("{" + name + "}" in operation.path for name in ID_PARAMETERS)]

KEYED = [operation for operation in OPERATIONS.values() if operation.takes("idempotencyKey")]
CONDITIONAL = [operation for operation in OPERATIONS.values() if operation.takes("ifMatch")]
UNCONDITIONAL = [
    operation for operation in OPERATIONS.values() if operation.method != "GET" and operation not in CONDITIONAL
]


def by_id(operation) -> str:
    return operation.id


@pytest.fixture(scope="module")
def scenario(shared_world):
    """A room with a message and an invite, and values for all path parameters. No file and no report has the
    media ID or the report ID."""
    anna = shared_world.user("Anna")
    room = anna.room("Tea")
    device = new_id()
    anna.put(f"/v1/devices/{device}", {"name": "phone"})
    invite = anna.post(f"{room.path}/invites", {})
    values = {
        "roomId": room.id, "messageId": anna.send(room, "hello")["id"], "userId": anna.id, "deviceId": device,
        "inviteId": invite["id"], "sessionId": anna.tokens["sessionId"], "token": invite["token"],
        "workspaceId": anna.workspace("Office").id, "mediaId": new_id(), "reportId": new_id(),
        "emoji": "%F0%9F%91%8D", "name": "usage",
    }
    return anna, values


@pytest.fixture(autouse=True)
def nothing_written(scenario, world):
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
    forms = [schema] if "properties" in schema else [contract().resolve(form) for form in schema["oneOf"]]
    return {name: field for form in forms for name, field in form["properties"].items()}


def caller_of(operation, anna, world) -> Api:
    """The caller whose token the operation accepts."""
    return {"open": world.nobody, "service": world.admin}.get(operation.access, anna)


def sender_of(operation, anna) -> Api:
    """The service if only a service can send the request, otherwise Anna."""
    return Api(anna.server, anna.server.token) if operation.access == "service" else anna


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_not_json(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    path = path_of(operation, values)
    text = json.dumps(good_body(operation))
    for data in (b"", b"   ", b"{", b"nonsense", text[:-1].encode(), (text + "}").encode(), b"{'a': 1}", b'{"a" 1}'):
        problem = sender.refused("invalid_json", operation.method, path, data=data)
        assert data or "The body is empty" in problem["detail"]


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_not_objects(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    for data in (b"[]", b'"text"', b"1", b"null", b"true"):
        sender.refused("invalid_field", operation.method, path_of(operation, values), data=data)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_unknown_fields(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    body = good_body(operation) | {"colour": "red"}
    problem = sender.refused("unknown_field", operation.method, path_of(operation, values), body)
    assert "colour" in problem["detail"]
    if example_field := next(iter(good_body(operation)), None):
        body = {example_field.upper() if example_field != "id" else "ID": "x"} | good_body(operation)
        sender.refused("unknown_field", operation.method, path_of(operation, values), body)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_fields_of_the_wrong_type(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    for name, field in fields_of(operation).items():
        is_taken = contract().quick.check(field)
        wrong = [value for value in ({}, [], True, 1.5, 7) if not is_taken(value)]
        if field.get("format") in ("uuid", "date-time"):
            wrong += ["", "nonsense", "2026-02-30T00:00:00Z", "018f2f4e-6b5a-7c31-9f0e-3d1f5a7b9c0"]
        for value in wrong:
            body = good_body(operation) | {name: value}
            problem = sender.refused("invalid_field", operation.method, path_of(operation, values), body)
            # A number that does not fit is reported before the parser knows the field.
            named = name in problem["detail"] or (value == 1.5 and "number" in problem["detail"])
            assert named, f"{problem['detail']!r} does not name the field {name}"
            pointer = problem.get("field", "")
            assert pointer.split("/")[1:2] == [name] or value == 1.5, f"{pointer!r} does not point to the field {name}"


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_fields_that_are_missing(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    for name in schema_of(operation).get("required", []):
        without = {key: value for key, value in good_body(operation).items() if key != name}
        for body in (without, without | {name: None}):
            problem = sender.refused("invalid_field", operation.method, path_of(operation, values), body)
            assert name in problem["detail"]


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_not_utf8(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    # A lone continuation byte, an overlong form, a surrogate, an incomplete sequence, a code point beyond the last
    # plane, and bytes that are never valid.
    for bad in (b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe3\x81", b"\xf4\x90\x80\x80", b"\xff\xfe"):
        name = next(iter(fields_of(operation)))
        data = b'{"' + name.encode() + b'":"' + bad + b'"}'
        sender.refused("invalid_utf8", operation.method, path_of(operation, values), data=data)


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_that_are_too_large(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    data = json.dumps(good_body(operation)).encode() + b" " * (128 * 1024)
    sender.refused("body_too_large", operation.method, path_of(operation, values), data=data)

    def pieces():
        for _ in range(40):
            yield b" " * 4096

    sender.refused("body_too_large", operation.method, path_of(operation, values), data=pieces())


@pytest.mark.parametrize("operation", WITH_BODY, ids=by_id)
def test_bodies_declared_as_something_else(scenario, operation):
    anna, values = scenario
    sender = sender_of(operation, anna)
    data = json.dumps(good_body(operation)).encode()
    for media in ("text/plain", "application/xml", "multipart/form-data; boundary=x", "application/x-ndjson"):
        sender.refused(
            "unsupported_media_type", operation.method, path_of(operation, values), data=data,
            headers={"Content-Type": media},
        )


@pytest.mark.parametrize("operation", WITH_IDS, ids=by_id)
def test_paths_with_an_invalid_uuid(world, scenario, operation):
    anna, values = scenario
    caller = caller_of(operation, anna, world)
    body = good_body(operation) if operation in WITH_BODY else None
    for name in ID_PARAMETERS:
        if "{" + name + "}" not in operation.path:
            continue
        nil = "00000000-0000-0000-0000-000000000000"
        for wrong in ("1", "nonsense", values[name] + "0", values[name].replace("-", "_"), nil):
            caller.refused("invalid_id", operation.method, path_of(operation, values | {name: wrong}), body)


@pytest.mark.parametrize("operation", KEYED, ids=by_id)
def test_malformed_keys(world, scenario, operation):
    anna, values = scenario
    caller = caller_of(operation, anna, world)
    body = good_body(operation) if operation in WITH_BODY else None
    for wrong in ("", "x" * 256, "té"):
        caller.refused("invalid_idempotency_key", operation.method, path_of(operation, values), body, key=wrong)


@pytest.mark.parametrize("operation", CONDITIONAL, ids=by_id)
def test_malformed_preconditions(world, scenario, operation):
    anna, values = scenario
    caller = caller_of(operation, anna, world)
    # The header is checked before the body.
    body = {"nonsense": 1} if operation in WITH_BODY else None
    for wrong in ("", "41", '"41', '"41" "42"', '*, "41"', '"41",x'):
        caller.refused(
            "invalid_if_match", operation.method, path_of(operation, values), body, headers={"If-Match": wrong})


@pytest.mark.parametrize("operation", UNCONDITIONAL, ids=by_id)
def test_preconditions_on_operations_without_revisions(world, scenario, operation):
    """A client that sends the header relies on it, so the server rejects it instead of ignoring it."""
    anna, values = scenario
    caller = caller_of(operation, anna, world)
    body = good_body(operation) if operation in WITH_BODY else None
    for header in ("*", '"41"', "nonsense"):
        caller.refused(
            "if_match_unsupported", operation.method, path_of(operation, values), body, headers={"If-Match": header})


@pytest.mark.parametrize("operation", WITH_TOKEN, ids=by_id)
def test_requests_without_a_good_token(world, scenario, operation):
    anna, values = scenario
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


def test_a_token_of_another_server_is_refused(tmp_path, world, scenario):
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


def test_a_wrong_service_token_is_refused_on_open_routes_too(world, scenario):
    body = {"id": new_id(), "email": f"{new_id()}@example.org", "password": "correct horse", "nickname": "A"}
    for token in ("hsa_", "hsa_nonsense", world.server.token + "A", world.server.token[:-1]):
        Api(world.server, token).refused("access_token_invalid", "POST", "/v1/accounts", body)
        login = {"email": body["email"], "password": body["password"]}
        Api(world.server, token).refused("access_token_invalid", "POST", "/v1/sessions", login)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_public_routes_ignore_credentials(world, scenario, path):
    for authorization in ("", "Bearer", "Bearer nonsense", "Bearer hsa_nonsense", "Basic YTpi", "Bearer a b c"):
        headers = {"Authorization": authorization, "Hansard-Act-As": "nonsense"}
        response = world.nobody.request("GET", path, headers=headers)
        assert response.status_code == 200, f"{authorization}: {response.text}"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=by_id)
def test_parameters_that_a_route_does_not_have(world, scenario, operation):
    anna, values = scenario
    caller = caller_of(operation, anna, world)
    path = path_of(operation, values)
    body = good_body(operation) if operation in WITH_BODY else None
    for query in ("colour=red", "colour", "LIMIT=1", "=", "roomId=x"):
        caller.refused("invalid_query", operation.method, f"{path}?{query}", body)


@pytest.mark.parametrize("query", ["nickname=%ff", "nickname=a%C3", "nickname=%ED%A0%80"])
def test_a_query_that_is_not_percent_encoded_utf8(scenario, query):
    anna, _ = scenario
    problem = anna.refused("invalid_query", "GET", f"/v1/users?{query}")
    assert problem["detail"] == "The query is not percent-encoded UTF-8."
    anna.refused("invalid_query", "POST", f"/v1/media?{query.replace('nickname', 'name')}")


@pytest.mark.parametrize("operation", OF_USERS, ids=by_id)
def test_a_service_must_name_the_user_to_act_as(world, scenario, operation):
    anna, values = scenario
    path = path_of(operation, values)
    body = good_body(operation) if operation in WITH_BODY else None
    world.admin.refused("acting_user_required", operation.method, path, body)
    world.acting_as("nonsense").refused("invalid_act_as", operation.method, path, body)
    world.acting_as(new_id()).refused("user_not_found", operation.method, path, body)
    Api(world.server, anna.token, act_as=anna.id).refused("service_only", operation.method, path, body)


def test_unknown_routes_and_methods(world, scenario):
    anna, values = scenario
    for path in ("/v1", "/v2/me", "/v1/nonsense", f"/v1/rooms/{values['roomId']}/nonsense"):
        problem = anna.refused("route_not_found", "GET", path)
        assert problem["detail"] == "Unknown path. GET /openapi.yaml lists all paths."
    for method, path in (("POST", "/v1/me"), ("PUT", "/v1/rooms"), ("PATCH", "/healthz"), ("GET", "/v1/ingest")):
        response = anna.request(method, path)
        assert response.json()["code"] == "method_not_allowed", response.text
    allowed = anna.request("PUT", "/v1/me").headers["Allow"]
    assert {method.strip() for method in allowed.split(",")} >= {"GET", "PATCH"}


def test_ingest_refuses_a_request_that_is_invalid_as_a_whole(world, scenario):
    anna, _ = scenario
    anna.refused("unsupported_media_type", "POST", "/v1/ingest", data=b"{}\n", headers={"Content-Type": "text/plain"})
    world.acting_as("nonsense").refused(
        "invalid_act_as", "POST", "/v1/ingest", data=b"", headers={"Content-Type": "application/x-ndjson"}
    )


def test_problems_have_a_request_id_of_their_own(scenario):
    anna, _ = scenario
    ids = {anna.refused("room_not_found", "GET", f"/v1/rooms/{new_id()}")["requestId"] for _ in range(5)}
    assert len(ids) == 5
