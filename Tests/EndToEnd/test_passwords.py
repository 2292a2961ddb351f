"""Changing and resetting passwords, and the email address that goes with a password."""

import concurrent.futures
import time

import pytest

from harness.client import Api, new_id
from harness.people import PASSWORD, World
from harness.server import UNLIMITED, Server
from harness.shifted_clock import ShiftedClock

OTHER = "another kettle on the hob"
THIRD = "a third kettle on the hob"
# The lifetime of a reset token, and the time allowed for the requests of a test, in seconds.
RESET_LIFE, MARGIN = 3_600, 120


def change(person, current: str = PASSWORD, new: str = OTHER, expect: int | None = None, **options) -> dict:
    body = {"currentPassword": current, "newPassword": new}
    return person.put("/v1/me/password", body, expect=expect, **options)


def log_in(world: World, person, password: str) -> dict:
    return world.nobody.post("/v1/sessions", {"email": person.email, "password": password})


def reset_token(world: World, person) -> str:
    response = world.admin.post(f"/v1/admin/users/{person.id}/password-reset", expect=200)
    assert response["userId"] == person.id
    return response["token"]


def test_a_changed_password_ends_the_other_sessions(world):
    anna = world.account()
    other = world.login(anna.email)
    changed = change(anna)
    assert changed["position"] == world.head - 1, "the sessions end in the same command"
    anna.get("/v1/me")
    Api(world.server, other["accessToken"]).refused("session_ended", "GET", "/v1/me")
    world.nobody.refused("session_ended", "POST", "/v1/sessions/refresh", {"refreshToken": other["refreshToken"]})
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})
    log_in(world, anna, OTHER)


def test_it_is_known_again_by_its_key_and_without_one(world):
    anna, key = world.account(), new_id()
    first = change(anna, key=key)
    later = log_in(world, anna, OTHER)
    head = world.head
    for options in ({"key": key}, {}, {"key": new_id()}):
        assert change(anna, expect=200, **options)["position"] == first["position"]
    assert world.head == head
    Api(world.server, later["accessToken"]).get("/v1/me")
    # After a further change, neither password in the old request is valid.
    change(anna, OTHER, THIRD)
    anna.refused("password_wrong", "PUT", "/v1/me/password", {"currentPassword": PASSWORD, "newPassword": OTHER}, key=key)


def test_the_current_password_is_needed(world, anna):
    person = world.account()
    head = world.head
    for current in ("wrong password", "x" * 2000, ""):
        person.refused("password_wrong", "PUT", "/v1/me/password", {"currentPassword": current, "newPassword": OTHER})
    anna.refused("password_wrong", "PUT", "/v1/me/password", {"currentPassword": PASSWORD, "newPassword": OTHER})
    assert world.head == head


def test_the_new_password_has_the_form_of_a_password(world):
    person = world.account()
    for new, code in (("x" * 7, "password_too_short"), ("x" * 1025, "password_too_long")):
        body = {"currentPassword": PASSWORD, "newPassword": new}
        person.refused(code, "PUT", "/v1/me/password", body)
        body = {"token": reset_token(world, person), "newPassword": new}
        world.nobody.refused(code, "POST", "/v1/password-resets", body)


def test_of_two_changes_at_once_one_counts(world):
    anna = world.account()
    bodies = [{"currentPassword": PASSWORD, "newPassword": f"kettle number {number}"} for number in range(2)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        responses = list(pool.map(lambda body: anna.again().request("PUT", "/v1/me/password", body), bodies))
    done = [body for body, response in zip(bodies, responses) if response.status_code == 200]
    assert len(done) == 1
    assert {response.json()["code"] for response in responses if response.status_code != 200} == {"password_wrong"}
    log_in(world, anna, done[0]["newPassword"])


def test_a_reset_ends_every_session_and_its_token_is_used_up(world):
    anna = world.account()
    token = reset_token(world, anna)
    body = {"token": token, "newPassword": OTHER}
    done = world.nobody.post("/v1/password-resets", body)
    assert done["id"] == anna.id
    anna.refused("session_ended", "GET", "/v1/me")
    log_in(world, anna, OTHER)
    head = world.head
    assert world.nobody.post("/v1/password-resets", body, expect=200)["position"] == done["position"]
    assert world.head == head
    world.nobody.refused("password_reset_used", "POST", "/v1/password-resets", body | {"newPassword": THIRD})
    log_in(world, anna, OTHER)


def test_a_changed_password_uses_a_reset_up(world):
    anna = world.account()
    token = reset_token(world, anna)
    change(anna)
    world.nobody.refused("password_reset_used", "POST", "/v1/password-resets", {"token": token, "newPassword": THIRD})


def test_made_up_reset_tokens_are_refused(world):
    good = reset_token(world, world.account())
    for token in ("", "hsp_", "nonsense", good[:-1], good + "A", good[4:], "hsp_" + good[:3:-1]):
        body = {"token": token, "newPassword": OTHER}
        world.nobody.refused("password_reset_invalid", "POST", "/v1/password-resets", body)
    world.nobody.post("/v1/password-resets", {"token": good, "newPassword": OTHER})


def test_a_reset_token_expires_after_an_hour(tmp_path):
    clock = ShiftedClock(tmp_path)
    server = Server(tmp_path / "data", environment=UNLIMITED | clock.environment).start()
    try:
        world = World(server)
        in_time, late = (
            {"token": reset_token(world, world.user()), "newPassword": OTHER} for _ in range(2))
        # A jump of the wall clock alone is not trusted.
        clock.shift(wall=RESET_LIFE - MARGIN, uptime=RESET_LIFE - MARGIN)
        world.nobody.post("/v1/password-resets", in_time)
        clock.shift(wall=RESET_LIFE, uptime=RESET_LIFE)
        world.nobody.refused("password_reset_expired", "POST", "/v1/password-resets", late)
        # A repeat is still recognized.
        world.nobody.post("/v1/password-resets", in_time, expect=200)
    finally:
        server.end()


def test_only_services_ask_for_resets(world, anna):
    anna.refused("service_only", "POST", f"/v1/admin/users/{anna.id}/password-reset")
    world.nobody.refused("access_token_missing", "POST", f"/v1/admin/users/{anna.id}/password-reset")
    world.admin.refused("user_not_found", "POST", f"/v1/admin/users/{new_id()}/password-reset")


def test_a_reset_gives_a_first_password(world):
    """A user without a password can then log in by user ID, or by an email address that is added later."""
    anna = world.user("Anna")
    world.nobody.post("/v1/password-resets", {"token": reset_token(world, anna), "newPassword": OTHER})
    tokens = world.nobody.post("/v1/sessions", {"userId": anna.id, "password": OTHER})
    person = Api(world.server, tokens["accessToken"])
    assert person.get("/v1/me")["hasPassword"] is True
    email = f"{new_id()}@example.org"
    person.patch("/v1/me", {"email": email, "currentPassword": OTHER})
    world.nobody.post("/v1/sessions", {"email": email, "password": OTHER})


def test_an_email_address_changes_only_with_the_password(world):
    anna, ben = world.account(), world.account("Ben")
    email, key = f"Anna.{new_id()}@Example.org", new_id()
    anna.refused("password_wrong", "PATCH", "/v1/me", {"email": email})
    anna.refused("password_wrong", "PATCH", "/v1/me", {"email": email, "currentPassword": "wrong password"})
    anna.refused("invalid_field", "PATCH", "/v1/me", {"email": email, "currentPassword": PASSWORD, "nickname": "A"})
    anna.refused("invalid_field", "PATCH", "/v1/me", {"nickname": "A", "currentPassword": PASSWORD})
    anna.refused("email_malformed", "PATCH", "/v1/me", {"email": "anna", "currentPassword": PASSWORD})
    anna.refused("email_in_use", "PATCH", "/v1/me", {"email": ben.email.upper(), "currentPassword": PASSWORD})
    changed = anna.patch("/v1/me", {"email": email, "currentPassword": PASSWORD}, key=key)
    assert changed["email"] == email.lower()
    again = anna.patch("/v1/me", {"email": email, "currentPassword": PASSWORD}, key=key, expect=200)
    assert again["position"] == changed["position"]
    # The old address is free, and the new one is in use.
    world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", {"email": anna.email, "password": PASSWORD})
    assert world.login(email)["user"]["id"] == anna.id
    ben.patch("/v1/me", {"email": anna.email, "currentPassword": PASSWORD})
    ben.refused("email_in_use", "PATCH", "/v1/me", {"email": email, "currentPassword": PASSWORD})


def test_without_a_password_there_is_no_address(world, anna):
    email = f"{new_id()}@example.org"
    anna.refused("password_missing", "PATCH", "/v1/me", {"email": email, "currentPassword": PASSWORD})
    world.acting_as(anna.id).refused("password_missing", "PATCH", "/v1/me", {"email": email})
    person = world.account()
    assert world.acting_as(person.id).patch("/v1/me", {"email": email})["email"] == email


def test_passwords_and_addresses_survive_a_restart(own_server):
    world = World(own_server)
    anna = world.account()
    token = reset_token(world, anna)
    email = f"{new_id()}@example.org"
    anna.patch("/v1/me", {"email": email, "currentPassword": PASSWORD})
    world.nobody.post("/v1/password-resets", {"token": token, "newPassword": OTHER})
    own_server.restart()
    world.nobody.post("/v1/sessions", {"email": email, "password": OTHER})
    world.nobody.post("/v1/password-resets", {"token": token, "newPassword": OTHER}, expect=200)
    anna.refused("session_ended", "GET", "/v1/me")
    world.account("Ben")
    body = {"id": new_id(), "nickname": "Cara", "email": email, "password": PASSWORD}
    world.nobody.refused("email_in_use", "POST", "/v1/accounts", body)
    # The previous address is free for another user.
    world.nobody.post("/v1/accounts", body | {"email": anna.email})


@pytest.mark.parametrize("others", [0, 2])
def test_sessions_end_many_at_once(world, anna, others):
    sessions = [world.acting_as(anna.id).post("/v1/sessions", {}) for _ in range(others)]
    key = new_id()
    ended = anna.delete("/v1/sessions", key=key)
    assert [session["id"] for session in ended["sessions"]] == [anna.tokens["sessionId"]]
    for tokens in sessions:
        Api(world.server, tokens["accessToken"]).refused("session_ended", "GET", "/v1/me")
    # A late retry does not end sessions that were created since.
    later = world.acting_as(anna.id).post("/v1/sessions", {})
    assert anna.delete("/v1/sessions", key=key, expect=200)["position"] == ended["position"]
    Api(world.server, later["accessToken"]).get("/v1/me")
    anna.refused("idempotency_key_reused", "DELETE", "/v1/sessions?all", key=key)
    anna.refused("invalid_query", "DELETE", "/v1/sessions?all=no")
    anna.delete("/v1/sessions?all")
    anna.refused("session_ended", "GET", "/v1/me")
    Api(world.server, later["accessToken"]).refused("session_ended", "GET", "/v1/me")


def test_a_refresh_token_that_is_not_used_ages(tmp_path):
    from harness.config import configured

    # The first token must be used in time, on a slow machine too.
    for lifetime in (2, 10, 50):
        folder = tmp_path / f"{lifetime}"
        folder.mkdir()
        with configured(folder, {"refreshTokenLifetime": lifetime}) as world:
            began = time.monotonic()
            anna = world.user("Anna")
            body = {"refreshToken": anna.tokens["refreshToken"]}
            response = world.nobody.request("POST", "/v1/sessions/refresh", body)
            if time.monotonic() - began < lifetime:
                assert response.status_code == 200
                time.sleep(lifetime + 0.2)
                body = {"refreshToken": response.json()["refreshToken"]}
                world.nobody.refused("refresh_token_expired", "POST", "/v1/sessions/refresh", body)
                return
    raise AssertionError(f"two requests took longer than {lifetime} s")
