"""Strangers who know an account's ID or email address, and text that is not what it seems."""

import itertools
import sqlite3
import time
import unicodedata
import urllib.parse

import pytest

from harness import cost
from harness.client import Api, new_id
from harness.command import audit
from harness.config import write
from harness.people import PASSWORD, Person, World
from harness.server import UNLIMITED, Server

WRONG = "wrong horse battery"
OTHER = "another kettle on the hob"
FREE_ATTEMPTS = 2
# More attempts than a stranger has before the server delays further ones.
STRANGERS_ATTEMPTS = 12
# How often a test starts again because a delay passed on a slow machine.
ROUNDS = 10
HOME = {"X-Forwarded-For": "198.51.100.1"}
STRANGER = {"X-Forwarded-For": "192.0.2.66"}
hosts = itertools.count(1)


def elsewhere() -> dict:
    """The header of a network address that no request has come from yet."""
    number = next(hosts)
    return {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"}


def start(folder) -> Server:
    environment = UNLIMITED | {
        "HANSARD_LOGINS_FREE_ATTEMPTS": str(FREE_ATTEMPTS), "HANSARD_PROXIES_TRUSTED": "127.0.0.1",
    }
    settings = {"identity": {"guests": True}}
    return Server(folder / "data", "--config", write(folder, settings), environment=environment).start()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = start(tmp_path_factory.mktemp("accounts"))
    yield server
    server.end()


def registration(**changes) -> dict:
    return {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna"} | changes


def account_at_home(world: World, **session) -> tuple[dict, Person]:
    """A user who has registered and logged in from HOME, and the body of the registration."""
    body = registration()
    account = world.nobody.post("/v1/accounts", body, headers=HOME)
    return body, Person(world.server, account, login(world, body, **session), PASSWORD)


def log_in(world: World, body: dict, headers: dict, password: str = PASSWORD, **session):
    request = {"email": body["email"], "password": password} | session
    return world.nobody.request("POST", "/v1/sessions", request, headers=headers)


def login(world: World, body: dict, headers: dict = HOME, **session) -> dict:
    response = log_in(world, body, headers, **session)
    assert response.status_code == 201, response.text
    return response.json()


def slow_down(attempt) -> None:
    """Makes attempts with a wrong password until the server rejects them for at least two seconds."""
    for _ in range(STRANGERS_ATTEMPTS):
        response = attempt()
        if response.status_code != 429:
            continue
        assert response.json()["code"] == "too_many_attempts"
        seconds = int(response.headers["Retry-After"])
        if seconds >= 2:
            return
        time.sleep(seconds)
    raise AssertionError(f"{STRANGERS_ATTEMPTS} wrong passwords were not slowed")


def lock_out(world: World, body: dict, headers: dict = STRANGER, **session) -> None:
    slow_down(lambda: log_in(world, body, headers, WRONG, **session))


def is_slowed(lock, attempt) -> None:
    """After `lock`, `attempt` is rejected, whatever its password is. Starts again if the delay was over before the
    attempt."""
    for _ in range(ROUNDS):
        lock()
        response = attempt()
        if response.status_code == 429:
            assert response.json()["code"] == "too_many_attempts"
            return
    raise AssertionError(f"{ROUNDS} times an attempt that had to wait did not: {response.status_code} {response.text}")


# MARK: Repeated registrations


@pytest.mark.parametrize("kind", ["account", "guest"])
def test_repeating_a_registration_is_slowed_as_a_login_is(world, kind):
    body = registration() if kind == "account" else registration(email=None)
    account = world.nobody.post("/v1/accounts", body, headers=HOME)
    name = {"email": body["email"]} if body["email"] else {"userId": body["id"]}
    world.nobody.post("/v1/sessions", name | {"password": PASSWORD}, headers=HOME)
    head = world.head

    def repeat(password: str, headers: dict):
        return world.nobody.request("POST", "/v1/accounts", body | {"password": password}, headers=headers)

    def lock() -> None:
        slow_down(lambda: repeat(WRONG, STRANGER))

    # The next attempt must wait, right or wrong, from any address. Registrations and logins share one counter.
    is_slowed(lock, lambda: repeat(PASSWORD, elsewhere()))
    is_slowed(lock, lambda: world.nobody.request(
        "POST", "/v1/sessions", name | {"password": WRONG}, headers=elsewhere()))
    # The app that registered the account does not count as a stranger.
    lock()
    response = repeat(PASSWORD, HOME)
    assert (response.status_code, response.json()) == (200, account)
    assert world.head == head


def test_failed_logins_slow_the_repeat_of_a_registration(world):
    body, _ = account_at_home(world)
    is_slowed(
        lambda: lock_out(world, body),
        lambda: world.nobody.request("POST", "/v1/accounts", body, headers=elsewhere()))


def test_an_old_password_does_not_clear_the_count_of_failures(world):
    """A repeat of the registration succeeds with its original password, but this reveals nothing after a password
    change."""
    body, anna = account_at_home(world)
    anna.put("/v1/me/password", {"currentPassword": PASSWORD, "newPassword": OTHER}, headers=HOME)
    attempts = itertools.count()

    def alternate():
        if next(attempts) % 2:
            return log_in(world, body, STRANGER, WRONG)
        return world.nobody.request("POST", "/v1/accounts", body, headers=STRANGER)

    slow_down(alternate)


def test_a_registration_without_a_password_shows_nothing(world):
    """A service registers users without passwords. Their IDs and nicknames are public."""
    account = world.admin.post("/v1/accounts", {"nickname": "Anna"})
    for nickname in ("Anna", "Other"):
        body = {"id": account["id"], "nickname": nickname}
        world.nobody.refused("credential_incomplete", "POST", "/v1/accounts", body)


def test_a_stranger_does_not_learn_that_an_account_is_disabled(world):
    body, anna = account_at_home(world)
    world.admin.post(f"/v1/admin/users/{anna.id}/disable")
    world.nobody.refused("id_in_use", "POST", "/v1/accounts", body | {"password": WRONG}, headers=STRANGER)
    world.nobody.refused("id_in_use", "POST", "/v1/accounts", body | {"nickname": "Other"}, headers=STRANGER)
    world.nobody.refused("account_disabled", "POST", "/v1/accounts", body, headers=HOME)


# MARK: Locking the owner out


def test_strangers_do_not_lock_out_a_user_who_has_logged_in_before(world):
    phone = new_id()
    body, anna = account_at_home(world, deviceId=phone)
    is_slowed(lambda: lock_out(world, body), lambda: log_in(world, body, elsewhere()))
    lock_out(world, body)
    login(world, body)
    away = elsewhere()
    login(world, body, away, deviceId=phone)
    # After that login, its address is known too.
    lock_out(world, body)
    login(world, body, away)
    # An open session may make its changes and be refreshed from any address.
    lock_out(world, body)
    anna.put("/v1/me/password", {"currentPassword": PASSWORD, "newPassword": OTHER}, headers=elsewhere())
    email = {"email": f"{new_id()}@example.org", "currentPassword": OTHER}
    anna.patch("/v1/me", email, headers=elsewhere())
    world.nobody.post("/v1/sessions/refresh", {"refreshToken": anna.tokens["refreshToken"]}, headers=elsewhere())


def test_a_client_that_shares_the_owners_address_is_slowed_too(world):
    phone = new_id()
    body, anna = account_at_home(world, deviceId=phone)

    def lock() -> None:
        lock_out(world, body, headers=HOME)

    is_slowed(lock, lambda: log_in(world, body, HOME))
    # The owner's device and open session do not depend on the address.
    lock()
    login(world, body, deviceId=phone)
    lock()
    anna.put("/v1/me/password", {"currentPassword": PASSWORD, "newPassword": OTHER}, headers=HOME)


def test_a_known_device_is_slowed_by_its_own_failures(world):
    phone = new_id()
    body, _ = account_at_home(world, deviceId=phone)
    is_slowed(
        lambda: lock_out(world, body, elsewhere(), deviceId=phone),
        lambda: log_in(world, body, elsewhere(), deviceId=phone))
    login(world, body)


def test_an_open_session_is_slowed_by_its_own_failures(world):
    body, anna = account_at_home(world)

    def change(password: str):
        return anna.request(
            "PUT", "/v1/me/password", {"currentPassword": password, "newPassword": f"{OTHER} {new_id()}"},
            headers=elsewhere())

    slow_down(lambda: change(WRONG))
    login(world, body)


def test_a_made_up_device_is_treated_as_unknown(world):
    body, _ = account_at_home(world, deviceId=new_id())
    theirs = new_id()
    account_at_home(world, deviceId=theirs)

    def lock() -> None:
        lock_out(world, body, deviceId=new_id())

    for device in (lambda: new_id(), lambda: theirs):
        is_slowed(lock, lambda: log_in(world, body, elsewhere(), WRONG, deviceId=device()))


def test_a_device_is_known_after_a_restart(tmp_path):
    server = start(tmp_path)
    try:
        world, phone = World(server), new_id()
        body, _ = account_at_home(world, deviceId=phone)
        server.restart()
        lock_out(world, body)
        login(world, body, elsewhere(), deviceId=phone)
    finally:
        server.end()


# MARK: Sessions


@pytest.mark.parametrize("password", [PASSWORD, WRONG])
def test_an_ended_session_does_not_reveal_a_right_password(world, password):
    body, anna = account_at_home(world)
    anna.delete("/v1/sessions/current")
    head = world.head
    refused = [
        ("PUT", "/v1/me/password", {"currentPassword": password, "newPassword": OTHER}),
        ("PATCH", "/v1/me", {"email": f"{new_id()}@example.org", "currentPassword": password}),
        ("PATCH", "/v1/me", {"email": f"{new_id()}@example.org"}),
        ("POST", "/v1/me/identities", {"idToken": "x", "currentPassword": password}),
    ]
    for _ in range(FREE_ATTEMPTS + 1):
        for method, path, request in refused:
            anna.refused("session_ended", method, path, request)
    assert world.head == head


@pytest.mark.parametrize("query", ["", "?all=true"])
def test_a_key_that_is_the_callers_session_ends_no_more_than_was_asked_for(world, query):
    session = new_id()
    _, anna = account_at_home(world, id=session)
    ended = anna.delete(f"/v1/sessions{query}", key=session)
    if query:
        anna.refused("session_ended", "GET", "/v1/me")
        return
    assert [each["id"] for each in ended["sessions"]] == [session]
    anna.get("/v1/me")
    # The repeat does not end sessions that were created since.
    other = world.acting_as(anna.id).post("/v1/sessions", {})
    assert anna.delete("/v1/sessions", key=session, expect=200)["position"] == ended["position"]
    Api(world.server, other["accessToken"]).get("/v1/me")


def test_keys_that_end_no_session_leave_no_sessions(tmp_path):
    server = start(tmp_path)
    try:
        world = World(server)
        body, anna = account_at_home(world)
        ended = new_id()
        login(world, body, id=ended)
        anna.delete(f"/v1/sessions/{ended}")
        # A key may also be the ID of an ended session.
        for key in [ended] + [new_id() for _ in range(5)]:
            first = anna.delete("/v1/sessions", key=key)
            assert anna.delete("/v1/sessions", key=key, expect=200)["position"] == first["position"]
    finally:
        server.end()
    subjects = [row["subject"] for row in audit(server.data, "--type", "session.ended")]
    assert len(subjects) == 7 and subjects.count(ended) == 1
    (file,) = (server.data / "views").glob("accounts-v*.sqlite")
    assert sqlite3.connect(file).execute("SELECT count(*) FROM session").fetchone() == (2,)


# MARK: Idempotency-Key


def test_a_key_makes_a_registration_known(world):
    key, body = new_id(), registration()
    del body["id"]
    account = world.nobody.post("/v1/accounts", body, key=key)
    head = world.head
    assert world.nobody.post("/v1/accounts", body, key=key, expect=200) == account
    for change in ({"nickname": "Other"}, {"email": f"{new_id()}@example.org"}, {"password": OTHER}):
        world.nobody.refused("idempotency_key_reused", "POST", "/v1/accounts", body | change, key=key, headers=elsewhere())
    assert world.head == head
    world.nobody.refused("invalid_idempotency_key", "POST", "/v1/accounts", registration(), key="x" * 256)
    # An ID takes precedence over the key, and keys of different callers are different.
    assert world.nobody.post("/v1/accounts", registration(id=(given := new_id())), key=key)["id"] == given
    by_service = {"nickname": "Anna"}
    made = world.admin.post("/v1/accounts", by_service, key=key)
    assert made["id"] != account["id"]
    assert world.admin.post("/v1/accounts", by_service, key=key, expect=200) == made


def test_a_strangers_use_of_a_key_is_slowed_as_a_login_is(world):
    key, body = new_id(), registration()
    del body["id"]
    world.nobody.post("/v1/accounts", body, key=key, headers=HOME)
    guess = body | {"password": WRONG}
    is_slowed(
        lambda: slow_down(lambda: world.nobody.request("POST", "/v1/accounts", guess, key=key, headers=STRANGER)),
        lambda: log_in(world, body, elsewhere(), WRONG))


def test_a_key_makes_a_login_known(world):
    body, _ = account_at_home(world)
    key, request = new_id(), {"email": body["email"], "password": PASSWORD, "deviceId": new_id()}
    tokens = world.nobody.post("/v1/sessions", request, key=key, headers=HOME)
    head = world.head
    again = world.nobody.post("/v1/sessions", request, key=key, expect=200, headers=HOME)
    assert {**again, "expiresIn": 0} == {**tokens, "expiresIn": 0}
    world.nobody.refused(
        "idempotency_key_reused", "POST", "/v1/sessions", request | {"deviceId": new_id()}, key=key, headers=HOME)
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", request | {"password": WRONG}, key=key,
                         headers=HOME)
    assert world.head == head
    world.nobody.refused("invalid_idempotency_key", "POST", "/v1/sessions", request, key="x" * 256, headers=HOME)
    # Each user has separate keys.
    other, _ = account_at_home(world)
    theirs = world.nobody.post("/v1/sessions", request | {"email": other["email"]}, key=key, headers=HOME)
    assert theirs["sessionId"] != tokens["sessionId"]
    assert Api(world.server, tokens["accessToken"]).get("/v1/me")["id"] == body["id"]
    world.nobody.post("/v1/sessions/refresh", {"refreshToken": tokens["refreshToken"]})
    world.nobody.refused("session_refreshed", "POST", "/v1/sessions", request, key=key, headers=HOME)


# MARK: Text that is not what it seems


def test_an_address_matches_in_any_unicode_composition(world):
    text = f"zo\u00eb.\u1100\u1161.{new_id()}@ex\u00e4mple.org"
    forms = {form: unicodedata.normalize(form, text) for form in ("NFC", "NFD")}
    for first, second in (("NFC", "NFD"), ("NFD", "NFC")):
        email = {form: first + forms[form] for form in forms}
        body = registration(email=email[first])
        account = world.nobody.post("/v1/accounts", body)
        world.nobody.refused("email_in_use", "POST", "/v1/accounts", registration(email=email[second]))
        world.nobody.refused("email_in_use", "POST", "/v1/accounts", registration(email=email[second].upper()))
        for form in email:
            assert login(world, {"email": email[form]})["user"]["id"] == account["id"]
        assert world.nobody.post("/v1/accounts", body, expect=200) == account
        other = registration()
        world.nobody.post("/v1/accounts", other)
        ben = Api(world.server, login(world, other)["accessToken"])
        ben.refused("email_in_use", "PATCH", "/v1/me", {"email": email[second], "currentPassword": PASSWORD})


INVISIBLE = ["\u200b", "\u2800", "\u3164", "\u00a0 \u2003", "\u200d\ufe0f", "\U000e0041", "\u0301", "\t\n"]
FORBIDDEN = ["An\u0000na"] + [
    f"An{chr(code)}na" for code in (0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2069, 0x200e, 0x200f, 0x061c)
]
ALLOWED = [
    "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u05d0\u05e0\u05d4",
    "\u1112\u1161\u11ab", "\u0915\u094d\u200d\u0937", "a\u0301", "\u2764\ufe0f", "\ue000", ".",
]


@pytest.fixture(scope="module")
def named(shared_world):
    """Where a name is given: the request, the code for a name with nothing visible in it, and the code for other bad
    names."""
    world = shared_world
    anna = world.user("Anna")
    room, workspace = anna.room("Tea"), anna.workspace("Office")
    file = anna.request("POST", "/v1/media", data=b"a file").json()["id"]

    def attach(name):
        body = {"attachments": [{"mediaId": file, "name": name}]}
        return anna.request("PUT", room.message(new_id()), body)

    def upload(name):
        return anna.request("POST", f"/v1/media?name={urllib.parse.quote(name)}", data=new_id().encode())

    return {
        "nickname": (
            lambda name: world.admin.request("POST", "/v1/accounts", {"id": new_id(), "nickname": name}),
            "nickname_empty", "name_malformed"),
        "new nickname": (
            lambda name: anna.request("PATCH", "/v1/me", {"nickname": name}), "nickname_empty", "name_malformed"),
        "room": (
            lambda name: anna.request("POST", "/v1/rooms", {"id": new_id(), "name": name}),
            "room_name_empty", "name_malformed"),
        "new room name": (
            lambda name: anna.request("PATCH", room.path, {"name": name}), "room_name_empty", "name_malformed"),
        "workspace": (
            lambda name: anna.request("POST", "/v1/workspaces", {"id": new_id(), "name": name}),
            "workspace_name_empty", "name_malformed"),
        "new workspace name": (
            lambda name: anna.request("PATCH", workspace.path, {"name": name}), "workspace_name_empty", "name_malformed"),
        "device": (
            lambda name: anna.request("PUT", f"/v1/devices/{new_id()}", {"name": name}), "name_malformed", "name_malformed"),
        "attachment": (attach, "name_malformed", "name_malformed"),
        "file": (upload, "media_name_malformed", "media_name_malformed"),
    }


NAMES = [
    "nickname", "new nickname", "room", "new room name", "workspace", "new workspace name", "device", "attachment", "file",
]


@pytest.mark.parametrize("what", NAMES)
def test_invisible_names_and_text_direction_controls_are_refused(world, named, what):
    give, empty, malformed = named[what]
    head = world.head
    for names, code in ((INVISIBLE, empty), (FORBIDDEN, malformed)):
        for name in names:
            response = give(name)
            assert (response.status_code, response.json().get("code")) == (422, code), ascii(name)
    assert world.head == head
    for name in ALLOWED:
        assert give(name).status_code in (200, 201), ascii(name)


def test_names_over_ingest_follow_the_same_rules(world, anna):
    lines = [{"op": "room.create", "as": anna.id, "id": new_id(), "name": name, "kind": "group"} for name in FORBIDDEN]
    assert {result["code"] for result in world.admin.ingest(lines)} == {"name_malformed"}


def test_a_bearer_token_of_combining_marks_costs_little(world):
    """The time to compare such text grows with the square of its length, so it is rejected before any comparison."""
    token = b"Bearer e" + ("\u0316\u0301" * 3_500).encode()
    with cost.costs_at_most(world.server, 0.1):
        for _ in range(3):
            world.nobody.refused("headers_too_large", "GET", "/v1/me", headers={"Authorization": token})
