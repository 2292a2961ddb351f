"""Checks that docs/openapi.yaml has a form from which client generators make usable code. test_generated_clients.py runs
two of them."""

import copy
from collections.abc import Iterator

import openapi_spec_validator
import pytest

from harness.contract import document
from harness.strict_contract import strict

SCHEMAS = "#/components/schemas/"
# The only schemas without a type: an app's own JSON.
ANY_JSON = {"custom", "data"}
# These can also have other values.
NO_UUIDS = {"externalId", "lastEventId", "requestId", "sessionId", "X-Request-Id"}
NULL = {"type": "null"}


def parts(node, name: str = "") -> Iterator[tuple[str, dict]]:
    """All objects of the document and their names, but not the examples, nor the rules that generators ignore."""
    if isinstance(node, list):
        for item in node:
            yield from parts(item, name)
    elif isinstance(node, dict):
        yield name, node
        for key, value in node.items():
            if key != "example" and not key.startswith("x-"):
                yield from parts(value, key)


def schemas(page: dict) -> Iterator[tuple[str, dict]]:
    """All schemas of the page, with the names of the fields that they describe."""
    for name, part in parts(page):
        if "schema" in part:
            yield name, part["schema"]
        for field, schema in part.get("properties", {}).items():
            yield field, schema
        if isinstance(part.get("items"), dict):
            yield name, part["items"]
    yield from page["components"]["schemas"].items()


def reachable(node, page: dict, found: set[str]) -> set[str]:
    """The names of the schemas to which a part of the page refers, directly or not."""
    if isinstance(node, list):
        for item in node:
            reachable(item, page, found)
    elif isinstance(node, dict):
        reference = node.get("$ref")
        if reference is None:
            for value in node.values():
                reachable(value, page, found)
        elif reference not in found:
            found.add(reference)
            target = page
            for key in reference.removeprefix("#/").split("/"):
                target = target[key]
            reachable(target, page, found)
    return found


def obstacles(page: dict) -> list[str]:
    """What generators do not accept, or turn into types that are hard to use."""
    found = []
    if not page["openapi"].startswith("3.0."):
        found.append(f"OpenAPI {page['openapi']}, which fewer generators know than 3.0")
    for name, part in parts(page):
        found += [f"{name} has {key}" for key in ("anyOf", "const", "not", "if") if key in part]
        if part.get("oneOf") and not all(set(form) == {"$ref"} for form in part["oneOf"]):
            found.append(f"{name} has forms without a name")
        if "allOf" in part and len(part["allOf"]) != 1:
            found.append(f"{name} combines schemas")
        if "$ref" in part and len(part) > 1:
            found.append(f"{name} has something beside a reference")
    for name, schema in schemas(page):
        if not {"type", "$ref", "allOf", "oneOf"} & set(schema) and name not in ANY_JSON:
            found.append(f"{name} has no type")
        if not isinstance(schema.get("type", ""), str) or schema.get("type") == "null":
            found.append(f"{name} has another type than a single one")
        if schema.get("nullable") and "enum" in schema:
            found.append(f"{name} lists values beside null")
    return found + open_and_closed(page)


def open_and_closed(page: dict) -> list[str]:
    """The server rejects unknown fields, and may add fields to its responses."""
    operations = [operation for path in page["paths"].values() for operation in path.values()]
    bodies = [operation["requestBody"] for operation in operations if "requestBody" in operation]
    sent = reachable(bodies, page, set())
    received = reachable([[each["responses"], each.get("x-events", [])] for each in operations], page, set())
    found = []
    for name, schema in page["components"]["schemas"].items():
        if "properties" in schema:
            is_closed = schema.get("additionalProperties") is False
            if SCHEMAS + name in sent and not is_closed:
                found.append(f"the request {name} is open")
            if SCHEMAS + name in received and "additionalProperties" in schema:
                found.append(f"the response {name} is closed")
    return found


def test_the_page_is_openapi():
    openapi_spec_validator.validate(document())


def test_a_page_that_is_not_openapi_is_found():
    page = copy.deepcopy(document())
    page["components"]["schemas"]["Room"]["properties"]["topic"] = {"type": ["string", "null"]}
    with pytest.raises(openapi_spec_validator.validation.exceptions.OpenAPIValidationError, match="string"):
        openapi_spec_validator.validate(page)


def test_generators_accept_the_form():
    assert obstacles(document()) == []


@pytest.mark.parametrize(
    ("field", "schema", "why"),
    [
        ("topic", {"type": ["string", "null"]}, "topic has another type than a single one"),
        ("topic", {"anyOf": [{"type": "string"}, NULL]}, "topic has anyOf"),
        ("kind", {"const": "group"}, "kind has const"),
        ("kind", {"enum": ["group"]}, "kind has no type"),
        ("kind", {"type": "string", "nullable": True, "enum": ["group", None]}, "kind lists values beside null"),
        ("id", {"$ref": f"{SCHEMAS}ID", "description": "The ID."}, "id has something beside a reference"),
        ("lastMessage", {"oneOf": [{"type": "object"}]}, "lastMessage has forms without a name"),
    ],
)
def test_an_obstacle_is_found(field, schema, why):
    page = copy.deepcopy(document())
    page["components"]["schemas"]["Room"]["properties"][field] = schema
    assert why in obstacles(page)


def test_an_open_request_and_a_closed_response_are_found():
    page = copy.deepcopy(document())
    del page["components"]["schemas"]["MuteRoomRequest"]["additionalProperties"]
    page["components"]["schemas"]["Room"]["additionalProperties"] = False
    assert open_and_closed(page) == ["the request MuteRoomRequest is open", "the response Room is closed"]


def test_ids_and_times_have_a_format():
    by_name = document()["components"]["schemas"]
    assert by_name["ID"]["format"] == "uuid" and by_name["Time"]["format"] == "date-time"
    for name, schema in schemas(document()):
        is_text = schema.get("type") == "string" and "enum" not in schema
        assert not (is_text and name.endswith(("At", "Until"))) or schema.get("format") == "date-time", name
        is_id = is_text and name.endswith("Id") and name not in NO_UUIDS
        assert not is_id or schema.get("format") == "uuid", name


def test_the_strict_form_says_the_same_with_other_words():
    page = document()
    made = strict(page)
    room, written = made["components"]["schemas"]["Room"], page["components"]["schemas"]
    assert room["additionalProperties"] is False and "additionalProperties" not in written["Room"]
    assert room["properties"]["topic"] == {"type": ["string", "null"]}
    assert room["properties"]["lastMessage"] == {"anyOf": [{"$ref": f"{SCHEMAS}Message"}, NULL]}
    picture = {"type": ["string", "null"], "format": "uuid", "pattern": written["ID"]["pattern"]}
    assert room["properties"]["picture"] == picture
    request = made["components"]["schemas"]["FileReportRequest"]
    assert request["properties"]["userId"] == {"type": ["string", "null"], "format": "uuid"}
    assert request["anyOf"] == written["FileReportRequest"]["x-any-of"]
    assert made["components"]["schemas"]["SyncItem"]["oneOf"] == written["SyncItem"]["x-one-of"]
    assert not {"nullable", "x-any-of", "x-one-of"} & {key for _, part in parts(made) for key in part}
