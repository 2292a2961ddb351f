"""The status codes and end cursors that older apps expect."""

import shutil
import time

import pytest

from harness.client import Api
from harness.config import configured, write
from harness.people import World
from harness.server import Server


def request(api: Api, method: str, path: str, body=None) -> tuple[int, dict]:
    """Sends a request without checking the contract, which has the default statuses."""
    import json

    headers = {"Authorization": f"Bearer {api.token}"} if api.token else {}
    data = None if body is None else json.dumps(body)
    response = api.http.request(
        method, api.server.url + path, data=data, headers=headers | {"Content-Type": "application/json"}, timeout=60
    )
    return response.status_code, response.json()


@pytest.mark.parametrize(("is_on", "status"), [(True, 419), (False, 401)])
def test_an_expired_access_token(tmp_path, is_on, status):
    with configured(tmp_path, {"legacyStatus": is_on, "accessTokenLifetime": 1}) as world:
        anna = world.user("Anna")
        time.sleep(2.1)
        for method, path, body in (("GET", "/v1/me", None), ("GET", "/v1/rooms", None), ("POST", "/v1/rooms", {"name": "x"})):
            found, problem = request(anna, method, path, body)
            assert (found, problem["status"], problem["code"]) == (status, status, "access_token_expired")
        # Any other 401 stays the same.
        found, problem = request(Api(world.server, "nonsense"), "GET", "/v1/me")
        assert (found, problem["code"]) == (401, "access_token_invalid")


@pytest.mark.parametrize(("is_on", "status"), [(True, 418), (False, 401)])
def test_an_expired_refresh_token(tmp_path, is_on, status):
    with configured(tmp_path, {"legacyStatus": is_on, "refreshTokenLifetime": 1}) as world:
        anna = world.user("Anna")
        time.sleep(1.2)
        body = {"refreshToken": anna.tokens["refreshToken"]}
        found, problem = request(world.nobody, "POST", "/v1/sessions/refresh", body)
        assert (found, problem["status"], problem["code"]) == (status, status, "refresh_token_expired")


@pytest.mark.parametrize("is_on", [True, False])
def test_every_refusal_of_a_refresh_token(tmp_path, is_on):
    """An app that logs in again only after 418 has to get it whatever is wrong with the token."""
    with configured(tmp_path, {"legacyStatus": is_on}) as world:
        anna, ben, carla = world.users("Anna", "Ben", "Carla")
        first = anna.tokens["refreshToken"]
        second = world.nobody.post("/v1/sessions/refresh", {"refreshToken": first})["refreshToken"]
        world.nobody.post("/v1/sessions/refresh", {"refreshToken": second})
        ben.delete("/v1/sessions/current")
        world.admin.post(f"/v1/admin/users/{carla.id}/disable")
        for token, default, code in (
            ("x", 401, "refresh_token_invalid"), (first, 401, "refresh_token_reused"),
            (ben.tokens["refreshToken"], 401, "session_ended"), (carla.tokens["refreshToken"], 403, "account_disabled"),
        ):
            status = 418 if is_on else default
            found, problem = request(world.nobody, "POST", "/v1/sessions/refresh", {"refreshToken": token})
            assert (found, problem["status"], problem["code"]) == (status, status, code)
        # The same codes of other routes keep their status, and so does a body without a token.
        assert request(ben, "GET", "/v1/me")[0] == 401
        world.acting_as(carla.id).refused("account_disabled", "POST", "/v1/sessions", {})
        assert request(world.nobody, "POST", "/v1/sessions/refresh", {})[0] == 400


def test_a_refresh_token_from_before_a_backup_was_put_back(tmp_path):
    flags = ("--config", write(tmp_path, {"legacyStatus": True}))
    server = Server(tmp_path / "data", *flags).start()
    World(server).user("Earlier")
    server.stop()
    shutil.copytree(server.data, tmp_path / "backup")
    server.start()
    later = World(server).user("Later")
    server.stop()
    restored = Server(tmp_path / "backup", *flags).start()
    try:
        body = {"refreshToken": later.tokens["refreshToken"]}
        assert request(Api(restored), "POST", "/v1/sessions/refresh", body)[0] == 418
    finally:
        restored.end()


@pytest.mark.parametrize(("setting", "end"), [({}, None), ({"endCursor": ""}, ""), ({"endCursor": "0"}, "0")])
def test_the_end_of_every_list(tmp_path, setting, end):
    with configured(tmp_path, setting) as world:
        anna = world.user("Anna")
        room = anna.room("Tea")
        for number in range(3):
            anna.send(room, f"message {number}")
        ends = [
            ("/v1/rooms", ["nextCursor"]), (f"{room.path}/members", ["nextCursor"]),
            (f"{room.path}/messages", ["nextCursor", "previousCursor"]),
        ]
        for path, fields in ends:
            page = request(anna, "GET", path)[1]
            assert [page[field] for field in fields] == [end] * len(fields), path
        page = request(anna, "GET", f"{room.path}/messages?limit=1")[1]
        assert page["nextCursor"] not in (None, "", "0")
        # Only cursors change: other absent values are still null.
        assert page["messages"][0]["editedAt"] is None
        if end is None:
            return
        # As a cursor, this value means the beginning, with which an existing app makes its first request.
        first = request(anna, "GET", f"{room.path}/messages?limit=1")
        for name in ("before", "after", "around"):
            assert request(anna, "GET", f"{room.path}/messages?limit=1&{name}={end}") == first
        for path in ("/v1/rooms", f"{room.path}/members", "/v1/scheduled-messages", "/v1/rooms?archived=true"):
            whole = request(anna, "GET", path)
            assert whole[0] == 200 and request(anna, "GET", f"{path}{'&' if '?' in path else '?'}cursor={end}") == whole
        other = "0" if end == "" else ""
        assert request(anna, "GET", f"/v1/rooms?cursor={other}")[1]["code"] == "invalid_cursor"
