"""What the writers do: each action chooses a request that is probably possible now, or nothing."""

import random
from collections.abc import Callable

from ..client import new_id
from ..times import later
from .chat import Chat, Office, Place, Said, channel_body
from .writer import Step

EMOJIS = ("%F0%9F%8D%B5", "%F0%9F%91%8D", "%E2%9D%A4%EF%B8%8F")
# No room is deleted if there are only so few, and none is created if there are so many.
FEWEST_ROOMS, MOST_ROOMS = 8, 60
# How long a scheduled message waits, in seconds.
SCHEDULED_SECONDS = 1

Action = Callable[[Chat, random.Random], Step | None]


def some_message(chat: Chat, source: random.Random) -> tuple[Place, Said] | None:
    place = chat.place(source)
    return (place, source.choice(place.said)) if place.said else None


def about_a_message(build: Callable[[Chat, random.Random, Place, Said], Step | None]) -> Action:
    """An action on one of the newest messages of a room."""

    def act(chat: Chat, source: random.Random) -> Step | None:
        found = some_message(chat, source)
        return found and build(chat, source, *found)

    return act


def about_another(build: Callable[[random.Random, Place, str], Step]) -> Action:
    """An action on a member of a room who is not its owner."""

    def act(chat: Chat, source: random.Random) -> Step | None:
        place = chat.place(source)
        others = chat.others(place)
        return build(source, place, source.choice(others)) if others else None

    return act


def member(source: random.Random, place: Place) -> str:
    return source.choice(sorted(place.members))


# MARK: Messages


def send(chat: Chat, source: random.Random) -> Step:
    place = chat.place(source)
    sender, id, body = member(source, place), new_id(), {"text": f"message {source.randrange(10**6)}"}
    last = source.choice(place.said) if place.said else None
    kind, root = source.random(), None
    if kind < 0.1:
        body["mentions"] = {"users": [member(source, place)]}
    elif last and kind < 0.2 and last.root is None:
        body["replyTo"] = last.id
    elif last and kind < 0.35:
        body["threadId"] = root = last.root or last.id
    return Step(sender, "PUT", place.message(id), body, lambda: place.said.append(Said(id, sender, root)))


def edit(chat: Chat, source: random.Random, place: Place, said: Said) -> Step:
    return Step(said.sender, "PATCH", place.message(said.id), {"text": f"edited {source.randrange(10**6)}"})


def delete(chat: Chat, source: random.Random, place: Place, said: Said) -> Step:
    by = source.choice((said.sender, place.owner))
    return Step(by, "DELETE", place.message(said.id), None, lambda: said in place.said and place.said.remove(said))


def react(chat: Chat, source: random.Random, place: Place, said: Said) -> Step:
    method = source.choice(("PUT", "PUT", "DELETE"))
    return Step(member(source, place), method, f"{place.message(said.id)}/reactions/{source.choice(EMOJIS)}")


def pin(chat: Chat, source: random.Random, place: Place, said: Said) -> Step | None:
    method = source.choice(("PUT", "DELETE"))
    return None if said.root else Step(place.owner, method, f"{place.path}/pins/{said.id}")


def read(chat: Chat, source: random.Random, place: Place, said: Said) -> Step:
    reader = member(source, place)
    if said.root:
        return Step(reader, "PUT", f"{place.message(said.root)}/thread/read-marker", {"messageId": said.id})
    kind = source.choices(("read-marker", "unread-mark"), (9, 1))[0]
    return Step(reader, "PUT", f"{place.path}/{kind}", {"messageId": said.id})


def follow(chat: Chat, source: random.Random, place: Place, said: Said) -> Step:
    path = f"{place.message(said.root or said.id)}/thread/following"
    return Step(member(source, place), "PUT", path, {"follows": source.random() < 0.5})


def schedule(chat: Chat, source: random.Random) -> Step:
    place = chat.place(source)
    wait = {"seconds": SCHEDULED_SECONDS} if source.random() < 0.5 else {"days": 1}
    body = {"text": "scheduled", "sendAt": later(**wait)}
    return Step(member(source, place), "PUT", f"{place.path}/scheduled-messages/{new_id()}", body)


# MARK: Members


def add(chat: Chat, source: random.Random) -> Step | None:
    place = chat.place(source)
    if not (outsiders := chat.outsiders(place)):
        return None
    user = source.choice(outsiders)
    if place.is_public and user not in place.office.guests:
        return Step(user, "POST", f"{place.path}/join", None, lambda: place.members.add(user))
    return Step(place.owner, "PUT", f"{place.path}/members/{user}", None, lambda: place.members.add(user))


def leave(source: random.Random, place: Place, user: str) -> Step:
    return Step(user, "POST", f"{place.path}/leave", None, lambda: place.members.discard(user))


def remove(source: random.Random, place: Place, user: str) -> Step:
    return Step(place.owner, "DELETE", f"{place.path}/members/{user}", None, lambda: place.members.discard(user))


def ban(source: random.Random, place: Place, user: str) -> Step:
    def banned() -> None:
        place.members.discard(user)
        place.banned.add(user)

    return Step(place.owner, "PUT", f"{place.path}/bans/{user}", None, banned)


def unban(chat: Chat, source: random.Random) -> Step | None:
    place = chat.place(source)
    if not place.banned:
        return None
    user = source.choice(sorted(place.banned))
    return Step(place.owner, "DELETE", f"{place.path}/bans/{user}", None, lambda: place.banned.discard(user))


def change_role(source: random.Random, place: Place, user: str) -> Step:
    role = source.choice(("member", "administrator"))
    return Step(place.owner, "PUT", f"{place.path}/members/{user}/role", {"role": role})


def silence(source: random.Random, place: Place, user: str) -> Step:
    return Step(place.owner, "PUT", f"{place.path}/members/{user}/silence", {"until": later(seconds=2)})


def mute(source: random.Random, place: Place, user: str) -> Step:
    return Step(user, "PUT", f"{place.path}/mute", {"until": later(days=1) if source.random() < 0.5 else None})


def transfer(source: random.Random, place: Place, user: str) -> Step:
    def owned() -> None:
        place.owner = user

    return Step(place.owner, "POST", f"{place.path}/transfer", {"userId": user}, owned)


# MARK: Rooms


def rename(chat: Chat, source: random.Random) -> Step:
    place = chat.place(source)
    return Step(place.owner, "PATCH", place.path, {"name": f"Room {source.randrange(10**6)}"})


def archive(chat: Chat, source: random.Random) -> Step:
    """Archives a room, or unarchives the one that is archived."""
    place = next((place for place in chat.places if place.is_archived), None) or chat.place(source)
    will_be = not place.is_archived

    def archived() -> None:
        place.is_archived = will_be

    return Step(place.owner, "POST", f"{place.path}/{'archive' if will_be else 'unarchive'}", None, archived)


def create(chat: Chat, source: random.Random) -> Step | None:
    if len(chat.places) >= MOST_ROOMS:
        return None
    kind = source.choices(("group", "channel", "direct"), (3, 3, 1))[0]
    if kind == "direct":
        user, *others = source.sample(chat.users, source.randint(2, 4))
        return Step(user, "POST", "/v1/rooms", {"kind": "direct", "memberIds": others})
    office = source.choice(chat.offices) if kind == "channel" and chat.offices else None
    owner = office.owner if office else source.choice(chat.users)
    place = Place(new_id(), owner, {owner}, office, office is not None and source.random() < 0.6)
    body = channel_body(place) if office else {"id": place.id, "name": "New room"}
    return Step(owner, "POST", "/v1/rooms", body, lambda: chat.places.append(place))


def delete_room(chat: Chat, source: random.Random) -> Step | None:
    if len(chat.places) <= FEWEST_ROOMS:
        return None
    place = chat.place(source)
    return Step(place.owner, "DELETE", place.path, None, lambda: chat.remove(place))


# MARK: Workspaces


def some_office(chat: Chat, source: random.Random) -> tuple[Office, str] | None:
    """A workspace, and a member who owns neither it nor one of its channels."""
    if not chat.offices:
        return None
    office = source.choice(chat.offices)
    others = sorted(office.members - {office.owner} - {place.owner for place in chat.places if place.office is office})
    return (office, source.choice(others)) if others else None


def join_office(chat: Chat, source: random.Random) -> Step | None:
    office = source.choice(chat.offices) if chat.offices else None
    outsiders = [user for user in chat.users if user not in office.members] if office else []
    if not outsiders:
        return None
    user = source.choice(outsiders)
    if source.random() < 0.3:
        return Step(office.owner, "PUT", f"{office.path}/invitations/{user}", {"role": "member"})
    return Step(user, "POST", f"{office.path}/join", None, lambda: office.members.add(user))


def leave_office(chat: Chat, source: random.Random) -> Step | None:
    if not (found := some_office(chat, source)):
        return None
    office, user = found
    if source.random() < 0.5:
        return Step(user, "POST", f"{office.path}/leave", None, lambda: chat.leave_office(office, user))
    path = f"{office.path}/members/{user}"
    return Step(office.owner, "DELETE", path, None, lambda: chat.leave_office(office, user))


def change_office_role(chat: Chat, source: random.Random) -> Step | None:
    if not (found := some_office(chat, source)):
        return None
    (office, user), role = found, source.choice(("member", "guest", "administrator"))
    change = office.guests.add if role == "guest" else office.guests.discard
    return Step(office.owner, "PUT", f"{office.path}/members/{user}/role", {"role": role}, lambda: change(user))


def rename_office(chat: Chat, source: random.Random) -> Step | None:
    office = source.choice(chat.offices) if chat.offices else None
    return office and Step(office.owner, "PATCH", office.path, {"name": f"Workspace {source.randrange(10**6)}"})


# MARK: Users


def rename_user(chat: Chat, source: random.Random) -> Step:
    return Step(source.choice(chat.users), "PATCH", "/v1/me", {"nickname": f"User {source.randrange(10**6)}"})


def block(chat: Chat, source: random.Random) -> Step:
    if chat.blocked and source.random() < 0.5:
        pair = source.choice(chat.blocked)
        path = f"/v1/me/blocked-users/{pair[1]}"
        return Step(pair[0], "DELETE", path, None, lambda: pair in chat.blocked and chat.blocked.remove(pair))
    pair = user, other = tuple(source.sample(chat.users, 2))
    return Step(user, "PUT", f"/v1/me/blocked-users/{other}", None, lambda: chat.blocked.append(pair))


def prefer(chat: Chat, source: random.Random) -> Step:
    body = {"sharesReadMarkers": source.random() < 0.5, "notifications": source.choice(["all", "mentions", "none"])}
    return Step(source.choice(chat.users), "PATCH", "/v1/me/preferences", body)


def set_notifications(source: random.Random, place: Place, user: str) -> Step:
    return Step(user, "PUT", f"{place.path}/notifications", {"level": source.choice(["all", "mentions", "none", None])})


# The actions, and how often each happens.
ACTIONS: dict[str, tuple[int, Action]] = {
    "send": (300, send), "edit": (60, about_a_message(edit)), "delete": (30, about_a_message(delete)),
    "react": (100, about_a_message(react)), "pin": (25, about_a_message(pin)), "read": (100, about_a_message(read)),
    "follow": (20, about_a_message(follow)), "schedule": (15, schedule), "add": (60, add),
    "leave": (20, about_another(leave)), "remove": (12, about_another(remove)), "ban": (15, about_another(ban)),
    "unban": (15, unban), "role": (10, about_another(change_role)), "silence": (5, about_another(silence)),
    "mute": (10, about_another(mute)), "level": (10, about_another(set_notifications)), "transfer": (5, about_another(transfer)), "rename": (15, rename),
    "archive": (6, archive), "create": (8, create), "delete room": (4, delete_room), "join workspace": (12, join_office),
    "leave workspace": (8, leave_office), "workspace role": (15, change_office_role),
    "rename workspace": (5, rename_office), "rename user": (15, rename_user), "block": (15, block), "prefer": (5, prefer),
}
