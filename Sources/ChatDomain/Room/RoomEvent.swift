package import ChatPrimitives

/// The facts of one room's stream. Where a fact has an author, it is the record's actor too.
/// `erased` stands for any of them whose payload is gone, save a message, whose ordinal must stay, and those that have no
/// payload: a removal or a revocation is never undone by an erasure.
package enum RoomEvent: Sendable, Equatable {
  case created(RoomCreation)
  case renamed(name: String)
  case archived
  case inviteCreated(Invite)
  case inviteRevoked(InviteID)
  /// Came in by an invite, or by an administrator's word when `invite` is nil.
  case memberJoined(UserID, role: Role, invite: InviteID?)
  /// Was brought in by another member.
  case memberAdded(UserID, role: Role)
  /// Was to come in and had been a member all along. Changes nothing; recorded for the idempotency key alone, so that
  /// its late retry does not bring back who has left since.
  case admissionRepeated(UserID, Admission)
  case memberLeft(UserID)
  /// Was put out by another member.
  case memberRemoved(UserID)
  /// No notices of this room reach the user until the time; nil lifts it.
  case muted(UserID, until: Timestamp?)
  /// Takes the room's next ordinal, and moves the author's marker to it. `text` is nil when it was erased.
  case messageSent(MessageID, author: UserID, text: String?)
  /// The ordinal is the one that sending gave the message; with it no reader has to look the message's ID up.
  case messageEdited(MessageID, ordinal: UInt64, text: String?)
  case messageDeleted(MessageID, ordinal: UInt64)
  /// The user has read up to the message with this ordinal.
  case readMarkerMoved(UserID, to: MessageID, ordinal: UInt64)
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

  package init(kind: RoomKind, name: String, creator: UserID?) {
    self.kind = kind
    self.name = name
    self.creator = creator
  }

  package var fingerprint: Fingerprint {
    Fingerprint(.number(Int64(kind.rawValue)), .text(name), .id(creator?.uuid))
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

/// A link that lets whoever holds it into a room.
package struct Invite: Sendable, Hashable {
  package var id: InviteID
  /// SHA-256 of the token; the token itself is never written.
  package var tokenHash: [UInt8]
  /// The role that whoever accepts it gets.
  package var role: Role
  package var expiresAt: Timestamp
  /// How many users may accept it; nil means as many as the room takes.
  package var maximumUses: UInt32?

  package init(id: InviteID, tokenHash: [UInt8], role: Role, expiresAt: Timestamp, maximumUses: UInt32?) {
    self.id = id
    self.tokenHash = tokenHash
    self.role = role
    self.expiresAt = expiresAt
    self.maximumUses = maximumUses
  }

  package var fingerprint: Fingerprint {
    Fingerprint(
      .id(id.uuid), .number(Int64(role.rawValue)), .number(expiresAt.milliseconds),
      .number(maximumUses.map(Int64.init)))
  }
}
