"""Rate limits per address, user and device, and quotas."""

import re
import time

import pytest

from harness import times
from harness.client import Api, new_id
from harness.people import PASSWORD, Room, World
from harness.server import UNLIMITED, Server
from test_scheduled_messages import schedule, sent, soon

SECONDS = 1000
# A test of a daily quota does not start this shortly before the next day.
NIGHT_SECONDS = 300


@pytest.fixture
def limited(tmp_path):
    """Starts servers with limits. Further settings are named by their variables without the prefix."""
    servers = []

    def start(**settings) -> Server:
        environment = {f"HANSARD_{name}": str(value) for name, value in settings.items()}
        server = Server(tmp_path / f"data{len(servers)}", environment=environment).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.end()


def fields(response) -> dict:
    """The parameters in `RateLimit` and `RateLimit-Policy`, by name."""
    found = {}
    for header in ("RateLimit", "RateLimit-Policy"):
        for item in response.headers.get(header, "").split(", "):
            if match := re.fullmatch(r'"(\w+)"((?:;[a-z]=\d+)+)', item):
                parameters = dict(part.split("=") for part in match.group(2)[1:].split(";"))
                found.setdefault(match.group(1), {}).update({key: int(value) for key, value in parameters.items()})
    return found


def statuses(api: Api, count: int, path: str = "/v1/me", **options) -> list[int]:
    return [api.request("GET", path, **options).status_code for _ in range(count)]


def test_a_user_is_limited_and_sees_the_rate_limit_headers(limited):
    world = World(limited(RATE_LIMITS_USER_REQUESTS=10, RATE_LIMITS_USER_SECONDS=SECONDS))
    anna, ben = world.users("Anna", "Ben")
    responses = [anna.request("GET", "/v1/me") for _ in range(12)]
    assert [response.status_code for response in responses] == [200] * 10 + [429] * 2
    # A user with more than half left gets no such fields.
    assert fields(responses[4]) == {}
    low = fields(responses[6])["user"]
    assert low["q"] == 10 and low["w"] == SECONDS and low["r"] == 3 and SECONDS * 0.68 < low["t"] <= SECONDS * 0.7
    refused = responses[-1]
    assert refused.json()["code"] == "rate_limited" and "user" in refused.json()["detail"]
    assert fields(refused)["user"]["r"] == 0
    assert int(refused.headers["Retry-After"]) == fields(refused)["user"]["t"]
    assert SECONDS / 10 - 30 < int(refused.headers["Retry-After"]) <= SECONDS / 10
    # Another user has separate limits. A service has none, not even when it acts as the limited user.
    assert statuses(ben, 5) == [200] * 5
    assert statuses(world.acting_as(anna.id), 30) == [200] * 30
    assert statuses(anna, 1) == [429]


def test_a_limited_request_writes_nothing_and_succeeds_later(limited):
    # The requests must come before the first of them expires, on a slow machine too.
    for seconds in (2, 10, 50):
        world = World(limited(RATE_LIMITS_USER_REQUESTS=3, RATE_LIMITS_USER_SECONDS=3 * seconds))
        anna = world.user("Anna")
        room = Room(world.acting_as(anna.id).post("/v1/rooms", {"id": new_id(), "name": "Tea"})["id"])
        began = time.monotonic()
        for number in range(3):
            anna.send(room, f"{number}")
        head, late = world.head, room.message(new_id())
        response = anna.request("PUT", late, {"text": "late"})
        if time.monotonic() - began < seconds:
            assert response.status_code == 429 and world.head == head
            time.sleep(int(response.headers["Retry-After"]))
            anna.put(late, {"text": "late"})
            return
    raise AssertionError(f"four messages took longer than {seconds} s")


def test_a_device_is_limited_beside_its_user(limited):
    world = World(limited(RATE_LIMITS_DEVICE_REQUESTS=5, RATE_LIMITS_DEVICE_SECONDS=SECONDS))
    anna = world.account("Anna", deviceId=new_id())
    assert statuses(anna, 6) == [200] * 5 + [429]
    shown = fields(anna.request("GET", "/v1/me"))
    assert 170 < shown["device"].pop("t") <= 200
    assert shown == {"device": {"q": 5, "w": SECONDS, "r": 0}}
    other = Api(world.server, world.login(anna.email, deviceId=new_id())["accessToken"])
    assert statuses(other, 5) == [200] * 5
    # A session without a device counts only for its user.
    without = Api(world.server, world.login(anna.email)["accessToken"])
    assert statuses(without, 20) == [200] * 20


def test_an_address_is_limited_for_all_users_and_paths(limited):
    server = limited(RATE_LIMITS_ADDRESS_REQUESTS=20, RATE_LIMITS_ADDRESS_SECONDS=SECONDS)
    world = World(server)
    anna = world.user("Anna")
    assert statuses(anna, 5) == [200] * 5
    assert statuses(world.nobody, 5) == [401] * 5
    assert statuses(Api(server, "hsa_wrong"), 5) == [401] * 5
    assert statuses(world.nobody, 5, "/v1/nothing") == [404] * 5
    for api, path in ((anna, "/v1/me"), (world.nobody, "/v1/nothing"), (Api(server, "hsa_wrong"), "/v1/me")):
        response = api.request("GET", path)
        assert response.status_code == 429 and fields(response)["address"]["q"] == 20
    # Services and health checks are not limited.
    assert statuses(world.admin, 30, "/v1/admin/users?externalId=x") == [200] * 30
    assert statuses(world.nobody, 30, "/readyz") + statuses(world.nobody, 30, "/healthz") == [200] * 60


def test_searches_for_users_have_their_own_limit(limited):
    world = World(limited(RATE_LIMITS_PEOPLE_REQUESTS=3, RATE_LIMITS_PEOPLE_SECONDS=SECONDS))
    anna, ben = world.users("Anna", "Ben")
    queries = ["nickname=b", "email=ben@example.org", "externalId=b"]
    assert [anna.request("GET", f"/v1/users?{query}").status_code for query in queries] == [200] * 3
    for query in queries:
        refused = anna.request("GET", f"/v1/users?{query}")
        assert refused.status_code == 429 and refused.json()["code"] == "rate_limited", query
        assert fields(refused)["people"]["q"] == 3
    # Malformed searches are not counted, and other requests, other users and services are not limited.
    assert ben.request("GET", "/v1/users?nickname=").status_code == 400
    assert statuses(anna, 4, f"/v1/users?ids={ben.id}") == [200] * 4
    assert statuses(ben, 3, "/v1/users?nickname=a") == [200] * 3
    assert statuses(world.acting_as(anna.id), 4, "/v1/users?nickname=b") == [200] * 4


def test_an_address_has_few_passwords_hashed(limited):
    limit = {"RATE_LIMITS_PASSWORDS_REQUESTS": 4, "RATE_LIMITS_PASSWORDS_SECONDS": SECONDS}
    world = World(limited(PROXIES_TRUSTED="127.0.0.1", **limit))
    here, there = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
    anna = world.account()
    email = anna.email
    token = world.admin.post(f"/v1/admin/users/{anna.id}/password-reset", expect=200)["token"]
    login = {"email": email, "password": PASSWORD}
    account = {"nickname": "Ben", "email": f"{new_id()}@example.org", "password": PASSWORD}
    requests_to_send = [
        (world.nobody, "POST", "/v1/sessions", login),
        (world.nobody, "POST", "/v1/accounts", account),
        (anna, "PATCH", "/v1/me", {"email": email, "currentPassword": PASSWORD}),
        (anna, "PUT", "/v1/me/password", {"currentPassword": PASSWORD, "newPassword": f"{PASSWORD} again"}),
        (world.nobody, "POST", "/v1/password-resets", {"token": token, "newPassword": f"{PASSWORD} once more"}),
    ]
    responses = [api.request(method, path, body, headers=here) for api, method, path, body in requests_to_send]
    assert [response.status_code for response in responses] == [201, 201, 200, 200, 429]
    for api, method, path, body in requests_to_send:
        refused = api.request(method, path, body, headers=here)
        assert refused.status_code == 429 and refused.json()["code"] == "rate_limited", path
        assert fields(refused)["passwords"]["q"] == 4
    # Other requests, other addresses and services are not limited.
    assert statuses(anna, 5, headers=here) == [200] * 5
    assert world.nobody.request("POST", "/v1/sessions", login, headers=there).status_code in (201, 401)
    for _ in range(5):
        world.admin.post("/v1/accounts", account | {"id": new_id(), "email": f"{new_id()}@example.org"}, headers=here)


def test_a_forwarded_address_counts_from_trusted_proxies_alone(limited):
    limit = {"RATE_LIMITS_ADDRESS_REQUESTS": 2, "RATE_LIMITS_ADDRESS_SECONDS": SECONDS}
    believing = Api(limited(PROXIES_TRUSTED="127.0.0.0/8, 10.0.0.0/8", **limit))
    for client in ("198.51.100.1", "198.51.100.2", "1.1.1.1, 198.51.100.3, 10.0.0.1", "2001:db8::1"):
        assert statuses(believing, 3, headers={"X-Forwarded-For": client}) == [401, 401, 429], client
    # Addresses that the client itself writes come before the one that the proxy saw, and do not count.
    assert statuses(believing, 1, headers={"X-Forwarded-For": "9.9.9.9, 198.51.100.1"}) == [429]
    # An IPv6 /64 network counts as one client.
    assert statuses(believing, 1, headers={"X-Forwarded-For": "2001:db8::ffff"}) == [429]
    doubting = Api(limited(**limit))
    responses = [statuses(doubting, 1, headers={"X-Forwarded-For": f"198.51.100.{n}"})[0] for n in range(4)]
    assert responses == [401, 401, 429, 429]


def test_services_can_be_counted_too(limited):
    server = limited(
        RATE_LIMITS_COUNT_SERVICES="true", RATE_LIMITS_USER_REQUESTS=3, RATE_LIMITS_USER_SECONDS=SECONDS)
    world = World(server)
    anna = world.user("Anna")
    # Creating her session was one of the requests.
    assert statuses(world.acting_as(anna.id), 3) == [200, 200, 429]


def test_the_defaults_do_not_limit_normal_use(limited):
    world = World(limited())
    anna = world.user("Anna")
    room = anna.room("Tea")
    responses = [anna.request("PUT", room.message(new_id()), {"text": "hello"}) for _ in range(300)]
    assert {response.status_code for response in responses} == {201}
    assert all(fields(response) == {} for response in responses)


def seconds_left() -> float:
    """Seconds left in the current UTC day."""
    return 86_400 - time.time() % 86_400


@pytest.mark.parametrize("how", ["restart", "kill"])
def test_a_quota_of_messages_survives(tmp_path, how):
    if seconds_left() < NIGHT_SECONDS:
        time.sleep(NIGHT_SECONDS + 1)
    quotas = {"HANSARD_QUOTAS_ENABLED": "true", "HANSARD_QUOTAS_MESSAGES_PER_DAY": "4"}
    server = Server(tmp_path / "data", environment=UNLIMITED | quotas).start()
    try:
        world = World(server)
        anna, ben = world.users("Anna", "Ben")
        room = anna.room("Tea", ben)
        first = new_id()
        for id in (first, new_id(), new_id()):
            anna.send(room, "hello", id)
        if how == "restart":
            server.restart()
        else:
            server.kill()
            server.start()
        anna.send(room, "hello")
        before = seconds_left()
        problem = anna.request("PUT", room.message(new_id()), {"text": "more"})
        assert problem.status_code == 429 and problem.json()["code"] == "quota_exceeded"
        assert seconds_left() - 1 <= int(problem.headers["Retry-After"]) <= before + 1
        # Retries still succeed. So do the user's other requests and the messages of other users.
        anna.send(room, "hello", first, expect=200)
        anna.patch(room.message(first), {"text": "better"}, key=new_id())
        anna.put(f"{room.path}/read-marker", {"messageId": first}, key=new_id())
        ben.send(room, "hello")
        # Each line of an ingest counts separately.
        results = ben.ingest([
            {"op": "message.send", "roomId": room.id, "id": new_id(), "text": "hello"} for _ in range(5)
        ])
        assert [result["status"] for result in results] == [201] * 3 + [429] * 2
        assert results[-1]["code"] == "quota_exceeded"
        # Scheduling a message counts as sending it. The message that the server sends later does not count again.
        carla = world.user("Carla")
        later = carla.room("Later")
        for _ in range(3):
            waiting = schedule(carla, later, 3600)
        soon(carla, later, waiting["id"])
        sent(carla, later)
        carla.send(later, "hello")
        carla.refused("quota_exceeded", "PUT", later.message(new_id()), {"text": "more"})
        scheduling = {"text": "more", "sendAt": times.later(hours=1)}
        carla.refused("quota_exceeded", "PUT", f"{later.path}/scheduled-messages/{new_id()}", scheduling)
        # A service may send as the user.
        world.acting_as(anna.id).put(room.message(new_id()), {"text": "your order"})
    finally:
        server.end()
