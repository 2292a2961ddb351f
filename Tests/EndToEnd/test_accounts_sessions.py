"""Accounts, profiles, logins and refreshes."""

import concurrent.futures
import shutil
import time
import unicodedata

from harness.cases import Effect
from harness.client import Api, new_id
from harness.people import PASSWORD, Person, World
from harness.server import Server
from harness.times import within
from harness.waiting import wait_until

TOKEN_SECONDS = 4


def registration(**changes) -> dict:
    return {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna"} | changes


def test_registering_twice_creates_one_account(world):
    body = registration()
    first = world.nobody.post("/v1/accounts", body)
    assert (first["id"], first["email"], first["externalId"]) == (body["id"], body["email"], None)
    head = world.head
    assert world.nobody.post("/v1/accounts", body, expect=200) == first
    assert world.head == head


def test_an_id_is_taken_in_any_case_and_given_in_lower_case(world):
    body = registration()
    first = world.nobody.post("/v1/accounts", body | {"id": body["id"].upper()})
    assert first["id"] == body["id"]
    world.nobody.post("/v1/accounts", body, expect=200)


def test_the_server_makes_an_id_where_the_client_does_not(world):
    body = registration()
    del body["id"]
    account = world.nobody.post("/v1/accounts", body)
    assert world.login(body["email"])["user"]["id"] == account["id"]


def test_the_same_id_with_other_content_is_refused(world):
    body = registration()
    world.nobody.post("/v1/accounts", body)
    for change in ({"nickname": "Other"}, {"password": PASSWORD + "!"}, {"email": f"{new_id()}@example.org"}):
        world.nobody.refused("id_in_use", "POST", "/v1/accounts", body | change)


def test_an_email_belongs_to_one_account_in_any_case(world):
    body = registration(email=f"Anna.{new_id()}@Example.org")
    account = world.nobody.post("/v1/accounts", body)
    assert account["email"] == body["email"].lower()
    world.nobody.refused("email_in_use", "POST", "/v1/accounts", registration(email=body["email"].upper()))
    assert world.login(body["email"].upper())["user"]["id"] == account["id"]


def test_an_account_needs_both_an_email_and_a_password(world):
    for missing in ("email", "password"):
        world.nobody.refused("credential_incomplete", "POST", "/v1/accounts", registration(**{missing: None}))
    world.nobody.refused("credential_incomplete", "POST", "/v1/accounts", {"nickname": "Anna"})


def test_malformed_addresses_are_refused(world):
    for email in ("", "anna", "@example.org", "anna@", "a@b@c", "an na@example.org", "anna@exam ple.org"):
        world.nobody.refused("email_malformed", "POST", "/v1/accounts", registration(email=email))


def test_a_service_registers_users_by_its_own_keys(world):
    external = f"customer-{new_id()}"
    body = {"id": new_id(), "nickname": "Anna", "externalId": external}
    account = world.admin.post("/v1/accounts", body)
    assert (account["externalId"], account["email"]) == (external, None)
    world.admin.post("/v1/accounts", body, expect=200)
    world.admin.refused("external_id_in_use", "POST", "/v1/accounts", body | {"id": new_id()})
    found = world.admin.get("/v1/admin/users", externalId=external)["users"]
    assert [user["id"] for user in found] == [account["id"]]
    assert world.admin.get("/v1/admin/users", externalId="nobody has this")["users"] == []


def test_service_operations_are_refused_to_users(world, anna):
    body = registration(externalId="mine")
    world.nobody.refused("service_only", "POST", "/v1/accounts", body)
    anna.refused("service_only", "GET", "/v1/admin/users?externalId=mine")
    world.admin.refused("invalid_query", "GET", "/v1/admin/users")


def test_a_repeated_login_starts_one_session(world):
    anna = world.account()
    body = {"id": new_id(), "deviceId": new_id()}
    first = world.login(anna.email, **body)
    again = world.login(anna.email, expect=200, **body)
    assert first["sessionId"] == again["sessionId"] == body["id"]
    assert (first["accessToken"], first["refreshToken"]) == (again["accessToken"], again["refreshToken"])
    world.nobody.refused(
        "id_in_use", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD, "id": body["id"]}
    )
    world.nobody.post("/v1/sessions/refresh", {"refreshToken": first["refreshToken"]})
    world.nobody.refused(
        "session_refreshed", "POST", "/v1/sessions", body | {"email": anna.email, "password": PASSWORD}
    )


def test_wrong_credentials_are_refused_alike(world):
    anna = world.account()
    head = world.head
    wrong = {"email": anna.email, "password": PASSWORD + "x"}
    unknown = {"email": f"{new_id()}@example.org", "password": PASSWORD}
    problems = [world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", body) for body in (wrong, unknown)]
    assert problems[0]["detail"] == problems[1]["detail"], "the response tells whether the account exists"
    assert world.head == head


def test_a_password_matches_in_any_unicode_composition(world):
    email, password = f"{new_id()}@example.org", "비밀번호는 café ﬁve"
    body = {"id": new_id(), "email": email, "nickname": "Anna"}
    world.nobody.post("/v1/accounts", body | {"password": unicodedata.normalize("NFC", password)})
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        written = unicodedata.normalize(form, password)
        world.nobody.post("/v1/sessions", {"email": email, "password": written})
    world.nobody.post("/v1/accounts", body | {"password": unicodedata.normalize("NFD", password)}, expect=200)
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", {"email": email, "password": password.upper()})
    wide = {"id": new_id(), "email": f"{new_id()}@example.org", "nickname": "Anna", "password": "ｐａｓｓｗｏｒｄ１２３"}
    world.nobody.refused("password_too_common", "POST", "/v1/accounts", wide)


def test_a_service_logs_users_in(world):
    account = world.admin.post("/v1/accounts", {"nickname": "Anna"})
    tokens = world.acting_as(account["id"]).post("/v1/sessions", {})
    assert Api(world.server, tokens["accessToken"]).get("/v1/me")["id"] == account["id"]
    world.admin.refused("acting_user_required", "POST", "/v1/sessions", {})
    world.acting_as(new_id()).refused("user_not_found", "POST", "/v1/sessions", {})


def test_everybody_who_refreshes_at_once_gets_the_same_pair(world, anna):
    def refresh(_):
        return Api(world.server).request("POST", "/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(refresh, range(32)))
    assert [Effect.of_response(response) for response in responses].count(Effect.RECORDED) == 1
    assert {response.status_code for response in responses} == {200}
    pairs = {(response.json()["accessToken"], response.json()["refreshToken"]) for response in responses}
    assert len(pairs) == 1
    (pair,) = pairs
    assert pair[1] != anna.tokens["refreshToken"]
    assert Api(world.server, pair[0]).get("/v1/me")["id"] == anna.id


def test_an_old_refresh_token_is_good_until_the_new_one_is_used(world, anna):
    def refresh(token, expect):
        return world.nobody.post("/v1/sessions/refresh", {"refreshToken": token}, expect=expect)["refreshToken"]

    first = anna.tokens["refreshToken"]
    second = refresh(first, None)
    assert refresh(first, 200) == second
    third = refresh(second, None)
    assert refresh(second, 200) == third
    world.nobody.refused("refresh_token_reused", "POST", "/v1/sessions/refresh", {"refreshToken": first})
    for token in (first, second, third):
        world.nobody.refused("refresh_token_reused", "POST", "/v1/sessions/refresh", {"refreshToken": token})
    anna.refused("session_ended", "GET", "/v1/me")


def test_a_made_up_refresh_token_is_refused(world, anna):
    good = anna.tokens["refreshToken"]
    for token in ("", "nonsense", good[:-1], good + "A", good[::-1]):
        world.nobody.refused("refresh_token_invalid", "POST", "/v1/sessions/refresh", {"refreshToken": token})
    world.nobody.post("/v1/sessions/refresh", {"refreshToken": good})


def test_a_refresh_token_of_an_unknown_session_is_refused(tmp_path):
    """After an older backup is restored, the key verifies the token, but the log has no such session."""
    server = Server(tmp_path / "data").start()
    World(server).user("Earlier")
    server.stop()
    shutil.copytree(server.data, tmp_path / "backup")
    server.start()
    later = World(server).user("Later")
    server.stop()
    restored = Server(tmp_path / "backup").start()
    try:
        head = restored.head()
        body = {"refreshToken": later.tokens["refreshToken"]}
        Api(restored).refused("refresh_token_expired", "POST", "/v1/sessions/refresh", body)
        assert restored.head() == head
    finally:
        restored.end()


def test_a_logout_ends_the_session_and_can_be_sent_again(world, anna):
    ended = anna.delete("/v1/sessions/current")
    assert ended["id"] == anna.tokens["sessionId"] and ended["endedAt"] is not None
    head = world.head
    again = anna.delete("/v1/sessions/current", expect=200)
    assert again["position"] == ended["position"]
    assert world.head == head
    anna.refused("session_ended", "GET", "/v1/me")
    world.nobody.refused(
        "session_ended", "POST", "/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]}
    )


def test_an_ended_session_is_never_opened_again(world):
    anna = world.account(id=new_id())
    anna.delete("/v1/sessions/current")
    body = {"id": anna.tokens["sessionId"], "email": anna.email, "password": PASSWORD}
    world.nobody.refused("session_ended", "POST", "/v1/sessions", body)


def test_sessions_are_listed_and_ended_one_by_one(world, anna, ben):
    device = new_id()
    other = world.acting_as(anna.id).post("/v1/sessions", {"deviceId": device})
    sessions = anna.get("/v1/sessions")["sessions"]
    assert [session["id"] for session in sessions] == [other["sessionId"], anna.tokens["sessionId"]]
    assert [session["isCurrent"] for session in sessions] == [False, True]
    assert [session["deviceId"] for session in sessions] == [device, None]
    ben.refused("session_not_found", "DELETE", f"/v1/sessions/{other['sessionId']}")
    anna.delete(f"/v1/sessions/{other['sessionId']}")
    anna.delete(f"/v1/sessions/{other['sessionId']}", expect=200)
    assert [session["id"] for session in anna.get("/v1/sessions")["sessions"]] == [anna.tokens["sessionId"]]
    Api(world.server, other["accessToken"]).refused("session_ended", "GET", "/v1/me")
    anna.refused("session_not_found", "DELETE", f"/v1/sessions/{new_id()}")


def test_a_profile_changes_for_everybody(world, anna, ben, room):
    anna.send(room, "hello")
    changed = anna.patch("/v1/me", {"nickname": "Anna K."})
    assert changed["nickname"] == "Anna K." and changed["position"] == world.head
    assert anna.get("/v1/me")["nickname"] == "Anna K."
    assert ben.get(f"/v1/users/{anna.id}")["nickname"] == "Anna K."
    assert {"id": anna.id, "nickname": "Anna K.", "picture": None} in ben.get(f"{room.path}/messages")["users"]
    anna.refused("nickname_empty", "PATCH", "/v1/me", {"nickname": ""})


def test_a_picture_is_set_and_taken_away(world, anna, ben):
    picture, key = anna.post("/v1/media", data=b"a picture")["id"], new_id()
    first = anna.patch("/v1/me", {"picture": picture}, key=key)
    assert (first["picture"], first["nickname"]) == (picture, "Anna")
    anna.patch("/v1/me", {"nickname": "Anna K."})
    assert ben.get(f"/v1/users/{anna.id}")["picture"] == picture
    gone = anna.patch("/v1/me", {"picture": None})
    assert (gone["picture"], gone["nickname"]) == (None, "Anna K.")
    # A late retry gets the first response, whatever the nickname is now, and changes nothing.
    again = anna.patch("/v1/me", {"picture": picture}, key=key, expect=200)
    assert (again["position"], again["picture"]) == (first["position"], picture)
    assert anna.get("/v1/me")["picture"] is None
    for nothing in ({}, {"nickname": None}, {"picture": "x"}):
        anna.refused("invalid_field", "PATCH", "/v1/me", nothing)


def test_many_users_are_fetched_at_once(world, anna, ben):
    guest = world.user("Cara")
    picture = anna.post("/v1/media", data=b"a picture")["id"]
    anna.patch("/v1/me", {"picture": picture})
    ids = [ben.id, new_id(), anna.id, guest.id, ben.id]
    found = ben.get("/v1/users", ids=",".join(ids))
    assert found == {"users": [ben.get(f"/v1/users/{id}") for id in (ben.id, anna.id, guest.id)]}
    assert found["users"][1]["picture"] == picture
    assert world.admin.get("/v1/users", ids=",".join(ids)) == found
    full = [new_id() for _ in range(99)] + [anna.id]
    assert [user["id"] for user in ben.get("/v1/users", ids=",".join(full))["users"]] == [anna.id]
    for query in ("", "?ids=", f"?ids={anna.id},", "?ids=anna", "?ids=" + ",".join([*full, ben.id])):
        ben.refused("invalid_query", "GET", f"/v1/users{query}")
    world.nobody.refused("access_token_missing", "GET", f"/v1/users?ids={anna.id}")


def test_every_user_is_shown_with_the_picture(world, anna, ben, room):
    picture = anna.post("/v1/media", data=b"a picture")["id"]
    anna.patch("/v1/me", {"picture": picture})
    office, message = anna.workspace("Office"), anna.send(room, "hello")["id"]
    office.take_in(world, ben)
    anna.put(f"{room.message(message)}/reactions/👍")
    anna.put(f"{room.path}/pins/{message}")
    token = anna.post(f"{room.path}/invites", {"maxUses": 1})["token"]
    shown = {"id": anna.id, "nickname": "Anna", "picture": picture}
    carla = world.user("Carla")
    anna.direct(ben)
    anna.put(room.message(new_id()), {"text": "a reply", "threadId": message})
    ben.put(room.message(new_id()), {"text": "another", "threadId": message})
    for path in (
        "/v1/rooms", f"{room.path}/messages", f"{room.path}/pins", f"{room.message(message)}/thread", "/v1/threads",
        "/v1/rooms?kind=direct",
    ):
        assert shown in ben.get(path)["users"], path
    # A new index cannot be read before it is complete.
    wait_until(
        lambda: shown in ben.request("GET", "/v1/search?q=hello").json().get("users", []), "a search shows no picture")
    assert anna.get(f"{room.path}/members")["members"][0]["user"] == shown
    # Anna's own actions in lists of others.
    anna.put(f"{room.path}/bans/{carla.id}")
    assert anna.get(f"{room.path}/bans")["bans"][0]["bannedBy"] == shown
    anna.put(f"{office.path}/invitations/{carla.id}", {"role": "member"})
    assert carla.get("/v1/me/invitations")["invitations"][0]["invitedBy"] == shown
    ben.post(f"{room.path}/reports", {"userId": anna.id, "reason": "spam"})
    reports = world.admin.get("/v1/admin/reports", limit=200)["reports"]
    assert shown in [each["reportedUser"] for each in reports]
    for path, name in (
        (f"{room.path}/members", "members"), (f"{office.path}/members", "members"),
        (f"{room.path}/messages/{message}/reactions", "reactions"), (f"{room.path}/read-markers", "readMarkers"),
    ):
        assert shown in [each["user"] for each in ben.get(path)[name]], path
    history = anna.get(f"{room.path}/join-history")["changes"]
    assert all(each["by"] == shown for each in history)
    assert ben.get(f"/v1/invites/{token}")["inviter"] == shown
    assert ben.put(f"/v1/me/blocked-users/{anna.id}")["user"] == shown
    assert ben.get("/v1/me/blocked-users")["blockedUsers"][0]["user"] == shown
    assert ben.delete(f"/v1/me/blocked-users/{anna.id}")["user"] == shown
    assert world.acting_as(anna.id).post("/v1/sessions", {})["user"] == shown


def test_the_public_profile_is_public_to_those_who_are_logged_in(world):
    anna = world.account()
    stranger = world.user("Stranger")
    profile = {"id": anna.id, "nickname": "Anna", "picture": None, "isGuest": False}
    assert stranger.get(f"/v1/users/{anna.id}") == profile
    assert world.admin.get(f"/v1/users/{anna.id}") == profile
    stranger.refused("user_not_found", "GET", f"/v1/users/{new_id()}")
    world.nobody.refused("access_token_missing", "GET", f"/v1/users/{anna.id}")


def good_for_a_while(world: World) -> Person:
    """A user whose access token was valid at least once."""
    def attempt() -> Person | None:
        anna = world.account()
        return anna if anna.request("GET", "/v1/me").status_code == 200 else None

    # The token's lifetime counts from the start of the second in which the session began.
    return within(TOKEN_SECONDS - 1, attempt)


def test_an_expired_access_token_is_refreshed(tmp_path):
    server = Server(tmp_path / "data", "--access-token-lifetime", str(TOKEN_SECONDS)).start()
    try:
        world = World(server)
        anna = good_for_a_while(world)
        # The lifetime is rounded up to a whole second. It counts from when the request came in, just before the session
        # began.
        assert anna.tokens["expiresIn"] <= TOKEN_SECONDS + 1
        time.sleep(TOKEN_SECONDS + 0.2)
        head = world.head
        anna.refused("access_token_expired", "GET", "/v1/me")
        anna.refused("access_token_expired", "PATCH", "/v1/me", {"nickname": "Late"})
        assert world.head == head
        # A new token may last longer; the expired one stays expired.
        server.flags = ()
        server.restart()
        anna.refused("access_token_expired", "GET", "/v1/me")
        # The expired token may be sent along, because clients send it with every request.
        tokens = anna.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
        assert Api(server, tokens["accessToken"]).get("/v1/me")["nickname"] == "Anna"
        login = {"email": anna.email, "password": anna.password}
        for token in (anna.token, "nonsense"):
            assert Api(server, token).post("/v1/sessions", login)["user"]["id"] == anna.id
    finally:
        server.end()


def test_sessions_survive_a_restart(own_server):
    world = World(own_server)
    anna = world.account()
    own_server.restart()
    assert anna.get("/v1/me")["id"] == anna.id
    world.login(anna.email)
    world.nobody.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]})
