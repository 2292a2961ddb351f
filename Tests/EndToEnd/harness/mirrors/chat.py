"""What the writers know of the rooms and workspaces: enough that most of their requests are possible."""

import random
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from ..client import new_id
from ..people import World

# How many of the newest messages of a room are edited, deleted, marked and so on.
REMEMBERED = 30


class Said(NamedTuple):
    id: str
    sender: str
    # The message to which this is a reply in a thread.
    root: str | None


@dataclass
class Place:
    """A room."""

    id: str
    owner: str
    members: set[str]
    office: "Office | None" = None
    is_public: bool = False
    is_archived: bool = False
    banned: set[str] = field(default_factory=set)
    said: deque[Said] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    @property
    def path(self) -> str:
        return f"/v1/rooms/{self.id}"

    def message(self, id: str) -> str:
        return f"{self.path}/messages/{id}"


@dataclass
class Office:
    """A workspace. Guests are in none of its public channels, unless they are members of them."""

    id: str
    owner: str
    members: set[str]
    guests: set[str] = field(default_factory=set)

    @property
    def path(self) -> str:
        return f"/v1/workspaces/{self.id}"


@dataclass
class Chat:
    users: list[str]
    places: list[Place]
    offices: list[Office]
    # The users whom somebody has blocked.
    blocked: list[tuple[str, str]] = field(default_factory=list)

    def place(self, source: random.Random) -> Place:
        """A room in which something can be done. Rooms that are not archived always outnumber the others."""
        while (place := source.choice(self.places)).is_archived:
            pass
        return place

    def others(self, place: Place) -> list[str]:
        return sorted(place.members - {place.owner})

    def outsiders(self, place: Place) -> list[str]:
        inside = self.users if place.office is None else sorted(place.office.members)
        return [user for user in inside if user not in place.members and user not in place.banned]

    def remove(self, place: Place) -> None:
        if place in self.places:
            self.places.remove(place)

    def leave_office(self, office: Office, user: str) -> None:
        office.members.discard(user)
        office.guests.discard(user)
        for place in self.places:
            if place.office is office:
                place.members.discard(user)


def begin(world: World, users: list[str], rooms: int, offices: int, source: random.Random) -> Chat:
    """Creates rooms and workspaces in which the users are distributed at random."""
    chat = Chat(users, [], [])
    for number in range(rooms):
        owner, *others = source.sample(users, min(len(users), source.randint(3, 14)))
        place = Place(new_id(), owner, {owner, *others})
        world.acting_as(owner).post("/v1/rooms", {"id": place.id, "name": f"Room {number}"})
        for other in others:
            world.acting_as(owner).put(f"{place.path}/members/{other}")
        chat.places.append(place)
    for number in range(offices):
        owner, *others = source.sample(users, len(users) // 2)
        office = Office(new_id(), owner, {owner, *others})
        world.acting_as(owner).post("/v1/workspaces", {"id": office.id, "name": f"Workspace {number}"})
        for other in others:
            world.acting_as(other).post(f"{office.path}/join")
        chat.offices.append(office)
        chat.places += [channel(world, office, is_public) for is_public in (True, True, False)]
    return chat


def channel(world: World, office: Office, is_public: bool) -> Place:
    place = Place(new_id(), office.owner, {office.owner}, office, is_public)
    world.acting_as(office.owner).post("/v1/rooms", channel_body(place))
    return place


def channel_body(place: Place) -> dict:
    name = "Public" if place.is_public else "Private"
    return {"id": place.id, "kind": "channel", "name": name, "workspaceId": place.office.id, "isPublic": place.is_public}
