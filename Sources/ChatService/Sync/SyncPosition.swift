package import ChatPrimitives

/// How far a client has mirrored what its user may see.
package struct SyncPosition: Sendable, Hashable {
  /// Everything up to here was delivered, except what the stage leaves.
  package var position: LogPosition
  package var stage: Stage

  package init(_ position: LogPosition, _ stage: Stage = .complete) {
    self.position = position
    self.stage = stage
  }

  package enum Stage: Sendable, Hashable {
    /// Everything up to the position was delivered.
    case complete
    /// Inside a catch-up from the position to the target.
    case catchingUp(SyncProgress)
    /// Inside the initial state as of the position, which is also the target.
    case initial(SyncProgress)

    var progress: SyncProgress? {
      switch self {
      case .complete: nil
      case .catchingUp(let progress), .initial(let progress): progress
      }
    }
  }
}

/// How far a response of several pages has come.
package struct SyncProgress: Sendable, Hashable {
  /// The maximum length of `key`, in bytes: a letter, a room and a message's location.
  package static let keyBytes = 40

  /// The position at which the response ends.
  package var target: LogPosition
  /// Which part of the response comes next.
  package var part: UInt8
  /// The rooms that are read together.
  package var group: SyncGroup
  /// The position of the last item.
  package var reached: LogPosition
  /// The last item among those of one position; at most `keyBytes` bytes.
  package var key: [UInt8]

  package init(target: LogPosition, part: UInt8, group: SyncGroup, reached: LogPosition, key: [UInt8]) {
    self.target = target
    self.part = part
    self.group = group
    self.reached = reached
    self.key = key
  }
}

/// The rooms that a response reads together, by their IDs. Both bounds are fixed when the group begins, because a room can
/// disappear while the group is read. If the end moved, a room of the next group would become part of this one, and what it
/// has before the position reached would be lost.
package struct SyncGroup: Sendable, Hashable {
  /// The last room of the previous group; nil in the first group.
  package var previous: RoomID?
  /// The last room of this group; nil if no rooms follow.
  package var last: RoomID?

  package init(previous: RoomID? = nil, last: RoomID? = nil) {
    self.previous = previous
    self.last = last
  }
}
