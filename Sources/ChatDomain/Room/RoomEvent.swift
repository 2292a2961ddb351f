package import ChatPrimitives

/// The facts of one room's stream. Where a fact has an author, it is the record's actor too.
/// `erased` stands for any of them whose payload is gone, save a message, whose ordinal must stay, and those that have no
/// payload: a removal or a revocation is never undone by an erasure.
package enum RoomEvent: Sendable, Equatable {
  case created(RoomCreation)
  case edited(RoomEdit)
  /// To be read only.
  case archived
  /// Open again after an archiving.
  case restored
  /// Gone for everybody, with all that was said in it.
  case deleted
  case inviteCreated(Invite)
  case inviteRevoked(InviteID)
  /// Came in by an invite; when `invite` is nil, into a public channel by the user's own will, or by a service's word.
  case memberJoined(UserID, role: Role, invite: InviteID?)
  /// Was brought in by another member.
  case memberAdded(UserID, role: Role)
  /// Was to come in and had been a member all along. Changes nothing; recorded for the idempotency key alone, so that
  /// its late retry does not bring back who has left since.
  case admissionRepeated(UserID, Admission)
  case memberLeft(UserID)
  /// Was put out by another member.
  case memberRemoved(UserID)
  case roleChanged(UserID, Role)
  /// Was put out, if a member, and cannot come in again.
  case memberBanned(UserID)
  case memberUnbanned(UserID)
  /// May read and not speak until the time; nil lifts it.
  case memberSilenced(UserID, until: Timestamp?)
  /// No notices of this room reach the user until the time; nil lifts it.
  case muted(UserID, until: Timestamp?)
  /// Takes the next ordinal of the room, or, in a thread, the one that it says, and moves the author's marker there to it.
  /// The content is nil when it was erased; of a message in a thread then only `erased` is left.
  case messageSent(MessageID, author: UserID, thread: ThreadPlace?, MessageContent?)
  /// The place is the one that sending gave the message; with it no reader has to look the message's ID up. So below,
  /// too. The edit is nil when it was erased.
  case messageEdited(MessageID, at: MessagePlace, MessageEdit?)
  case messageDeleted(MessageID, at: MessagePlace)
  case reactionAdded(MessageID, at: MessagePlace, by: UserID, emoji: String)
  case reactionRemoved(MessageID, at: MessagePlace, by: UserID, emoji: String)
  case messagePinned(MessageID, at: MessagePlace)
  case messageUnpinned(MessageID, at: MessagePlace)
  /// The user has read the room's timeline up to the message with this ordinal.
  case readMarkerMoved(UserID, to: MessageID, ordinal: UInt64)
  /// The user has read a thread up to this message.
  case threadMarkerMoved(UserID, to: MessageID, at: MessagePlace)
  /// The user wants the message and all after it shown as unread, until the marker moves the next time.
  case markedUnread(UserID, from: MessageID, ordinal: UInt64)
  /// Whether the user wants to hear of a thread. Who writes in it, is called in it, or wrote its root, follows anyway
  /// until the user says no.
  case threadFollowingSet(UserID, ThreadRoot, follows: Bool)
  case messageScheduled(MessageID, ScheduledMessage)
  case scheduledMessageChanged(MessageID, ScheduledMessageEdit)
  case scheduledMessageCancelled(MessageID)
  /// Its time came, and it could not be sent.
  case scheduledMessageFailed(MessageID, SchedulingFailure)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

/// By what a user comes into a room.
package enum Admission: Sendable, Hashable {
  case invite(InviteID)
  /// A service's word.
  case service
  /// Another member's word.
  case member
}

package struct RoomCreation: Sendable, Equatable {
  package var kind: RoomKind
  package var name: String
  /// Becomes the owner and first member; nil when a service made the room.
  package var creator: UserID?

  /// Whose channel it is.
  package var workspace: WorkspaceID?
  /// Every member of the workspace, guests excepted, may find it and come in.
  package var isPublic: Bool
  package var topic: String?
  /// Of a direct room: all of its members, the creator included, in the order of their IDs. Empty for any other.
  package var participants: [UserID]

  package init(
    kind: RoomKind, name: String, creator: UserID?, workspace: WorkspaceID? = nil, isPublic: Bool = false,
    topic: String? = nil, participants: [UserID] = []
  ) {
    self.kind = kind
    self.name = name
    self.creator = creator
    self.workspace = workspace
    self.isPublic = isPublic
    self.topic = topic
    self.participants = participants
  }

  /// A direct room is told by its members alone: whoever of them asks for it means the same one.
  package var fingerprint: Fingerprint {
    if kind == .direct, !participants.isEmpty {
      return Fingerprint([.text("room.direct")] + participants.map { .id($0.uuid) })
    }
    let plain: [Fingerprint.Field] = [.number(Int64(kind.rawValue)), .text(name), .id(creator?.uuid)]
    guard workspace != nil || isPublic || topic != nil else { return Fingerprint(plain) }
    return Fingerprint(plain + [.id(workspace?.uuid), .number(isPublic ? 1 : 0), .text(topic)])
  }
}

/// What is put in the place of what; nil leaves a part as it is.
package struct RoomEdit: Sendable, Hashable {
  package var name: String?
  /// An empty text takes it away.
  package var topic: String?
  package var picture: PictureEdit?

  package init(name: String? = nil, topic: String? = nil, picture: PictureEdit? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
  }
}

/// The raw values stand in the log; the names in the API.
package enum RoomKind: UInt8, Sendable, CaseIterable {
  case group = 1
  case direct = 2
  case channel = 3

  package var name: String {
    switch self {
    case .group: "group"
    case .direct: "direct"
    case .channel: "channel"
    }
  }
}

/// What a member may do; the raw values stand in the log, ordered by power.
package enum Role: UInt8, Sendable, CaseIterable, Comparable {
  case member = 1
  case administrator = 2
  case owner = 3

  package var name: String {
    switch self {
    case .member: "member"
    case .administrator: "administrator"
    case .owner: "owner"
    }
  }

  package init?(name: String) {
    guard let role = Role.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }

  package static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}
