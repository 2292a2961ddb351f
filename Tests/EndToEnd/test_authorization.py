"""Sends every operation as every caller, and checks each cell of harness/authorization_table.py."""

import json

import pytest

from harness.authorization_requests import REQUESTS, Ask, ask
from harness.authorization_table import IN_A_STRANGERS_NAME, ROWS, Cell, Row
from harness.client import NDJSON, Api
from harness.command import hansard
from harness.config import configured
from harness.contract import contract
from harness.errors import documented_codes
from harness.issuer import Issuer, Key
from harness.scenario import CALLERS, Scenario

OPERATIONS = {operation.id: operation for operation in contract().operations}
CELLS = [(row, role) for row in ROWS for role in CALLERS]
# Rows of operations that require a token, and those of them on which a service may act as a user.
OF_USERS = [row for row in ROWS if row.operation in OPERATIONS and OPERATIONS[row.operation].access != "open"]
IN_A_NAME = [row for row in OF_USERS if OPERATIONS[row.operation].access != "service"]


class Stage:
    """A scene for each row, and a new one when something in it has changed."""

    def __init__(self, world, issuer: Issuer):
        self.world = world
        self.issuer = issuer
        self.people = Scenario.cast(world)
        self.scene: Scenario | None = None
        self.row: Row | None = None
        self.probe = Api(world.server)

    @property
    def head(self) -> int:
        """The log's last durable position. It reuses one connection, because each cell asks for it twice."""
        return self.probe.get("/readyz")["head"]

    def scene_for(self, row: Row) -> Scenario:
        if self.scene is None or self.row is not row:
            self.scene, self.row = Scenario(self.world, self.people, self.issuer), row
        return self.scene

    def strike(self) -> None:
        self.scene = None


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    issuer = Issuer(Key("ES256", "e1"))
    settings = {"identity": {"providers": {"local": issuer.settings()}}}
    with configured(tmp_path_factory.mktemp("authorization"), settings) as world:
        yield Stage(world, issuer)
    issuer.close()


def outcome(response) -> tuple[int, str | None]:
    """The status and, if the request failed, the code. For an ingest, those of its single line."""
    if response.headers.get("Content-Type", "").startswith(NDJSON):
        (result,) = (json.loads(line) for line in response.text.splitlines())
        return result["status"], result.get("code")
    return response.status_code, response.json()["code"] if response.status_code >= 400 else None


def check(stage: Stage, row: Row, cell: Cell, caller: Api, asked: Ask, **headers: str) -> None:
    """Asks, and holds the answer and what became of it against the cell."""
    operation, scene = OPERATIONS[row.operation], stage.scene_for(row)
    path = asked.path_of(operation, scene)
    before, head = asked.changes and asked.changes(), stage.head
    response = asked.send(caller, operation.method, path, **headers)
    grown = stage.head - head
    if grown:
        stage.strike()
    assert outcome(response) == (cell.status, cell.code), response.text[:600]
    assert (grown > 0) == (cell.status == 201), f"{cell.status}, and the log has grown by {grown}"
    assert asked.hides is None or asked.hides not in response.text
    if cell.status >= 400:
        assert scene.word not in response.text
    reaches = cell.status < 400 and not cell.own
    if asked.shows is not None:
        assert (asked.shows in response.text) == reaches, response.text[:600]
    if asked.changes is not None:
        assert (asked.changes() != before) == reaches


def differences(rows: list[Row]) -> set[str]:
    """Operations without a row, rows without an operation, and routes that differ between the contract and the server's
    list."""
    served = {(each["method"], each["path"], each["access"]) for each in hansard("contract").json["endpoints"]}
    of_rows = {row.operation for row in rows}
    documented = {(each.method, each.path, each.access) for each in OPERATIONS.values() if each.id in of_rows}
    return set(OPERATIONS) ^ of_rows | {" ".join(route) for route in served ^ documented}


def test_every_route_has_a_row_and_every_row_a_route():
    assert differences(ROWS) == set()


def test_a_route_without_a_row_and_a_row_without_a_route_are_noticed():
    assert "getBadge" in differences([row for row in ROWS if row.operation != "getBadge"])
    assert "makeTea" in differences([*ROWS, Row("makeTea", ROWS[0].cells)])


def test_the_table_speaks_of_what_is_documented():
    assert set(REQUESTS) <= {row.name for row in ROWS}, "a request of no row"
    assert set(IN_A_STRANGERS_NAME) <= {row.name for row in IN_A_NAME}, "an exception of no row"
    for row, role in CELLS:
        cell = row.cells[role]
        assert cell.code is None or documented_codes()[cell.code] == cell.status, f"{row.name}-{role}"
    for row in ROWS:
        assert tuple(row.cells) == CALLERS, "the columns are not those of the scene"
        # A request that nobody may make may be wrong in any way.
        assert any(cell.status < 400 for cell in row.cells.values()), row.name


@pytest.mark.parametrize("row, role", CELLS, ids=[f"{row.name}-{role}" for row, role in CELLS])
def test_who_may(stage, row, role):
    scene = stage.scene_for(row)
    asked = ask(row.name, scene)
    cell = row.cells[role]
    assert not cell.own or asked.shows is not None or asked.changes is not None, "nothing tells whose it was"
    check(stage, row, cell, asked.owner if role == "owner" and asked.owner else scene.caller(role), asked)


@pytest.mark.parametrize("row", OF_USERS, ids=lambda row: row.name)
def test_no_user_acts_in_the_name_of_another(stage, row):
    scene = stage.scene_for(row)
    act_as = {"Hansard-Act-As": scene.owner.id}
    check(stage, row, Cell(403, "service_only", False), scene.administrator, ask(row.name, scene), **act_as)


@pytest.mark.parametrize("row", IN_A_NAME, ids=lambda row: row.name)
def test_a_service_in_a_users_name_may_what_the_user_may(stage, row):
    scene = stage.scene_for(row)
    check(stage, row, row.in_a_strangers_name, scene.acting(scene.outsider), ask(row.name, scene))
