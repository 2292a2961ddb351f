"""Runs Schemathesis against the real server: valid and invalid requests made from docs/openapi.yaml, with all its
checks."""

import collections
import concurrent.futures
import contextlib
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from harness.client import Api, new_id
from harness.contract import Operation, contract
from harness.fuzzed_world import EMAIL, MEANINGS, PASSWORD, body_example
from harness.people import World
from harness.server import UNLIMITED, Server

HERE = pathlib.Path(__file__).parent
SECONDS = 3600
ANSWER_SECONDS = 120
# The response to this operation does not end by itself. It is read up to its first event, or for this time if there is
# nothing to send.
STREAM, SILENCE_SECONDS = "syncStream", 5
# With 10, the two runs take 7 % of the suite. Set the variable for a longer search.
EXAMPLES_PER_OPERATION = int(os.environ.get("HANSARD_TEST_FUZZ_EXAMPLES", "10"))
SEED = int(os.environ.get("HANSARD_TEST_FUZZ_SEED", "1"))
# The statuses of responses to requests that fit their schema. 410, 416 and 422 are for rules that no schema can
# express: a time that has passed, a text with too many bytes, an invite that is used up, a range beyond the end of a
# file. 426 is for requests that are not those of a WebSocket. The other failures that are not the server's fault are in
# harness/schemathesis_hooks.py.
FITTING = ["2xx", "304", "401", "403", "404", "409", "410", "416", "422", "426", "429"]
# The share of IDs in the requests that name existing objects.
KNOWN_SHARE = 0.8
# The run as a user has only one session, which these operations would end. The run as a service calls them.
ENDING_THE_SESSION = ["endSession", "endSessions"]
# They would delete the user of the run.
DELETING_THE_USER = ["deleteMe", "deleteUser"]
# The operations that no request of either run can complete, and the tests that cover them instead. They need an ID
# token that a provider has signed, or a WebSocket, or an account that can be deleted.
ELSEWHERE = {
    "linkIdentity": "test_social_login.py", "unlinkIdentity": "test_social_login.py",
    "syncSocket": "test_sync_socket.py", "deleteMe": "test_delete_account.py",
    "deleteUser": "test_delete_account.py", "getErasure": "test_delete_account.py"}


@dataclass(frozen=True)
class Run:
    """The result of one run."""

    done: subprocess.CompletedProcess
    # How often each operation got each status.
    responses: collections.Counter

    @property
    def succeeded(self) -> set[str]:
        return {operation for operation, status in self.responses if 200 <= status < 300}

    def check(self) -> None:
        output = f"{self.done.stdout[-12_000:]}\n{self.done.stderr[-2_000:]}"
        assert self.done.returncode == 0, f"schemathesis found something:\n{output}"
        assert re.search(r"\b(\d{4,}) generated, \1 passed", self.done.stdout), output


def body_schema(operation: Operation) -> dict:
    content = operation.spec.get("requestBody", {}).get("content", {}).get("application/json")
    return contract().resolve(content["schema"]) if content else {}


def known(operation: Operation) -> dict[str, str]:
    """The parameters and required fields whose examples name an object."""
    parameters = [contract().resolve(parameter) for parameter in operation.spec.get("parameters", [])]
    needed = [each for each in parameters if each.get("required") and "example" in each]
    named = {f"{each['in']}.{each['name']}": each["example"] for each in needed}
    example = body_example(operation)
    fields = body_schema(operation).get("required", [])
    return named | {f"body.{name}": example[name] for name in fields
                    if isinstance(example.get(name), str) and example[name] in MEANINGS}


def settings(folder: pathlib.Path) -> pathlib.Path:
    """The configuration of Schemathesis: the statuses above, and the example IDs for most requests."""
    lines = ["[checks.positive_data_acceptance]", f"expected-statuses = {json.dumps(FITTING)}", "[dictionaries]"]
    values = sorted({value for operation in contract().operations for value in known(operation).values()})
    for number, value in enumerate(values):
        lines.append(f"known{number} = {{ values = [{json.dumps(value, ensure_ascii=False)}] }}")
    for operation in filter(known, contract().operations):
        lines += ["[[operations]]", f'include-name = "{operation.method} {operation.path}"']
        lines += [
            f'parameters."{name}" = {{ dictionary = "known{values.index(value)}", probability = {KNOWN_SHARE} }}'
            for name, value in known(operation).items()
        ]
    lines += ["[[operations]]", f'include-operation-id = "{STREAM}"', "max-stream-events = 1",
              f"request-timeout = {SILENCE_SECONDS}"]
    path = folder / "schemathesis.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def schemathesis(document: pathlib.Path, server: Server, folder: pathlib.Path, environment: dict[str, str],
                 *options: str) -> subprocess.CompletedProcess:
    command = [
        str(pathlib.Path(sys.executable).parent / "st"), "--config-file", str(settings(folder)), "run", str(document),
        "--url", server.url, "--checks", "all", "--max-examples", str(EXAMPLES_PER_OPERATION), "--seed", str(SEED),
        # The default limit of 10 s for a response is exceeded when other tests use the processors.
        "--request-timeout", str(ANSWER_SECONDS), "--max-response-time", str(ANSWER_SECONDS),
        "--suppress-health-check", "all", "--no-color", "--generation-database", "none", *options,
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "harness.schemathesis_hooks", "PYTHONPATH": str(HERE)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                          env=os.environ | hooks | environment)


def fuzz(caller: Api, folder: pathlib.Path, headers: dict[str, str], *options: str,
         document: dict | None = None, phases: str = "examples,coverage,fuzzing,stateful") -> Run:
    """`document` is the contract, by default the real one."""
    (page := folder / "openapi.json").write_text(json.dumps(document or contract().document, ensure_ascii=False))
    tally = folder / "tally"
    environment = {
        "HANSARD_FUZZED_URL": caller.server.url, "HANSARD_FUZZED_TOKEN": caller.server.token,
        "HANSARD_FUZZED_CALLER": caller.act_as, "HANSARD_FUZZED_TALLY": str(tally),
    }
    if "Hansard-Act-As" in headers:
        environment["HANSARD_FUZZED_AS_SERVICE"] = "1"
    sent = [part for name, value in headers.items() for part in ("--header", f"{name}: {value}")]
    done = schemathesis(page, caller.server, folder, environment, "--phases", phases, *sent, *options)
    responses = (line.split() for line in tally.read_text().splitlines()) if tally.exists() else ()
    return Run(done, collections.Counter((operation, int(status)) for operation, status in responses))


@contextlib.contextmanager
def caller(folder: pathlib.Path):
    """The user who logs in as the examples do, on a server without limits, because a run sends a wrong password many
    times."""
    server = Server(folder / "data", environment=UNLIMITED | {"HANSARD_LOGINS_SLOWED": "false"}).start()
    try:
        world = World(server)
        body = {"id": new_id(), "email": EMAIL, "password": PASSWORD, "nickname": "Anna"}
        yield world.acting_as(world.nobody.post("/v1/accounts", body)["id"])
    finally:
        server.end()


def token_of(caller: Api) -> dict[str, str]:
    return {"Authorization": f"Bearer {caller.post('/v1/sessions', {})['accessToken']}"}


def run_as_user(folder: pathlib.Path) -> Run:
    without = [part for id in ENDING_THE_SESSION + DELETING_THE_USER for part in ("--exclude-operation-id", id)]
    with caller(folder) as user:
        return fuzz(user, folder, token_of(user), *without)


def run_as_service(folder: pathlib.Path) -> Run:
    with caller(folder) as service:
        headers = {"Authorization": f"Bearer {service.token}", "Hansard-Act-As": service.act_as}
        without = [part for id in DELETING_THE_USER for part in ("--exclude-operation-id", id)]
        return fuzz(service, folder, headers, *without)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs both at once, because each mostly waits for the disk or for responses."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        started = {run: pool.submit(run, tmp_path_factory.mktemp(run.__name__)) for run in (run_as_user, run_as_service)}
        return {run: future.result() for run, future in started.items()}


def test_what_a_user_can_send(runs):
    runs[run_as_user].check()


def test_what_a_service_can_send(runs):
    """The service acts as a user, and also calls the operations that are only for services."""
    runs[run_as_service].check()


def test_every_operation_succeeded_in_one_of_the_runs(runs):
    """A server that responds to everything with 404 would also satisfy the contract."""
    every = {operation.id for operation in contract().operations}
    assert every - set().union(*(run.succeeded for run in runs.values())) == set(ELSEWHERE)
    for file in ELSEWHERE.values():
        assert (HERE / file).exists()


def test_a_contract_that_does_not_hold_is_found(tmp_path):
    """Runs the same against a contract that promises another response, and expects the run to fail."""
    document = copy.deepcopy(contract().document)
    document["components"]["schemas"]["Badge"]["required"] += ["surprise"]
    with caller(tmp_path) as user:
        run = fuzz(user, tmp_path, token_of(user), "--include-path", "/v1/badge", document=document, phases="coverage")
    assert run.done.returncode == 1 and "surprise" in run.done.stdout, run.done.stdout[-2_000:]
