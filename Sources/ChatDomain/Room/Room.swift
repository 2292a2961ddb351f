package import ChatPrimitives

/// What deciding about one room needs to know. Single messages are not kept: see `KnownMessage`.
package enum RoomState: Sendable, Equatable {
  case absent
  case open(Room)
  /// To be read only, since the stamp.
  case archived(Room, Stamp)
  /// Gone for everybody; only the ID stays taken. The fingerprint is that of the creation.
  case deleted(Stamp, creationFingerprint: Fingerprint?)

  /// The room, open or archived.
  package var room: Room? {
    switch self {
    case .absent, .deleted: nil
    case .open(let room), .archived(let room, _): room
    }
  }
}

extension RoomState {
  /// Puts the pins in their place, which a read model of their own keeps.
  package mutating func restorePins(_ pins: [MessageID: PinnedMessage]) {
    switch self {
    case .absent, .deleted: break
    case .open(var room):
      room.pinned = pins
      self = .open(room)
    case .archived(var room, let since):
      room.pinned = pins
      self = .archived(room, since)
    }
  }
}

package struct Room: Sendable, Equatable {
  /// Of the creation; nil when that was erased, and then no retry of it can be recognised.
  package var creationFingerprint: Fingerprint?
  package var created: Stamp
  /// Where its looks were last changed, or it was last archived or opened again; else its creation.
  package var revision: LogPosition
  package var kind: RoomKind
  package var name: String
  package var workspace: WorkspaceID?
  package var isPublic = false
  /// Since it has, whoever comes in when nobody is there owns it.
  package var hasHadOwner = false
  package var members: RoomMembers
  /// Who cannot come in, since when.
  package var banned: [UserID: Stamp] = [:]
  /// Who went while silenced, and until when: leaving and coming back does not give the voice back.
  package var silencedAway: [UserID: Timestamp] = [:]
  /// All that were ever created, so that a retry is recognised for ever.
  package var invites: [InviteID: InviteState]
  /// At most `Limits.pinsPerRoom`.
  package var pinned: [MessageID: PinnedMessage] = [:]
  /// What waits for its time.
  package var scheduled = ScheduledMessages()
  /// The newest message's in the room's own timeline; zero when there is none yet.
  package var lastOrdinal: UInt64

  package init(
    creationFingerprint: Fingerprint?, created: Stamp, kind: RoomKind, name: String, members: [UserID: Member] = [:],
    invites: [InviteID: InviteState] = [:], lastOrdinal: UInt64 = 0
  ) {
    self.creationFingerprint = creationFingerprint
    self.created = created
    revision = created.position
    self.kind = kind
    self.name = name
    self.members = RoomMembers(members)
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
  /// From where on the user wants messages shown as unread though the marker is past them; nil when nowhere.
  package var unreadFrom: UInt64?
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

/// A message that the room's members are to find again.
package struct PinnedMessage: Sendable, Hashable {
  package var place: MessageLocation
  package var pinned: Stamp

  package init(place: MessageLocation, pinned: Stamp) {
    self.place = place
    self.pinned = pinned
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

  mutating func apply(_ event: RoomEvent, _ stamp: Stamp, by actor: UserID?) {
    switch event {
    case .lifecycle(let event): apply(event, stamp)
    case .sharing(let event): apply(event, stamp, by: actor)
    case .members(let event): apply(event, stamp)
    case .messages(let event): apply(event)
    case .annotations(let event): apply(event, stamp)
    case .reading(let event): apply(event)
    case .scheduling(let event): apply(event, stamp)
    case .threads, .erased: break
    }
  }
}
