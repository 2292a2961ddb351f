"""A small world of three users, and the changes in it that a sync must bring to each of them."""

from collections.abc import Callable

from .client import new_id
from .people import Person, Room, World
from .times import later

CUP = "%F0%9F%8D%B5"
BLOCKED = "/v1/me/blocked-users"


class SyncScenario:
    """Anna owns a room, a workspace and its two channels. Ben is a member of all but the public channel. Carla is
    nowhere a member, but has been invited to the workspace."""

    def __init__(self, world: World, *people: Person):
        self.world = world
        self.anna, self.ben, self.carla = people or world.users("Anna", "Ben", "Carla")
        anna, ben, carla = self.anna, self.ben, self.carla
        self.room = anna.room("Tea", ben)
        self.office = anna.workspace("Office")
        self.office.take_in(world, ben)
        anna.put(f"{self.office.path}/invitations/{carla.id}", {"role": "member"})
        self.public, self.private = anna.channel(self.office), anna.channel(self.office, "Private", public=False)
        anna.put(f"{self.private.path}/members/{ben.id}")
        for room in (self.public, self.private):
            anna.send(room, "for members")
        self.root = anna.send(self.room, "root")["id"]
        self.reply = ben.put(self.room.message(new_id()), {"text": "reply", "threadId": self.root})["id"]
        self.bens = ben.send(self.room, "mine")["id"]
        self.newest = anna.send(self.room, "newest")["id"]
        anna.put(f"{self.room.message(self.bens)}/reactions/{CUP}")
        anna.put(f"{self.room.path}/pins/{self.bens}")
        self.device = new_id()
        ben.put(f"/v1/devices/{self.device}", {"name": "phone"})
        self.session = world.acting_as(ben.id).post("/v1/sessions", {})
        self.scheduled = self.schedule()

    @property
    def people(self) -> tuple[Person, Person, Person]:
        return self.anna, self.ben, self.carla

    def schedule(self) -> str:
        id = new_id()
        self.ben.put(f"{self.room.path}/scheduled-messages/{id}", {"text": "later", "sendAt": later(days=1)})
        return id

    def join_by_link(self) -> None:
        link = self.anna.post(f"{self.room.path}/invites", {})
        self.carla.post(f"/v1/invites/{link['token']}/accept")

    def leave_and_return(self) -> None:
        self.ben.post(f"{self.room.path}/leave")
        self.anna.send(self.room, "while Ben was away")
        self.anna.put(f"{self.room.path}/members/{self.ben.id}")

    def make(self, role: str) -> None:
        """Gives Ben this role in the workspace."""
        self.anna.put(f"{self.office.path}/members/{self.ben.id}/role", {"role": role})

    def make_guest_and_member(self) -> None:
        self.make("guest")
        self.anna.channel(self.office, "Meanwhile")
        self.make("member")

    def archive_and_unarchive(self) -> None:
        self.anna.post(f"{self.room.path}/archive")
        self.anna.post(f"{self.room.path}/unarchive")

    def direct(self, one: Person, other: Person) -> Room:
        """Their direct room. An earlier scenario of the same users may have created it."""
        response = one.request("POST", "/v1/rooms", {"kind": "direct", "memberIds": [other.id]})
        assert response.status_code in (200, 201), response.text
        return Room(response.json()["id"])

    def hide_and_show(self) -> None:
        direct = self.direct(self.anna, self.ben)
        self.ben.put(f"{direct.path}/hidden", {"isHidden": True})
        other = self.direct(self.ben, self.carla)
        self.ben.put(f"{other.path}/hidden", {"isHidden": True})
        self.ben.put(f"{other.path}/hidden", {"isHidden": False})

    def reply_in_hidden(self) -> None:
        direct = self.direct(self.anna, self.ben)
        root = self.anna.send(direct, "root")["id"]
        self.ben.put(f"{direct.path}/hidden", {"isHidden": True})
        self.anna.put(direct.message(new_id()), {"text": "reply", "threadId": root})

    def join_and_leave_public(self) -> None:
        self.ben.post(f"{self.public.path}/join")
        self.ben.send(self.public, "hello")
        self.ben.post(f"{self.public.path}/leave")

    def block_and_unblock(self) -> None:
        self.ben.put(f"{BLOCKED}/{self.anna.id}")
        self.ben.delete(f"{BLOCKED}/{self.anna.id}")


def of(room: str, part: str) -> Callable[[SyncScenario], str]:
    """The path of a part of one of the scenario's rooms, or of its workspace. `part` can name its attributes."""
    return lambda s: getattr(s, room).path + part.format(s=s)


def members(part: str = "") -> Callable[[SyncScenario], str]:
    return of("room", "/members/{s.ben.id}" + part)


def by(person: str, method: str, path: Callable[[SyncScenario], str] | str, body=None) -> Callable:
    """A request of a person of the scenario. The path and the body can depend on the scenario."""

    def send(s: SyncScenario) -> dict:
        where = path(s) if callable(path) else path.format(s=s)
        return getattr(s, person).call(method, where, body(s) if callable(body) else body, expect=None)

    return send


def text_in(room: str, text: str, **fields) -> Callable[[SyncScenario], dict]:
    """A message of Anna. Its other fields can depend on the scenario."""

    def send(s: SyncScenario) -> dict:
        more = {name: value(s) for name, value in fields.items()}
        return s.anna.put(getattr(s, room).message(new_id()), {"text": text} | more)

    return send


# What is done, after the type of the items that it brings to somebody.
CHANGES: dict[str, Callable[[SyncScenario], object]] = {
    # Messages
    "message, sent": text_in("room", "hello"),
    "message, mentions": text_in("room", "@Ben", mentions=lambda s: {"users": [s.ben.id]}),
    "message, reply": text_in("room", "yes", replyTo=lambda s: s.bens),
    "message, edited": by("ben", "PATCH", of("room", "/messages/{s.bens}"), {"text": "edited"}),
    "message, newest edited": by("anna", "PATCH", of("room", "/messages/{s.newest}"), {"text": "edited"}),
    "message, deleted": by("ben", "DELETE", of("room", "/messages/{s.bens}")),
    "message, newest deleted": by("anna", "DELETE", of("room", "/messages/{s.newest}")),
    "message, reacted": by("ben", "PUT", of("room", "/messages/{s.root}/reactions/" + CUP)),
    "message, reaction removed": by("anna", "DELETE", of("room", "/messages/{s.bens}/reactions/" + CUP)),
    "message, pinned": by("ben", "PUT", of("room", "/pins/{s.root}")),
    "message, unpinned": by("anna", "DELETE", of("room", "/pins/{s.bens}")),
    "message, in a thread": text_in("room", "reply", threadId=lambda s: s.root),
    "message, first in a thread": text_in("room", "reply", threadId=lambda s: s.bens),
    "message, reply edited": by("ben", "PATCH", of("room", "/messages/{s.reply}"), {"text": "edited"}),
    "message, reply deleted": by("ben", "DELETE", of("room", "/messages/{s.reply}")),
    "message, root deleted": by("anna", "DELETE", of("room", "/messages/{s.root}")),
    # Threads and reading
    "thread, followed": by("ben", "PUT", of("room", "/messages/{s.bens}/thread/following"), {"follows": True}),
    "thread, not followed": by("ben", "PUT", of("room", "/messages/{s.root}/thread/following"), {"follows": False}),
    "thread, read": by(
        "anna", "PUT", of("room", "/messages/{s.root}/thread/read-marker"), lambda s: {"messageId": s.reply}),
    "readMarker, moved": by("ben", "PUT", of("room", "/read-marker"), lambda s: {"messageId": s.newest}),
    "room, marked unread": by("ben", "PUT", of("room", "/unread-mark"), lambda s: {"messageId": s.root}),
    "room, notifications": by("ben", "PUT", of("room", "/notifications"), {"level": "mentions"}),
    "room, hidden": SyncScenario.hide_and_show,
    "room, hidden until a reply in a thread": SyncScenario.reply_in_hidden,
    "room, muted": by("ben", "PUT", of("room", "/mute"), lambda s: {"until": later(days=1)}),
    "readMarker, hidden": by("ben", "PATCH", "/v1/me/preferences", {"sharesReadMarkers": False}),
    # Rooms
    "room, created": lambda s: s.ben.room("Ben's"),
    "room, direct": lambda s: s.ben.direct(s.carla, s.anna),
    "room, renamed": by("anna", "PATCH", of("room", ""), {"name": "Cake", "topic": "and tea"}),
    "room, data of an app": by("anna", "PATCH", of("room", ""), {"custom": {"color": "red"}}),
    "room, archived": by("anna", "POST", of("room", "/archive")),
    "room, archived and back": SyncScenario.archive_and_unarchive,
    "room, deleted": by("anna", "DELETE", of("room", "")),
    "member, added": by("anna", "PUT", of("room", "/members/{s.carla.id}")),
    "member, joined by link": SyncScenario.join_by_link,
    "member, left": by("ben", "POST", of("room", "/leave")),
    "member, removed": by("anna", "DELETE", members()),
    "member, banned": by("anna", "PUT", of("room", "/bans/{s.ben.id}")),
    "member, left and returned": SyncScenario.leave_and_return,
    "member, administrator": by("anna", "PUT", members("/role"), {"role": "administrator"}),
    "member, silenced": by("anna", "PUT", members("/silence"), lambda s: {"until": later(days=1)}),
    "member, owner": by("anna", "POST", of("room", "/transfer"), lambda s: {"userId": s.ben.id}),
    # Workspaces and channels
    "workspace, created": lambda s: s.ben.workspace("Ben's"),
    "workspace, renamed": by("anna", "PATCH", of("office", ""), {"name": "Home"}),
    "workspace, left": by("ben", "POST", of("office", "/leave")),
    "workspace, removed": by("anna", "DELETE", of("office", "/members/{s.ben.id}")),
    "workspace, deleted": by("anna", "DELETE", of("office", "")),
    "workspace, guest": lambda s: s.make("guest"),
    "workspace, guest and back": SyncScenario.make_guest_and_member,
    "workspaceMember, joined": by("carla", "POST", of("office", "/join")),
    "workspaceMember, administrator": lambda s: s.make("administrator"),
    "invitation, declined": by("carla", "DELETE", "/v1/me/invitations/{s.office.id}"),
    "invitation, withdrawn": by("anna", "DELETE", of("office", "/invitations/{s.carla.id}")),
    "room, public channel": lambda s: s.anna.channel(s.office, "Open"),
    "room, private channel": lambda s: s.anna.channel(s.office, "Closed", public=False),
    "room, public channel renamed": by("anna", "PATCH", of("public", ""), {"name": "Old news"}),
    "room, data of a public channel": by("anna", "PATCH", of("public", ""), {"custom": [1]}),
    "room, public channel deleted": by("anna", "DELETE", of("public", "")),
    "room, private channel left": by("ben", "POST", of("private", "/leave")),
    "message, public channel joined": by("ben", "POST", of("public", "/join")),
    "room, public channel joined and left": SyncScenario.join_and_leave_public,
    # The users' own
    "account, nickname": by("ben", "PATCH", "/v1/me", {"nickname": "Benjamin"}),
    "account, data of an app": by("ben", "PATCH", "/v1/me", {"custom": {"team": 1}}),
    "preferences, changed": by("ben", "PATCH", "/v1/me/preferences", {"acceptsDirectMessages": False}),
    "device, added": lambda s: s.ben.put(f"/v1/devices/{new_id()}", {"name": "tablet"}),
    "device, changed": by("ben", "PUT", "/v1/devices/{s.device}", {"name": "new phone"}),
    "device, removed": by("ben", "DELETE", "/v1/devices/{s.device}"),
    "session, opened": lambda s: s.world.acting_as(s.ben.id).post("/v1/sessions", {}),
    "session, refreshed": lambda s: s.world.nobody.post(
        "/v1/sessions/refresh", {"refreshToken": s.session["refreshToken"]}),
    "session, ended": by("ben", "DELETE", "/v1/sessions/{s.session[sessionId]}"),
    "blockedUser, blocked": by("ben", "PUT", BLOCKED + "/{s.anna.id}"),
    "blockedUser, and no longer": SyncScenario.block_and_unblock,
    "scheduledMessage, scheduled": SyncScenario.schedule,
    "scheduledMessage, changed": by(
        "ben", "PATCH", of("room", "/scheduled-messages/{s.scheduled}"), {"text": "much later"}),
    "scheduledMessage, cancelled": by("ben", "DELETE", of("room", "/scheduled-messages/{s.scheduled}")),
    "room, created with data": lambda s: s.ben.post(
        "/v1/rooms", {"name": "Ben's", "custom": {"color": "red"}, "memberIds": [s.anna.id]}),
}
