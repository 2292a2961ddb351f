"""What a mutation of the API is as a case: how to do it, what comes between, how to lose the right to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .client import Api
from .people import Person, Room, World


@dataclass
class Case:
    # Does the mutation; the same each time. Gives (status, position or None, code or None).
    do: Callable[[], tuple[int, int | None, str | None]]
    # Something newer that a retry must leave alone.
    intervene: Callable[[], Any]
    # What the mutation and the newer act show of themselves.
    state: Callable[[], Any]
    # Takes the right to the mutation away; None where it cannot be lost.
    lose: Callable[[], Any] | None = None
    # What a retry without the right comes to.
    refusal: str | None = None


def over_http(api: Api, method: str, path: str, body=None, key: str | None = None):
    def do():
        response = api.request(method, path, body, key=key)
        answer = response.json()
        # A message shows as `position` where it was sent, and as `revision` where it was written; all else shows the write.
        place = "revision" if "senderId" in answer else "position"
        return response.status_code, answer.get(place), answer.get("code")

    return do


def over_ingest(api: Api, line: dict):
    def do():
        (result,) = api.ingest([line])
        return result["status"], result.get("position"), result.get("code")

    return do


def log_out(person: Person):
    return lambda: person.delete("/v1/sessions/current")


def leave(person: Person, room: Room):
    return lambda: person.post(f"{room.path}/leave")


def hand_over(person: Person, room: Room, to: Person):
    """An owner goes only so."""
    def do():
        person.post(f"{room.path}/transfer", {"userId": to.id})
        person.post(f"{room.path}/leave")

    return do


def two(world: World) -> tuple[Person, Person, Room]:
    anna, ben = world.users("Anna", "Ben")
    return anna, ben, anna.room("Tea", ben)
