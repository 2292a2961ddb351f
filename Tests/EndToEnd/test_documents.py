"""What the documents say works: operations, codes, examples, and the commands to paste."""

import json
import os
import pathlib
import re
import subprocess
import time

import pytest

from harness.command import hansard
from harness.contract import contract
from harness.errors import OF_SOCKET_IO, documented_codes
from harness.places import DOCS, ROOT
from harness.server import Server
from harness.waiting import wait_until
from harness.read_models import read_model_names

SHOWN_SECONDS = 60
# The status of curl when the time of `-m` is up.
CURL_TIMEOUT = 28


def test_the_routes_are_those_of_the_contract():
    routes = {(each["method"], each["path"], each["access"]) for each in hansard("contract").json["endpoints"]}
    documented = {(operation.method, operation.path, operation.access) for operation in contract().operations}
    assert routes == documented


def test_the_codes_are_those_of_the_table():
    printed = [line.split() for line in hansard("errors").output.splitlines() if line.strip()]
    assert {code: int(status) for code, status in printed} == documented_codes()
    assert len({code for code, _ in printed}) == len(printed)


def test_the_settings_are_those_of_the_table():
    page = (DOCS / "settings.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == hansard("settings").output.splitlines()
    assert len(rows) > 5


def test_the_contract_has_documented_codes_only():
    for operation in contract().operations:
        problems = operation.spec.get("x-problems", {})
        for status, codes in problems.items():
            for code in codes:
                assert documented_codes().get(code) == int(status), f"{operation.id}: {code}"
        refused = {status for status in operation.spec["responses"] if int(status) >= 400}
        assert refused == set(problems), operation.id


def test_every_operation_but_the_probes_may_be_rate_limited():
    for operation in contract().operations:
        problems = operation.spec["x-problems"]
        assert problems["414"] == ["target_too_long"] and problems["431"] == ["headers_too_large"], operation.id
        assert ("rate_limited" in problems.get("429", [])) == (operation.id not in ("health", "readiness")), operation.id


def test_every_code_belongs_to_a_route():
    of_routes = {code for operation in contract().operations for codes in operation.spec.get("x-problems", {}).values()
                 for code in codes}
    # These belong to no operation, or only to single lines of an ingest, to the end of a stream or to Socket.IO.
    assert set(documented_codes()) - of_routes == {
        "route_not_found", "method_not_allowed", "line_too_long", "malformed_request", "reader_too_slow", "invalid_frame",
        "frame_too_large", "authentication_timeout", "too_many_commands"} | OF_SOCKET_IO


def test_the_examples_fit_their_schemas():
    for name, schema in contract().document["components"]["schemas"].items():
        if "example" in schema:
            contract().validate_named(name, schema["example"])
    for operation in contract().operations:
        for media, content in operation.spec.get("requestBody", {}).get("content", {}).items():
            if media == "application/json":
                contract().validate(content["schema"], content["example"], operation.id)
            elif media == "application/x-ndjson":
                for line in content["example"].splitlines():
                    contract().validate_named("IngestLine", json.loads(line))


def mutilations(value):
    """Copies of a JSON value, each with one invalid or unusual change."""
    yield from (None, True, 1, -1, 1.5, "", "x", [], {}, [value], {"x": value})
    if isinstance(value, dict):
        for name, item in value.items():
            yield {key: other for key, other in value.items() if key != name}
            yield from (value | {name: wrong} for wrong in mutilations(item))
        yield value | {"colour": "red"}
    elif isinstance(value, list) and value:
        yield from ([wrong] for wrong in mutilations(value[0]))


def test_the_quick_validator_judges_as_the_general_one_does():
    refused = 0
    for name, schema in contract().document["components"]["schemas"].items():
        pointer = f"#/components/schemas/{name}"
        quick, general = contract().quick.named(pointer), contract().validator(pointer)
        for value in [schema.get("example"), *mutilations(schema.get("example"))]:
            assert quick(value) == general.is_valid(value), f"{name}: {value}"
            refused += not quick(value)
    assert refused > 1000, "the mutilated examples are hardly ever wrong"


def test_every_schema_is_closed_and_used():
    page = (DOCS / "openapi.yaml").read_text()
    for name, schema in contract().document["components"]["schemas"].items():
        if schema.get("type") == "object":
            assert schema.get("additionalProperties") is False, name
        assert f"#/components/schemas/{name}'" in page, name


def test_the_ops_of_the_ingest_page_are_those_of_the_contract():
    page = (DOCS / "ingest.md").read_text()
    named = set(re.findall(r"^\| `([a-z-]+\.[a-z-]+)` \|", page, re.MULTILINE))
    assert named == set(contract().document["components"]["schemas"]["IngestLine"]["properties"]["op"]["enum"])
    for line in re.findall(r'^(\{"line".*\})$', page, re.MULTILINE):
        contract().validate_named("IngestResult", json.loads(line))


def test_health(server):
    import requests

    for path in ("/healthz", "/readyz"):
        response = requests.get(server.url + path, timeout=60)
        contract().check("GET", server.url + path, response)
        assert response.status_code == 200
    names = {projection["name"] for projection in response.json()["projections"]}
    assert names == set(read_model_names())


def test_the_server_says_what_it_is_and_where_to_go(server):
    import requests

    response = requests.get(f"{server.url}/", timeout=60)
    contract().check("GET", f"{server.url}/", response)
    overview = response.json()
    assert overview["name"] == "Hansard"
    for name in ("contract", "health", "readiness"):
        assert requests.get(server.url + overview[name], timeout=60).status_code == 200, name
    elsewhere = {"/", overview["contract"], overview["health"], overview["readiness"]}
    paths = {operation.path for operation in contract().operations} - elsewhere
    assert paths and all(path.startswith(f"{overview['api']}/") or path.startswith("/.well-known/") for path in paths)


def test_the_server_serves_the_page_that_describes_it(server):
    import requests

    page = (DOCS / "openapi.yaml").read_bytes()
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        response = requests.get(f"{server.url}/openapi.yaml", headers=headers, timeout=60)
        contract().check("GET", f"{server.url}/openapi.yaml", response)
        assert response.headers["Content-Type"] == "application/yaml"
        assert response.content == page, "the executable was built with another docs/openapi.yaml"


def commands_of(text: str) -> str:
    """From the first line of shell to the last: assignments, curl, and the comments between them."""
    lines = text.splitlines()
    shell = [number for number, line in enumerate(lines) if re.match(r"\s*(curl |[a-zA-Z_]+=|export )", line)]
    assert shell, f"no commands are shown in:\n{text}"
    return "\n".join(lines[shell[0] : shell[-1] + 1]) + "\n"


SHELLS = ("bash", "zsh")


def paste(commands: str, folder: pathlib.Path, server: Server, shell: str) -> str:
    """Runs the commands unchanged except for the address, because a test has its own port. The last one must follow until
    curl's time is up, however slow the machine is."""
    assert not re.search(r"^\s*#|--json", commands, re.MULTILINE), "not for an interactive zsh, or an older curl"
    assert commands.count("|| echo") == 1, f"no stream is followed:\n{commands}"
    commands = commands.replace("|| echo", f"|| [ $? -eq {CURL_TIMEOUT} ]")
    done = subprocess.run(
        [shell, "-euo", "pipefail", "-c", commands], cwd=folder, capture_output=True, text=True, timeout=600,
        env=os.environ | {"HANSARD_DATA": str(server.data)},
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
    assert "urn:hansard:problem" not in done.stdout, f"{commands}\n{done.stdout}"
    return done.stdout


def check_conversation(output: str, unread: int = 1) -> None:
    counts = re.findall(r'"unreadCount"\s*:\s*(\d+)', output)
    assert counts and int(counts[-1]) == unread, f"the last response does not show {unread} unread messages:\n{output}"


@pytest.mark.parametrize("shell", SHELLS)
def test_what_the_server_prints_can_be_pasted(tmp_path, shell):
    server = Server(tmp_path / "hansard-data").start()
    try:
        deadline = time.monotonic() + SHOWN_SECONDS
        # The server prints this text last.
        while "paste them" not in server.output.read_text():
            assert time.monotonic() < deadline, f"hansard serve shows no commands:\n{server.tail()}"
            time.sleep(0.05)
        shown = server.output.read_text()
        assert server.url in shown, "the output does not say where the server listens"
        commands = commands_of(shown)
        assert "curl" in commands and server.url in commands
        check_conversation(paste(commands, tmp_path, server, shell))
        # With what Alice wrote while Bob followed.
        check_conversation(paste(commands, tmp_path, server, shell), unread=2)
        server.restart()
        wait_until(lambda: server.output.read_text().count("Hansard listens") == 2, "the second start prints nothing")
        assert server.output.read_text().count("paste them") == 1, "the data is not new any more"
    finally:
        server.end()


@pytest.mark.parametrize("shell", SHELLS)
def test_what_the_readme_shows_can_be_pasted(tmp_path, shell):
    readme = (ROOT / "README.md").read_text()
    blocks = [block for block in re.findall(r"```(?:sh|bash|console)?\n(.*?)```", readme, re.DOTALL)
              if "curl" in block or "call " in block]
    assert blocks, "README.md shows no curl commands"
    server = Server(tmp_path / "hansard-data").start()
    try:
        commands = "\n".join(blocks)
        assert "127.0.0.1:8080" in commands
        check_conversation(paste(commands.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}"), tmp_path, server, shell))
    finally:
        server.end()


def test_the_first_screen_of_the_readme_has_the_two_commands():
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:40])
    assert "Tools/serve" in first_screen and "Tools/test" in first_screen


COMMANDS = ["", "serve", "import", "replay", "backup", "restore", "erase", "doctor", "users", "users show",
            "rooms list", "sessions list", "devices show", "audit", "log", "log stat", "log verify", "log inspect", "log seal",
            "log checkpoint", "log prove", "log check-proof", "push", "push explain", "settings"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    text = hansard(*command.split(), "--help").output
    assert "USAGE" in text and "--help" in text
