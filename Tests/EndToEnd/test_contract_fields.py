"""Compares docs/openapi.yaml with the types of the server, field by field. `hansard contract` prints what they
declare."""

import copy
import functools
import json
from dataclasses import dataclass

import pytest

from harness.client import new_id
from harness.command import hansard
from harness.contract import Contract, contract

SCHEMAS = "#/components/schemas/"
# Schemas of single values, and the names that `hansard contract` has for them. FORMATS does the same for formats.
VALUES = {"ID": "id", "Time": "time", "Position": "integer"}
FORMATS = {"uuid": "id", "date-time": "time"}
TYPES = {str: "string", bool: "boolean", int: "integer"}


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    is_required: bool
    is_nullable: bool


@functools.cache
def declared() -> dict:
    return hansard("contract").json


@functools.cache
def declared_shapes() -> dict[str, dict]:
    return {shape["name"]: shape for shape in declared()["shapes"]}


def declared_fields(name: str) -> list[Field]:
    fields = declared_shapes()[name]["fields"]
    return [Field(each["name"], each["type"], each["isRequired"], each["isNullable"]) for each in fields]


class Page:
    """The shapes as docs/openapi.yaml describes them."""

    def __init__(self, page: Contract):
        self.page = page
        self.schemas: dict[str, dict] = page.document["components"]["schemas"]

    @property
    def shapes(self) -> set[str]:
        """The names of all object schemas, except those that are only one form of another schema."""
        forms = {
            form["$ref"].removeprefix(SCHEMAS)
            for schema in self.schemas.values() if "properties" not in schema
            for form in self.alternatives(schema) if "$ref" in form
        }
        return {name for name, schema in self.schemas.items() if self.objects(schema)} - forms

    @staticmethod
    def alternatives(schema: dict) -> list[dict]:
        return next((schema[key] for key in ("anyOf", "oneOf", "allOf") if key in schema), [])

    def objects(self, schema: dict) -> list[dict]:
        """The forms that an object may have. Alternatives beside the schema's own properties are only conditions, not
        other forms."""
        schema = self.page.resolve(schema)
        if "properties" in schema:
            return [schema]
        return [form for each in self.alternatives(schema) for form in self.objects(each)]

    def fields(self, name: str) -> list[Field]:
        forms = self.objects(self.schemas[name])
        properties = {key: value for form in forms for key, value in form["properties"].items()}
        required = set.intersection(*(set(form.get("required", [])) for form in forms))
        return [Field(key, self.type(schema), key in required, self.is_nullable(schema))
                for key, schema in properties.items()]

    def type(self, schema: dict) -> str:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(SCHEMAS)
            return "string" if "enum" in self.schemas[name] else VALUES.get(name, name)
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        names = self.type_names(schema)
        if not names:
            types = {self.type(each) for each in self.alternatives(schema) if each != {"type": "null"}}
            assert len(types) <= 1, f"several types: {schema}"
            return types.pop() if types else "any"
        assert len(names) == 1 and names != {"object"}, f"an object without a name, or several types: {schema}"
        return f"[{self.type(schema['items'])}]" if names == {"array"} else names.pop()

    @staticmethod
    def type_names(schema: dict) -> set[str]:
        """The types that `type` names, or the types of the listed values."""
        names = schema.get("type", [])
        names = {names} if isinstance(names, str) else set(names)
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        return (names or {TYPES[type(value)] for value in values if value is not None}) - {"null"}

    def is_nullable(self, schema: dict) -> bool:
        names = schema.get("type", [])
        return "null" in ([names] if isinstance(names, str) else names) or any(
            self.is_nullable(each) for each in self.alternatives(schema))


def differences(page: Page, name: str) -> list[str]:
    documented, types = page.fields(name), declared_fields(name)
    found = []
    if [field.name for field in documented] != [field.name for field in types]:
        found.append(f"{name}: {[field.name for field in documented]} instead of {[field.name for field in types]}")
    by_name = {field.name: field for field in types}
    for field in documented:
        other = by_name.get(field.name)
        if other is None:
            continue
        # A request may send null for every optional field; docs/openapi.yaml need not say so.
        null_differs = (
            field.is_nullable and field.is_required if declared_shapes()[name]["isRequest"]
            else field.is_nullable != other.is_nullable)
        if (field.type, field.is_required) != (other.type, other.is_required) or null_differs:
            found.append(f"{name}: {field} instead of {other}")
    return found


def body(content: dict) -> dict | None:
    """A body in docs/openapi.yaml, in the form that `hansard contract` prints."""
    if not content:
        return None
    if set(content) == {"application/json"}:
        return {"format": "json", "shape": content["application/json"]["schema"]["$ref"].removeprefix(SCHEMAS)}
    if set(content) == {"application/x-ndjson"}:
        return {"format": "lines", "shape": content["application/x-ndjson"]["x-line"]["$ref"].removeprefix(SCHEMAS)}
    if set(content) == {"application/yaml"}:
        return {"format": "yaml"}
    if set(content) == {"text/event-stream"}:
        return {"format": "eventStream"}
    file = {"$ref": f"{SCHEMAS}FileBytes"}
    for type, each in content.items():
        # A form has the file in a field.
        schema = each["schema"]["properties"]["file"] if type == "multipart/form-data" else each["schema"]
        assert schema == file, content
    return {"format": "file"}


def response_body(status: str, response: dict) -> dict | None:
    """What `hansard contract` prints for a successful response."""
    return {"format": "webSocket"} if status == "101" else body(response["content"])


OPERATIONS = {(operation.method, operation.path): operation for operation in contract().operations}


@pytest.mark.parametrize("method, path", OPERATIONS, ids=[operation.id for operation in OPERATIONS.values()])
def test_an_endpoint_takes_and_returns_what_the_page_says(method, path):
    spec = OPERATIONS[method, path].spec
    endpoint = next(each for each in declared()["endpoints"] if (each["method"], each["path"]) == (method, path))
    assert body(spec.get("requestBody", {}).get("content", {})) == endpoint.get("request")
    successes = [response_body(status, contract().resolve(response))
                 for status, response in spec["responses"].items() if int(status) < 300]
    assert successes and all(each == endpoint["response"] for each in successes)
    parameters = [contract().resolve(parameter) for parameter in spec.get("parameters", [])]
    assert {each["name"] for each in parameters if each["in"] == "query"} == set(endpoint["query"])
    assert any(each["name"] == "If-Match" for each in parameters) == endpoint["takesIfMatch"]


def test_the_page_has_the_shapes_of_the_server():
    assert Page(contract()).shapes == set(declared_shapes())


@pytest.mark.parametrize("name", sorted(Page(contract()).shapes))
def test_the_fields_are_those_of_the_type(name):
    assert differences(Page(contract()), name) == []


def without(fields: dict, name: str) -> dict:
    return {key: value for key, value in fields.items() if key != name}


def test_a_difference_is_found():
    def changed(change) -> list[str]:
        document = copy.deepcopy(contract().document)
        change(document["components"]["schemas"]["Session"])
        return differences(Page(Contract(document)), "Session")

    assert changed(lambda session: None) == []
    assert changed(lambda session: session["properties"].update(colour={"type": "string"}))
    assert changed(lambda session: session.update(properties=without(session["properties"], "isCurrent")))
    assert changed(lambda session: session.update(properties=dict(sorted(session["properties"].items()))))
    assert changed(lambda session: session["required"].remove("endedAt"))
    assert changed(lambda session: session["properties"].update(isCurrent={"type": "string"}))
    assert changed(lambda session: session["properties"].update(endedAt={"$ref": f"{SCHEMAS}Time"}))


def check_order(page: Page, name: str, value: dict) -> None:
    fields = page.fields(name)
    assert list(value) == [field.name for field in fields if field.name in value], name
    for field in fields:
        part, type = value.get(field.name), field.type.strip("[]")
        if type in declared_shapes():
            for each in part if isinstance(part, list) else [part] if part else []:
                check_order(page, type, each)


def test_members_have_the_order_of_the_page_and_the_same_in_every_process(own_world):
    anna = own_world.user("Anna")
    room = anna.room("Tea", own_world.user("Ben"))
    anna.send(room, "hello")
    shapes = {
        "/v1/me": "Account", "/v1/rooms": "RoomList", f"{room.path}/members": "MemberList",
        f"{room.path}/messages": "MessagePage", "/v1/badge": "Badge", "/v1/sync": "SyncPage",
    }
    texts = {path: anna.request("GET", path).text for path in shapes}
    for path, name in shapes.items():
        check_order(Page(contract()), name, json.loads(texts[path]))
    check_order(Page(contract()), "Problem", anna.request("GET", f"/v1/rooms/{new_id()}").json())
    own_world.server.restart()
    assert {path: anna.request("GET", path).text for path in shapes} == texts
