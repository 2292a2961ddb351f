"""Creates the objects that the examples of docs/openapi.yaml name on a real server.

Schemathesis uses the examples of the contract as IDs in its requests. `ScenarioHolder.substitute` replaces each with
the ID of an object that exists and that fits the operation: a banned user if the operation lifts a ban, or another
user's room if the caller is to leave one.
"""

import functools
import os
import pathlib
from dataclasses import dataclass

from . import times
from .client import Api, new_id
from .contract import Operation, contract
from .images import encoded, photograph
from .people import Room, Workspace, World

OCTETS = "application/octet-stream"
# The credentials of the caller in the examples.
EMAIL = "anna@example.org"
PASSWORD = "correct horse"


@dataclass(frozen=True)
class RunningServer:
    """The part of a server that a client needs. The process belongs to somebody else."""

    url: str
    token: str
    authority: pathlib.Path | None = None


def example(parameter: str) -> str:
    """The contract's example for the shared parameter with this name."""
    return contract().document["components"]["parameters"][parameter]["example"]


def body_example(operation: Operation) -> dict:
    """The example of the JSON body; empty if the operation takes no JSON or shows no example."""
    return operation.spec.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example", {})


def sent(operation: str, field: str) -> str:
    """The value of a field in the example of an operation's body."""
    return next(body_example(each)[field] for each in contract().operations if each.id == operation)


# For each example value, the property of `FuzzedScenario` that replaces it, by operation. None is the default.
MEANINGS: dict[str, dict[str | None, str]] = {
    example("userId"): {
        None: "member", "unbanUser": "banned", "unblockUser": "blocked", "withdrawInvitation": "invited", "inviteUser": "stranger",
        "addMember": "stranger", "changeWorkspaceRole": "colleague", "removeWorkspaceMember": "colleague",
    },
    sent("transferRoom", "userId"): {None: "member", "transferWorkspace": "colleague"},
    example("roomId"): {None: "room", "leaveRoom": "others_room", "joinRoom": "open_channel", "hideRoom": "direct"},
    example("workspaceId"): {
        None: "workspace", "leaveWorkspace": "others_workspace", "joinWorkspace": "inviting_workspace",
        "declineInvitation": "inviting_workspace",
    },
    example("messageId"): {
        None: "message", "sendMessage": "fresh", "scheduleMessage": "fresh", "getScheduledMessage": "scheduled",
        "changeScheduledMessage": "scheduled", "cancelScheduledMessage": "scheduled", "fileReport": "message_of_member",
    },
    sent("moveThreadMarker", "messageId"): {None: "reply"},
    example("reportId"): {None: "report", "reopenReport": "resolved_report"},
    example("inviteId"): {None: "invite", "revokeWorkspaceInvite": "workspace_invite"},
    example("deviceId"): {None: "device"},
    example("mediaId"): {None: "medium"},
    example("sessionId"): {None: "session"},
    example("token"): {None: "link"},
    sent("refreshSession", "refreshToken"): {None: "refresh_token"},
    sent("resetPassword", "token"): {None: "reset_token"},
}
# The fields whose times must be in the future. The times in the examples will pass one day.
FUTURE = ("sendAt", "expiresAt")


@functools.cache
def example_times() -> set[str]:
    examples = [body_example(operation) for operation in contract().operations]
    return {example[name] for example in examples for name in FUTURE if name in example}


@functools.cache
def picture() -> bytes:
    return encoded("PNG", photograph((64, 48)))


class FuzzedScenario:
    """One object of each kind, as the caller sees it. Each is created when a request needs it."""

    def __init__(self, world: World, caller: str):
        self.world = world
        self.caller = caller
        self.api = world.acting_as(caller)

    def account(self) -> str:
        return self.world.admin.post("/v1/accounts", {"id": new_id(), "nickname": "Ben"})["id"]

    @property
    def fresh(self) -> str:
        return new_id()

    # MARK: Users

    @functools.cached_property
    def member(self) -> str:
        """A member of the room."""
        user = self.account()
        self.api.put(f"{Room(self.room).path}/members/{user}")
        return user

    @functools.cached_property
    def stranger(self) -> str:
        return self.account()

    @functools.cached_property
    def banned(self) -> str:
        user = self.account()
        self.api.put(f"{Room(self.room).path}/bans/{user}")
        return user

    @functools.cached_property
    def blocked(self) -> str:
        """A user whom the caller blocks."""
        user = self.account()
        self.api.put(f"/v1/me/blocked-users/{user}")
        return user

    @functools.cached_property
    def colleague(self) -> str:
        """A member of the workspace."""
        user = self.account()
        self.world.acting_as(user).post(f"{Workspace(self.workspace).path}/join")
        return user

    @functools.cached_property
    def invited(self) -> str:
        user = self.account()
        self.api.put(f"{Workspace(self.workspace).path}/invitations/{user}", {"role": "member"})
        return user

    @functools.cached_property
    def someone(self) -> Api:
        """The owner of the rooms and workspaces that the caller joins."""
        return self.world.acting_as(self.account())

    # MARK: Rooms

    def new_room(self, owner: Api, **fields) -> str:
        return owner.post("/v1/rooms", {"id": new_id(), "name": "Tea"} | fields)["id"]

    @functools.cached_property
    def room(self) -> str:
        return self.new_room(self.api)

    @functools.cached_property
    def others_room(self) -> str:
        # By a link: the caller may have chosen that nobody can add them.
        room = self.new_room(self.someone)
        self.api.post(f"/v1/invites/{self.link_to(room)}/accept")
        return room

    @functools.cached_property
    def direct(self) -> str:
        body = {"kind": "direct", "memberIds": [self.stranger]}
        return self.api.post("/v1/rooms", body)["id"]

    @functools.cached_property
    def open_channel(self) -> str:
        channel = {"kind": "channel", "workspaceId": self.others_workspace, "isPublic": True}
        return self.new_room(self.someone, **channel)

    # MARK: Workspaces

    def new_workspace(self, owner: Api) -> str:
        return owner.post("/v1/workspaces", {"id": new_id(), "name": "Office"})["id"]

    @functools.cached_property
    def workspace(self) -> str:
        return self.new_workspace(self.api)

    @functools.cached_property
    def others_workspace(self) -> str:
        workspace = self.new_workspace(self.someone)
        self.api.post(f"{Workspace(workspace).path}/join")
        return workspace

    @functools.cached_property
    def inviting_workspace(self) -> str:
        workspace = self.new_workspace(self.someone)
        self.someone.put(f"{Workspace(workspace).path}/invitations/{self.caller}", {"role": "member"})
        return workspace

    # MARK: Messages

    @property
    def message(self) -> str:
        return self.thread[0]

    @property
    def reply(self) -> str:
        return self.thread[1]

    @functools.cached_property
    def thread(self) -> tuple[str, str]:
        """A message with a picture, a reaction and a pin, and a reply to it in its thread."""
        room, id, reply = Room(self.room), new_id(), new_id()
        self.api.put(room.message(id), {"text": "hello", "attachments": [{"mediaId": self.medium}]})
        reader = self.world.acting_as(self.member)
        reader.put(room.message(reply), {"text": "hello yourself", "threadId": id})
        self.api.put(f"{room.message(id)}/reactions/{example('emoji')}")
        self.api.put(f"{room.path}/pins/{id}")
        return id, reply

    @functools.cached_property
    def position(self) -> int:
        """That of an event that notifies members of the room."""
        return self.api.put(Room(self.room).message(new_id()), {"text": "tea is ready"})["position"]

    @functools.cached_property
    def scheduled(self) -> str:
        id = new_id()
        body = {"text": "later", "sendAt": times.later(hours=1)}
        self.api.put(f"{Room(self.room).path}/scheduled-messages/{id}", body)
        return id

    @functools.cached_property
    def medium(self) -> str:
        response = self.api.request("POST", "/v1/media", data=picture(), headers={"Content-Type": OCTETS})
        return response.json()["id"]

    @functools.cached_property
    def message_of_member(self) -> str:
        id = new_id()
        self.world.acting_as(self.member).put(Room(self.room).message(id), {"text": "buy tea"})
        return id

    @functools.cached_property
    def report(self) -> str:
        body = {"id": new_id(), "userId": self.member, "reason": "spam"}
        return self.api.post(f"{Room(self.room).path}/reports", body)["id"]

    @functools.cached_property
    def resolved_report(self) -> str:
        self.api.post(f"{Room(self.room).path}/reports/{self.report}/resolve", {"outcome": "no_action"})
        return self.report

    # MARK: Links, devices and logins

    @functools.cached_property
    def invite(self) -> str:
        return self.api.post(f"{Room(self.room).path}/invites", {"id": new_id()})["id"]

    @functools.cached_property
    def workspace_invite(self) -> str:
        return self.api.post(f"{Workspace(self.workspace).path}/invites", {"id": new_id()})["id"]

    @functools.cached_property
    def link(self) -> str:
        """The token of an invite to a room that the caller is not in."""
        return self.link_to(self.new_room(self.someone))

    def link_to(self, room: str) -> str:
        return self.someone.post(f"{Room(room).path}/invites", {"id": new_id()})["token"]

    @functools.cached_property
    def device(self) -> str:
        id = new_id()
        self.api.put(f"/v1/devices/{id}", {"name": "phone"})
        return id

    @functools.cached_property
    def session(self) -> str:
        # A request may have disabled the user.
        self.world.admin.request("POST", f"/v1/admin/users/{self.api.act_as}/enable")
        return self.api.post("/v1/sessions", {})["sessionId"]

    @functools.cached_property
    def refresh_token(self) -> str:
        return self.someone.post("/v1/sessions", {})["refreshToken"]

    @functools.cached_property
    def reset_token(self) -> str:
        body = {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Cleo"}
        user = self.world.nobody.post("/v1/accounts", body)["id"]
        return self.world.admin.post(f"/v1/admin/users/{user}/password-reset", expect=200)["token"]


class ScenarioHolder:
    """Holds the current scenario, and replaces it after an operation has changed it."""

    def __init__(self, world: World, caller: str):
        self.world = world
        self.caller = caller
        self.scenario = FuzzedScenario(world, caller)
        self.operation: str | None = None
        self.is_changed = False

    @classmethod
    def of_environment(cls) -> "ScenarioHolder":
        """Reads the settings that the parent process put into the environment."""
        server = RunningServer(os.environ["HANSARD_FUZZED_URL"], os.environ["HANSARD_FUZZED_TOKEN"])
        return cls(World(server), os.environ["HANSARD_FUZZED_CALLER"])

    def enter(self, operation: str) -> None:
        if self.is_changed and operation != self.operation:
            self.scenario, self.is_changed = FuzzedScenario(self.world, self.caller), False
        self.operation = operation

    def record(self, method: str, status: int) -> None:
        self.is_changed |= method != "GET" and 200 <= status < 300

    def substitute(self, value, name: str | None = None):
        """`value` with each example replaced by the ID of an existing object. A field `id` gets a new ID, because the
        request creates that object."""
        if isinstance(value, dict):
            return {key: self.substitute(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.substitute(item, name) for item in value]
        if not isinstance(value, str):
            return value
        if name in FUTURE and value in example_times():
            return times.later(days=1)
        meanings = MEANINGS.get(value)
        if meanings is None:
            return value
        return new_id() if name == "id" else getattr(self.scenario, meanings.get(self.operation, meanings[None]))
