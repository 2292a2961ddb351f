"""Checks every response against the strict form of docs/openapi.yaml."""

import functools
import re
import urllib.parse
from dataclasses import dataclass, field

import jsonschema
import referencing
import referencing.jsonschema
import yaml

from .errors import documented_codes
from .places import DOCS
from .quick import QuickSchemas
from .strict_contract import strict

METHODS = ("get", "put", "post", "patch", "delete")
DOCUMENT = "urn:hansard:openapi"
PROBLEM = "application/problem+json"
REPLAYED = "Idempotent-Replayed"
REQUEST_ID = "X-Request-Id"
# The codes that the server may return for a path that the contract does not have.
OF_NO_ROUTE = (
    "route_not_found", "method_not_allowed", "rate_limited", "target_too_long", "headers_too_large", "malformed_request")


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    id: str
    method: str
    path: str
    access: str
    pattern: re.Pattern = field(repr=False, compare=False)
    spec: dict = field(repr=False, compare=False)

    @property
    def parameters(self) -> list[str]:
        """The names of the path parameters."""
        return re.findall(r"\{(\w+)\}", self.path)

    def takes(self, parameter: str) -> bool:
        """Whether the operation refers to the shared parameter with this name in `components/parameters`."""
        name = f"/{parameter}"
        return any(each.get("$ref", "").endswith(name) for each in self.spec.get("parameters", []))

    @property
    def records(self) -> bool:
        """Whether it records events, so that it can be a repeat."""
        return REPLAYED in self.spec["responses"].get("200", {}).get("headers", {})


class Violation(AssertionError):
    """The response is not what the contract says."""


class Contract:
    def __init__(self, document: dict):
        self.document = document
        self.operations = [
            Operation(spec["operationId"], method.upper(), path, spec["x-access"], self._pattern(path), spec)
            for path, item in document["paths"].items()
            for method, spec in item.items()
            if method in METHODS
        ]
        resource = referencing.Resource.from_contents(
            document, default_specification=referencing.jsonschema.DRAFT202012
        )
        self.registry = referencing.Registry().with_resource(DOCUMENT, resource)
        self.quick = QuickSchemas(self.resolve)
        self.validators: dict[str, jsonschema.Draft202012Validator] = {}
        self.exercised: set[str] = set()
        self.codes_seen: set[str] = set()

    @staticmethod
    def _pattern(path: str) -> re.Pattern:
        return re.compile("^" + re.sub(r"\\\{[^/]+\\\}", "[^/]+", re.escape(path)) + "$")

    def operation(self, method: str, path: str) -> Operation | None:
        for operation in self.operations:
            if operation.method == method and operation.pattern.match(path):
                return operation
        return None

    def validator(self, pointer: str) -> jsonschema.Draft202012Validator:
        if pointer not in self.validators:
            self.validators[pointer] = jsonschema.Draft202012Validator(
                {"$ref": DOCUMENT + pointer}, registry=self.registry
            )
        return self.validators[pointer]

    def validate(self, schema: dict, value, what: str) -> None:
        assert set(schema) == {"$ref"}, f"{what}: only named schemas are checked, not {schema}"
        if self.quick.named(schema["$ref"])(value):
            return
        errors = list(self.validator(schema["$ref"]).iter_errors(value))
        assert errors, f"the two validators disagree about {what}"
        raise Violation(f"{what}: {errors[0].json_path}: {errors[0].message}")

    def validate_named(self, name: str, value) -> None:
        self.validate({"$ref": f"#/components/schemas/{name}"}, value, name)

    def resolve(self, item: dict) -> dict:
        while "$ref" in item:
            pointer = item["$ref"].removeprefix("#/").split("/")
            item = functools.reduce(lambda node, key: node[key], pointer, self.document)
        return item

    def check(self, method: str, url: str, response) -> None:
        """Raises Violation if `response` (a `requests` object) is not as documented."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
        operation = self.operation(method, path)
        what = f"{method} {path} responded with {response.status_code}"
        if REQUEST_ID not in response.headers and response.status_code != 101:
            raise Violation(f"{what} without the header X-Request-Id")
        media = response.headers.get("Content-Type", "").split(";")[0].strip()
        if response.status_code >= 400:
            self._check_problem(operation, response, media, what)
            return
        if operation is None:
            raise Violation(f"{what}, but docs/openapi.yaml has no such operation")
        documented = operation.spec["responses"].get(str(response.status_code))
        if documented is None:
            raise Violation(f"{what}, a status that {operation.id} does not document")
        content = self.resolve(documented).get("content")
        if content is None:
            if response.content:
                raise Violation(f"{what} with a body, which {operation.id} does not document")
        elif media not in content and "*/*" not in content:
            raise Violation(f"{what} as '{media}' instead of {list(content)}")
        elif media in content and media == "application/json":
            self.validate(content[media]["schema"], response.json(), what)
        documented_headers = self.resolve(documented).get("headers", {})
        for name in ("Location", "ETag", REPLAYED):
            spec = self.resolve(documented_headers[name]) if name in documented_headers else None
            if name in response.headers and spec is None:
                raise Violation(f"{what} with the header {name}, which {operation.id} does not document")
            if name not in response.headers and spec is not None and spec["required"]:
                raise Violation(f"{what} without the header {name}")
        location = urllib.parse.unquote(response.headers.get("Location", ""))
        if location and not any(each.pattern.match(location) for each in self.operations):
            raise Violation(f"{what} with a Location that docs/openapi.yaml does not have: {location}")
        self.exercised.add(operation.id)

    def _check_problem(self, operation: Operation | None, response, media: str, what: str) -> None:
        if media != PROBLEM:
            raise Violation(f"{what} as '{media}' instead of {PROBLEM}: {response.text[:200]}")
        problem = response.json()
        self.validate_named("Problem", problem)
        code = problem["code"]
        if problem["requestId"] != response.headers[REQUEST_ID]:
            raise Violation(f"{what} with another requestId than in the header: {problem}")
        if problem["status"] != response.status_code or problem["type"] != f"urn:hansard:problem:{code}":
            raise Violation(f"{what} with a problem that contradicts it: {problem}")
        if documented_codes().get(code) != response.status_code:
            raise Violation(f"{what} with the code {code}, which docs/errors.md does not list for this status")
        if operation is not None:
            allowed = operation.spec.get("x-problems", {}).get(str(response.status_code), [])
            if code not in allowed:
                raise Violation(f"{what} with the code {code}, which {operation.id} does not document: {problem}")
        elif code not in OF_NO_ROUTE:
            raise Violation(f"{what} with the code {code} on a path that docs/openapi.yaml does not have")
        required = ((401, "WWW-Authenticate"), (405, "Allow"), (429, "Retry-After"), (503, "Retry-After"))
        for status, header in required:
            if response.status_code == status and header not in response.headers:
                raise Violation(f"{what} without the header {header}")
        self.codes_seen.add(code)


@functools.cache
def document() -> dict:
    """docs/openapi.yaml as it is."""
    return yaml.safe_load((DOCS / "openapi.yaml").read_text())


@functools.cache
def contract() -> Contract:
    """The contract, shared by the whole run: it records what was exercised."""
    return Contract(strict(document()))
