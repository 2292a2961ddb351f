"""The request for each row of the authorization table. It is valid in every respect except for the caller's rights."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .client import NDJSON, Api, new_id
from .contract import Operation
from .people import PASSWORD, Room
from .scenario import EMOJI, Scenario
from .times import later


@dataclass
class Ask:
    """What does not follow from the operation, whose method and path are in the contract."""

    body: Any = None
    # Path parameters that differ from the default ones of the scenario.
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    data: bytes | None = None
    # If set, the request is an ingest of this one line.
    line: dict | None = None
    # The user to act as, sent in the `Hansard-Act-As` header.
    act_as: str | None = None
    # Text of the scenario that the response contains if the request succeeds. It is absent if the cell is `own`.
    shows: str | None = None
    # Reads the state that a successful request changes. The state stays the same if the cell is `own`.
    changes: Callable[[], Any] | None = None
    # Text that no caller may see in the response.
    hides: str | None = None
    # The caller for the column `owner`, if the request would make the owner useless for later scenarios.
    owner: Api | None = None

    def path_of(self, operation: Operation, scene: Scenario) -> str:
        """Makes what of it there is not yet."""
        path = operation.path
        for name in operation.parameters:
            path = path.replace("{" + name + "}", self.path.get(name) or PARAMETERS[name](scene))
        return path

    def send(self, api: Api, method: str, path: str, **headers: str):
        """The response, as a `requests` object."""
        data = self.data
        if self.act_as is not None:
            headers.setdefault("Hansard-Act-As", self.act_as)
        if self.line is not None:
            data, headers = json.dumps(self.line).encode() + b"\n", headers | {"Content-Type": NDJSON}
        return api.request(method, path, self.body, data=data, headers=headers, params=self.query)


def room(place: Room, body: Any = None, **ask) -> Ask:
    """About another room than the scene's usual one."""
    return Ask(body, path={"roomId": place.id}, **ask)


def message(id: str, body: Any = None, **ask) -> Ask:
    return Ask(body, path={"messageId": id}, **ask)


def user(id: str, body: Any = None, **ask) -> Ask:
    return Ask(body, path={"userId": id}, **ask)


def invite(made: dict, **ask) -> Ask:
    return Ask(path={"token": made["token"], "inviteId": made["id"]}, **ask)


def media(id: str) -> Ask:
    return Ask(path={"mediaId": id})


def text() -> dict:
    return {"text": "let me in"}


def file(scene: Scenario) -> dict:
    return {"attachments": [{"mediaId": scene.image, "name": "tea.png"}]}


def new_channel(scene: Scenario) -> dict:
    return {"id": new_id(), "kind": "channel", "name": "News", "workspaceId": scene.workspace.id, "isPublic": True}


# The scene's usual thing for each parameter of a path.
PARAMETERS: dict[str, Callable[[Scenario], str]] = {
    "roomId": lambda s: s.room.id,
    "workspaceId": lambda s: s.workspace.id,
    "userId": lambda s: s.other.id,
    "messageId": lambda s: s.message,
    "emoji": lambda s: EMOJI,
    "inviteId": lambda s: s.invite["id"],
    "token": lambda s: s.invite["token"],
    "sessionId": lambda s: s.session,
    "deviceId": lambda s: s.device,
    "mediaId": lambda s: s.image,
}

# For each row of the table; a row that is not here needs no more than its path.
REQUESTS: dict[str, Callable[[Scenario], Ask]] = {
    # Accounts and sessions
    "createAccount": lambda s: Ask(
        {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna"}),
    "createAccount/external": lambda s: Ask(
        {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna",
         "externalId": new_id()}),
    "createSession": lambda s: Ask({"email": s.account.email, "password": PASSWORD}, shows=s.account.id),
    "createSession/named": lambda s: Ask({}, act_as=s.passer_by.id, shows=s.passer_by.id),
    "refreshSession": lambda s: Ask({"refreshToken": s.passer_by.tokens["refreshToken"]}, shows=s.passer_by.id),
    "resetPassword": lambda s: Ask({"token": s.reset_token, "newPassword": PASSWORD}),
    "findUsers": lambda s: Ask(query={"externalId": s.external_id}, shows=s.passer_by.id),
    "requestPasswordReset": lambda s: user(s.passer_by.id),
    "disableUser": lambda s: user(s.passer_by.id),
    "enableUser": lambda s: user(s.disabled.id),
    "listUserSessions": lambda s: user(s.passer_by.id, shows=s.passer_by.tokens["sessionId"]),
    "endUserSessions": lambda s: user(s.passer_by.id),
    "getUser": lambda s: user(s.account.id, shows=s.account.id, hides=s.account.email),
    "getMe": lambda s: Ask(shows=s.owner.id),
    "updateMe": lambda s: Ask({"nickname": new_id()}, changes=lambda: s.owner.get("/v1/me")),
    "updateMe/picture": lambda s: Ask({"picture": s.image}, changes=lambda: s.owner.get("/v1/me")),
    "changePassword": lambda s: Ask(
        {"currentPassword": PASSWORD, "newPassword": "another horse battery"}, owner=s.account),
    "linkIdentity": lambda s: Ask(
        {"idToken": s.issuer.token(new_id()), "currentPassword": PASSWORD}, owner=s.account,
        changes=lambda: s.account.get("/v1/me")),
    "unlinkIdentity": lambda s: Ask(
        query=s.linked_login, owner=s.account, changes=lambda: s.account.get("/v1/me")),
    "getPreferences": lambda s: Ask(shows=s.unusual_preference),
    "updatePreferences": lambda s: Ask({"sharesReadMarkers": not s.prefers()}, changes=s.prefers),
    "listSessions": lambda s: Ask(shows=s.session),
    "endSessions": lambda s: Ask(changes=s.has_session),
    "endSession": lambda s: Ask(changes=s.has_session),
    "listDevices": lambda s: Ask(shows=s.device),
    "getDevice": lambda s: Ask(shows=s.word),
    "putDevice": lambda s: Ask({"name": "Tablet"}, changes=lambda: s.owner.get(f"/v1/devices/{s.device}")),
    # Rooms
    "createRoom": lambda s: Ask({"id": new_id(), "name": "Tea"}),
    "createRoom/direct": lambda s: Ask({"kind": "direct", "memberIds": [s.passer_by.id]}),
    "createRoom/channel": lambda s: Ask(new_channel(s)),
    "listRooms": lambda s: Ask(shows=s.room.id),
    "getRoom": lambda s: Ask(shows=s.word),
    "updateRoom": lambda s: Ask({"name": "Cake"}),
    "updateRoom/picture": lambda s: Ask({"picture": s.image}),
    "unarchiveRoom": lambda s: room(s.archived),
    "transferRoom": lambda s: Ask({"userId": s.other.id}),
    "muteRoom": lambda s: Ask({"until": later(days=1)}),
    "listMembers": lambda s: Ask(shows=s.other.id),
    "addMember": lambda s: user(s.newcomer.id),
    "removeMember/administrator": lambda s: user(s.other_administrator.id),
    "changeMemberRole": lambda s: Ask({"role": "administrator"}),
    "changeMemberRole/administrator": lambda s: user(s.other_administrator.id, {"role": "member"}),
    "silenceMember": lambda s: Ask({"until": later(days=1)}),
    "silenceMember/administrator": lambda s: user(s.other_administrator.id, {"until": later(days=1)}),
    "getJoinHistory": lambda s: Ask(shows=s.left.id),
    "listBans": lambda s: Ask(shows=s.banned.id),
    "banUser": lambda s: user(s.newcomer.id),
    "banUser/administrator": lambda s: user(s.other_administrator.id),
    "unbanUser": lambda s: user(s.banned.id),
    "createInvite": lambda s: Ask({"id": new_id(), "role": "member"}),
    "listInvites": lambda s: Ask(shows=s.invite["id"]),
    "previewInvite": lambda s: Ask(shows=s.word),
    # Channels
    "getRoom/public": lambda s: room(s.public, shows=s.word),
    "joinRoom/public": lambda s: room(s.public),
    "updateRoom/public": lambda s: room(s.public, {"name": "Cake"}),
    "deleteRoom/public": lambda s: room(s.public),
    "transferRoom/public": lambda s: room(s.public, {"userId": s.other.id}),
    "banUser/public": lambda s: Ask(path={"roomId": s.public.id, "userId": s.other.id}),
    "listBans/public": lambda s: room(s.public, shows=s.banned.id),
    "listMembers/public": lambda s: room(s.public, shows=s.other.id),
    "getJoinHistory/public": lambda s: room(s.public, shows=s.other.id),
    "listInvites/public": lambda s: Ask(
        path={"roomId": s.public.id, "inviteId": s.channel_invite["id"]}, shows=s.channel_invite["id"]),
    "createInvite/public": lambda s: room(s.public, {"id": new_id(), "role": "member"}),
    "listMessages/public": lambda s: room(s.public, shows=s.word),
    "sendMessage/public": lambda s: Ask(text(), path={"roomId": s.public.id, "messageId": new_id()}),
    "previewInvite/public": lambda s: invite(s.channel_invite, shows=s.word),
    "acceptInvite/public": lambda s: invite(s.channel_invite),
    "getRoom/private": lambda s: room(s.private, shows=s.word),
    "joinRoom/private": lambda s: room(s.private),
    "updateRoom/private": lambda s: room(s.private, {"name": "Cake"}),
    "deleteRoom/private": lambda s: room(s.private),
    "pinMessage/private": lambda s: Ask(path={"roomId": s.private.id, "messageId": s.news}),
    "unpinMessage/private": lambda s: Ask(path={"roomId": s.private.id, "messageId": s.pinned_news}),
    # Workspaces
    "createWorkspace": lambda s: Ask({"id": new_id(), "name": "Office"}),
    "listWorkspaces": lambda s: Ask(query={"limit": 200}, shows=s.workspace.id),
    "getWorkspace": lambda s: Ask(shows=s.word),
    "updateWorkspace": lambda s: Ask({"name": "Warehouse"}),
    "updateWorkspace/picture": lambda s: Ask({"picture": s.image}),
    "transferWorkspace": lambda s: Ask({"userId": s.other.id}),
    "listChannels": lambda s: Ask(shows=s.public.id),
    "listChannels/private": lambda s: Ask(shows=s.private.id),
    "listWorkspaceMembers": lambda s: Ask(shows=s.other.id),
    "changeWorkspaceRole": lambda s: Ask({"role": "guest"}),
    "joinWorkspace": lambda s: Ask(path={"workspaceId": s.invited(s.newcomer).id}),
    "joinWorkspace/invited": lambda s: Ask(path={"workspaceId": s.invited(s.stranger, s.left, s.banned).id}),
    "createWorkspaceInvite": lambda s: Ask({"id": new_id(), "role": "member"}),
    "listWorkspaceInvites": lambda s: Ask(shows=s.workspace_invite["id"]),
    "revokeWorkspaceInvite": lambda s: invite(s.workspace_invite),
    "previewInvite/workspace": lambda s: invite(s.workspace_invite, shows=s.word),
    "acceptInvite/workspace": lambda s: invite(s.workspace_invite),
    "listInvitations": lambda s: Ask(path={"workspaceId": s.invited(s.newcomer).id}, shows=s.newcomer.id),
    "inviteUser": lambda s: user(s.newcomer.id, {"role": "guest"}),
    "withdrawInvitation": lambda s: Ask(path={"workspaceId": s.invited(s.newcomer).id, "userId": s.newcomer.id}),
    "listMyInvitations": lambda s: Ask(shows=s.inviting.id),
    "declineInvitation": lambda s: Ask(path={"workspaceId": s.inviting.id}),
    # Messages
    "listMessages": lambda s: Ask(shows=s.message),
    "sendMessage": lambda s: message(new_id(), text()),
    "sendMessage/file": lambda s: message(new_id(), file(s)),
    "getMessage": lambda s: Ask(shows=s.word),
    "editMessage": lambda s: Ask({"text": "goodbye"}),
    "deleteMessage": lambda s: message(s.message_of_other),
    "messageHistory": lambda s: Ask(shows=s.word),
    "moveReadMarker": lambda s: Ask({"messageId": s.message_of_other}),
    "listReadMarkers": lambda s: message(s.message, shows=s.member.id),
    "markUnread": lambda s: Ask({"messageId": s.message_of_other}),
    "listThread": lambda s: Ask(shows=s.reply),
    "moveThreadMarker": lambda s: Ask({"messageId": s.reply}),
    "followThread": lambda s: message(s.thread, {"follows": False}),
    "listThreads": lambda s: Ask(shows=s.thread),
    "listReactions": lambda s: message(s.reacted, shows=s.owner.id),
    "removeReaction": lambda s: message(s.reacted, changes=s.reaction_of_owner),
    "listPins": lambda s: Ask(shows=s.pin),
    "unpinMessage": lambda s: message(s.pin),
    "search": lambda s: Ask(query={"q": s.searched}, shows=s.message),
    "search/room": lambda s: Ask(query={"q": s.searched, "roomId": s.room.id}, shows=s.message),
    "ingest": lambda s: Ask(line={"op": "message.send", "roomId": s.room.id, "id": new_id(), **text()}),
    "ingest/named": lambda s: Ask(
        line={"op": "message.send", "roomId": s.room.id, "id": new_id(), "as": s.owner.id, **text()}),
    "ingest/join": lambda s: Ask(line={"op": "member.join", "roomId": s.room.id, "as": s.newcomer.id}),
    "ingest/delete": lambda s: Ask(line={"op": "message.delete", "roomId": s.room.id, "id": s.message_of_other}),
    # Scheduled messages
    "scheduleMessage": lambda s: message(new_id(), s.to_be_sent),
    "scheduleMessage/file": lambda s: message(new_id(), s.to_be_sent | file(s)),
    "changeScheduledMessage": lambda s: message(s.scheduled, {"text": "never"}),
    "cancelScheduledMessage": lambda s: message(s.scheduled),
    "cancelScheduledMessage/left": lambda s: message(s.scheduled_by_left),
    "getScheduledMessage": lambda s: message(s.scheduled, shows=s.word),
    "getScheduledMessage/left": lambda s: message(s.scheduled_by_left, shows=s.word),
    "listScheduledMessages": lambda s: Ask(shows=s.scheduled),
    "listAllScheduledMessages": lambda s: Ask(query={"limit": 200}, shows=s.scheduled),
    # Media
    "uploadMedia": lambda s: Ask(data=s.fresh_image()),
    "getMedia/message": lambda s: media(s.image_in_message),
    "getMedia/deleted": lambda s: media(s.image_of_deleted),
    "getMedia/scheduled": lambda s: media(s.image_to_be_sent),
    "getMedia/user": lambda s: media(s.picture_of("/v1/me")),
    "getMedia/room": lambda s: media(s.picture_of(s.room.path)),
    "getMedia/public": lambda s: media(s.picture_of(s.public.path)),
    "getMedia/private": lambda s: media(s.picture_of(s.private.path)),
    "getMedia/workspace": lambda s: media(s.picture_of(s.workspace.path)),
    "getThumbnail/message": lambda s: media(s.image_in_message),
}


def ask(row: str, scene: Scenario) -> Ask:
    return REQUESTS[row](scene) if row in REQUESTS else Ask()
