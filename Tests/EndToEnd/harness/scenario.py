"""A room and a workspace with users in every relation to them, for the requests of the authorization table."""

import functools
import os
import time

from PIL import Image

from .client import Api, new_id
from .images import encoded
from .issuer import Issuer
from .people import Person, Room, Workspace, World
from .times import later

CALLERS = ("anonymous", "stranger", "member", "left", "banned", "administrator", "owner", "service")
# The callers with an account, and two users whom requests only name: another member, and a user who is nowhere a
# member.
PEOPLE = CALLERS[1:-1] + ("other", "newcomer")
EMOJI = "🫖"
FOLLOWING_SECONDS = 60


class AuthorizationScenario:
    """Is used until a request has changed something in it. Parts that few requests need are created on demand.

    Users have the same relation to the workspace as to the room. Workspaces have no bans, so the user who is banned
    from the room was removed from the workspace. The owner owns the channels too. The other members of the workspace
    are not in the public channel, except for `other`; `member` is also in the private one. The banned user joins the
    workspace again and is banned from the channel.
    """

    def __init__(self, world: World, people: dict[str, Person], issuer: Issuer):
        self.world = world
        self.people = people
        self.issuer = issuer
        self.stranger, self.member, self.left = people["stranger"], people["member"], people["left"]
        self.banned, self.administrator, self.owner = people["banned"], people["administrator"], people["owner"]
        self.other, self.newcomer = people["other"], people["newcomer"]
        # Part of every text and name in the scenario. No error response may contain it.
        self.word = f"secret{new_id().replace('-', '')}"
        self.external_id = new_id()
        self.invitees: set[Person] = set()
        self.pictures: set[str] = set()

    @classmethod
    def people_of(cls, world: World) -> dict[str, Person]:
        """The users. They can take part in any number of scenarios."""
        return {name: world.user(name.title()) for name in PEOPLE}

    def caller(self, role: str) -> Api:
        return {"anonymous": self.world.nobody, "service": self.world.admin}.get(role) or self.people[role]

    def acting(self, person: Person) -> Api:
        return self.world.acting_as(person.id)

    # --- The room

    @functools.cached_property
    def room(self) -> Room:
        members = (self.member, self.left, self.banned, self.administrator, self.other)
        room = self.owner.room(f"Tea {self.word}", *members)
        self.owner.put(f"{room.path}/members/{self.administrator.id}/role", {"role": "administrator"})
        self.left.post(f"{room.path}/leave")
        self.owner.put(f"{room.path}/bans/{self.banned.id}")
        return room

    @functools.cached_property
    def direct(self) -> Room:
        """The direct room of the owner and the member. It can be that of an earlier scenario."""
        body = {"kind": "direct", "memberIds": [self.member.id]}
        return Room(self.owner.request("POST", "/v1/rooms", body).json()["id"])

    @functools.cached_property
    def other_administrator(self) -> Person:
        """A second administrator of the room."""
        self.owner.put(f"{self.room.path}/members/{self.other.id}/role", {"role": "administrator"})
        return self.other

    @functools.cached_property
    def archived(self) -> Room:
        self.owner.post(f"{self.room.path}/archive")
        return self.room

    @functools.cached_property
    def invite(self) -> dict:
        return self.owner.post(f"{self.room.path}/invites", {"id": new_id()})

    # --- Reports

    def _report(self, by: Person, about: Person, room: Room | None = None) -> str:
        body = {"id": new_id(), "userId": about.id, "reason": "spam", "comment": f"tells {self.word}"}
        return by.post(f"{(room or self.room).path}/reports", body)["id"]

    def _resolved(self, report: str) -> str:
        self.owner.post(f"{self.room.path}/reports/{report}/resolve", {"outcome": "no_action"})
        return report

    @functools.cached_property
    def report(self) -> str:
        """Filed by the member."""
        return self._report(self.member, self.other)

    @functools.cached_property
    def report_by_owner(self) -> str:
        return self._report(self.owner, self.other)

    @functools.cached_property
    def report_about_administrator(self) -> str:
        return self._report(self.member, self.administrator)

    @functools.cached_property
    def report_by_left(self) -> str:
        """Filed before leaving."""
        self.owner.put(f"{self.room.path}/members/{self.left.id}")
        report = self._report(self.left, self.other)
        self.left.post(f"{self.room.path}/leave")
        return report

    @functools.cached_property
    def resolved_report(self) -> str:
        return self._resolved(self.report)

    @functools.cached_property
    def resolved_report_about_administrator(self) -> str:
        return self._resolved(self.report_about_administrator)

    @functools.cached_property
    def private_report(self) -> str:
        """In the private channel, of which the workspace's administrator is not a member."""
        return self._report(self.member, self.other, self.private)

    # --- Messages in the room

    @functools.cached_property
    def sent(self) -> dict:
        """A message of the member, as it was when it was sent."""
        return self.member.send(self.room, f"hello {self.word}")

    @property
    def message(self) -> str:
        return self.sent["id"]

    @property
    def position(self) -> int:
        """That of the event of the message."""
        return self.sent["position"]

    @functools.cached_property
    def message_of_other(self) -> str:
        return self.other.send(self.room, f"good morning {self.word}")["id"]

    @functools.cached_property
    def reply(self) -> str:
        """A reply in the thread of the member's message. The administrator and the owner follow the thread too."""
        for person in (self.administrator, self.owner):
            person.put(f"{self.room.message(self.message)}/thread/following", {"follows": True})
        body = {"text": f"in the thread {self.word}", "threadId": self.message}
        return self.other.put(self.room.message(new_id()), body)["id"]

    @property
    def thread(self) -> str:
        """The root of the thread."""
        return self.message if self.reply else ""

    @functools.cached_property
    def reacted(self) -> str:
        """The member's message, to which the member, the administrator and the owner have reacted."""
        for person in (self.member, self.administrator, self.owner):
            person.put(f"{self.room.message(self.message)}/reactions/{EMOJI}")
        return self.message

    def reaction_of_owner(self) -> bool:
        reactions = self.other.get(f"{self.room.message(self.reacted)}/reactions")["reactions"]
        return self.owner.id in [each["user"]["id"] for each in reactions]

    @functools.cached_property
    def searched(self) -> str:
        """A word in the member's message. Waits until the search index has the message, because a search itself does
        not wait."""
        wanted = self.member.get(self.room.message(self.message))["position"]
        deadline = time.monotonic() + FOLLOWING_SECONDS
        while self.member.get("/v1/search", q=self.word)["position"] < wanted:
            assert time.monotonic() < deadline, f"the search did not come to {wanted}"
            time.sleep(0.02)
        return self.word

    @functools.cached_property
    def pin(self) -> str:
        self.owner.put(f"{self.room.path}/pins/{self.message}")
        return self.message

    @functools.cached_property
    def scheduled(self) -> str:
        """A message that the owner has scheduled."""
        message = new_id()
        self.owner.put(f"{self.room.path}/scheduled-messages/{message}", self.to_be_sent)
        return message

    @functools.cached_property
    def scheduled_by_left(self) -> str:
        """A message that the user who has left scheduled before leaving."""
        message = new_id()
        self.owner.put(f"{self.room.path}/members/{self.left.id}")
        self.left.put(f"{self.room.path}/scheduled-messages/{message}", self.to_be_sent)
        self.left.post(f"{self.room.path}/leave")
        return message

    @functools.cached_property
    def to_be_sent(self) -> dict:
        return {"text": f"later {self.word}", "sendAt": later(days=30)}

    # --- The workspace and its channels

    @functools.cached_property
    def workspace(self) -> Workspace:
        workspace = self.owner.workspace(f"Office {self.word}")
        for person in (self.member, self.left, self.banned, self.administrator, self.other):
            self.acting(person).post(f"{workspace.path}/join")
        self.owner.put(f"{workspace.path}/members/{self.administrator.id}/role", {"role": "administrator"})
        self.left.post(f"{workspace.path}/leave")
        self.owner.delete(f"{workspace.path}/members/{self.banned.id}")
        return workspace

    @functools.cached_property
    def workspace_invite(self) -> dict:
        return self.owner.post(f"{self.workspace.path}/invites", {"id": new_id(), "role": "member"})

    def invited(self, *people: Person) -> Workspace:
        for person in set(people) - self.invitees:
            self.owner.put(f"{self.workspace.path}/invitations/{person.id}", {"role": "member"})
            self.invitees.add(person)
        return self.workspace

    @functools.cached_property
    def inviting(self) -> Workspace:
        """Another user's workspace that has invited the owner of this scenario by name."""
        workspace = self.other.workspace(f"Elsewhere {self.word}")
        self.other.put(f"{workspace.path}/invitations/{self.owner.id}", {"role": "member"})
        return workspace

    def _channel(self, public: bool) -> Room:
        self.acting(self.banned).post(f"{self.workspace.path}/join")
        channel = self.owner.channel(self.workspace, f"News {self.word}", public)
        self.owner.put(f"{channel.path}/members/{self.other.id}")
        self.owner.put(f"{channel.path}/bans/{self.banned.id}")
        self.news = self.owner.send(channel, f"the news {self.word}")["id"]
        return channel

    @functools.cached_property
    def public(self) -> Room:
        return self._channel(public=True)

    @functools.cached_property
    def private(self) -> Room:
        """The private channel, with the member in it."""
        channel = self._channel(public=False)
        self.owner.put(f"{channel.path}/members/{self.member.id}")
        return channel

    @functools.cached_property
    def pinned_news(self) -> str:
        self.owner.put(f"{self.private.path}/pins/{self.news}")
        return self.news

    @functools.cached_property
    def channel_invite(self) -> dict:
        return self.owner.post(f"{self.public.path}/invites", {"id": new_id()})

    # --- Things that belong to one user

    @functools.cached_property
    def account(self) -> Person:
        """A user with a password and an email address, whom only this scenario uses."""
        return self.world.account("Account")

    @functools.cached_property
    def linked_login(self) -> dict:
        """An external login that is linked to `account`."""
        subject = new_id()
        self.acting(self.account).post("/v1/me/identities", {"idToken": self.issuer.token(subject)})
        return {"issuer": self.issuer.url, "subject": subject}

    @functools.cached_property
    def outsider(self) -> Person:
        """A stranger whom only this scenario uses."""
        return self.world.user("Outsider")

    @functools.cached_property
    def passer_by(self) -> Person:
        """Another stranger whom only this scenario uses, without a password and with an ID in the operator's own
        database."""
        body = {"id": new_id(), "nickname": "Passer-by", "externalId": self.external_id}
        account = self.world.admin.post("/v1/accounts", body)
        return Person(self.world.server, account, self.world.acting_as(account["id"]).post("/v1/sessions", {}))

    @functools.cached_property
    def disabled(self) -> Person:
        self.world.admin.post(f"/v1/admin/users/{self.passer_by.id}/disable")
        return self.passer_by

    @functools.cached_property
    def erased(self) -> Person:
        """A user whose account was deleted. A legal hold makes the erasure wait, so that nothing more is recorded."""
        gone = self.world.account("Gone")
        self.world.admin.put(f"/v1/admin/legal-holds/users/{gone.id}", {"reason": "Case 6"})
        self.world.admin.delete(f"/v1/admin/users/{gone.id}")
        return gone

    @functools.cached_property
    def held_user(self) -> str:
        """The ID of a user under a legal hold."""
        held = self.world.user("Held").id
        self.world.admin.put(f"/v1/admin/legal-holds/users/{held}", {"reason": "Case 8"})
        return held

    @functools.cached_property
    def held_room(self) -> str:
        """The ID of a room under a legal hold."""
        held = self.world.user("Held").room("Held").id
        self.world.admin.put(f"/v1/admin/legal-holds/rooms/{held}", {"reason": "Case 9"})
        return held

    @functools.cached_property
    def reset_token(self) -> str:
        return self.world.admin.post(f"/v1/admin/users/{self.passer_by.id}/password-reset", expect=200)["token"]

    @functools.cached_property
    def session(self) -> str:
        """Another session of the owner."""
        return self.acting(self.owner).post("/v1/sessions", {})["sessionId"]

    def has_session(self) -> bool:
        wanted, sessions = self.session, self.acting(self.owner).get("/v1/sessions")["sessions"]
        return wanted in [session["id"] for session in sessions]

    def prefers(self) -> bool:
        """Whether the owner shares read markers."""
        return self.owner.get("/v1/me/preferences")["sharesReadMarkers"]

    @functools.cached_property
    def unusual_preference(self) -> str:
        """A preference of the owner that differs from the default, as JSON text in a response."""
        self.owner.patch("/v1/me/preferences", {"sharesReadMarkers": False})
        return '"sharesReadMarkers":false'

    @functools.cached_property
    def blocked(self) -> Person:
        """A user whom the owner blocks."""
        self.owner.put(f"/v1/me/blocked-users/{self.passer_by.id}")
        return self.passer_by

    def blocks(self) -> list[str]:
        """The IDs of the users whom the owner blocks."""
        return [row["user"]["id"] for row in self.owner.get("/v1/me/blocked-users", limit=200)["blockedUsers"]]

    @functools.cached_property
    def device(self) -> str:
        """A device of the owner."""
        device = new_id()
        self.owner.put(f"/v1/devices/{device}", {"name": f"Phone {self.word}"})
        return device

    @functools.cached_property
    def image(self) -> str:
        """An upload of the owner that nothing refers to."""
        return self.owner.post("/v1/media", data=self.fresh_image())["id"]

    @staticmethod
    def fresh_image() -> bytes:
        side = 8
        return encoded("PNG", Image.frombytes("RGB", (side, side), os.urandom(3 * side * side)))

    @functools.cached_property
    def image_in_message(self) -> str:
        self.owner.put(self.room.message(new_id()), {"attachments": [{"mediaId": self.image, "name": "tea.png"}]})
        return self.image

    @functools.cached_property
    def image_of_deleted(self) -> str:
        message = new_id()
        self.owner.put(self.room.message(message), {"attachments": [{"mediaId": self.image, "name": "tea.png"}]})
        self.owner.delete(self.room.message(message))
        return self.image

    @functools.cached_property
    def image_to_be_sent(self) -> str:
        attachments = {"attachments": [{"mediaId": self.image, "name": "tea.png"}]}
        self.owner.put(f"{self.room.path}/scheduled-messages/{new_id()}", self.to_be_sent | attachments)
        return self.image

    def picture_of(self, path: str) -> str:
        """The upload, after it was made the picture of the object at the path."""
        if path not in self.pictures:
            self.owner.patch(path, {"picture": self.image})
            self.pictures.add(path)
        return self.image
