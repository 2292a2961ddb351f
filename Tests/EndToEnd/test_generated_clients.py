"""Clients that generators make from docs/openapi.yaml compile, and work with the real server."""

import re

import pytest

from harness.contract import contract
from harness.generated_clients import PythonClient, SwiftClient

# What openapi-python-client leaves out, because it knows no body of this type: the whole operation, or the response.
NOT_GENERATED = {"POST /v1/ingest"}
WITHOUT_RESPONSE = {"GET /openapi.yaml", "GET /v1/media/{mediaId}/thumbnail"}
CONVERSATION = {
    "isRegistered": True, "role": "owner", "texts": [f"Cup {number}" for number in range(1, 36)], "isMuted": True,
    "nickname": "Anna K.", "code": "room_not_found",
}


@pytest.fixture(scope="module")
def python_client(tmp_path_factory):
    return PythonClient(tmp_path_factory.mktemp("python"))


@pytest.fixture(scope="module")
def swift_client(tmp_path_factory):
    return SwiftClient(tmp_path_factory.mktemp("swift"))


def test_the_python_client_talks_to_the_server(python_client, server):
    assert python_client.converse(server.url, server.token) == CONVERSATION


def test_the_types_of_the_python_client_are_right(python_client):
    python_client.check_types()


def test_the_python_client_has_every_operation_that_has_json(python_client):
    output = " ".join(python_client.output.split())
    warnings = re.findall(r"WARNING parsing (\w+ \S+) within [a-z ]+\.( Endpoint will not be generated)?", output)
    assert {name for name, is_left_out in warnings if is_left_out} == NOT_GENERATED
    assert {name for name, is_left_out in warnings if not is_left_out} == WITHOUT_RESPONSE
    assert output.count("WARNING") == len(warnings), output
    modules = [path for path in (python_client.folder / "hansard_client" / "api").rglob("*.py")
               if path.name != "__init__.py"]
    assert len(modules) == len(contract().operations) - len(NOT_GENERATED)


def test_the_python_client_has_no_type_without_a_name(python_client):
    """The generator numbers the types of a union that it cannot name."""
    models = {path.stem for path in (python_client.folder / "hansard_client" / "models").glob("*.py")}
    assert "room_role" in models
    assert [name for name in models if re.search(r"_type_\d", name)] == []


def test_the_swift_client_talks_to_the_server(swift_client, server):
    assert swift_client.converse(server.url) == CONVERSATION
