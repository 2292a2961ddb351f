"""Writes a bit of everything to a server of any version, with plain requests: the contract of this version need not fit."""

import dataclasses
import json
import urllib.parse
import uuid

import requests
from PIL import Image

from .images import encoded
from .server import Server
from .waiting import wait_until

TIMEOUT_SECONDS = 60
PASSWORD = "correct horse battery"
EXTERNAL_ID = "carol in the team's database"
NICKNAMES = ("Anna", "Ben", "Carol")
KEY = "Idempotency-Key"
# Who sends requests that no user sends.
SERVICE = "service"
# How an earlier version refuses what it does not have yet.
UNKNOWN = ("unknown_field", "invalid_field", "route_not_found", "method_not_allowed")
# Later than anybody reads the data.
FOR_GOOD = {"until": "2199-01-01T00:00:00.000Z"}


def new_id() -> str:
    return str(uuid.uuid4())


@dataclasses.dataclass
class Users:
    """The users of a data set by name, who act through the administrator's token, so that reading adds no session."""

    server: Server
    ids: dict[str, str]

    def request(
        self, name: str, method: str, path: str, body=None, *, data: bytes | None = None, key: str | None = None,
        token: str | None = None,
    ) -> requests.Response:
        """Sends the request as the user, or as the service itself, or with the token instead."""
        headers = {"Authorization": f"Bearer {token or self.server.token}"}
        if name != SERVICE and token is None:
            headers["Hansard-Act-As"] = self.ids[name]
        if key is not None:
            headers[KEY] = key
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        return requests.request(
            method, self.server.url + path, data=data, headers=headers, timeout=TIMEOUT_SECONDS)

    def sent(self, *arguments, **options) -> dict:
        """The body of the response, which must not be a problem."""
        response = self.request(*arguments, **options)
        assert response.status_code in (200, 201), f"{arguments[:3]}: {response.status_code} {response.text[:600]}"
        return response.json()


@dataclasses.dataclass
class Command:
    """A write that is retried later. A retry changes nothing and repeats the first response."""

    name: str
    method: str
    path: str
    body: dict | None
    key: str | None


class Story:
    """Three users in a group, a direct room and a workspace. Nothing in it depends on the day on which it is read."""

    def __init__(self, server: Server):
        self.server = server
        self.users = Users(server, {})
        self.commands: list[Command] = []
        self.tokens: dict[str, dict] = {}
        self.cursor = ""
        self.group, self.direct, self.workspace, self.channel, self.cellar = (new_id() for _ in range(5))
        self.root, self.reply, self.edited, self.deleted, self.report, self.device = (new_id() for _ in range(6))
        self.picture = ""
        # The parameters of paths to what only some versions can make.
        self.newer: list[dict[str, str]] = []

    @property
    def places(self) -> list[dict[str, str]]:
        """The parameters of paths that belong together."""
        group, ids = {"roomId": self.group}, self.users.ids
        return [
            *({**group, "messageId": message} for message in (self.root, self.edited, self.deleted)),
            {**group, "reportId": self.report}, {"roomId": self.direct}, {"roomId": self.channel},
            {"roomId": self.cellar}, {"workspaceId": self.workspace}, {"mediaId": self.picture},
            {"deviceId": self.device}, *({"userId": id} for id in ids.values()), *self.newer,
        ]

    def do(self, name: str, method: str, path: str, body=None, keyed: bool = True) -> dict:
        command = Command(name, method, path, body, new_id() if keyed else None)
        self.commands.append(command)
        return self.users.sent(name, method, path, body, key=command.key)

    def offer(self, name: str, method: str, path: str, body=None, keyed: bool = True) -> dict | None:
        """As `do`, for what came later than the first data set. None if the version does not have it."""
        command = Command(name, method, path, body, new_id() if keyed else None)
        response = self.users.request(name, method, path, body, key=command.key)
        if response.status_code >= 400:
            assert response.json()["code"] in UNKNOWN, f"{method} {path}: {response.text[:600]}"
            return None
        self.commands.append(command)
        return response.json()

    def send(self, name: str, room: str, message: str, text: str, **fields) -> dict:
        return self.do(name, "PUT", f"/v1/rooms/{room}/messages/{message}", {"text": text} | fields, keyed=False)

    def make_users(self) -> None:
        for name in NICKNAMES:
            id = self.users.ids[name] = new_id()
            body = {"id": id, "nickname": name}
            body |= {"externalId": EXTERNAL_ID} if name == "Carol" else {
                "email": f"{name.lower()}@example.org", "password": PASSWORD}
            self.users.sent(SERVICE, "POST", "/v1/accounts", body)
        self.do("Anna", "PUT", f"/v1/devices/{self.device}", {"name": "Anna's phone", "apnsToken": "ab" * 32})
        for name in ("Anna", "Ben"):
            body = {"id": new_id(), "email": f"{name.lower()}@example.org", "password": PASSWORD}
            body |= {"deviceId": self.device} if name == "Anna" else {}
            self.tokens[name] = requests.post(
                f"{self.server.url}/v1/sessions", json=body, timeout=TIMEOUT_SECONDS).json()
        upload = self.users.request("Anna", "POST", "/v1/media?name=kettle.png", data=encoded("PNG", Image.new("RGB", (64, 48), "teal")))
        self.picture = upload.json()["id"]
        self.do("Anna", "PATCH", "/v1/me", {"picture": self.picture})
        self.do("Ben", "PATCH", "/v1/me/preferences", {"sharesPresence": False, "mutedKinds": ["reaction"]})

    def talk(self) -> None:
        """A group with messages in every state, a thread, reactions, pins, moderation and a report."""
        group, ids = f"/v1/rooms/{self.group}", self.users.ids
        self.do("Anna", "POST", "/v1/rooms", {"id": self.group, "name": "Tea", "topic": "Kettles"})
        for name in ("Ben", "Carol"):
            self.do("Anna", "PUT", f"{group}/members/{ids[name]}")
        self.send("Anna", self.group, self.root, "The kettle is on.", attachments=[{"mediaId": self.picture}])
        self.send("Ben", self.group, self.reply, "On my way", threadId=self.root)
        self.send("Anna", self.group, self.edited, "Who wants caek", mentions={"users": [ids["Ben"]]})
        self.send("Carol", self.group, self.deleted, "Never mind")
        self.send("Ben", self.group, new_id(), "차 한 잔 주세요", type="order", data={"cups": 2}, replyTo=self.edited)
        self.do("Anna", "PATCH", f"{group}/messages/{self.edited}", {"text": "Who wants cake?"})
        self.do("Carol", "DELETE", f"{group}/messages/{self.deleted}")
        thumb = urllib.parse.quote("👍")
        for name in ("Ben", "Carol"):
            self.do(name, "PUT", f"{group}/messages/{self.root}/reactions/{thumb}")
        self.do("Carol", "DELETE", f"{group}/messages/{self.root}/reactions/{thumb}")
        self.do("Anna", "PUT", f"{group}/pins/{self.root}")
        self.do("Anna", "PUT", f"{group}/messages/{self.root}/thread/read-marker", {"messageId": self.reply})
        self.do("Carol", "PUT", f"{group}/read-marker", {"messageId": self.root})
        self.do("Ben", "PUT", f"{group}/unread-mark", {"messageId": self.edited})
        self.do("Anna", "PUT", f"{group}/members/{ids['Ben']}/role", {"role": "administrator"})
        self.do("Anna", "PUT", f"{group}/members/{ids['Carol']}/silence", FOR_GOOD)
        self.do("Carol", "PUT", f"{group}/mute", FOR_GOOD)
        report = {"id": self.report, "messageId": self.edited, "reason": "spam", "comment": "Cake again"}
        self.do("Carol", "POST", f"{group}/reports", report)
        invite = self.do("Anna", "POST", f"{group}/invites", {"id": new_id()})
        self.do("Anna", "DELETE", f"{group}/invites/{invite['id']}")

    def work(self) -> None:
        """A direct room, a workspace with two channels, a ban and a message that is no longer scheduled."""
        ids = self.users.ids
        self.direct = self.do("Ben", "POST", "/v1/rooms", {"kind": "direct", "memberIds": [ids["Carol"]]})["id"]
        self.send("Ben", self.direct, new_id(), "Between you and me")
        self.do("Carol", "PUT", f"/v1/me/blocked-users/{ids['Ben']}")
        self.do("Anna", "POST", "/v1/workspaces", {"id": self.workspace, "name": "Tea merchants"})
        self.do("Anna", "PUT", f"/v1/workspaces/{self.workspace}/invitations/{ids['Carol']}", {"role": "guest"})
        self.do("Ben", "POST", f"/v1/workspaces/{self.workspace}/join")
        for id, name, public in ((self.channel, "News", True), (self.cellar, "Cellar", False)):
            body = {"id": id, "kind": "channel", "name": name, "workspaceId": self.workspace, "isPublic": public}
            self.do("Anna", "POST", "/v1/rooms", body)
        self.do("Ben", "POST", f"/v1/rooms/{self.channel}/join")
        self.send("Anna", self.channel, new_id(), "The kettles have arrived", mentions={"everyone": True})
        self.do("Anna", "PUT", f"/v1/rooms/{self.cellar}/bans/{ids['Ben']}")
        self.do("Anna", "POST", f"/v1/rooms/{self.cellar}/archive")

    def use_newer(self) -> None:
        """What an earlier version may not have."""
        group, ids = f"/v1/rooms/{self.group}", self.users.ids
        self.offer("Anna", "PATCH", "/v1/me", {"custom": {"status": "steeping"}})
        self.offer("Anna", "PATCH", group, {"custom": ["teal", 7]})
        self.offer("Anna", "POST", f"{group}/invites", {"id": new_id(), "code": True})
        event = f"{group}/messages/{new_id()}"
        if self.offer("Ben", "PUT", event, {"type": "position", "data": [1, 2], "silent": True}, keyed=False):
            self.offer("Ben", "PATCH", event, {"data": [3, 4]})
        for body in (
            {"id": new_id(), "name": "Cake", "memberIds": [ids["Ben"], ids["Carol"]]},
            {"kind": "direct", "memberIds": [ids["Ben"]], "workspaceId": self.workspace},
        ):
            if room := self.offer("Anna", "POST", "/v1/rooms", body):
                self.newer.append({"roomId": room["id"]})
        workspace = {"id": new_id(), "name": "Cake merchants", "topic": "Layers"}
        if self.offer("Anna", "POST", "/v1/workspaces", workspace):
            self.newer.append({"workspaceId": workspace["id"]})
        self.offer("Ben", "PUT", f"/v1/rooms/{self.direct}/hidden", {"isHidden": True})
        self.offer("Carol", "PATCH", "/v1/me/preferences", {"directRooms": "known", "groupAdditions": "nobody"})

    def delete_dora(self) -> None:
        """A deleted account whose erasure is complete, so that nothing changes any more, and a legal hold on another one."""
        dora = self.users.ids["Dora"] = new_id()
        member = f"/v1/rooms/{self.group}/members/{dora}"
        self.users.sent(SERVICE, "POST", "/v1/accounts", {"id": dora, "nickname": "Dora"})
        self.users.sent("Anna", "PUT", member)
        self.users.sent("Dora", "PUT", f"/v1/rooms/{self.group}/messages/{new_id()}", {"text": "Goodbye"})
        if not self.offer(SERVICE, "DELETE", f"/v1/admin/users/{dora}"):
            self.users.sent("Anna", "DELETE", member)
            return
        erasure = f"/v1/admin/erasures/{dora}"
        wait_until(
            lambda: self.users.sent(SERVICE, "GET", erasure)["state"] == "complete", "the erasure is not complete")
        self.offer(SERVICE, "PUT", f"/v1/admin/legal-holds/users/{self.users.ids['Carol']}", {"reason": "Case 7"})

    def follow(self) -> None:
        """Takes Ben's cursor, as an app that the upgrade interrupts."""
        page = {"cursor": None, "more": True}
        while page["more"]:
            since = f"?since={page['cursor']}" if page["cursor"] else ""
            page = self.users.sent("Ben", "GET", f"/v1/sync{since}")
        self.cursor = page["cursor"]
