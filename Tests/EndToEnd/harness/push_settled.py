"""The notifications whose outcomes the log has."""

import pathlib
from dataclasses import dataclass, field

from .command import audit


@dataclass
class Settled:
    """The notifications with a recorded outcome at some time, each by position, user and device."""

    through: int = 0
    single: set[tuple[int, str, str]] = field(default_factory=set)
    # Those of them that were not sent because a later one replaced them.
    replaced: set[tuple[int, str, str]] = field(default_factory=set)
    # Those that were not sent because the user had read the message, with the position of the event that says so.
    read: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def has(self, position: int, user: str, device: str) -> bool:
        return position <= self.through or (position, user, device) in self.single


def recorded(data: pathlib.Path) -> Settled:
    """The outcomes in the log of a data directory."""
    settled = Settled()
    for row in audit(data, "--type", "push.outcomes-recorded"):
        settled.through = max(settled.through, row["detail"]["settledThrough"])
        for outcome in row["detail"]["outcomes"]:
            notification = (outcome["position"], outcome["user"], outcome["device"])
            settled.single.add(notification)
            if outcome.get("reason") == "replaced":
                settled.replaced.add(notification)
            if outcome.get("reason") == "already_read":
                settled.read[notification] = row["position"]
    return settled
