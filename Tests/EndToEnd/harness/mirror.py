"""A client's copy of everything that a user can see, kept by the rules of docs/sync.md, and the same from the other
endpoints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .client import Api
from .people import walk

# Read markers are items only in rooms that never had more members than this.
RECEIPT_MEMBERS = 256
# The other entities of a room are removed with it. Scheduled messages outlive a membership.
IN_ROOMS = ("member", "readMarker", "thread", "message")
CONTAINERS = {
    "workspaceMember": "workspaceId", "member": "roomId", "readMarker": "roomId", "thread": "roomId",
    "scheduledMessage": "roomId", "message": "roomId",
}
# What a client keeps an entity as, within the room or workspace. The others exist once.
IDS: dict[str, Callable[[dict], str]] = {
    "blockedUser": lambda entity: entity["user"]["id"],
    "workspaceMember": lambda entity: entity["user"]["id"],
    "member": lambda entity: entity["user"]["id"],
    "readMarker": lambda entity: entity["user"]["id"],
    "invitation": lambda entity: entity["workspaceId"],
    "thread": lambda entity: entity["root"]["id"],
}
SINGLE = ("account", "preferences", "badge")
# Sums over rooms, marks that follow from the blocked users, quotes of other messages, and what an invitation says about its workspace: these
# change without an item.
FOLLOWS_FROM_OTHERS = {
    "workspace": ("unreadCount", "mentionCount"), "message": ("isFromBlockedUser", "quote"),
    "invitation": ("workspaceName", "workspacePicture"),
}
# Users are compared where members show them. The badge is only in the initial state.
NOT_COMPARED = ("user", "badge")


class Key(NamedTuple):
    type: str
    container: str | None
    id: str | None

    def __str__(self) -> str:
        return " ".join(part for part in (self.type, self.id, self.container and f"in {self.container}") if part)


def key_of(item: dict) -> Key:
    type, entity = item["type"], item.get(item["type"], {})
    holder = entity if type in ("scheduledMessage", "message") and entity else item
    container = holder[CONTAINERS[type]] if type in CONTAINERS else None
    if item.get("removed"):
        return Key(type, container, item["id"])
    return Key(type, container, None if type in SINGLE else IDS.get(type, lambda entity: entity["id"])(entity))


def comparable(key: Key, entity: dict) -> dict:
    """The entity without what is as of its revision: entities inside it are represented by their IDs."""
    entity = {name: value for name, value in entity.items() if name not in FOLLOWS_FROM_OTHERS.get(key.type, ())}
    return {name: id_of(value) if name in ("user", "invitedBy", "lastMessage", "root") else value
            for name, value in entity.items()}


def id_of(entity: dict | None) -> str | None:
    return entity and entity["id"]


class Mirror:
    """What a client keeps."""

    def __init__(self):
        self.entities: dict[Key, dict] = {}
        self.revisions: dict[Key, int] = {}
        # Messages that pages left out and that are not loaded yet.
        self.gaps: list[dict] = []

    def copy(self) -> "Mirror":
        other = Mirror()
        other.entities, other.revisions, other.gaps = dict(self.entities), dict(self.revisions), list(self.gaps)
        return other

    def of_type(self, type: str) -> dict[Key, dict]:
        return {key: entity for key, entity in self.entities.items() if key.type == type}

    def texts(self, room: str) -> set[str]:
        return {entity["text"] for key, entity in self.of_type("message").items() if key.container == room}

    def apply(self, item: dict) -> None:
        if item["type"] == "gap":
            self.gaps.append(item["gap"])
            return
        key, revision = key_of(item), item["revision"]
        if item.get("removed"):
            self._remove(key, revision)
        elif self.revisions.get(key, 0) <= revision:
            self.entities[key], self.revisions[key] = item[key.type], revision
            self._remove_what_is_hidden(key, revision)

    def _remove(self, removed: Key, revision: int) -> None:
        self._forget_one(removed, revision)
        match removed.type:
            case "room":
                self._forget(lambda key, _: key.type in IN_ROOMS and key.container == removed.id, revision)
                self.gaps = [gap for gap in self.gaps if gap["roomId"] != removed.id]
            case "member":
                self._forget_one(removed._replace(type="readMarker"), revision)
            case "workspace":
                self._leave_sight(removed.id, revision)

    def _remove_what_is_hidden(self, key: Key, revision: int) -> None:
        """Removes what the client must know is hidden from the new state of a workspace or room."""
        entity = self.entities[key]
        if key.type == "workspace" and entity["role"] == "guest":
            self._leave_sight(key.id, revision)
        if key.type == "room" and entity["memberCount"] > RECEIPT_MEMBERS:
            self._forget(lambda other, _: other.type == "readMarker" and other.container == key.id, revision)

    def _leave_sight(self, workspace: str, revision: int) -> None:
        """Removes what only members of a workspace see who are not guests."""
        self._forget(
            lambda key, entity: (key.type == "workspaceMember" and key.container == workspace)
            or (key.type == "room" and entity["workspaceId"] == workspace and entity["role"] is None), revision)

    def _forget(self, is_gone: Callable[[Key, dict], bool], revision: int) -> None:
        gone = [key for key, entity in self.entities.items()
                if self.revisions[key] <= revision and is_gone(key, entity)]
        for key in gone:
            del self.entities[key], self.revisions[key]

    def _forget_one(self, key: Key, revision: int) -> None:
        if self.revisions.get(key, revision + 1) <= revision:
            del self.entities[key], self.revisions[key]

    # MARK: What other endpoints return

    def store(self, type: str, entity: dict, container: str | None = None) -> None:
        """Keeps what another endpoint has returned. It has no revision of the sync, so the next item replaces it."""
        item = {"type": type, type: entity} | ({CONTAINERS[type]: container} if type in CONTAINERS else {})
        key = key_of(item)
        self.entities[key] = entity
        self.revisions.setdefault(key, 0)

    def load_gaps(self, api: Api, limit: int = 200) -> list[dict]:
        """Loads the messages that pages have left out, and returns them."""
        gaps, self.gaps = self.gaps, []
        return [message for gap in gaps for message in self._load(api, gap, limit)]

    def _load(self, api: Api, gap: dict, limit: int) -> list[dict]:
        room, thread, loaded = gap["roomId"], gap.get("threadId"), []
        for page in pages_back(api, messages_path(room, thread), gap["before"], limit):
            if gap["until"] is None and not loaded:
                self._discard_messages(room, page[-1]["position"] if page else 0)
            for message in page:
                self.store("message", message, room)
            loaded += page
            if gap["until"] in {message["id"] for message in page}:
                break
        return loaded

    def _discard_messages(self, room: str, position: int) -> None:
        """Discards the messages of a room's timeline up to a position, and all replies."""
        gone = [key for key, message in self.entities.items() if key.type == "message" and key.container == room
                and ("threadId" in message or message["position"] <= position)]
        for key in gone:
            del self.entities[key], self.revisions[key]

    def load_threads(self, api: Api) -> None:
        """Loads the replies of all threads, as a client does when the user opens a thread."""
        for key, message in self.of_type("message").items():
            if "thread" in message:
                for page in pages_back(api, messages_path(key.container, key.id)):
                    for reply in page:
                        self.store("message", reply, key.container)


def messages_path(room: str, thread: str | None = None) -> str:
    path = f"/v1/rooms/{room}/messages"
    return path if thread is None else f"{path}/{thread}/thread"


def pages_back(api: Api, path: str, before: str | None = None, limit: int = 200) -> Iterator[list[dict]]:
    """The pages of a room's or thread's messages, from the newest back."""
    while True:
        page = api.get(path, limit=limit, **({"before": before} if before else {}))
        yield page["messages"]
        before = page["nextCursor"]
        if before is None:
            return


def shown_to(api: Api) -> Mirror:
    """Everything that the other endpoints show a user."""
    shown = Mirror()
    shown.store("account", api.get("/v1/me"))
    shown.store("preferences", api.get("/v1/me/preferences"))
    shown.store("badge", api.get("/v1/badge"))
    for type, path, name in (("device", "/v1/devices", "devices"), ("session", "/v1/sessions", "sessions")):
        for entity in api.get(path)[name]:
            shown.store(type, entity)
    for type, path, name in (
        ("blockedUser", "/v1/me/blocked-users", "blockedUsers"), ("invitation", "/v1/me/invitations", "invitations"),
    ):
        for entity in walk(api, path, name, limit=200):
            shown.store(type, entity)
    for message in walk(api, "/v1/scheduled-messages", "scheduledMessages", limit=200):
        shown.store("scheduledMessage", message, message["roomId"])
    for thread in walk(api, "/v1/threads", "threads", limit=200):
        shown.store("thread", thread, thread["root"]["roomId"])
    for workspace in walk(api, "/v1/workspaces", "workspaces", limit=200):
        show_workspace(shown, api, workspace)
    for list in ({}, {"archived": "true"}, {"hidden": "true"}):
        for room in walk(api, "/v1/rooms", "rooms", limit=200, **list):
            show_room(shown, api, room)
    return shown


def show_workspace(shown: Mirror, api: Api, workspace: dict) -> None:
    shown.store("workspace", workspace)
    if workspace["role"] == "guest":
        return
    path = f"/v1/workspaces/{workspace['id']}"
    for member in walk(api, f"{path}/members", "members", limit=200):
        shown.store("workspaceMember", member, workspace["id"])
    for channel in walk(api, f"{path}/channels", "rooms", limit=200):
        shown.store("room", channel)


def show_room(shown: Mirror, api: Api, room: dict) -> None:
    id, path = room["id"], f"/v1/rooms/{room['id']}"
    shown.store("room", room)
    for member in walk(api, f"{path}/members", "members", limit=200):
        shown.store("member", member, id)
    if room["memberCount"] <= RECEIPT_MEMBERS:
        for marker in walk(api, f"{path}/read-markers", "readMarkers", limit=200):
            shown.store("readMarker", marker, id)
    for page in pages_back(api, messages_path(id)):
        for message in page:
            shown.store("message", message, id)
            for replies in pages_back(api, messages_path(id, message["id"])) if "thread" in message else ():
                for reply in replies:
                    shown.store("message", reply, id)


def differences(found: Mirror, expected: Mirror) -> list[str]:
    """How a mirror differs from what the endpoints show, one line for each difference."""
    lines = []
    for key in sorted(found.entities.keys() | expected.entities.keys(), key=str):
        one, other = found.entities.get(key), expected.entities.get(key)
        if key.type in NOT_COMPARED or is_in_archived_room(key, expected):
            continue
        if one is None or other is None:
            lines.append(f"{key}: {'missing' if one is None else 'not shown by the endpoints'}: {one or other}")
            continue
        one, other = comparable(key, one), comparable(key, other)
        lines += [f"{key}: {name} is {one.get(name)!r} instead of {other.get(name)!r}"
                  for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    return lines + wrong_names(found, expected)


def is_in_archived_room(key: Key, expected: Mirror) -> bool:
    """The list of threads leaves out those of archived rooms; a mirror keeps them."""
    room = expected.entities.get(Key("room", None, key.container))
    return key.type == "thread" and room is not None and room["archivedAt"] is not None


def wrong_names(found: Mirror, expected: Mirror) -> list[str]:
    """Members whom the mirror would show with another nickname or picture."""
    users = {key.id: user for key, user in found.of_type("user").items()}
    members = [expected.entities[key]["user"] for key in expected.entities if key.type in ("member", "workspaceMember")]
    return [f"{users.get(user['id'])!r} instead of {user!r}" for user in members if users.get(user["id"]) != user]


@dataclass
class SyncClient:
    """One client of a user, with its mirror and its cursor."""

    api: Api
    cursor: str | None = None

    def __post_init__(self):
        self.mirror = Mirror()
        # Whether the client has all of the initial state.
        self.is_complete = self.cursor is not None

    def copy(self) -> "SyncClient":
        other = SyncClient(self.api, self.cursor)
        other.mirror = self.mirror.copy()
        return other

    def page(self, **params) -> dict:
        """Requests the next page and applies it."""
        if self.cursor is not None:
            params["since"] = self.cursor
        page = self.api.get("/v1/sync", **params)
        for item in page["items"]:
            self.mirror.apply(item)
        self.cursor = page["cursor"]
        return page

    def catch_up(self, **params) -> list[dict]:
        """The items of all pages. In a catch-up, they are in the order of their revisions."""
        is_initial, items = not self.is_complete, []
        while True:
            page = self.page(**params)
            items += page["items"]
            if not page["more"]:
                break
        self.is_complete = True
        revisions = [item["revision"] for item in items]
        assert is_initial or revisions == sorted(revisions), f"not in order: {revisions}"
        return items

    def check(self, **params) -> list[dict]:
        """Catches up, and compares the mirror with what the endpoints show. Returns the items."""
        items = self.catch_up(**params)
        lines = differences(self.mirror, shown_to(self.api))
        assert not lines, "the mirror differs:\n" + "\n".join(lines[:20])
        return items
