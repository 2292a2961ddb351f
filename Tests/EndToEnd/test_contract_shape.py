"""Checks docs/openapi.yaml by itself: no duplicates, and each operation has what all of its kind have."""

import re

import pytest
import yaml

from harness.contract import Operation, contract
from harness.places import DOCS

OPERATIONS = {operation.id: operation for operation in contract().operations}
# The problems that any request with a token can get. `docs/openapi.yaml` describes their order.
OF_TOKENS = {
    "400": {"invalid_act_as", "invalid_query"},
    "401": {"access_token_expired", "access_token_invalid", "access_token_missing", "session_ended"},
    "403": {"account_disabled", "service_only"},
    "404": {"user_not_found"},
    "503": {"issuer_unavailable", "log_poisoned", "overloaded", "projection_behind", "shutting_down"},
}
OF_JSON = {
    "400": {"invalid_field", "invalid_json", "invalid_utf8", "unknown_field"},
    "413": {"body_too_large"},
    "415": {"unsupported_media_type"},
}
# Every write rejects an `If-Match` header that it cannot compare with a revision.
OF_IF_MATCH = {"400": {"invalid_if_match"}, "412": {"revision_mismatch"}}
OF_NO_REVISION = {"400": {"if_match_unsupported"}}
OF_KEYS = {"400": {"invalid_idempotency_key"}, "409": {"idempotency_key_reused"}}
# Of the operations that a service may call as itself, only these sometimes need a user: sessions and direct rooms
# belong to users.
ACTING_USERS = ("createSession", "createRoom")
SECURITY = {
    "user": [{"userToken": []}, {"serviceToken": []}],
    "userOrService": [{"userToken": []}, {"serviceToken": []}],
    "service": [{"serviceToken": []}],
}
# Instead of a token, downloads take the signature of a URL.
DOWNLOADS = ("getMedia", "getThumbnail")


class NothingTwice(yaml.SafeLoader):
    """Rejects duplicate keys, which YAML forbids but common readers accept by taking the last one."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        assert not twice, f"line {node.start_mark.line + 1}: {twice}"
        return super().construct_mapping(node, deep)


def parameters(operation: Operation, place: str) -> list[str]:
    resolved = [contract().resolve(parameter) for parameter in operation.spec.get("parameters", [])]
    return [parameter["name"] for parameter in resolved if parameter["in"] == place]


def has(operation: Operation, codes: dict[str, set[str]]) -> bool:
    problems = operation.spec["x-problems"]
    return all(names <= set(problems.get(status, [])) for status, names in codes.items())


def test_no_key_occurs_twice():
    yaml.load((DOCS / "openapi.yaml").read_text(), NothingTwice)


def test_a_key_that_occurs_twice_is_found():
    with pytest.raises(AssertionError, match="line 1: .*summary"):
        yaml.load("summary: x\nsummary: y\n", NothingTwice)


@pytest.mark.parametrize("id", OPERATIONS)
def test_the_parameters_are_those_of_the_path_and_each_once(id):
    operation = OPERATIONS[id]
    assert sorted(parameters(operation, "path")) == sorted(re.findall(r"{(\w+)}", operation.path))
    for place in ("query", "header"):
        assert len(set(parameters(operation, place))) == len(parameters(operation, place))
    asks_for_ids = any(name.endswith("Id") for name in parameters(operation, "path"))
    assert has(operation, {"400": {"invalid_id"}}) == asks_for_ids
    has_cursors = id in ("sync", "syncStream") or bool({"cursor", "before"} & set(parameters(operation, "query")))
    assert has(operation, {"400": {"invalid_cursor"}}) == has_cursors


@pytest.mark.parametrize("id", OPERATIONS)
def test_what_a_token_can_be_refused_with_is_named(id):
    operation = OPERATIONS[id]
    if operation.access != "open":
        signed = [{"signature": []}] if id in DOWNLOADS else []
        assert has(operation, OF_TOKENS) and operation.spec["security"] == SECURITY[operation.access] + signed
    takes_tokens = any(operation.spec["security"])
    assert ("Hansard-Act-As" in parameters(operation, "header")) == takes_tokens
    assert has(operation, {"400": {"acting_user_required"}}) == (operation.access == "user" or id in ACTING_USERS)


@pytest.mark.parametrize("id", OPERATIONS)
def test_what_a_body_a_key_or_a_precondition_can_be_refused_with_is_named(id):
    operation = OPERATIONS[id]
    takes_json = "application/json" in operation.spec.get("requestBody", {}).get("content", {})
    assert not takes_json or has(operation, OF_JSON)
    assert has(operation, OF_KEYS) == ("Idempotency-Key" in parameters(operation, "header"))
    takes_if_match = "If-Match" in parameters(operation, "header")
    assert has(operation, OF_IF_MATCH) == takes_if_match
    assert has(operation, OF_NO_REVISION) == (operation.method != "GET" and not takes_if_match)


@pytest.mark.parametrize("id", OPERATIONS)
def test_every_refusal_is_a_problem(id):
    operation = OPERATIONS[id]
    assert {"tags", "summary", "operationId"} <= set(operation.spec)
    for status, response in operation.spec["responses"].items():
        content = contract().resolve(response).get("content", {})
        assert int(status) < 400 or set(content) == {"application/problem+json"}, status
