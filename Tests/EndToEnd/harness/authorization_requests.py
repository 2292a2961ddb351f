"""The request for each row of the authorization table. It is valid in every respect except for the caller's rights."""

import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import urllib3

from .client import NDJSON, Api, new_id
from .contract import Operation
from .people import PASSWORD, Room
from .scenario import EMOJI, AuthorizationScenario
from .times import later


SWITCHED = 101
# How long a stream is read that sends nothing.
SILENCE_SECONDS = 5
# The example of RFC 6455, section 1.3.
HANDSHAKE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@dataclass
class Request:
    """The parts of a request that do not follow from its operation. The contract has the operation's method and
    path."""

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
    headers: dict[str, str] = field(default_factory=dict)
    # Whether the response does not end by itself. Then its first event counts as the whole body.
    is_stream: bool = False
    # The caller for the column `owner`, if the request would make the owner useless for later scenarios.
    owner: Api | None = None

    def path_of(self, operation: Operation, scenario: AuthorizationScenario) -> str:
        """The path with its parameters filled in. Creates the things that it names if they do not exist yet."""
        path = operation.path
        for name in operation.parameters:
            path = path.replace("{" + name + "}", self.path.get(name) or PARAMETERS[name](scenario))
        return path

    def send(self, api: Api, method: str, path: str, **headers: str):
        """The response, as a `requests` object."""
        data, headers = self.data, self.headers | headers
        if self.act_as is not None:
            headers.setdefault("Hansard-Act-As", self.act_as)
        if self.line is not None:
            data, headers = json.dumps(self.line).encode() + b"\n", headers | {"Content-Type": NDJSON}
        options = {"timeout": SILENCE_SECONDS} if self.is_stream else {}
        response = api.request(
            method, path, self.body, data=data, headers=headers, params=self.query, stream=self.is_stream, **options)
        if response.status_code == SWITCHED:
            # The connection serves no more requests.
            api.http.close()
        return beginning_of(response) if self.is_stream else response


def beginning_of(response):
    """The response as if it had ended after the current state, or after the event with the room that was asked for."""
    if response.status_code == 200:
        body = b""
        # A page without items is not sent. So the stream of a caller who sees no room can be silent after the account.
        with contextlib.suppress(urllib3.exceptions.ReadTimeoutError):
            while not re.search(rb'^data: .*("type":"room"|"more":false).*\n\n', body, re.MULTILINE):
                body += response.raw.read1()
        response._content = body
        response.close()
    return response


def room(place: Room, body: Any = None, **request) -> Request:
    """A request about a room other than the default one of the scenario."""
    return Request(body, path={"roomId": place.id}, **request)


def message(id: str, body: Any = None, **request) -> Request:
    return Request(body, path={"messageId": id}, **request)


def report(id: str, body: Any = None, **request) -> Request:
    return Request(body, path={"reportId": id}, **request)


def user(id: str, body: Any = None, **request) -> Request:
    return Request(body, path={"userId": id}, **request)


def invite(made: dict, **request) -> Request:
    return Request(path={"token": made["token"], "inviteId": made["id"]}, **request)


def media(id: str) -> Request:
    return Request(path={"mediaId": id})


def text() -> dict:
    return {"text": "let me in"}


def file(scenario: AuthorizationScenario) -> dict:
    return {"attachments": [{"mediaId": scenario.image, "name": "tea.png"}]}


def new_channel(scenario: AuthorizationScenario) -> dict:
    return {"id": new_id(), "kind": "channel", "name": "News", "workspaceId": scenario.workspace.id, "isPublic": True}


# The default thing of the scenario for each path parameter.
PARAMETERS: dict[str, Callable[[AuthorizationScenario], str]] = {
    "roomId": lambda s: s.room.id,
    "workspaceId": lambda s: s.workspace.id,
    "userId": lambda s: s.other.id,
    "messageId": lambda s: s.message,
    "emoji": lambda s: EMOJI,
    "reportId": lambda s: s.report,
    "inviteId": lambda s: s.invite["id"],
    "token": lambda s: s.invite["token"],
    "sessionId": lambda s: s.session,
    "deviceId": lambda s: s.device,
    "mediaId": lambda s: s.image,
    "name": lambda s: "usage",
}

# The request for each row of the table. A row that is missing here needs only its path.
REQUESTS: dict[str, Callable[[AuthorizationScenario], Request]] = {
    # Accounts and sessions
    "createAccount": lambda s: Request(
        {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna"}),
    "createAccount/external": lambda s: Request(
        {"id": new_id(), "email": f"{new_id()}@example.org", "password": PASSWORD, "nickname": "Anna",
         "externalId": new_id()}),
    "createSession": lambda s: Request({"email": s.account.email, "password": PASSWORD}, shows=s.account.id),
    "createSession/named": lambda s: Request({}, act_as=s.passer_by.id, shows=s.passer_by.id),
    "refreshSession": lambda s: Request({"refreshToken": s.passer_by.tokens["refreshToken"]}, shows=s.passer_by.id),
    "resetPassword": lambda s: Request({"token": s.reset_token, "newPassword": PASSWORD}),
    "findUsers": lambda s: Request(query={"externalId": s.external_id}, shows=s.passer_by.id),
    "explainPush": lambda s: Request(query={"position": s.position}, shows=s.message, hides=s.word),
    "requestPasswordReset": lambda s: user(s.passer_by.id),
    "disableUser": lambda s: user(s.passer_by.id),
    "enableUser": lambda s: user(s.disabled.id),
    "deleteUser": lambda s: user(s.account.id),
    "listProjections": lambda s: Request(shows="usage"),
    "getErasure": lambda s: user(s.erased.id, shows=s.erased.id),
    "listErasures": lambda s: Request(shows=s.erased.id),
    "listLegalHolds": lambda s: Request(shows=s.held_user),
    "holdUser": lambda s: Request({"reason": "Case 7"}, path={"userId": s.passer_by.id}),
    "releaseUser": lambda s: user(s.held_user),
    "holdRoom": lambda s: Request({"reason": "Case 7"}),
    "releaseRoom": lambda s: Request(path={"roomId": s.held_room}),
    "listUserSessions": lambda s: user(s.passer_by.id, shows=s.passer_by.tokens["sessionId"]),
    "endUserSessions": lambda s: user(s.passer_by.id),
    "getUser": lambda s: user(s.account.id, shows=s.account.id, hides=s.account.email),
    "getUsers": lambda s: Request(query={"ids": s.account.id}, shows=s.account.id, hides=s.account.email),
    # The account shares no room and no workspace with the callers.
    "getUsers/email": lambda s: Request(
        query={"email": s.account.email}, shows=s.account.id, hides=s.account.email),
    "getMe": lambda s: Request(shows=s.owner.id),
    "updateMe": lambda s: Request({"nickname": new_id()}, changes=lambda: s.owner.get("/v1/me")),
    "updateMe/picture": lambda s: Request({"picture": s.image}, changes=lambda: s.owner.get("/v1/me")),
    "deleteMe": lambda s: Request({"currentPassword": PASSWORD}, owner=s.account),
    "changePassword": lambda s: Request(
        {"currentPassword": PASSWORD, "newPassword": "another horse battery"}, owner=s.account),
    "linkIdentity": lambda s: Request(
        {"idToken": s.issuer.token(new_id()), "currentPassword": PASSWORD}, owner=s.account,
        changes=lambda: s.account.get("/v1/me")),
    "unlinkIdentity": lambda s: Request(
        query=s.linked_login, owner=s.account, changes=lambda: s.account.get("/v1/me")),
    "getPreferences": lambda s: Request(shows=s.unusual_preference),
    "updatePreferences": lambda s: Request({"sharesReadMarkers": not s.prefers()}, changes=s.prefers),
    "listBlockedUsers": lambda s: Request(shows=s.blocked.id),
    "setPresence": lambda s: Request({"presence": "away"}),
    "setOpenRooms": lambda s: Request({"roomIds": [s.room.id]}),
    "blockUser": lambda s: user(s.passer_by.id, changes=s.blocks),
    "unblockUser": lambda s: user(s.blocked.id, changes=s.blocks),
    "listSessions": lambda s: Request(shows=s.session),
    "endSessions": lambda s: Request(changes=s.has_session),
    "endSession": lambda s: Request(changes=s.has_session),
    "listDevices": lambda s: Request(shows=s.device),
    "getDevice": lambda s: Request(shows=s.word),
    "putDevice": lambda s: Request({"name": "Tablet"}, changes=lambda: s.owner.get(f"/v1/devices/{s.device}")),
    # Rooms
    "createRoom": lambda s: Request({"id": new_id(), "name": "Tea"}),
    "createRoom/direct": lambda s: Request({"kind": "direct", "memberIds": [s.passer_by.id]}),
    "createRoom/channel": lambda s: Request(new_channel(s)),
    "listRooms": lambda s: Request(shows=s.room.id),
    "getRoom": lambda s: Request(shows=s.word),
    "updateRoom": lambda s: Request({"name": "Cake"}),
    "updateRoom/picture": lambda s: Request({"picture": s.image}),
    "unarchiveRoom": lambda s: room(s.archived),
    "transferRoom": lambda s: Request({"userId": s.other.id}),
    "setRoomNotifications": lambda s: Request({"level": "mentions"}),
    "hideRoom": lambda s: Request({"isHidden": True}, path={"roomId": s.direct.id}),
    "muteRoom": lambda s: Request({"until": later(days=1)}),
    "listMembers": lambda s: Request(shows=s.other.id),
    "addMember": lambda s: user(s.newcomer.id),
    "removeMember/administrator": lambda s: user(s.other_administrator.id),
    "changeMemberRole": lambda s: Request({"role": "administrator"}),
    "changeMemberRole/administrator": lambda s: user(s.other_administrator.id, {"role": "member"}),
    "silenceMember": lambda s: Request({"until": later(days=1)}),
    "silenceMember/administrator": lambda s: user(s.other_administrator.id, {"until": later(days=1)}),
    "getJoinHistory": lambda s: Request(shows=s.left.id),
    "listBans": lambda s: Request(shows=s.banned.id),
    "banUser": lambda s: user(s.newcomer.id),
    "banUser/administrator": lambda s: user(s.other_administrator.id),
    "unbanUser": lambda s: user(s.banned.id),
    "fileReport": lambda s: Request({"id": new_id(), "userId": s.other.id, "reason": "spam"}),
    "fileReport/message": lambda s: Request({"id": new_id(), "messageId": s.message_of_other, "reason": "spam"}),
    "listReports": lambda s: Request(shows=s.report),
    "getReport": lambda s: Request(shows=s.word),
    "getReport/owner": lambda s: report(s.report_by_owner, shows=s.word),
    "getReport/administrator": lambda s: report(s.report_about_administrator, shows=s.word),
    "getReport/left": lambda s: report(s.report_by_left, shows=s.word),
    "resolveReport": lambda s: Request({"outcome": "no_action"}),
    "resolveReport/administrator": lambda s: report(s.report_about_administrator, {"outcome": "no_action"}),
    "reopenReport": lambda s: report(s.resolved_report),
    "reopenReport/administrator": lambda s: report(s.resolved_report_about_administrator),
    "listReports/private": lambda s: room(s.private, shows=s.private_report),
    "getReport/private": lambda s: Request(
        path={"roomId": s.private.id, "reportId": s.private_report}, shows=s.word),
    "resolveReport/private": lambda s: Request(
        {"outcome": "no_action"}, path={"roomId": s.private.id, "reportId": s.private_report}),
    "listWorkspaceReports": lambda s: Request(shows=s.private_report),
    "listAllReports": lambda s: Request(shows=s.report),
    "createInvite": lambda s: Request({"id": new_id(), "role": "member"}),
    "listInvites": lambda s: Request(shows=s.invite["id"]),
    "previewInvite": lambda s: Request(shows=s.word),
    # Channels
    "getRoom/public": lambda s: room(s.public, shows=s.word),
    "joinRoom/public": lambda s: room(s.public),
    "updateRoom/public": lambda s: room(s.public, {"name": "Cake"}),
    "deleteRoom/public": lambda s: room(s.public),
    "transferRoom/public": lambda s: room(s.public, {"userId": s.other.id}),
    "banUser/public": lambda s: Request(path={"roomId": s.public.id, "userId": s.other.id}),
    "listBans/public": lambda s: room(s.public, shows=s.banned.id),
    "listMembers/public": lambda s: room(s.public, shows=s.other.id),
    "getJoinHistory/public": lambda s: room(s.public, shows=s.other.id),
    "listInvites/public": lambda s: Request(
        path={"roomId": s.public.id, "inviteId": s.channel_invite["id"]}, shows=s.channel_invite["id"]),
    "createInvite/public": lambda s: room(s.public, {"id": new_id(), "role": "member"}),
    "listMessages/public": lambda s: room(s.public, shows=s.word),
    "sendMessage/public": lambda s: Request(text(), path={"roomId": s.public.id, "messageId": new_id()}),
    "previewInvite/public": lambda s: invite(s.channel_invite, shows=s.word),
    "acceptInvite/public": lambda s: invite(s.channel_invite),
    "getRoom/private": lambda s: room(s.private, shows=s.word),
    "joinRoom/private": lambda s: room(s.private),
    "updateRoom/private": lambda s: room(s.private, {"name": "Cake"}),
    "deleteRoom/private": lambda s: room(s.private),
    "pinMessage/private": lambda s: Request(path={"roomId": s.private.id, "messageId": s.news}),
    "unpinMessage/private": lambda s: Request(path={"roomId": s.private.id, "messageId": s.pinned_news}),
    # Workspaces
    "createWorkspace": lambda s: Request({"id": new_id(), "name": "Office"}),
    "listWorkspaces": lambda s: Request(query={"limit": 200}, shows=s.workspace.id),
    "getWorkspace": lambda s: Request(shows=s.word),
    "updateWorkspace": lambda s: Request({"name": "Warehouse"}),
    "updateWorkspace/picture": lambda s: Request({"picture": s.image}),
    "transferWorkspace": lambda s: Request({"userId": s.other.id}),
    "listChannels": lambda s: Request(shows=s.public.id),
    "listChannels/private": lambda s: Request(shows=s.private.id),
    "listWorkspaceMembers": lambda s: Request(shows=s.other.id),
    "changeWorkspaceRole": lambda s: Request({"role": "guest"}),
    "joinWorkspace": lambda s: Request(path={"workspaceId": s.invited(s.newcomer).id}),
    "joinWorkspace/invited": lambda s: Request(path={"workspaceId": s.invited(s.stranger, s.left, s.banned).id}),
    "createWorkspaceInvite": lambda s: Request({"id": new_id(), "role": "member"}),
    "listWorkspaceInvites": lambda s: Request(shows=s.workspace_invite["id"]),
    "revokeWorkspaceInvite": lambda s: invite(s.workspace_invite),
    "previewInvite/workspace": lambda s: invite(s.workspace_invite, shows=s.word),
    "acceptInvite/workspace": lambda s: invite(s.workspace_invite),
    "listInvitations": lambda s: Request(path={"workspaceId": s.invited(s.newcomer).id}, shows=s.newcomer.id),
    "inviteUser": lambda s: user(s.newcomer.id, {"role": "guest"}),
    "withdrawInvitation": lambda s: Request(path={"workspaceId": s.invited(s.newcomer).id, "userId": s.newcomer.id}),
    "listMyInvitations": lambda s: Request(shows=s.inviting.id),
    "declineInvitation": lambda s: Request(path={"workspaceId": s.inviting.id}),
    # Messages
    "listMessages": lambda s: Request(shows=s.message),
    "sendMessage": lambda s: message(new_id(), text()),
    "sendMessage/file": lambda s: message(new_id(), file(s)),
    "getMessage": lambda s: Request(shows=s.word),
    "editMessage": lambda s: Request({"text": "goodbye"}),
    "deleteMessage": lambda s: message(s.message_of_other),
    "messageHistory": lambda s: Request(shows=s.word),
    "moveReadMarker": lambda s: Request({"messageId": s.message_of_other}),
    "listReadMarkers": lambda s: message(s.message, shows=s.member.id),
    "setTyping": lambda s: Request({"typing": True}),
    "markUnread": lambda s: Request({"messageId": s.message_of_other}),
    "listThread": lambda s: Request(shows=s.reply),
    "moveThreadMarker": lambda s: Request({"messageId": s.reply}),
    "followThread": lambda s: message(s.thread, {"follows": False}),
    "listThreads": lambda s: Request(shows=s.thread),
    "listReactions": lambda s: message(s.reacted, shows=s.owner.id),
    "removeReaction": lambda s: message(s.reacted, changes=s.reaction_of_owner),
    "listPins": lambda s: Request(shows=s.pin),
    "unpinMessage": lambda s: message(s.pin),
    "sync": lambda s: Request(query={"include": "room", "rooms": s.room.id, "limit": 1000}, shows=s.room.id),
    "sync/messages": lambda s: Request(query={"include": "message", "limit": 1000}, shows=s.message),
    "syncSocket": lambda s: Request(headers=HANDSHAKE),
    # The account is in the first page, so that there is one.
    "syncStream": lambda s: Request(query={"include": "account,room", "rooms": s.room.id}, shows=s.room.id, is_stream=True),
    "search": lambda s: Request(query={"q": s.searched}, shows=s.message),
    "search/room": lambda s: Request(query={"q": s.searched, "roomId": s.room.id}, shows=s.message),
    "ingest": lambda s: Request(line={"op": "message.send", "roomId": s.room.id, "id": new_id(), **text()}),
    "ingest/named": lambda s: Request(
        line={"op": "message.send", "roomId": s.room.id, "id": new_id(), "as": s.owner.id, **text()}),
    "ingest/join": lambda s: Request(line={"op": "member.join", "roomId": s.room.id, "as": s.newcomer.id}),
    "ingest/delete": lambda s: Request(line={"op": "message.delete", "roomId": s.room.id, "id": s.message_of_other}),
    # Scheduled messages
    "scheduleMessage": lambda s: message(new_id(), s.to_be_sent),
    "scheduleMessage/file": lambda s: message(new_id(), s.to_be_sent | file(s)),
    "changeScheduledMessage": lambda s: message(s.scheduled, {"text": "never"}),
    "cancelScheduledMessage": lambda s: message(s.scheduled),
    "cancelScheduledMessage/left": lambda s: message(s.scheduled_by_left),
    "getScheduledMessage": lambda s: message(s.scheduled, shows=s.word),
    "getScheduledMessage/left": lambda s: message(s.scheduled_by_left, shows=s.word),
    "listScheduledMessages": lambda s: Request(shows=s.scheduled),
    "listAllScheduledMessages": lambda s: Request(query={"limit": 200}, shows=s.scheduled),
    # Media
    "uploadMedia": lambda s: Request(data=s.fresh_image()),
    "signMedia": lambda s: Request({"files": [{"mediaId": s.image_in_message}]}, shows=s.image_in_message),
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


def request_for(row: str, scenario: AuthorizationScenario) -> Request:
    return REQUESTS[row](scenario) if row in REQUESTS else Request()
