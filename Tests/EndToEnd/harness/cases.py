"""A test case for a mutation of the API: how to do it, what happens before a retry, and how the caller loses the right
to it."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .client import Api
from .contract import REPLAYED
from .people import Person, Room, World


class Effect(enum.Enum):
    """What a request or a line has done, by its status and by whether it is marked as a repeat."""

    RECORDED = "recorded"
    REPEATED = "repeated"
    REFUSED = "refused"

    @classmethod
    def of(cls, status: int, is_repeat: bool) -> "Effect":
        if status >= 400:
            return cls.REFUSED
        return cls.REPEATED if is_repeat else cls.RECORDED

    @classmethod
    def of_response(cls, response) -> "Effect":
        return cls.of(response.status_code, REPLAYED in response.headers)


@dataclass
class Case:
    # Sends the same mutation each time. Returns (effect, position or None, code or None).
    do: Callable[[], tuple["Effect", int | None, str | None]]
    # Makes a newer change that a retry of the mutation must leave alone.
    intervene: Callable[[], Any]
    # Reads the state that the mutation and the newer change affect.
    state: Callable[[], Any]
    # Takes away the right to the mutation; None if it cannot be lost.
    lose: Callable[[], Any] | None = None
    # The code of the problem that a retry without the right gets.
    refusal: str | None = None


def over_http(api: Api, method: str, path: str, body=None, key: str | None = None, *, revised: bool = False):
    """If `revised`, the position of the write is the response's `revision`."""
    def do():
        response = api.request(method, path, body, key=key)
        shown = response.json()
        # In a message, `position` is where it was sent and `revision` is where it was last written. Everything else
        # shows the position of the write as `position`.
        place = "revision" if "senderId" in shown or revised else "position"
        return Effect.of_response(response), shown.get(place), shown.get("code")

    return do


def over_ingest(api: Api, line: dict):
    def do():
        (result,) = api.ingest([line])
        return Effect.of(result["status"], "replayed" in result), result.get("position"), result.get("code")

    return do


def log_out(person: Person):
    return lambda: person.delete("/v1/sessions/current")


def leave(person: Person, room: Room):
    return lambda: person.post(f"{room.path}/leave")


def hand_over(person: Person, room: Room, to: Person):
    """Transfers the room and then leaves it, because an owner cannot leave otherwise."""
    def do():
        person.post(f"{room.path}/transfer", {"userId": to.id})
        person.post(f"{room.path}/leave")

    return do


def two(world: World) -> tuple[Person, Person, Room]:
    anna, ben = world.users("Anna", "Ben")
    return anna, ben, anna.room("Tea", ben)
