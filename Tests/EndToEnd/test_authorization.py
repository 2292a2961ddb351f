"""Sends every operation as every caller, and checks each cell of harness/authorization_table.py."""

import json

import pytest

from harness.authorization_requests import REQUESTS, Request, request_for
from harness.authorization_table import IN_A_STRANGERS_NAME, ROWS, Cell, Row
from harness.client import NDJSON, Api
from harness.command import hansard
from harness.config import configured
from harness.contract import contract
from harness.errors import documented_codes
from harness.issuer import Issuer, Key
from harness.scenario import CALLERS, AuthorizationScenario

OPERATIONS = {operation.id: operation for operation in contract().operations}
CELLS = [(row, role) for row in ROWS for role in CALLERS]
# Rows of operations that require a token, and those of them on which a service may act as a user.
OF_USERS = [row for row in ROWS if row.operation in OPERATIONS and OPERATIONS[row.operation].access != "open"]
IN_A_NAME = [row for row in OF_USERS if OPERATIONS[row.operation].access != "service"]


class ScenarioHolder:
    """Holds a scenario for each row, and creates a new one when a request has changed something in it."""

    def __init__(self, world, issuer: Issuer):
        self.world = world
        self.issuer = issuer
        self.people = AuthorizationScenario.people_of(world)
        self.scenario: AuthorizationScenario | None = None
        self.row: Row | None = None
        self.probe = Api(world.server)

    @property
    def head(self) -> int:
        """The log's last durable position. It reuses one connection, because each cell asks for it twice."""
        return self.probe.get("/readyz")["head"]

    def scenario_for(self, row: Row) -> AuthorizationScenario:
        if self.scenario is None or self.row is not row:
            self.scenario, self.row = AuthorizationScenario(self.world, self.people, self.issuer), row
        return self.scenario

    def strike(self) -> None:
        self.scenario = None


@pytest.fixture(scope="module")
def holder(tmp_path_factory):
    issuer = Issuer(Key("ES256", "e1"))
    settings = {"identity": {"providers": {"local": issuer.settings()}}}
    with configured(tmp_path_factory.mktemp("authorization"), settings) as world:
        yield ScenarioHolder(world, issuer)
    issuer.close()


def outcome(response) -> tuple[int, str | None]:
    """The status and, if the request failed, the code. For an ingest, those of its single line."""
    if response.headers.get("Content-Type", "").startswith(NDJSON):
        (result,) = (json.loads(line) for line in response.text.splitlines())
        return result["status"], result.get("code")
    return response.status_code, response.json()["code"] if response.status_code >= 400 else None


def is_repeat(response) -> bool:
    """Whether the response says that nothing was recorded. For an ingest, that of its single line."""
    return "Idempotent-Replayed" in response.headers or '"replayed":true' in response.text


def check(holder: ScenarioHolder, row: Row, cell: Cell, caller: Api, request: Request, **headers: str) -> None:
    """Sends the request, and checks the response and its effects against the cell."""
    operation, scenario = OPERATIONS[row.operation], holder.scenario_for(row)
    path = request.path_of(operation, scenario)
    before, head = request.changes and request.changes(), holder.head
    response = request.send(caller, operation.method, path, **headers)
    grown = holder.head - head
    if grown:
        holder.strike()
    assert outcome(response) == (cell.status, cell.code), response.text[:600]
    records = cell.status < 400 and (operation.records or operation.id == "ingest") and not is_repeat(response)
    assert (grown > 0) == records, f"{cell.status}, and the log has grown by {grown}"
    assert request.hides is None or request.hides not in response.text
    if cell.status >= 400:
        assert scenario.word not in response.text
    reaches = cell.status < 400 and not cell.own
    if request.shows is not None:
        assert (request.shows in response.text) == reaches, response.text[:600]
    if request.changes is not None:
        assert (request.changes() != before) == reaches


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


def test_the_table_has_documented_codes_only():
    assert set(REQUESTS) <= {row.name for row in ROWS}, "a request of no row"
    assert set(IN_A_STRANGERS_NAME) <= {row.name for row in IN_A_NAME}, "an exception of no row"
    for row, role in CELLS:
        cell = row.cells[role]
        assert cell.code is None or documented_codes()[cell.code] == cell.status, f"{row.name}-{role}"
    for row in ROWS:
        assert tuple(row.cells) == CALLERS, "the columns are not those of the scenario"
        # A row with no successful cell would prove nothing: its request might be invalid for another reason.
        assert any(cell.status < 400 for cell in row.cells.values()), row.name


@pytest.mark.parametrize("row, role", CELLS, ids=[f"{row.name}-{role}" for row, role in CELLS])
def test_each_caller_gets_the_documented_result(holder, row, role):
    scenario = holder.scenario_for(row)
    request = request_for(row.name, scenario)
    cell = row.cells[role]
    assert not cell.own or request.shows is not None or request.changes is not None, "nothing tells whose it was"
    check(holder, row, cell, request.owner if role == "owner" and request.owner else scenario.caller(role), request)


@pytest.mark.parametrize("row", OF_USERS, ids=lambda row: row.name)
def test_no_user_acts_in_the_name_of_another(holder, row):
    scenario = holder.scenario_for(row)
    act_as = {"Hansard-Act-As": scenario.owner.id}
    cell = Cell(403, "service_only", False)
    check(holder, row, cell, scenario.administrator, request_for(row.name, scenario), **act_as)


@pytest.mark.parametrize("row", IN_A_NAME, ids=lambda row: row.name)
def test_a_service_acting_as_a_stranger_has_the_strangers_rights(holder, row):
    scenario = holder.scenario_for(row)
    check(holder, row, row.in_a_strangers_name, scenario.acting(scenario.outsider), request_for(row.name, scenario))
