"""The table of codes in docs/errors.md."""

import functools
import re

from .places import DOCS

ROW = re.compile(r"^\| `([a-z0-9_]+)` \| (\d{3}) \| (.+) \| (.+) \|$")

# They belong to no operation of the contract.
OF_SOCKET_IO = {
    "namespace_unknown", "engine_transport_unknown", "engine_session_unknown", "engine_method_invalid",
    "engine_request_invalid", "engine_version_unsupported"}


@functools.cache
def documented_codes() -> dict[str, int]:
    """Maps each code to its HTTP status."""
    codes: dict[str, int] = {}
    for line in (DOCS / "errors.md").read_text().splitlines():
        if match := ROW.match(line):
            code, status = match.group(1), int(match.group(2))
            assert code not in codes, f"docs/errors.md lists {code} twice"
            codes[code] = status
    assert codes, "docs/errors.md has no table of codes"
    return codes
