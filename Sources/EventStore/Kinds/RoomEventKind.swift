/// The kinds of facts of a room's stream. Numbers stand in the log and are forever.
package enum RoomEventKind: UInt16, Sendable, CaseIterable {
  case roomCreated = 100
  case roomRenamed = 101
  case roomArchived = 102
  case roomEdited = 103
  case roomDeleted = 104
  case roomRestored = 105
  case inviteCreated = 110
  case inviteRevoked = 111
  case memberJoined = 120
  case memberAdded = 121
  case memberLeft = 122
  case memberRemoved = 123
  case admissionRepeated = 124
  case roomMuted = 125
  case roleChanged = 126
  case memberBanned = 127
  case memberUnbanned = 128
  case memberSilenced = 129
  case messageSent = 130
  case messageEdited = 131
  case messageDeleted = 132
  case reactionAdded = 133
  case reactionRemoved = 134
  case messagePinned = 135
  case messageUnpinned = 136
  case threadMessageSent = 137
  case readMarkerMoved = 140
  case markedUnread = 141
  case threadMarkerMoved = 142
  case threadFollowingSet = 143
  case messageScheduled = 160
  case scheduledMessageChanged = 161
  case scheduledMessageCancelled = 162
  case scheduledMessageFailed = 163

  /// What the tools print and filter by.
  package var name: String {
    switch self {
    case .roomCreated: "room.created"
    case .roomRenamed: "room.renamed"
    case .roomArchived: "room.archived"
    case .roomEdited: "room.edited"
    case .roomDeleted: "room.deleted"
    case .roomRestored: "room.restored"
    case .inviteCreated: "invite.created"
    case .inviteRevoked: "invite.revoked"
    case .memberJoined: "member.joined"
    case .memberAdded: "member.added"
    case .memberLeft: "member.left"
    case .memberRemoved: "member.removed"
    case .admissionRepeated: "admission.repeated"
    case .roomMuted: "room.muted"
    case .roleChanged: "role.changed"
    case .memberBanned: "member.banned"
    case .memberUnbanned: "member.unbanned"
    case .memberSilenced: "member.silenced"
    case .messageSent: "message.sent"
    case .messageEdited: "message.edited"
    case .messageDeleted: "message.deleted"
    case .reactionAdded: "reaction.added"
    case .reactionRemoved: "reaction.removed"
    case .messagePinned: "message.pinned"
    case .messageUnpinned: "message.unpinned"
    case .threadMessageSent: "thread-message.sent"
    case .readMarkerMoved: "read-marker.moved"
    case .markedUnread: "read-marker.marked-unread"
    case .threadMarkerMoved: "thread-marker.moved"
    case .threadFollowingSet: "thread-following.set"
    case .messageScheduled: "message.scheduled"
    case .scheduledMessageChanged: "scheduled-message.changed"
    case .scheduledMessageCancelled: "scheduled-message.cancelled"
    case .scheduledMessageFailed: "scheduled-message.failed"
    }
  }
}
