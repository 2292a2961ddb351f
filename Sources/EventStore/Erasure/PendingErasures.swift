package import ChatDomain
package import ChatPrimitives
package import EventLog

/// The deleted accounts of a log whose erasure is not complete. The tools read them from the envelopes of the whole log,
/// because the read models are not needed for that. The server has them in a read model.
package struct PendingErasures: Sendable, Equatable {
  /// The users who can be erased, and where their accounts were deleted.
  package private(set) var users: [UserID: LogPosition] = [:]
  /// The users whose erasure waits for a legal hold: on them, or on a room in which they did something, or in which
  /// something was done to them.
  package private(set) var held: Set<UserID> = []

  /// - Parameter progress: called with the last position that was read.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package init(
    in source: some BlockSource, progress: (LogPosition) -> Void = { _ in }
  ) throws(LogError) {
    var targets: Set<UUIDBytes> = []
    var position = LogPosition.first
    while position <= source.head {
      let block = try source.block(containing: position)
      for record in block.records where record.position <= source.head { note(record, &targets) }
      position = block.last.next
      progress(block.last)
    }
    for target in targets { try hold(target, in: source) }
    for user in held { users[user] = nil }
  }

  /// Whether an erasure was completed after a position.
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

  private mutating func note(_ record: LogRecord, _ targets: inout Set<UUIDBytes>) {
    // Kind numbers are unique over all kinds of streams.
    let envelope = record.envelope
    if envelope.kind == ErasureRule.userDeleted { users[UserID(envelope.stream)] = record.position }
    if envelope.kind == ErasureRule.userErased { users[UserID(envelope.stream)] = nil }
    guard let target = envelope.subject else { return }
    if envelope.kind == ErasureRule.legalHoldPlaced { targets.insert(target) }
    if envelope.kind == ErasureRule.legalHoldLifted { targets.remove(target) }
  }

  /// The ID of a target can be that of a user and of a room. Then both are held.
  private mutating func hold(_ target: UUIDBytes, in source: some BlockSource) throws(LogError) {
    if users[UserID(target)] != nil { held.insert(UserID(target)) }
    var blocks = StreamBlocks(source, stream: target, from: .first, through: source.head)
    while let block = try blocks.next() {
      for envelope in block.records.map(\.envelope)
      where envelope.stream == target && envelope.streamKind == StreamKind.room.rawValue {
        for user in [envelope.actor, envelope.subject].compactMap({ $0 }).map(UserID.init) where users[user] != nil {
          held.insert(user)
        }
      }
    }
  }
}
