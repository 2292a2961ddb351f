"""Every retry is always safe: at once, after a newer change, after a restart, after 100,000 further messages."""

import time

import pytest

from harness.cases import Effect
from harness.client import new_id
from harness.contract import contract
from harness.config import configured, write
from harness.ingest_mutations import OVER_INGEST
from harness.issuer import Issuer, Key
from harness.mutations import OVER_HTTP
from harness.people import World
from harness.server import Server

MUTATIONS = OVER_HTTP + OVER_INGEST
FURTHER_MESSAGES = 100_000
FOLLOWING_SECONDS = 300


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer(Key("EdDSA", "d1"))
    yield issuer
    issuer.close()


def settings(issuer: Issuer) -> dict:
    """Access tokens outlive the tests, on a slow machine too."""
    return {"identity": {"providers": {"local": issuer.settings()}}, "accessTokenLifetime": 86_400}


def wait_for_the_read_models(world: World) -> None:
    """A request waits for the read models only some seconds, and after many writes they may take longer."""
    deadline = time.monotonic() + FOLLOWING_SECONDS
    while any(each["lag"] for each in world.nobody.get("/readyz")["projections"]):
        assert time.monotonic() < deadline, f"the read models do not follow within {FOLLOWING_SECONDS} s"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def world(issuer, tmp_path_factory):
    with configured(tmp_path_factory.mktemp("retries"), settings(issuer)) as world:
        yield World(world.server, issuer)


@pytest.fixture
def own_world(issuer, tmp_path):
    server = Server(tmp_path / "data", "--config", write(tmp_path, settings(issuer))).start()
    yield World(server, issuer)
    server.end()


def by_name(mutation) -> str:
    return mutation.__name__


def test_every_mutation_has_a_case():
    writes = {
        operation.id for operation in contract().operations
        if operation.records
    }
    cases = {"".join([first, *(word.capitalize() for word in rest)]) for first, *rest in (
        mutation.__name__.split("_") for mutation in OVER_HTTP
    )}
    assert cases == writes
    ops = contract().document["components"]["schemas"]["IngestLine"]["properties"]["op"]["enum"]
    names = {mutation.__name__.replace("read_marker", "read-marker").replace("_", ".") for mutation in OVER_INGEST}
    assert names == set(ops)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=by_name)
def test_a_retry_at_once_and_after_something_newer(world, mutation):
    case = mutation(world)
    before = world.head
    effect, position, _ = case.do()
    head = world.head
    # A mutation records one event or several consecutive ones. Its position is that of the first.
    assert effect == Effect.RECORDED and position == before + 1 <= head
    assert case.do() == (Effect.REPEATED, position, None)
    assert world.head == head, "the retry has written"
    case.intervene()
    head, state = world.head, case.state()
    effect, _, code = case.do()
    assert (effect, code) == (Effect.REPEATED, None)
    assert case.state() == state, "the retry has undone something newer"
    assert world.head == head, "the retry has written"
    if case.lose is not None:
        case.lose()
        head = world.head
        _, _, code = case.do()
        assert code == case.refusal
        assert world.head == head, "the refused retry has written"


def test_retries_over_restarts_and_a_hundred_thousand_messages(own_world):
    world, own_server = own_world, own_world.server
    cases = {mutation.__name__: mutation(world) for mutation in MUTATIONS}
    first = {name: case.do() for name, case in cases.items()}
    assert {effect for effect, _, _ in first.values()} == {Effect.RECORDED}

    def all_repeat(when: str) -> None:
        head = world.head
        for name, case in cases.items():
            assert case.do() == (Effect.REPEATED, first[name][1], None), f"{name} {when}"
        assert world.head == head, f"a retry {when} has written"

    own_server.restart()
    all_repeat("after a restart")

    anna = world.user("Anna")
    room = anna.room("Busy")
    world.admin.ingest_all(
        [
            {"op": "message.send", "as": anna.id, "roomId": room.id, "id": new_id(), "text": f"{number}"}
            for number in range(FURTHER_MESSAGES)
        ],
        each=50_000,
    )
    wait_for_the_read_models(world)
    all_repeat(f"after {FURTHER_MESSAGES} further messages")

    own_server.kill()
    own_server.start()
    all_repeat("after a kill")

    for case in cases.values():
        case.intervene()
    states = {name: case.state() for name, case in cases.items()}
    own_server.restart()
    head = world.head
    for name, case in cases.items():
        effect, _, code = case.do()
        assert (effect, code) == (Effect.REPEATED, None), f"{name} after something newer and a restart"
        assert case.state() == states[name], f"a retry of {name} has undone something newer"
    assert world.head == head

    losing = {name: case for name, case in cases.items() if case.lose is not None}
    for case in losing.values():
        case.lose()
    own_server.restart()
    head = world.head
    for name, case in losing.items():
        assert case.do()[2] == case.refusal, f"{name} without its right"
    assert world.head == head
