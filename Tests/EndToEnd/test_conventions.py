"""What every response has in common: its status, the headers of creations and repeats, and the ID of the request."""

import urllib.parse

import pytest
from websockets.exceptions import InvalidStatus

from harness.client import new_id
from harness.contract import REPLAYED, contract
from harness.engine import CLOSE, Engine
from harness.live_sockets import connect
from harness.people import World
from harness.times import later
from harness.waiting import wait_until


def creations(world: World) -> dict:
    """A request for each kind of thing that can be created: who sends it, the method, the path and the body."""
    anna, ben, carla, dora, eva = world.users("Anna", "Ben", "Carla", "Dora", "Eva")
    room, office = anna.room("Tea", ben), anna.workspace("Office")
    office.take_in(world, carla)
    anna.put(f"{office.path}/invitations/{eva.id}", {"role": "member"})
    channel, invite = anna.channel(office), anna.post(f"{room.path}/invites", {})
    sent = anna.send(room, "hello")["id"]
    plan = {"text": "later", "sendAt": later(days=1)}
    return {
        "account": (world.admin, "POST", "/v1/accounts", {"nickname": "Dora"}),
        "session": (world.acting_as(anna.id), "POST", "/v1/sessions", {}),
        "device": (anna, "PUT", f"/v1/devices/{new_id()}", {"name": "phone"}),
        "room": (anna, "POST", "/v1/rooms", {"name": "Kettle"}),
        "direct room": (anna, "POST", "/v1/rooms", {"kind": "direct", "memberIds": [ben.id]}),
        "message": (anna, "PUT", room.message(new_id()), {"text": "hello"}),
        "scheduled message": (anna, "PUT", f"{room.path}/scheduled-messages/{new_id()}", plan),
        "invite": (anna, "POST", f"{room.path}/invites", {}),
        "report": (ben, "POST", f"{room.path}/reports", {"userId": anna.id, "reason": "spam"}),
        "member": (anna, "PUT", f"{room.path}/members/{carla.id}", None),
        "reaction": (ben, "PUT", f"{room.message(sent)}/reactions/{urllib.parse.quote('👍')}", None),
        "pin": (anna, "PUT", f"{room.path}/pins/{sent}", None),
        "workspace": (anna, "POST", "/v1/workspaces", {"name": "Attic"}),
        "workspace invite": (anna, "POST", f"{office.path}/invites", {}),
        "invitation": (anna, "PUT", f"{office.path}/invitations/{ben.id}", {"role": "member"}),
        "block": (carla, "PUT", f"/v1/me/blocked-users/{ben.id}", None),
        "ban": (anna, "PUT", f"{room.path}/bans/{dora.id}", None),
        "join": (carla, "POST", f"{channel.path}/join", None),
        "accepted invite": (eva, "POST", f"/v1/invites/{invite['token']}/accept", None),
        "accepted invitation": (eva, "POST", f"{office.path}/join", None),
        "media": (anna, "POST", "/v1/media", b"tea leaves"),
        "legal hold on a user": (world.admin, "PUT", f"/v1/admin/legal-holds/users/{dora.id}", {"reason": "case 7"}),
        "legal hold on a room": (world.admin, "PUT", f"/v1/admin/legal-holds/rooms/{room.id}", {"reason": "case 7"}),
    }


CREATIONS = [
    "account", "session", "device", "room", "direct room", "message", "scheduled message", "invite", "report", "member",
    "reaction", "pin", "workspace", "workspace invite", "invitation", "block", "ban", "join",
    "accepted invite", "accepted invitation", "media", "legal hold on a user", "legal hold on a room",
]

# Those that another request than a retry can ask for when they exist.
EXISTING = {
    "device", "member", "reaction", "pin", "invitation", "block", "ban", "join", "accepted invite", "accepted invitation",
    "media", "legal hold on a user", "legal hold on a room"}


@pytest.fixture(scope="module")
def requests_of_creations(shared_world):
    return creations(shared_world)


@pytest.mark.parametrize("what", CREATIONS)
def test_what_was_created_has_a_location_and_a_repeat_is_marked(world, requests_of_creations, what):
    api, method, path, body = requests_of_creations[what]
    key = new_id()
    content = {"data": body} if isinstance(body, bytes) else {"body": body}
    first = api.request(method, path, **content, key=key)
    assert (first.status_code, REPLAYED in first.headers) == (201, False)
    location = first.headers["Location"]
    assert location.startswith("/v1/")
    if method == "PUT":
        assert location == path
    if contract().operation("GET", urllib.parse.unquote(location)):
        assert api.request("GET", location).status_code in (200, 400), "a service alone sees no rooms"
    again = api.request(method, path, **content, key=key)
    assert (again.status_code, again.headers[REPLAYED], "Location" in again.headers) == (200, "true", False)
    if what in EXISTING:
        for key in (None, new_id()):
            other = api.request(method, path, **content, key=key)
            assert (other.status_code, "Location" in other.headers) == (200, False), "it existed"


def test_a_change_is_no_creation(anna, ben, room):
    sent = anna.send(room, "hello")["id"]
    device = f"/v1/devices/{new_id()}"
    anna.put(device, {"name": "phone"})
    for api, method, path, body in (
        (anna, "PATCH", room.message(sent), {"text": "hi"}), (anna, "PATCH", room.path, {"name": "Kettle"}),
        (anna, "PUT", device, {"name": "tablet"}), (anna, "DELETE", device, None),
        (ben, "PUT", f"{room.path}/read-marker", {"messageId": sent}), (ben, "POST", f"{room.path}/leave", None),
        (anna, "PATCH", "/v1/me", {"nickname": "Ann"}), (anna, "DELETE", room.message(sent), None),
        (anna, "DELETE", room.path, None),
    ):
        key = new_id()
        first, again = (api.request(method, path, body, key=key) for _ in range(2))
        for response, is_repeat in ((first, False), (again, True)):
            assert response.status_code == 200, f"{method} {path}"
            assert (REPLAYED in response.headers, "Location" in response.headers) == (is_repeat, False), f"{method} {path}"


def test_a_command_of_a_stream_has_the_same_headers(anna):
    room = anna.room("Tea")
    with connect(anna) as stream:
        path = room.message(new_id())
        for expected in ({"Location": path}, {REPLAYED: "true"}):
            response = stream.response(stream.begin("PUT", path, {"text": "hello"}))
            assert expected.items() <= response.headers.items()


def test_the_request_id_is_a_header_and_in_the_log_of_each_problem(server, world, anna):
    seen = {anna.request("GET", "/v1/me").headers["X-Request-Id"] for _ in range(3)}
    assert len(seen) == 3
    for api, method, path, body, code, route in (
        (anna, "GET", f"/v1/rooms/{new_id()}", None, "room_not_found", "GET /v1/rooms/{roomId}"),
        (world.nobody, "GET", "/v1/me", None, "access_token_missing", "GET /v1/me"),
        (anna, "POST", "/v1/rooms", {}, "invalid_field", "POST /v1/rooms"),
        (anna, "GET", "/v1/nothing", None, "route_not_found", "GET none"),
    ):
        problem = api.refused(code, method, path, body)
        line = server.problem_line(problem["requestId"])
        assert "notice" in line and code in line and route in line
    with connect(anna) as stream:
        problem = stream.refused("room_not_found", "PUT", f"/v1/rooms/{new_id()}/messages/{new_id()}", {"text": "x"})
        assert "room_not_found" in server.problem_line(problem["requestId"])
    # Engine.IO has errors of its own form.
    engine = Engine(server, "/socket.io/")
    sid = engine.open()
    with engine.socket(sid), pytest.raises(InvalidStatus) as second:
        engine.socket(sid)
    engine.post(sid, CLOSE)
    engine.poll(sid)
    for response, code in (
        (engine.poll("A" * 22), "engine_session_unknown"),
        (engine.request("GET", headers={"Origin": "https://evil.example.org"}), "origin_not_allowed"),
        (second.value.response, "engine_request_invalid"),
    ):
        line = server.problem_line(response.headers["X-Request-Id"])
        assert "notice" in line and code in line and "GET /socket.io" in line


def test_the_token_of_an_invite_is_not_in_the_log(server, anna):
    problem = anna.refused("invite_not_found", "GET", "/v1/invites/secretsecretsecret")
    assert "GET /v1/invites/{token}" in server.problem_line(problem["requestId"])
    assert "secretsecret" not in server.errors.read_text()


def test_all_problems_of_a_body_are_reported_at_once(world, anna, room):
    quiet = {"quietHours": {"from": "22:00", "until": "x"}, "showsPreviews": "yes", "te/a~": 1, "mutedKinds": [1, "mention"]}
    problem = anna.refused("unknown_field", "PATCH", "/v1/me/preferences", quiet)
    assert problem["field"] == "/te~1a~0" and 'Unknown field "te/a~"' in problem["detail"]
    assert [(each["field"], each["code"]) for each in problem["problems"]] == [
        ("/te~1a~0", "unknown_field"), ("/mutedKinds/0", "invalid_field"), ("/quietHours/until", "unknown_field"),
        ("/quietHours/to", "invalid_field"), ("/quietHours/timeZone", "invalid_field"), ("/showsPreviews", "invalid_field"),
    ]
    first = problem["problems"][0]
    assert (first["field"], first["code"], first["detail"]) == (problem["field"], problem["code"], problem["detail"])
    one = anna.refused("invalid_field", "PUT", f"{room.path}/mute", {"until": "tomorrow"})
    assert one["field"] == "/until" and "problems" not in one
    many = anna.refused("unknown_field", "PATCH", "/v1/me", {f"f{number}": 1 for number in range(100)})
    assert len(many["problems"]) == 32
    assert anna.refused("invalid_field", "PATCH", "/v1/me", data=b"[]")["field"] == ""
    for code, path, body, field in (
        ("invalid_field", "/v1/rooms", {"name": "x", "kind": "y"}, "/kind"), ("invalid_field", "/v1/rooms", {}, "/name"),
        ("room_name_empty", "/v1/rooms", {"name": ""}, "/name"),
    ):
        assert anna.refused(code, "POST", path, body)["field"] == field
    assert "field" not in anna.refused("room_not_found", "GET", f"/v1/rooms/{new_id()}")


def test_all_problems_of_the_form_of_fields_are_reported_at_once(anna, room):
    scheduled = f"{room.path}/scheduled-messages/{new_id()}"
    later_text = {"text": "later", "sendAt": later(hours=1)}
    anna.put(scheduled, later_text)
    past, long = later(hours=-1), "x" * 16_385
    for method, path, body, expected in (
        ("POST", f"{room.path}/invites", {"expiresAt": past, "maxUses": -1},
         [("/expiresAt", "invite_expiry_out_of_range"), ("/maxUses", "invite_uses_out_of_range")]),
        ("POST", f"{anna.workspace().path}/invites", {"expiresAt": past, "maxUses": 10**12},
         [("/expiresAt", "invite_expiry_out_of_range"), ("/maxUses", "invite_uses_out_of_range")]),
        *(("POST", f"{place}/invites", {"role": role, "expiresAt": past, "maxUses": 0},
           [("/role", code), ("/expiresAt", "invite_expiry_out_of_range"), ("/maxUses", "invite_uses_out_of_range")])
          for place in (room.path, anna.workspace().path)
          for role, code in (("owner", "invite_role_not_allowed"), ("boss", "invalid_field"))),
        ("PATCH", scheduled, {"text": long, "sendAt": past},
         [("/text", "text_too_long"), ("/sendAt", "sending_time_out_of_range")]),
        ("PUT", f"{room.path}/scheduled-messages/{new_id()}", {"text": long, "sendAt": past},
         [("/text", "text_too_long"), ("/sendAt", "sending_time_out_of_range")]),
        ("POST", "/v1/workspaces", {"name": "", "topic": "x" * 1025},
         [("/name", "workspace_name_empty"), ("/topic", "topic_too_long")]),
    ):
        problem = anna.refused(expected[0][1], method, path, body)
        assert problem["field"] == expected[0][0]
        assert [(each["field"], each["code"]) for each in problem["problems"]] == expected


def test_a_single_problem_has_its_field(world, anna, room):
    for code, method, path, body, field in (
        ("device_text_too_long", "PUT", f"/v1/devices/{new_id()}", {"type": "x" * 1025}, "/type"),
        ("attachment_name_too_long", "PUT", room.message(new_id()),
         {"attachments": [{"mediaId": new_id(), "name": "x" * 257}]}, "/attachments/0/name"),
        ("invite_role_not_allowed", "POST", f"{room.path}/invites", {"role": "owner"}, "/role"),
        ("invalid_field", "PUT", room.message(new_id()), {"text": "x", "data": 1}, "/data"),
    ):
        problem = anna.refused(code, method, path, body)
        assert problem["field"] == field and "problems" not in problem
    account = {"nickname": "Zoe", "email": f"{new_id()}@example.org", "password": "x"}
    assert world.nobody.refused("password_too_short", "POST", "/v1/accounts", account)["field"] == "/password"


def test_an_empty_body_is_said_to_be_empty(anna):
    for body in (b"", b" ", b" \t\r\n"):
        problem = anna.refused("invalid_json", "POST", "/v1/rooms", data=body)
        assert problem["detail"] == "The body is empty. Send a JSON object.", body


def test_a_list_that_the_client_has_is_not_sent_again(anna, room):
    path = f"{room.path}/messages"
    for number in range(3):
        anna.send(room, f"{number}")
    first = anna.request("GET", path)
    assert first.headers["ETag"].startswith('W/"') and first.headers["Cache-Control"] == "private, no-cache"
    for known in (first.headers["ETag"], f'"other", {first.headers["ETag"]}'):
        again = anna.request("GET", path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
    anna.send(room, "new")
    changed = anna.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200 and changed.headers["ETag"] != first.headers["ETag"]
    # What changes by parts has a revision instead, which If-Match takes.
    assert "ETag" not in anna.request("GET", room.path).headers


def test_every_list_that_the_client_has_is_not_sent_again(world, anna, ben, room):
    """Each operation for which the contract has 304, except for files."""
    office, sent = anna.workspace("Office"), anna.send(room, "hello")["id"]
    anna.put(room.message(new_id()), {"text": "a reply", "threadId": sent})
    values = {"roomId": room.id, "workspaceId": office.id, "messageId": sent, "userId": ben.id}
    required = {"getUsers": "?nickname=b", "findUsers": "?externalId=x", "search": "?q=hello"}
    lists = [operation for operation in contract().operations
             if "304" in operation.spec["responses"] and "mediaId" not in operation.parameters]
    assert len(lists) > 25
    for operation in lists:
        api = world.admin if operation.access == "service" else anna
        path = operation.path.format(**values) + required.get(operation.id, "")

        def is_known() -> bool:
            # Another test, or the search index, may change the list in between. A new index cannot be read yet.
            first = api.request("GET", path)
            assert first.status_code in (200, 503), f"{path}: {first.text}"
            if first.status_code == 503:
                return False
            again = api.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})
            return (again.status_code, again.content) == (304, b"")

        wait_until(is_known, f"{path} is sent again")


def test_long_responses_are_compressed_for_clients_that_accept_it(anna, room):
    path = f"{room.path}/messages"
    anna.send(room, "tea " * 20)
    short = anna.request("GET", path, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in short.headers and int(short.headers["Content-Length"]) < 1024
    for size in (400, 4_000):
        for _ in range(30):
            anna.send(room, "tea " * size)
        plain = anna.request("GET", path, headers={"Accept-Encoding": "identity"})
        for accepted in ("gzip", "deflate, gzip;q=0.5", "br;q=1.0, GZIP ; q=1"):
            response = anna.request("GET", path, headers={"Accept-Encoding": accepted})
            assert response.headers["Content-Encoding"] == "gzip" and response.content == plain.content
            assert int(response.headers["Content-Length"]) * 3 < int(plain.headers["Content-Length"])
            assert "accept-encoding" in response.headers["Vary"].lower()
            assert response.headers["ETag"] == plain.headers["ETag"]
        for accepted in ("gzip;q=0", "gzip; q=0.0, br", "br", "gzipped"):
            response = anna.request("GET", path, headers={"Accept-Encoding": accepted})
            assert "Content-Encoding" not in response.headers and response.content == plain.content
            assert "accept-encoding" in response.headers["Vary"].lower()


LONG = "x" * 50_000


@pytest.mark.parametrize(("method", "path", "body", "flaws"), [
    ("POST", "/v1/rooms", {"name": LONG, "topic": LONG}, [("/name", "room_name_too_long"), ("/topic", "topic_too_long")]),
    ("PATCH", "{room}", {"name": "", "topic": LONG}, [("/name", "room_name_empty"), ("/topic", "topic_too_long")]),
    ("PUT", "{room}/messages/{new}", {"text": LONG[:20_000], "type": "", "attachments": [{"mediaId": "{new}", "name": "a\u0000"}]},
     [("/text", "text_too_long"), ("/attachments/0/name", "name_malformed"), ("/type", "custom_type_malformed")]),
    ("PUT", "/v1/devices/{new}", {"name": "n" * 1000, "apnsToken": "", "language": "?"},
     [("/name", "device_text_too_long"), ("/apnsToken", "push_token_empty"), ("/language", "language_malformed")]),
])
def test_all_broken_rules_of_a_body_are_reported_at_once(world, anna, room, method, path, body, flaws):
    def filled(value):
        if isinstance(value, dict):
            return {name: filled(one) for name, one in value.items()}
        if isinstance(value, list):
            return [filled(one) for one in value]
        return value.replace("{room}", room.path).replace("{new}", new_id())

    head = world.head
    problem = anna.refused(flaws[0][1], method, filled(path), filled(body))
    assert [(each["field"], each["code"]) for each in problem["problems"]] == flaws
    assert problem["field"] == flaws[0][0] and problem["detail"] == problem["problems"][0]["detail"]
    # With only the first field wrong, there is one problem.
    first = flaws[0][0].removeprefix("/")
    alone = {name: value for name, value in filled(body).items() if name == first} | ({"name": "Tea"} if first != "name" and path == "/v1/rooms" else {})
    one = anna.refused(flaws[0][1], method, filled(path), alone)
    assert "problems" not in one and world.head == head


@pytest.mark.parametrize("method, path, body, fields", [
    ("PUT", "/v1/devices/{new}", {"notifications": "zz", "apnsEnvironment": "zz", "name": "n" * 1000},
     ["/notifications", "/apnsEnvironment", "/name"]),
    ("PUT", "/v1/devices/{new}", {"webPush": {"endpoint": "http://push.example.org/", "p256dh": "A", "auth": "A"}},
     ["/webPush/endpoint", "/webPush/p256dh", "/webPush/auth"]),
    ("PATCH", "/v1/me/preferences",
     {"notifications": "zz", "mutedKinds": ["zz"], "quietHours": {"from": "25:00", "to": "7", "timeZone": "Mars/Base"},
      "directRooms": "zz", "groupAdditions": "zz"},
     ["/notifications", "/mutedKinds", "/quietHours/from", "/quietHours/to", "/quietHours/timeZone", "/directRooms",
      "/groupAdditions"]),
    ("POST", "/v1/rooms", {"kind": "direct", "id": "{new}", "name": "Tea", "topic": "Tea", "isPublic": True},
     ["/id", "/name", "/topic", "/isPublic"]),
])
def test_all_values_that_a_field_does_not_allow_are_reported_at_once(world, anna, method, path, body, fields):
    head = world.head
    if "id" in body:
        body = body | {"id": new_id()}
    problem = anna.refused("invalid_field", method, path.replace("{new}", new_id()), body)
    assert [each["field"] for each in problem["problems"]] == fields and problem["field"] == fields[0]
    assert world.head == head


@pytest.mark.parametrize("body, field", [
    ({"kind": "direct", "memberIds": [], "name": "Tea"}, "/name"),
    ({"kind": "group", "name": "Tea", "workspaceId": "018f2f4e-6b5a-7c31-9f0e-3d1f5a7b9c0d"}, "/workspaceId"),
    ({"kind": "channel", "name": "Tea", "isPublic": True}, "/isPublic"),
])
def test_a_field_that_a_kind_of_room_does_not_take_is_named(anna, body, field):
    problem = anna.refused("invalid_field", "POST", "/v1/rooms", body)
    assert problem["field"] == field and "problems" not in problem


def test_all_problems_of_a_registration_are_reported_at_once(world):
    body = {"id": new_id(), "nickname": "", "email": "nowhere", "password": "short"}
    problem = world.nobody.refused("nickname_empty", "POST", "/v1/accounts", body)
    assert [(each["field"], each["code"]) for each in problem["problems"]] == [
        ("/nickname", "nickname_empty"), ("/email", "email_malformed"), ("/password", "password_too_short")]
    alone = world.nobody.refused("password_too_short", "POST", "/v1/accounts", body | {"nickname": "Anna", "email": "a@example.org"})
    assert "problems" not in alone
