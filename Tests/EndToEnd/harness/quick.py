"""The JSON Schema keywords that docs/openapi.yaml uses, as plain functions.

One run checks a hundred thousand messages against the contract, which is slow with a general validator. This validator
supports few keywords, rejects a schema with any other, and only says whether a value is valid. The general validator
then explains the failure.
"""

import re
from collections.abc import Callable

Check = Callable[[object], bool]

TYPES: dict[str, Check] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
# Keywords that only describe, or that the general validator treats as annotations too.
REMARKS = {"description", "example", "default", "format"}


def is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class QuickSchemas:
    def __init__(self, resolve: Callable[[dict], dict]):
        self.resolve = resolve
        self.known: dict[str, Check] = {}

    def named(self, reference: str) -> Check:
        if reference not in self.known:
            self.known[reference] = self.check(self.resolve({"$ref": reference}))
        return self.known[reference]

    def check(self, schema: dict) -> Check:
        if "$ref" in schema:
            assert set(schema) == {"$ref"}, f"beside a reference: {schema}"
            reference = schema["$ref"]
            return lambda value: self.named(reference)(value)
        parts: list[Check] = []
        left = {key: value for key, value in schema.items() if key not in REMARKS}
        if "type" in left:
            parts.append(self._type(left.pop("type")))
        if {"properties", "required", "additionalProperties"} & set(left):
            parts.append(self._object(left))
        for key, argument in left.items():
            parts.append(self._keyword(key, argument))
        return lambda value: all(part(value) for part in parts)

    @staticmethod
    def _type(names) -> Check:
        checks = [TYPES[name] for name in ([names] if isinstance(names, str) else names)]
        return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)

    def _object(self, left: dict) -> Check:
        properties = {name: self.check(schema) for name, schema in left.pop("properties", {}).items()}
        required = set(left.pop("required", []))
        closed = left.pop("additionalProperties", True) is False

        def check(value) -> bool:
            if not isinstance(value, dict):
                return True
            if not required <= value.keys() or (closed and not value.keys() <= properties.keys()):
                return False
            return all(properties[name](item) for name, item in value.items() if name in properties)

        return check

    def _keyword(self, key: str, argument) -> Check:
        if key == "items":
            item = self.check(argument)
            return lambda value: not isinstance(value, list) or all(item(element) for element in value)
        if key in ("anyOf", "oneOf", "allOf"):
            checks = [self.check(schema) for schema in argument]
            if key == "oneOf":
                return lambda value: sum(check(value) for check in checks) == 1
            combine = any if key == "anyOf" else all
            return lambda value: combine(check(value) for check in checks)
        if key == "pattern":
            search = re.compile(argument).search
            return lambda value: not isinstance(value, str) or search(value) is not None
        if key == "minLength":
            return lambda value: not isinstance(value, str) or len(value) >= argument
        if key == "minItems":
            return lambda value: not isinstance(value, list) or len(value) >= argument
        if key == "maxItems":
            return lambda value: not isinstance(value, list) or len(value) <= argument
        if key == "minimum":
            return lambda value: not is_number(value) or value >= argument
        if key == "maximum":
            return lambda value: not is_number(value) or value <= argument
        if key in ("enum", "const"):
            allowed = argument if key == "enum" else [argument]
            # True equals 1 in Python, but not in JSON.
            return lambda value: any(value == item and type(value) is type(item) for item in allowed)
        raise NotImplementedError(f"the keyword {key} in a schema of docs/openapi.yaml")
