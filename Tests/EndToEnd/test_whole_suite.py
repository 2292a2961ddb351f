"""After everything else, and only when the whole suite ran: nothing of the contract was left out."""

from harness.contract import contract
from harness.errors import documented_codes
from harness.places import ROOT

# Codes that a client cannot provoke at will, or only with tens of thousands of requests: the Swift tests that do (file,
# function, and the code as it stands there).
COVERED_IN_SWIFT = {
    "projection_behind": [
        ("ChatServerTests/ProblemMappingTests.swift", "func unavailable(", '(.projectionBehind, "projection_behind")'),
        ("ChatServerTests/BulkStreamTests.swift", "func ended(", '"projection_behind"'),
    ],
    "shutting_down": [
        ("ChatServerTests/ProblemMappingTests.swift", "func unavailable(", '(.shuttingDown, "shutting_down")'),
        ("ChatServerTests/BulkStreamTests.swift", "func closed(", '["shutting_down", "shutting_down"]'),
    ],
    "too_many_bans": [("ChatDomainTests/RoomModerationSpecs.swift", "func banCount(", ".tooManyBans")],
    "too_many_invitations": [("ChatDomainTests/WorkspaceSpecs.swift", "func invitationCount(", ".tooManyInvitations")],
    "too_many_workspace_members": [
        ("ChatDomainTests/WorkspaceSpecs.swift", "func memberCount(", ".tooManyWorkspaceMembers"),
    ],
    "invites_exhausted": [("ChatDomainTests/RoomSharingSpecs.swift", "func inviteCountForEver(", ".invitesExhausted")],
    "password_reset_expired": [
        ("ChatServiceTests/IdentityTests.swift", "func resetExpires(", ".passwordResetExpired"),
    ],
}


def test_every_operation_was_exercised():
    assert {operation.id for operation in contract().operations} - contract().exercised == set()


def test_every_code_was_provoked():
    seen = contract().codes_seen
    assert seen <= set(documented_codes())
    unseen = set(documented_codes()) - seen
    assert unseen - set(COVERED_IN_SWIFT) == set(), "codes of docs/errors.md that no test has provoked"


def test_codes_that_no_client_provokes_are_covered_in_swift():
    for code, tests in COVERED_IN_SWIFT.items():
        for file, function, trace in tests:
            source = (ROOT / "Tests" / file).read_text()
            assert function in source and trace in source, f"{file} has no {function} that provokes {code}"
