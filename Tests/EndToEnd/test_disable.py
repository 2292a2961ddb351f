"""Disabling accounts, and what operators can do with sessions."""

import threading

from harness.client import Api, new_id
from harness.command import check_data
from harness.people import PASSWORD, World


def disable(world: World, user: str, expect: int | None = None, **options) -> dict:
    return world.admin.post(f"/v1/admin/users/{user}/disable", expect=expect, **options)


def enable(world: World, user: str, expect: int | None = None, **options) -> dict:
    return world.admin.post(f"/v1/admin/users/{user}/enable", expect=expect, **options)


def test_a_disabled_account_loses_access_immediately(world):
    anna = world.account()
    response = disable(world, anna.id)
    assert response["disabledAt"] is not None and response["id"] == anna.id
    head = world.head
    anna.refused("session_ended", "GET", "/v1/me")
    anna.refused("session_ended", "PATCH", "/v1/me", {"nickname": "Late"})
    refresh = {"refreshToken": anna.tokens["refreshToken"]}
    world.nobody.refused("account_disabled", "POST", "/v1/sessions/refresh", refresh)
    login = {"email": anna.email, "password": PASSWORD}
    world.nobody.refused("account_disabled", "POST", "/v1/sessions", login)
    # A caller without the right password does not learn that the account is disabled.
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", login | {"password": "wrong password"})
    world.acting_as(anna.id).refused("account_disabled", "POST", "/v1/sessions", {})
    token = world.admin.post(f"/v1/admin/users/{anna.id}/password-reset", expect=200)["token"]
    body = {"token": token, "newPassword": "another kettle"}
    world.nobody.refused("account_disabled", "POST", "/v1/password-resets", body)
    assert world.head == head
    # A service can still act as the user.
    assert world.acting_as(anna.id).get("/v1/me")["disabledAt"] == response["disabledAt"]


def test_an_enabled_account_logs_in_anew(world):
    anna = world.account()
    disable(world, anna.id)
    assert enable(world, anna.id)["disabledAt"] is None
    anna.refused("session_ended", "GET", "/v1/me")
    refresh = {"refreshToken": anna.tokens["refreshToken"]}
    world.nobody.refused("session_ended", "POST", "/v1/sessions/refresh", refresh)
    world.login(anna.email)


def test_a_late_retry_does_not_disable_again(world):
    anna, key = world.user("Anna"), new_id()
    first = disable(world, anna.id, key=key)
    enable(world, anna.id)
    again = disable(world, anna.id, 200, key=key)
    assert again["position"] == first["position"]
    assert world.acting_as(anna.id).get("/v1/me")["disabledAt"] is None
    since = disable(world, anna.id)["disabledAt"]
    assert disable(world, anna.id)["disabledAt"] == since


def test_it_affects_requests_in_flight(world):
    """Of a stream of writes, some come before the account is disabled, and none after."""
    anna = world.user("Anna")
    room = anna.room("Tea")
    positions, codes = [], []
    started = threading.Event()

    def write():
        person = anna.again()
        while not codes:
            response = person.request("PUT", room.message(new_id()), {"text": "x"})
            if response.status_code == 201:
                positions.append(response.json()["position"])
                started.set()
            else:
                codes.append(response.json()["code"])

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert started.wait(60)
    disabled = disable(world, anna.id)["position"]
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a stream of writes went on"
    assert set(codes) == {"session_ended"}
    assert max(positions) < disabled


def test_disabled_accounts_stay_so_after_a_restart(own_server):
    world = World(own_server)
    anna = world.account()
    since = disable(world, anna.id)["disabledAt"]
    own_server.restart()
    world.nobody.refused("account_disabled", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})
    assert world.acting_as(anna.id).get("/v1/me")["disabledAt"] == since
    own_server.stop()
    check_data(own_server.data)


def test_operators_list_and_end_sessions(world):
    anna = world.account()
    path = f"/v1/admin/users/{anna.id}/sessions"
    sessions = world.admin.get(path)["sessions"]
    assert [(session["id"], session["isCurrent"]) for session in sessions] == [(anna.tokens["sessionId"], False)]
    key = new_id()
    ended = world.admin.delete(path, key=key)
    assert ended["sessions"] == [] and ended["position"] == world.head
    anna.refused("session_ended", "GET", "/v1/me")
    later = Api(world.server, world.login(anna.email)["accessToken"])
    assert world.admin.delete(path, key=key, expect=200)["position"] == ended["position"]
    later.get("/v1/me")
    assert world.admin.delete(path, key=new_id())["sessions"] == []
    assert world.admin.delete(path, expect=200)["sessions"] == []


def test_only_services_can_disable(world, anna, ben):
    head = world.head
    for method, route in (("POST", "disable"), ("POST", "enable"), ("GET", "sessions"), ("DELETE", "sessions")):
        ben.refused("service_only", method, f"/v1/admin/users/{anna.id}/{route}")
        world.admin.refused("user_not_found", method, f"/v1/admin/users/{new_id()}/{route}")
        world.admin.refused("invalid_id", method, f"/v1/admin/users/x/{route}")
    assert world.head == head
