"""Who may do what: a row for each operation of docs/openapi.yaml, and more rows if a right depends on the object.

The name of a row is its operation and, after a slash, what is special about the object of the request;
`authorization_requests.py` defines that. A cell is a status, and after a slash an abbreviated code (CODES). `own` marks
a request that succeeds but concerns only the caller and nothing in the scenario: a list without the object of the row,
or a write that leaves that object unchanged. The columns are the callers of `scenario.py`. The owner of the scenario
has the object of the row, such as the room, the session or the file. The service acts as itself, not as a user. A
caller who lacks two rights may get the code for either: a caller who sees neither the file nor the room gets `404/file`
for setting the file as the picture of the room.

The table follows from docs/domain.md, docs/identity.md, docs/media.md and docs/ingest.md, and not from observed
responses of the server.
"""

from dataclasses import dataclass

CODES = {
    "400": "acting_user_required",
    "400/form": "invalid_field",
    "401": "access_token_missing",
    "403": "forbidden",
    "403/ban": "banned",
    "403/office": "workspace_members_only",
    "403/pass": "password_wrong",
    "403/serv": "service_only",
    "404/ask": "invitation_not_found",
    "404/block": "block_not_found",
    "404/dev": "device_not_found",
    "404/id": "identity_not_found",
    "404/file": "media_not_found",
    "404/later": "scheduled_message_not_found",
    "404/report": "report_not_found",
    "404/login": "session_not_found",
    "404/office": "workspace_not_found",
    "404/room": "room_not_found",
    "409/heir": "owner_must_transfer",
    "409/pass": "password_missing",
    "426": "upgrade_required",
}
OWN = "/own"

TABLE = """
                                anonymous stranger   member     left       banned     administrator owner      service

createAccount                   201       201        201        201        201        201           201        201
createAccount/external          403/serv  403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   201
createSession                   201       201        201        201        201        201           201        201
createSession/named             400/form  400/form   400/form   400/form   400/form   400/form      400/form   201
refreshSession                  200       200        200        200        200        200           200        200
resetPassword                   200       200        200        200        200        200           200        200
signingKeys                     200       200        200        200        200        200           200        200
overview                        200       200        200        200        200        200           200        200
health                          200       200        200        200        200        200           200        200
readiness                       200       200        200        200        200        200           200        200
openAPIDocument                 200       200        200        200        200        200           200        200

findUsers                       401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
requestPasswordReset            401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
disableUser                     401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
enableUser                      401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
deleteUser                      401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
listErasures                    401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
getErasure                      401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
listLegalHolds                  401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
holdUser                        401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   201
releaseUser                     401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
holdRoom                        401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   201
releaseRoom                     401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
listUserSessions                401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
endUserSessions                 401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
rotateSigningKey                401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
explainPush                     401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
confirmClock                    401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
listProjections                 401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
rebuildProjection               401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   202
cancelProjectionRebuild         401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200

getUser                         401       200        200        200        200        200           200        200
getUsers                        401       200        200        200        200        200           200        200
getUsers/email                  401       200/own    200/own    200/own    200/own    200/own       200/own    200
getMe                           401       200/own    200/own    200/own    200/own    200/own       200        400
updateMe                        401       200/own    200/own    200/own    200/own    200/own       200        400
updateMe/picture                401       404/file   404/file   404/file   404/file   404/file      200        400
deleteMe                        401       409/pass   409/pass   409/pass   409/pass   409/pass      200        400
changePassword                  401       403/pass   403/pass   403/pass   403/pass   403/pass      200        400
linkIdentity                    401       409/pass   409/pass   409/pass   409/pass   409/pass      200        400
unlinkIdentity                  401       404/id     404/id     404/id     404/id     404/id        200        400
getPreferences                  401       200/own    200/own    200/own    200/own    200/own       200        400
updatePreferences               401       200/own    200/own    200/own    200/own    200/own       200        400
setPresence                     401       200        200        200        200        200           200        400
setOpenRooms                    401       200        200        200        200        200           200        400
listBlockedUsers                401       200/own    200/own    200/own    200/own    200/own       200        400
blockUser                       401       201/own    201/own    201/own    201/own    201/own       201        400
unblockUser                     401       404/block  404/block  404/block  404/block  404/block     200        400
listSessions                    401       200/own    200/own    200/own    200/own    200/own       200        400
endSessions                     401       200/own    200/own    200/own    200/own    200/own       200        400
endSession                      401       404/login  404/login  404/login  404/login  404/login     200        400
listDevices                     401       200/own    200/own    200/own    200/own    200/own       200        400
getDevice                       401       404/dev    404/dev    404/dev    404/dev    404/dev       200        400
putDevice                       401       201/own    201/own    201/own    201/own    201/own       200        400
deleteDevice                    401       404/dev    404/dev    404/dev    404/dev    404/dev       200        400

createRoom                      401       201        201        201        201        201           201        201
createRoom/direct               401       201        201        201        201        201           201        400
createRoom/channel              401       404/office 201        404/office 404/office 201           201        201
listRooms                       401       200/own    200        200/own    200/own    200           200        400
getRoom                         401       404/room   200        404/room   404/room   200           200        400
updateRoom                      401       404/room   403        404/room   404/room   200           200        200
updateRoom/picture              401       404/file   404/file   404/file   404/file   404/file      200        200
deleteRoom                      401       404/room   403        404/room   404/room   403           200        200
archiveRoom                     401       404/room   403        404/room   404/room   200           200        200
unarchiveRoom                   401       404/room   403        404/room   404/room   200           200        200
transferRoom                    401       404/room   403        404/room   404/room   403           200        200
joinRoom                        401       404/room   200        404/room   404/room   200           200        400
leaveRoom                       401       404/room   200        404/room   404/room   200           409/heir   400
setRoomNotifications            401       404/room   200        404/room   404/room   200           200        400
muteRoom                        401       404/room   200        404/room   404/room   200           200        400
hideRoom                        401       404/room   200        404/room   404/room   404/room      200        400
listMembers                     401       404/room   200        404/room   404/room   200           200        400
addMember                       401       404/room   403        404/room   404/room   201           201        201
removeMember                    401       404/room   403        404/room   404/room   200           200        200
removeMember/administrator      401       404/room   403        404/room   404/room   403           200        200
changeMemberRole                401       404/room   403        404/room   404/room   200           200        200
changeMemberRole/administrator  401       404/room   403        404/room   404/room   403           200        200
silenceMember                   401       404/room   403        404/room   404/room   200           200        200
silenceMember/administrator     401       404/room   403        404/room   404/room   403           200        200
getJoinHistory                  401       404/room   403        404/room   404/room   200           200        400
listBans                        401       404/room   403        404/room   404/room   200           200        400
banUser                         401       404/room   403        404/room   404/room   201           201        201
banUser/administrator           401       404/room   403        404/room   404/room   403           201        201
unbanUser                       401       404/room   403        404/room   404/room   200           200        200
fileReport                      401       404/room   201        404/room   404/room   201           201        400
fileReport/message              401       404/room   201        404/room   404/room   201           201        400
listReports                     401       404/room   403        404/room   404/room   200           200        200
getReport                       401       404/room   200        404/room   404/room   200           200        200
getReport/owner                 401       404/room   404/report 404/room   404/room   200           200        200
getReport/administrator         401       404/room   200        404/room   404/room   404/report    200        200
getReport/left                  401       404/room   404/report 200        404/room   200           200        200
resolveReport                   401       404/room   403        404/room   404/room   200           200        200
resolveReport/administrator     401       404/room   403        404/room   404/room   404/report    200        200
reopenReport                    401       404/room   403        404/room   404/room   200           200        200
reopenReport/administrator      401       404/room   403        404/room   404/room   404/report    200        200
listReports/private             401       404/room   403        404/room   404/room   200           200        200
getReport/private               401       404/room   200        404/room   404/room   200           200        200
resolveReport/private           401       404/room   403        404/room   404/room   200           200        200
listWorkspaceReports            401       404/office 403        404/office 403        200           200        200
listAllReports                  401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   200
createInvite                    401       404/room   403        404/room   404/room   201           201        201
listInvites                     401       404/room   403        404/room   404/room   200           200        400
revokeInvite                    401       404/room   403        404/room   404/room   200           200        200
previewInvite                   401       200        200        200        403/ban    200           200        400
acceptInvite                    401       201        200        201        403/ban    200           200        400

getRoom/public                  401       404/room   200        404/room   200        200           200        400
joinRoom/public                 401       404/room   201        404/room   403/ban    201           200        400
updateRoom/public               401       404/room   404/room   404/room   404/room   200           200        200
deleteRoom/public               401       404/room   404/room   404/room   404/room   200           200        200
transferRoom/public             401       404/room   404/room   404/room   404/room   404/room      200        200
banUser/public                  401       404/room   404/room   404/room   404/room   201           201        201
listMembers/public              401       404/room   404/room   404/room   404/room   200           200        400
listBans/public                 401       404/room   404/room   404/room   404/room   200           200        400
getJoinHistory/public           401       404/room   404/room   404/room   404/room   200           200        400
listInvites/public              401       404/room   404/room   404/room   404/room   200           200        400
createInvite/public             401       404/room   404/room   404/room   404/room   201           201        201
listMessages/public             401       404/room   404/room   404/room   404/room   404/room      200        400
sendMessage/public              401       404/room   404/room   404/room   404/room   404/room      201        400
previewInvite/public            401       200        200        200        403/ban    200           200        400
acceptInvite/public             401       403/office 201        403/office 403/ban    201           200        400
getRoom/private                 401       404/room   200        404/room   404/room   404/room      200        400
joinRoom/private                401       404/room   200        404/room   404/room   404/room      200        400
updateRoom/private              401       404/room   403        404/room   404/room   404/room      200        200
deleteRoom/private              401       404/room   403        404/room   404/room   404/room      200        200
pinMessage/private              401       404/room   403        404/room   404/room   404/room      201        400
unpinMessage/private            401       404/room   403        404/room   404/room   404/room      200        400

createWorkspace                 401       201        201        201        201        201           201        400
listWorkspaces                  401       200/own    200        200/own    200/own    200           200        400
getWorkspace                    401       404/office 200        404/office 404/office 200           200        400
updateWorkspace                 401       404/office 403        404/office 404/office 200           200        200
updateWorkspace/picture         401       404/file   404/file   404/file   404/file   404/file      200        200
deleteWorkspace                 401       404/office 403        404/office 404/office 403           200        200
transferWorkspace               401       404/office 403        404/office 404/office 403           200        200
listChannels                    401       404/office 200        404/office 200        200           200        400
listChannels/private            401       404/office 200        404/office 200/own    200/own       200        400
listWorkspaceMembers            401       404/office 200        404/office 404/office 200           200        400
removeWorkspaceMember           401       404/office 403        404/office 404/office 200           200        200
changeWorkspaceRole             401       404/office 403        404/office 404/office 200           200        200
joinWorkspace                   401       404/ask    200        404/ask    404/ask    200           200        400
joinWorkspace/invited           401       201        200        201        201        200           200        400
leaveWorkspace                  401       404/office 200        404/office 404/office 200           409/heir   400
createWorkspaceInvite           401       404/office 403        404/office 404/office 201           201        201
listWorkspaceInvites            401       404/office 403        404/office 404/office 200           200        400
revokeWorkspaceInvite           401       404/office 403        404/office 404/office 200           200        200
previewInvite/workspace         401       200        200        200        200        200           200        400
acceptInvite/workspace          401       201        200        201        201        200           200        400
listInvitations                 401       404/office 403        404/office 404/office 200           200        400
inviteUser                      401       404/office 403        404/office 404/office 201           201        201
withdrawInvitation              401       404/office 403        404/office 404/office 200           200        200
listMyInvitations               401       200/own    200/own    200/own    200/own    200/own       200        400
declineInvitation               401       404/ask    404/ask    404/ask    404/ask    404/ask       200        400

listMessages                    401       404/room   200        404/room   404/room   200           200        400
sendMessage                     401       404/room   201        404/room   404/room   201           201        400
sendMessage/file                401       404/room   404/file   404/room   404/room   404/file      201        400
getMessage                      401       404/room   200        404/room   404/room   200           200        400
editMessage                     401       404/room   200        404/room   404/room   403           403        400
deleteMessage                   401       404/room   403        404/room   404/room   200           200        200
deleteMessage/own               401       404/room   200        404/room   404/room   200           200        200
messageHistory                  401       404/room   200        404/room   404/room   200           200        400
moveReadMarker                  401       404/room   200        404/room   404/room   200           200        400
listReadMarkers                 401       404/room   200        404/room   404/room   200           200        400
setTyping                       401       404/room   200        404/room   404/room   200           200        400
markUnread                      401       404/room   200        404/room   404/room   200           200        400
listThread                      401       404/room   200        404/room   404/room   200           200        400
moveThreadMarker                401       404/room   200        404/room   404/room   200           200        400
followThread                    401       404/room   200        404/room   404/room   200           200        400
listThreads                     401       200/own    200        200/own    200/own    200           200        400
listReactions                   401       404/room   200        404/room   404/room   200           200        400
addReaction                     401       404/room   201        404/room   404/room   201           201        400
removeReaction                  401       404/room   200/own    404/room   404/room   200/own       200        400
listPins                        401       404/room   200        404/room   404/room   200           200        400
pinMessage                      401       404/room   201        404/room   404/room   201           201        400
unpinMessage                    401       404/room   200        404/room   404/room   200           200        400
getBadge                        401       200        200        200        200        200           200        400
explainBadge                    401       200        200        200        200        200           200        400
sync                            401       200/own    200        200/own    200/own    200           200        400
sync/messages                   401       200/own    200        200/own    200/own    200           200        400
createStreamTicket              401       200       200        200        200        200           200        400
syncSocket                      101       101       101        101        101        101           101        101
syncStream                      401       200/own   200        200/own    200/own    200           200        400
search                          401       200/own    200        200/own    200/own    200           200        400
search/room                     401       404/room   200        404/room   404/room   200           200        400
ingest                          401       404/room   201        404/room   404/room   201           201        400
ingest/named                    401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   201
ingest/join                     401       403/serv   403/serv   403/serv   403/serv   403/serv      403/serv   201
ingest/delete                   401       404/room   403        404/room   404/room   200           200        400

scheduleMessage                 401       404/room   201        404/room   404/room   201           201        400
scheduleMessage/file            401       404/room   404/file   404/room   404/room   404/file      201        400
changeScheduledMessage          401       404/room   404/later  404/room   404/room   404/later     200        400
cancelScheduledMessage          401       404/room   404/later  404/room   404/room   404/later     200        400
cancelScheduledMessage/left     401       404/room   404/later  200        404/room   404/later     404/later  400
getScheduledMessage             401       404/room   404/later  404/room   404/room   404/later     200        400
getScheduledMessage/left        401       404/room   404/later  200        404/room   404/later     404/later  400
listScheduledMessages           401       404/room   200/own    404/room   404/room   200/own       200        400
listAllScheduledMessages        401       200/own    200/own    200/own    200/own    200/own       200        400

uploadMedia                     401       201        201        201        201        201           201        400
signMedia                       401       200/own    200        200/own    200/own    200           200        400
getMedia                        401       404/file   404/file   404/file   404/file   404/file      200        200
getMedia/message                401       404/file   200        404/file   404/file   200           200        200
getMedia/deleted                401       404/file   404/file   404/file   404/file   404/file      200        200
getMedia/scheduled              401       404/file   404/file   404/file   404/file   404/file      200        200
getMedia/user                   401       200        200        200        200        200           200        200
getMedia/room                   401       404/file   200        404/file   404/file   200           200        200
getMedia/public                 401       404/file   200        404/file   200        200           200        200
getMedia/private                401       404/file   200        404/file   404/file   404/file      200        200
getMedia/workspace              401       404/file   200        404/file   404/file   200           200        200
getThumbnail                    401       404/file   404/file   404/file   404/file   404/file      200        200
getThumbnail/message            401       404/file   200        404/file   404/file   200           200        200
"""

# A service that acts as a user has the rights of that user. These rows differ when it acts as a stranger: the service
# can add the user to a room or workspace (but to a channel only if the user is in the workspace), it can name users in
# its ingest lines, and it has no session of its own that `endSessions` would keep.
IN_A_STRANGERS_NAME = {
    "joinRoom": "201",
    "joinRoom/public": "403/office",
    "joinRoom/private": "403/office",
    "joinWorkspace": "201",
    "ingest/named": "201",
    "ingest/join": "201",
    "endSessions": "200/own",
}


@dataclass(frozen=True)
class Cell:
    status: int
    code: str | None
    # The request succeeds but does not concern anything in the scenario.
    own: bool


@dataclass(frozen=True)
class Row:
    name: str
    cells: dict[str, Cell]

    @property
    def operation(self) -> str:
        return self.name.split("/")[0]

    @property
    def in_a_strangers_name(self) -> Cell:
        """The cell for a service that acts as a stranger."""
        return cell(IN_A_STRANGERS_NAME[self.name]) if self.name in IN_A_STRANGERS_NAME else self.cells["stranger"]


def cell(text: str) -> Cell:
    status = int(text.split("/")[0])
    if status >= 400:
        return Cell(status, CODES[text], False)
    assert text in (str(status), str(status) + OWN), f"no such cell: {text}"
    return Cell(status, None, text.endswith(OWN))


def read(table: str) -> list[Row]:
    head, *lines = (line.split() for line in table.splitlines() if line.strip())
    for name, *cells in lines:
        assert len(cells) == len(head), f"{name} has {len(cells)} cells instead of {len(head)}"
    rows = [Row(name, dict(zip(head, map(cell, cells)))) for name, *cells in lines]
    names = [row.name for row in rows]
    assert len(set(names)) == len(names), f"twice: {sorted(name for name in names if names.count(name) > 1)}"
    return rows


ROWS = read(TABLE)
