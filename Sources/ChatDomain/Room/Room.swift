package import ChatPrimitives

/// What deciding about one room needs to know. Single messages are not kept: see `MessageFacts`.
package enum RoomState: Sendable, Equatable {
  case absent
  case open(Room)
  /// To be read only, since the stamp.
  case archived(Room, Stamp)
  /// Gone for everybody; only the ID stays taken.
  case deleted(Stamp)

  /// The room, open or archived.
  package var room: Room? {
    switch self {
    case .absent, .deleted: nil
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
  package var workspace: WorkspaceID?
  package var isPublic = false
  package var members: [UserID: Member]
  /// Who cannot come in, since when.
  package var banned: [UserID: Stamp] = [:]
  /// All that were ever created, so that a retry is recognised for ever.
  package var invites: [InviteID: InviteState]
  package var pinned: [MessageID: MessagePlace] = [:]
  /// What waits for its time.
  package var scheduled: [MessageID: ScheduledMessage] = [:]
  /// The newest message's in the room's own timeline; zero when there is none yet.
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
  /// Until when the member may not speak.
  package var silencedUntil: Timestamp?

  package init(role: Role, joined: Stamp, joinedOrdinal: UInt64, marker: UInt64, mutedUntil: Timestamp? = nil) {
    self.role = role
    self.joined = joined
    self.joinedOrdinal = joinedOrdinal
    self.marker = marker
    self.mutedUntil = mutedUntil
  }
}

// MARK: - Evolve

extension Room {
  package init(_ creation: RoomCreation, _ stamp: Stamp) {
    self.init(creationFingerprint: creation.fingerprint, created: stamp, kind: creation.kind, name: creation.name)
    workspace = creation.workspace
    isPublic = creation.isPublic
  }

  /// A room whose creation was erased with its creator's words: it goes on for the others, without its name.
  init(erasedAt stamp: Stamp) {
    self.init(creationFingerprint: nil, created: stamp, kind: .group, name: "")
  }

  mutating func apply(_ event: RoomEvent, _ stamp: Stamp) {
    switch event {
    case .created, .archived, .restored, .deleted, .admissionRepeated, .messageEdited, .reactionAdded,
      .reactionRemoved, .threadMarkerMoved, .markedUnread, .threadFollowingSet, .erased:
      break
    case .edited(let edit):
      if let name = edit.name { self.name = name }
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
    case .roleChanged(let user, let role):
      members[user]?.role = role
    case .memberBanned(let user):
      members[user] = nil
      banned[user] = stamp
    case .memberUnbanned(let user):
      banned[user] = nil
    case .memberSilenced(let user, let until):
      members[user]?.silencedUntil = until
    case .muted(let user, let until):
      members[user]?.mutedUntil = until
    case .messageSent(let id, let author, let thread, _):
      if !scheduled.isEmpty { scheduled[id] = nil }
      guard thread == nil else { return }
      lastOrdinal += 1
      members[author]?.marker = lastOrdinal
    case .messageDeleted(let id, _), .messageUnpinned(let id, _):
      if !pinned.isEmpty { pinned[id] = nil }
    case .messagePinned(let id, let place):
      pinned[id] = place
    case .messageScheduled(let id, let message), .scheduledMessageChanged(let id, let message):
      scheduled[id] = message
    case .scheduledMessageCancelled(let id), .scheduledMessageFailed(let id, _):
      scheduled[id] = nil
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
