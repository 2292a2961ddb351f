"""Makes the contract that the tests check out of docs/openapi.yaml.

docs/openapi.yaml has the form that client generators accept: OpenAPI 3.0 with `nullable`, responses that may get more
fields later, and the rules that join several fields in the extensions `x-any-of` and `x-one-of`. The tests are
stricter. Here, the same rules become JSON Schema (OpenAPI 3.1), and a response may have no other fields than those that
are documented.
"""

# The JSON Schema keywords for the extensions of docs/openapi.yaml.
RULES = {"x-any-of": "anyOf", "x-one-of": "oneOf"}
# The schemas that say how a response writes a value of these formats. A request is free to use another case or precision.
WRITTEN_AS = {"uuid": "ID", "date-time": "Time"}
NULL = {"type": "null"}


def strict(document: dict) -> dict:
    """A strict copy of the document."""
    return {**StrictForm(document).of(document), "openapi": "3.1.0"}


class StrictForm:
    def __init__(self, document: dict):
        schemas = document["components"]["schemas"]
        self.patterns = {format: schemas[name]["pattern"] for format, name in WRITTEN_AS.items()}

    def of(self, node, is_response: bool = False):
        if isinstance(node, list):
            return [self.of(item, is_response) for item in node]
        if not isinstance(node, dict):
            return node
        is_response = is_response or self.is_open(node)
        made = {RULES.get(key, key): self.part(key, value, is_response) for key, value in node.items()}
        if self.is_open(node):
            made["additionalProperties"] = False
        if is_response and node.get("format") in self.patterns:
            made["pattern"] = self.patterns[node["format"]]
        return self.with_null(made) if made.pop("nullable", False) else made

    def part(self, key: str, value, is_response: bool):
        if key == "example":
            return value
        if key == "properties":
            return {name: self.of(schema, is_response) for name, schema in value.items()}
        return self.of(value, is_response)

    @staticmethod
    def is_open(node: dict) -> bool:
        """Whether it is an object of a response. Those of requests are closed in docs/openapi.yaml too."""
        return node.get("type") == "object" and "properties" in node and "additionalProperties" not in node

    @staticmethod
    def with_null(schema: dict) -> dict:
        """OpenAPI 3.0 has no type for null. A reference that may be null is the only item of an `allOf`."""
        if "allOf" in schema:
            [reference] = schema.pop("allOf")
            return {**schema, "anyOf": [reference, NULL]}
        return {**schema, "type": [schema["type"], "null"]}
