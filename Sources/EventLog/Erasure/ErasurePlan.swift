package import ChatPrimitives

/// Whom one erasure pass erases, and which payloads. See decision 0041.
package struct ErasurePlan: Sendable {
  /// The users, each with the last position that any record of the user has.
  package var users: [UUIDBytes: LogPosition]
  /// Whether the payload of a record is erased, decided by its envelope and the user whom it concerns. Not called for
  /// empty payloads, which are kept.
  package var erases: @Sendable (RecordEnvelope, _ user: UUIDBytes) -> Bool

  package init(
    users: [UUIDBytes: LogPosition], erases: @escaping @Sendable (RecordEnvelope, _ user: UUIDBytes) -> Bool
  ) {
    self.users = users
    self.erases = erases
  }

  /// The last position that can belong to one of the users.
  var last: LogPosition { users.values.max() ?? .origin }

  /// The user whom a record concerns: the owner of its stream, or else its author. Nil for all other records.
  func user(of envelope: RecordEnvelope) -> UUIDBytes? {
    if envelope.streamKind == CommitmentKeys.userStreamKind, users[envelope.stream] != nil { return envelope.stream }
    return isAuthored(envelope) ? envelope.actor : nil
  }

  /// Whether the author's key is about to be erased.
  private func isAuthored(_ envelope: RecordEnvelope) -> Bool {
    envelope.actor.map { users[$0] != nil } ?? false
  }

  /// What a record needs so that nothing is left of the user whom it concerns.
  func change(of record: LogRecord, _ user: UUIDBytes) -> ErasureChange {
    switch record.payload {
    case .erased: return .none
    case .retained(let payload):
      if !payload.isEmpty, erases(record.envelope, user) { return .erase }
      return isAuthored(record.envelope) ? .salt : .none
    case .retainedWithSalt(let payload, salt: _):
      return !payload.isEmpty && erases(record.envelope, user) ? .erase : .none
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

  package init() {}

  mutating func count(_ record: LogRecord) {
    if record.payload.retained == nil { erased += 1 } else { kept += 1 }
  }
}

/// The result of a pass that was not interrupted.
package struct ErasureReport: Sendable, Hashable {
  package var users: [UUIDBytes: ErasureCounts]
  /// The segments that were read, and those of them that were rewritten.
  package var segments = 0
  package var rewritten = 0
}
