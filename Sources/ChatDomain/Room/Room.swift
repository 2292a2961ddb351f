package import ChatPrimitives

/// What deciding about one room needs to know. Single messages are not kept: see `MessageFacts`.
package enum RoomState: Sendable, Equatable {
  case absent
  case open(Room)
  /// To be read only, since the stamp.
  case archived(Room, Stamp)

  /// The room, open or archived.
  package var room: Room? {
    switch self {
    case .absent: nil
    case .open(let room), .archived(let room, _): room
    }
  }
}

package struct Room: Sendable, Equatable {
  /// Of the creation; nil when that was erased, and then no retry of it can be recognised.
  package var creationFingerprint: Fingerprint?
  package var created: Stamp
  package var kind: RoomKind
  package var name: String
  package var members: [UserID: Member]
  /// All that were ever created, so that a retry is recognised for ever.
  package var invites: [InviteID: InviteState]
  /// The newest message's; zero when there is none yet.
  package var lastOrdinal: UInt64

  package init(
    creationFingerprint: Fingerprint?, created: Stamp, kind: RoomKind, name: String, members: [UserID: Member] = [:],
    invites: [InviteID: InviteState] = [:], lastOrdinal: UInt64 = 0
  ) {
    self.creationFingerprint = creationFingerprint
    self.created = created
    self.kind = kind
    self.name = name
    self.members = members
    self.invites = invites
    self.lastOrdinal = lastOrdinal
  }
}

package struct Member: Sendable, Hashable {
  package var role: Role
  package var joined: Stamp
  /// The room's last ordinal at the join: messages up to here are not unread for the member.
  package var joinedOrdinal: UInt64
  /// The ordinal up to which the member has read; never less than `joinedOrdinal`.
  package var marker: UInt64
  package var mutedUntil: Timestamp?

  package init(role: Role, joined: Stamp, joinedOrdinal: UInt64, marker: UInt64, mutedUntil: Timestamp? = nil) {
    self.role = role
    self.joined = joined
    self.joinedOrdinal = joinedOrdinal
    self.marker = marker
    self.mutedUntil = mutedUntil
  }
}

/// An invite and what became of it.
package struct InviteState: Sendable, Hashable {
  package var invite: Invite
  package var created: Stamp
  /// How many joins came by it. Who leaves and joins again counts again.
  package var uses: UInt64
  package var revoked: Stamp?

  package init(invite: Invite, created: Stamp, uses: UInt64 = 0, revoked: Stamp? = nil) {
    self.invite = invite
    self.created = created
    self.uses = uses
    self.revoked = revoked
  }

  /// Neither revoked nor expired; a used-up one still counts as live, for its uses can be looked at.
  package func isLive(at time: Timestamp) -> Bool { revoked == nil && time < invite.expiresAt }

  package var isUsedUp: Bool { invite.maximumUses.map { uses >= UInt64($0) } ?? false }
}

// MARK: - Evolve

extension Room {
  package init(_ creation: RoomCreation, _ stamp: Stamp) {
    self.init(creationFingerprint: creation.fingerprint, created: stamp, kind: creation.kind, name: creation.name)
  }

  /// A room whose creation was erased with its creator's words: it goes on for the others, without its name.
  init(erasedAt stamp: Stamp) {
    self.init(creationFingerprint: nil, created: stamp, kind: .group, name: "")
  }

  mutating func apply(_ event: RoomEvent, _ stamp: Stamp) {
    switch event {
    case .created, .archived, .admissionRepeated, .messageEdited, .messageDeleted, .erased:
      break
    case .renamed(let name):
      self.name = name
    case .inviteCreated(let invite):
      invites[invite.id] = InviteState(invite: invite, created: stamp)
    case .inviteRevoked(let id):
      invites[id]?.revoked = stamp
    case .memberJoined(let user, let role, let invite):
      admit(user, role, stamp)
      if let invite { invites[invite]?.uses += 1 }
    case .memberAdded(let user, let role):
      admit(user, role, stamp)
    case .memberLeft(let user), .memberRemoved(let user):
      members[user] = nil
    case .muted(let user, let until):
      members[user]?.mutedUntil = until
    case .messageSent(_, let author, _):
      lastOrdinal += 1
      members[author]?.marker = lastOrdinal
    case .readMarkerMoved(let user, _, let ordinal):
      guard let marker = members[user]?.marker, marker < ordinal else { return }
      members[user]?.marker = ordinal
    }
  }

  private mutating func admit(_ user: UserID, _ role: Role, _ stamp: Stamp) {
    guard members[user] == nil else { return }
    members[user] = Member(role: role, joined: stamp, joinedOrdinal: lastOrdinal, marker: lastOrdinal)
  }
}
