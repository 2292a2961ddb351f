"""Tells Schemathesis what the contract does not say: how to encode a body of lines, which objects exist on the server,
and which reported failures are none."""

import functools
import json
import os
import pathlib
import zlib
import zoneinfo

import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation

from .contract import contract
from .errors import documented_codes
from .fuzzed_world import ScenarioHolder, example

# The operations by the labels that Schemathesis gives them.
OPERATIONS = {f"{operation.method} {operation.path}": operation for operation in contract().operations}
SUBSCRIPTION = contract().document["components"]["schemas"]["WebPushRequest"]["example"]
ACT_AS = "Hansard-Act-As"
IF_MATCH = "If-Match"
LAST_EVENT_ID = "Last-Event-ID"
# A response that waits longer than a few seconds would count as too slow.
WAIT, MOST_WAIT_SECONDS = "wait", 1
PLACES = ("before", "after", "around")
# `GET /v1/rooms` takes `true` for at most one of these.
LISTS = ("archived", "hidden")
# `GET /v1/users` takes exactly one of these, and `limit` only with the last.
FINDERS = ("ids", "email", "externalId", "nickname")
FINDER_BYTES = {"email": 254, "externalId": 256, "nickname": 128}
CURSORS = ("cursor", "since")
POSITION = "position"
LOGINS = ("email", "userId", "password", "idToken", "nonce")
# The longest `q`, in bytes.
QUERY_BYTES = 256
TYPE_BYTES = 128
# One in this many requests keeps parts that make the server reject it before it checks anything else.
KEPT = 4


@schemathesis.serializer("application/x-ndjson")
def lines(context, value) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@functools.cache
def holder() -> ScenarioHolder:
    return ScenarioHolder.of_environment()


def operation_id(case) -> str:
    return OPERATIONS[case.operation.label].id


def is_service() -> bool:
    return "HANSARD_FUZZED_AS_SERVICE" in os.environ


@schemathesis.hook
def before_call(context, case, kwargs) -> None:
    """Replaces the examples of the contract in the request with the IDs of existing objects."""
    holder().enter(operation_id(case))
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        remove_blockers(case)
    for part in ("path_parameters", "query", "body"):
        value = getattr(case, part)
        if value and (replaced := holder().substitute(value)) != value:
            setattr(case, part, replaced)


def remove_blockers(case) -> None:
    """Removes parts that would make the server reject most requests early, or wait: a user's token cannot act as another
    user, and nobody can make up a cursor or guess a revision or the position of a message."""
    if not is_service() and should_remove(case.headers.get(ACT_AS)):
        del case.headers[ACT_AS]
    for name in (IF_MATCH, LAST_EVENT_ID):
        if should_remove(case.headers.get(name)):
            del case.headers[name]
    query = case.query or {}
    if WAIT in query:
        query[WAIT] = min(int(query[WAIT]), MOST_WAIT_SECONDS)
    for name in CURSORS:
        if should_remove(query.get(name)):
            del query[name]
    if POSITION in query and should_remove(query[POSITION]):
        query[POSITION] = holder().scenario.position
    if operation_id(case) == "getUsers":
        for name in [name for name in FINDERS if name in query][1:]:
            del query[name]
        if "nickname" not in query:
            query.pop("limit", None)
    places = [name for name in PLACES if name in query]
    if places and should_remove("".join(str(query[name]) for name in places)):
        for name in places[1:]:
            del query[name]
        query[places[0]] = example("messageId")


def should_remove(value: str | None) -> bool:
    return value is not None and zlib.crc32(str(value).encode()) % KEPT != 0


@schemathesis.hook
def after_call(context, case, response) -> None:
    """Counts the responses. The tests check that each operation succeeded at least once."""
    holder().record(case.method, response.status_code)
    with pathlib.Path(os.environ["HANSARD_FUZZED_TALLY"]).open("a") as tally:
        tally.write(f"{operation_id(case)} {response.status_code}\n")


@schemathesis.check
def the_code_is_documented(context, response, case) -> None:
    """Schemathesis checks the status. This also checks the code: `x-problems` lists the codes, and docs/errors.md their
    statuses."""
    if response.status_code < 400:
        return
    problem, status = response.json(), response.status_code
    code = problem["code"]
    assert documented_codes().get(code) == status == problem["status"], f"{code} is not documented with {status}"
    if code != "method_not_allowed":
        listed = OPERATIONS[case.operation.label].spec["x-problems"].get(str(status), [])
        assert code in listed, f"{operation_id(case)} is not documented to respond with {code}: {problem['detail']}"


@schemathesis.hook
def filter_failure(context, failure, case, response) -> bool:
    """Drops only the failures that a schema cannot predict."""
    if "positive_data_acceptance" in failure.checks:
        code = response.json()["code"]
        return not any(excuse(case, code) for excuse in EXCUSES)
    if "negative_data_rejection" in failure.checks:
        return not any((is_refused_by_line(case, response), is_no_handshake(case, code_of(response)), has_more_fields(case)))
    return True


def is_unguessable(case, code: str) -> bool:
    """A valid cursor comes only from an earlier page of the same list."""
    is_sent = LAST_EVENT_ID in case.headers or any(name in (case.query or {}) for name in (*CURSORS, *PLACES))
    return code == "invalid_cursor" and is_sent


def is_at_another_revision(case, code: str) -> bool:
    return code == "revision_mismatch" and IF_MATCH in case.headers


def is_too_much_at_once(case, code: str) -> bool:
    """OpenAPI has no way to say that parameters exclude each other."""
    query = case.query or {}
    places = sum(name in query for name in PLACES)
    lists = sum(query.get(name) in (True, "true") for name in LISTS)
    return code == "invalid_query" and (places > 1 or lists > 1)


def has_no_words(case, code: str) -> bool:
    """No portable pattern can say what counts as a letter in all scripts, or limit the length of a text in bytes."""
    if operation_id(case) != "search" or code != "invalid_query":
        return False
    words = case.query.get("q", "")
    return not any(character.isalnum() for character in words) or len(words.encode()) > QUERY_BYTES


def is_no_search_for_users(case, code: str) -> bool:
    """OpenAPI has no way to say that exactly one parameter is needed, or to limit the length of a text in bytes. A
    nickname needs more than separate diacritics."""
    if operation_id(case) != "getUsers" or code != "invalid_query":
        return False
    query = case.query or {}
    given = [name for name in FINDERS if name in query]
    if len(given) != 1 or "limit" in query and given != ["nickname"]:
        return True
    text = str(query[given[0]])
    return len(text.encode()) > FINDER_BYTES.get(given[0], len(text.encode())) or all(
        "\u0300" <= character <= "\u036f" for character in text)


def is_a_long_type(case, code: str) -> bool:
    """The type of messages can have fewer characters than the limit and more bytes."""
    return code == "invalid_query" and len(str((case.query or {}).get("type", "")).encode()) > TYPE_BYTES


def requires_service(case, code: str) -> bool:
    """Only a service can create a session without any login."""
    if operation_id(case) != "createSession" or is_service():
        return False
    return code == "invalid_field" and all(case.body.get(name) is None for name in LOGINS)


def has_null_id(case, code: str) -> bool:
    """If a response has null instead of an ID, such as for the device of a session without one, Schemathesis builds the
    next path with the text `None`."""
    return code == "invalid_id" and "None" in map(str, (case.path_parameters or {}).values())


def is_no_handshake(case, code: str | None) -> bool:
    """Schemathesis sends none of the headers that open a WebSocket, so the server does not look at the rest."""
    return code == "upgrade_required" and operation_id(case) == "syncSocket"


def is_no_subscription(case, code: str) -> bool:
    """No pattern can say that 65 bytes are a point on a curve, or which characters can be the last ones of base64url."""
    sent = case.body.get("webPush") if operation_id(case) == "putDevice" else None
    return code == "invalid_field" and sent is not None and sent != SUBSCRIPTION


def is_no_time_zone(case, code: str) -> bool:
    sent = case.body.get("quietHours") if operation_id(case) == "updatePreferences" else None
    return code == "invalid_field" and sent is not None and sent["timeZone"] not in zoneinfo.available_timezones()


def code_of(response) -> str | None:
    return response.json()["code"] if response.status_code >= 400 else None


EXCUSES = (
    is_unguessable, is_no_handshake, is_at_another_revision, is_too_much_at_once, has_no_words, is_no_search_for_users,
    is_a_long_type, requires_service, has_null_id, is_no_subscription, is_no_time_zone)


def is_refused_by_line(case, response) -> bool:
    """The server responds to an ingest line by line. A bad line fails alone: the status is 200 and the result has the
    error."""
    if operation_id(case) != "ingest" or response.status_code != 200:
        return False
    results = [json.loads(line) for line in response.content.decode().splitlines()]
    return is_wrong_only_in_body(case) and all(result["status"] >= 400 for result in results)


def has_more_fields(case) -> bool:
    """The server ignores the other fields of a form with a file. The schema of the form allows them, and Schemathesis
    reports them nevertheless."""
    if operation_id(case) != "uploadMedia" or not isinstance(case.body, dict):
        return False
    return is_wrong_only_in_body(case) and {"file"} < case.body.keys()


def is_wrong_only_in_body(case) -> bool:
    wrong = [place for place, part in case.meta.components.items() if part.mode is GenerationMode.NEGATIVE]
    return wrong == [ParameterLocation.BODY]
