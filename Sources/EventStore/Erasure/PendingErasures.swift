package import ChatDomain
package import ChatPrimitives
package import EventLog

/// The deleted accounts of a log whose erasure is not complete. Tools find them by reading the whole log, so that they
/// need no read models. The server has them in a read model.
package struct PendingErasures: Sendable, Equatable {
  /// The users who can be erased, and where their accounts were deleted.
  package private(set) var users: [UserID: LogPosition] = [:]
  /// The users whose erasure waits for a legal hold: on them, or on a room in which they are `RoomParticipants`.
  package private(set) var held: Set<UserID> = []

  /// - Parameter progress: called with the last position that was read.
  /// - Throws: the errors of `BlockSource.block(containing:)`, and `CodecError` for a hold that cannot be read.
  package init(in source: some BlockSource, progress: (LogPosition) -> Void = { _ in }) throws {
    var holds = LegalHolds()
    var position = LogPosition.first
    while position <= source.head {
      let block = try source.block(containing: position)
      for record in block.records where record.position <= source.head { try note(record, &holds) }
      position = block.last.next
      progress(block.last)
    }
    for target in holds.entries.keys { try hold(target, in: source) }
    for user in held { users[user] = nil }
  }

  /// Whether the log records, after a position, that an erasure is complete.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package static func completes(in source: some BlockSource, after position: LogPosition) throws(LogError) -> Bool {
    var next = position.next
    while next <= source.head {
      let block = try source.block(containing: next)
      let isCompleted = block.records.contains { record in
        record.position > position && record.envelope.kind == ErasureRule.userErased
      }
      if isCompleted { return true }
      next = block.last.next
    }
    return false
  }

  private mutating func note(_ record: LogRecord, _ holds: inout LegalHolds) throws(CodecError) {
    // Kind numbers are unique over all kinds of streams.
    let envelope = record.envelope
    if envelope.kind == ErasureRule.userDeleted { users[UserID(envelope.stream)] = record.position }
    if envelope.kind == ErasureRule.userErased { users[UserID(envelope.stream)] = nil }
    guard [ErasureRule.legalHoldPlaced, ErasureRule.legalHoldLifted].contains(envelope.kind) else { return }
    let recorded = try EventCodec.decode(record)
    switch recorded.event {
    case .server(.legalHoldPlaced(let hold)): holds.place(hold, recorded.stamp)
    case .server(.legalHoldLifted(let lift)): holds.lift(lift)
    case .user, .room, .workspace, .server: break
    }
  }

  private mutating func hold(_ target: LegalHold.Target, in source: some BlockSource) throws(LogError) {
    switch target {
    case .user(let user): if users[user] != nil { held.insert(user) }
    case .room(let room): held.formUnion(try RoomParticipants.users(of: room, in: source).filter { users[$0] != nil })
    }
  }
}
