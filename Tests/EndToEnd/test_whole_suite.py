"""Runs last, and only as part of the whole suite: checks that the tests exercised the whole contract."""

import pytest

from harness.contract import contract
from harness.errors import OF_SOCKET_IO, documented_codes

pytestmark = pytest.mark.alone

# Codes that no response of the tests can have. A command fails with `shutting_down` once the writer is closed, which
# happens after the last connection is closed, or if it waits in an ingest whose connection is cut. `log_too_long` needs
# a log that takes 50 seconds to read; `PushExplainerTests` and `PushHandlersSpecs` test it. `too_many_legal_holds`
# needs 10,000 holds; `RejectionSpecs` tests it. The others are only at
# the end of a stream, or in the responses of Socket.IO, which have another form and their own tests.
IN_NO_RESPONSE = {
    "shutting_down", "log_too_long", "reader_too_slow", "too_many_commands", "authentication_timeout", "invalid_frame",
    "frame_too_large", "too_many_legal_holds",
} | OF_SOCKET_IO


def test_every_operation_was_exercised():
    assert {operation.id for operation in contract().operations} - contract().exercised == set()


def test_every_code_was_seen_in_a_response():
    seen = contract().codes_seen
    assert seen <= set(documented_codes())
    assert set(documented_codes()) - seen <= IN_NO_RESPONSE, "no response had these codes of docs/errors.md"
