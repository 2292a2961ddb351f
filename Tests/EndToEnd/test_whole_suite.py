"""After everything else, and only when the whole suite ran: nothing of the contract was left out."""

import re

from harness.contract import contract
from harness.errors import documented_codes
from harness.places import ROOT

# Codes that a client cannot provoke at will, and what stands in the Swift test that does.
COVERED_IN_SWIFT = {
    "projection_behind": r"\bProjectionBehind\b|\.projectionBehind\b",
    "shutting_down": r"\.shuttingDown\b|\.closed\b",
}


def test_every_operation_was_exercised():
    assert {operation.id for operation in contract().operations} - contract().exercised == set()


def test_every_code_was_provoked():
    seen = contract().codes_seen
    assert seen <= set(documented_codes())
    unseen = set(documented_codes()) - seen
    assert unseen - set(COVERED_IN_SWIFT) == set(), "codes of docs/errors.md that no test has provoked"


def test_codes_that_no_client_provokes_are_covered_in_swift():
    sources = "\n".join(file.read_text() for file in (ROOT / "Tests").rglob("*.swift"))
    missing = [code for code, trace in COVERED_IN_SWIFT.items() if not re.search(trace, sources)]
    assert missing == [], "no Swift test speaks of these codes"
