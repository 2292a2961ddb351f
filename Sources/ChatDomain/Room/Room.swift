package import ChatPrimitives

/// What decisions about one room need to know. Messages are not part of it: see `KnownMessage`.
package enum RoomState: Sendable, Equatable {
  case absent
  case open(Room)
  /// Read-only since the stamp.
  case archived(Room, Stamp)
  /// No longer visible to anybody; only the ID stays in use. The fingerprint is that of the creation.
  case deleted(Stamp, creationFingerprint: Fingerprint?)

  /// The room, if it is open or archived.
  package var room: Room? {
    switch self {
    case .absent, .deleted: nil
    case .open(let room), .archived(let room, _): room
    }
  }
}

extension RoomState {
  /// Sets the pins, which have their own read model.
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
  /// The fingerprint of the creation. Nil if it was erased; then no retry can be recognised.
  package var creationFingerprint: Fingerprint?
  package var created: Stamp
  /// Where its name, topic or picture last changed, or it was last archived or restored; otherwise its creation.
  package var revision: LogPosition
  package var kind: RoomKind
  package var name: String
  package var workspace: WorkspaceID?
  package var isPublic = false
  /// If true, the next user to join the room while it is empty becomes its owner.
  package var hasHadOwner = false
  package var members: RoomMembers
  /// Users who cannot join, and when they were banned.
  package var banned: [UserID: Stamp] = [:]
  /// Users who left while silenced, and until when: leaving and joining again does not end a silence.
  package var silencedAway: [UserID: Timestamp] = [:]
  /// All invites that were ever created, so that a retry is always recognised.
  package var invites: [InviteID: InviteState]
  /// At most `Limits.pinsPerRoom`.
  package var pinned: [MessageID: PinnedMessage] = [:]
  /// Scheduled messages that wait to be sent.
  package var scheduled = ScheduledMessages()
  /// The reporter of each open report; at most `Limits.openReportsPerRoom` reports. What the reports say is not kept in
  /// memory.
  package var openReports: [ReportID: UserID] = [:]
  /// The ordinal of the newest message in the room's timeline; zero if there is none.
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
  /// The room's last ordinal when the member joined. Messages up to here are not unread for the member.
  package var joinedOrdinal: UInt64
  /// The ordinal up to which the member has read; never less than `joinedOrdinal`.
  package var marker: UInt64
  /// From where the user wants messages shown as unread although the marker is after them; nil for nowhere.
  package var unreadFrom: UInt64?
  package var mutedUntil: Timestamp?
  /// Until when the member cannot write.
  package var silencedUntil: Timestamp?

  package init(role: Role, joined: Stamp, joinedOrdinal: UInt64, marker: UInt64, mutedUntil: Timestamp? = nil) {
    self.role = role
    self.joined = joined
    self.joinedOrdinal = joinedOrdinal
    self.marker = marker
    self.mutedUntil = mutedUntil
  }
}

/// A message that members pinned to find it again.
package struct PinnedMessage: Sendable, Hashable {
  package var location: MessageLocation
  package var pinned: Stamp

  package init(location: MessageLocation, pinned: Stamp) {
    self.location = location
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

  /// A room whose creation was erased. It remains for its members, without its name.
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
    case .reports(let event): apply(event)
    case .threads, .erased: break
    }
  }
}
