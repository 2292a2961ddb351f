"""Texts that identify something are compared as bytes: canonically equivalent texts are different."""

import unicodedata

import pytest

from harness.client import Api, new_id
from harness.command import check_data
from harness.config import configured
from harness.issuer import Issuer, Key
from harness.people import World


def forms() -> tuple[str, str]:
    """The same text in NFC and in NFD: equal strings in Swift, but different ones in SQLite."""
    text = f"é-{new_id()}"
    return unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)


@pytest.mark.parametrize("restarts", [False, True], ids=["in memory", "after a restart"])
def test_canonically_equal_push_tokens_are_two(own_server, restarts):
    world = World(own_server)
    anna, ben = world.users("Anna", "Ben")
    composed, decomposed = forms()
    first, second, third = (f"/v1/devices/{new_id()}" for _ in range(3))

    def providers() -> list[list[str]]:
        return [person.get(path)["pushProviders"] for person, path in ((anna, first), (ben, second), (ben, third))]

    anna.put(first, {"fcmToken": composed})
    ben.put(third, {})
    if restarts:
        own_server.restart()
    head = world.head
    ben.put(second, {"fcmToken": decomposed})
    assert world.head == head + 1, "nothing moves"
    assert providers() == [["fcm"], ["fcm"], []]
    # The device that had the same bytes loses its token. The other form stays in place.
    ben.put(third, {"fcmToken": composed})
    assert providers() == [[], ["fcm"], ["fcm"]]
    own_server.stop()
    check_data(own_server.data)


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer(Key("ES256", "e1"))
    yield issuer
    issuer.close()


@pytest.mark.parametrize("restarts", [False, True], ids=["in memory", "after a restart"])
def test_canonically_equal_subjects_are_two_users(tmp_path, issuer, restarts):
    with configured(tmp_path, {"identity": {"externalTokens": issuer.settings()}}) as world:
        def user(subject: str) -> str:
            return Api(world.server, issuer.token(subject)).get("/v1/me")["id"]

        composed, decomposed = forms()
        first = user(composed)
        if restarts:
            world.server.restart()
        second = user(decomposed)
        assert first != second
        assert (user(composed), user(decomposed)) == (first, second)
        for subject, id in ((composed, first), (decomposed, second)):
            found = world.admin.get("/v1/admin/users", externalId=subject)["users"]
            assert [(each["id"], each["externalId"]) for each in found] == [(id, subject)]
        world.server.stop()
        check_data(world.server.data)
        world.server.start()
