package import ChatPrimitives

/// Whom one erasure pass erases, and which payloads. See decision 0041.
package struct ErasurePlan: Sendable {
  /// What happens to a payload that a user wrote, or that is in the user's stream.
  package enum Choice: Sendable, Hashable {
    case keep
    case erase
    /// Like `keep`, for now: a later pass has to erase it.
    case hold
  }

  /// The users, each with the last position that any record of the user has.
  package var users: [UUIDBytes: LogPosition]
  /// Decides about the payload of a record from its envelope and the user whom it concerns. Not called for empty
  /// payloads, which are kept.
  package var choice: @Sendable (RecordEnvelope, _ user: UUIDBytes) -> Choice

  package init(
    users: [UUIDBytes: LogPosition], choice: @escaping @Sendable (RecordEnvelope, _ user: UUIDBytes) -> Choice
  ) {
    self.users = users
    self.choice = choice
  }

  /// The last position that can belong to one of the users.
  var last: LogPosition { users.values.max() ?? .origin }

  /// The user whom a record concerns: its author, or else the owner of its stream. Nil for all other records.
  func user(of envelope: RecordEnvelope) -> UUIDBytes? {
    if let actor = envelope.actor, users[actor] != nil { return actor }
    return envelope.streamKind == CommitmentKeys.userStreamKind && users[envelope.stream] != nil
      ? envelope.stream : nil
  }

  /// What a record needs so that nothing is left of the user whom it concerns.
  func change(of record: LogRecord, _ user: UUIDBytes) -> ErasureChange {
    let isAuthor = record.envelope.actor == user
    switch record.payload {
    case .erased: return .none
    case .retained(let payload):
      guard !payload.isEmpty, choice(record.envelope, user) == .erase else { return isAuthor ? .salt : .none }
      return .erase
    case .retainedWithSalt(let payload, salt: _):
      return !payload.isEmpty && choice(record.envelope, user) == .erase ? .erase : .none
    }
  }
}

/// What a pass does to one record.
enum ErasureChange {
  case none
  /// The payload stays and gets its own salt, because the author's key is about to be erased.
  case salt
  case erase
}

/// What is left of a user after a pass.
package struct ErasureCounts: Sendable, Hashable {
  /// The records without a payload, by this pass or an earlier one.
  package var erased: UInt64 = 0
  /// The records that keep their payload, empty ones included.
  package var kept: UInt64 = 0
  /// Those of the kept ones that are only held.
  package var held: UInt64 = 0

  package init() {}

  mutating func count(_ record: LogRecord, _ choice: @autoclosure () -> ErasurePlan.Choice) {
    guard let payload = record.payload.retained else {
      erased += 1
      return
    }
    kept += 1
    if !payload.isEmpty, choice() == .hold { held += 1 }
  }
}

/// The result of a pass that was not interrupted.
package struct ErasureReport: Sendable, Hashable {
  package var users: [UUIDBytes: ErasureCounts]
  /// The segments that were read, and those of them that were rewritten.
  package var segments = 0
  package var rewritten = 0

  /// The users of whom nothing has to be erased any more.
  package var completed: [UUIDBytes: ErasureCounts] { users.filter { $0.value.held == 0 } }
}
