"""Weak passwords, and guessing passwords."""

import contextlib
import time

import pytest

from harness.client import Api, new_id
from harness.people import PASSWORD, World
from harness.server import UNLIMITED, Server

# How often a test starts again because the machine was too slow.
ATTEMPTS = 10


def start(tmp_path, **settings) -> World:
    environment = UNLIMITED | {f"HANSARD_{name}": str(value) for name, value in settings.items()}
    return World(Server(tmp_path / "data", environment=environment).start())


def login(api: Api, email: str, password: str, **options):
    return api.request("POST", "/v1/sessions", {"email": email, "password": password}, **options)


class TooSlow(Exception):
    """A delay was over before the test could see it."""


@contextlib.contextmanager
def within_the_delay(seconds: float = 1):
    """The block must finish before the delay is over. It begins with the guess that causes the delay."""
    began = time.monotonic()
    try:
        yield
    except AssertionError:
        if time.monotonic() - began < seconds:
            raise
        raise TooSlow from None


def in_quick_time(attempt):
    """Returns what `attempt` returns. Starts it again if a delay passed because of a slow machine."""
    for _ in range(ATTEMPTS):
        try:
            return attempt()
        except TooSlow:
            pass
    raise AssertionError(f"{ATTEMPTS} times what ought to be delayed was not, or the machine is too slow to tell")


@pytest.mark.parametrize("exists", [True, False])
def test_guessing_is_slowed_alike_for_accounts_that_exist_and_others(tmp_path, exists):
    world = start(tmp_path, LOGINS_FREE_ATTEMPTS=2)

    def guess() -> str:
        email = world.account().email if exists else f"{new_id()}@example.org"
        codes = [login(world.nobody, email, "wrong horse").json()["code"] for _ in range(2)]
        with within_the_delay():
            codes.append(login(world.nobody, email, "wrong horse").json()["code"])
            assert codes == ["credentials_rejected"] * 3
            refused = login(world.nobody, email.upper(), PASSWORD)
            assert refused.status_code == 429 and refused.json()["code"] == "too_many_attempts"
            assert refused.headers["Retry-After"] == "1"
        time.sleep(1.1)
        with within_the_delay():
            assert login(world.nobody, email, "wrong horse").json()["code"] == "credentials_rejected"
            assert login(world.nobody, email, "wrong horse").headers.get("Retry-After") == "2"
        return email

    try:
        email = in_quick_time(guess)
        time.sleep(2.1)
        last = login(world.nobody, email, PASSWORD)
        assert last.status_code == (201 if exists else 401)
        if exists:
            # All failed guesses are forgotten.
            assert [login(world.nobody, email, "wrong horse").status_code for _ in range(3)] == [401] * 3
    finally:
        world.server.end()


def test_guesses_count_under_the_account_however_it_is_named(tmp_path):
    world = start(tmp_path, LOGINS_FREE_ATTEMPTS=3)

    def guess_all_ways() -> None:
        anna = world.account()
        guess = {"password": "wrong horse"}
        assert login(world.nobody, anna.email, "wrong horse").status_code == 401
        # A user with an email address cannot log in by ID, not even with the right password. Others can see the ID, so
        # their guesses with it must not lock out the owner.
        by_id = {"userId": anna.id, "password": PASSWORD}
        for _ in range(3):
            world.nobody.refused("credentials_rejected", "POST", "/v1/sessions", by_id)
        # A change of the password counts as two guesses, because it tries the current and the new password.
        body = {"currentPassword": "wrong horse", "newPassword": "another wrong horse"}
        anna.refused("password_wrong", "PUT", "/v1/me/password", body)
        email = {"email": "b@example.org", "currentPassword": "wrong horse"}
        with within_the_delay():
            anna.refused("password_wrong", "PATCH", "/v1/me", email)
            assert login(world.nobody, anna.email, PASSWORD).status_code == 429
        time.sleep(1.1)
        with within_the_delay(4):
            anna.refused("password_wrong", "PUT", "/v1/me/password", body)
            world.nobody.refused("too_many_attempts", "POST", "/v1/sessions", {"email": anna.email} | guess)
            anna.refused("too_many_attempts", "PUT", "/v1/me/password", body)

    try:
        in_quick_time(guess_all_ways)
    finally:
        world.server.end()


def test_an_address_is_slowed_whichever_account_it_tries(tmp_path):
    world = start(tmp_path, LOGINS_FREE_ATTEMPTS_PER_ADDRESS=3, PROXIES_TRUSTED="127.0.0.1")
    anna, there = world.account(), {"X-Forwarded-For": "192.0.2.1"}
    addresses = ({"X-Forwarded-For": f"198.51.100.{number}"} for number in range(ATTEMPTS))

    def guess() -> dict:
        here = next(addresses)

        def wrong(count: int) -> list[int]:
            names = [f"{new_id()}@example.org" for _ in range(count)]
            return [login(world.nobody, name, "wrong horse", headers=here).status_code for name in names]

        assert wrong(3) == [401] * 3
        with within_the_delay():
            assert wrong(2) == [401, 429]
        time.sleep(1.1)
        with within_the_delay(2):
            assert wrong(1) == [401]
            assert login(world.nobody, anna.email, PASSWORD, headers=here).status_code == 429
        return here

    try:
        here = in_quick_time(guess)
        assert login(world.nobody, anna.email, PASSWORD, headers=there).status_code == 201
        # A service does not log in with a password, and is not delayed.
        world.acting_as(anna.id).post("/v1/sessions", {}, headers=here)
    finally:
        world.server.end()


def test_passwords_that_are_guessed_first_are_refused(world):
    name = f"anna-{new_id()}"
    body = {"email": f"{name}@example.org", "nickname": "Anna of the Lakes"}
    for password in ("password", "Password123", "QWERTYUIOP", "12345678", name, name.upper(), body["email"],
                     "anna of the lakes"):
        problem = world.nobody.refused("password_too_common", "POST", "/v1/accounts", body | {"password": password})
        assert name not in problem["detail"].lower()
    world.nobody.post("/v1/accounts", body | {"password": f"{name} of the lakes"})
