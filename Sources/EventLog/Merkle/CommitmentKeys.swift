package import ChatPrimitives

/// The commitment keys of the authors met so far, learnt from their registrations as they pass in the order of
/// positions. One that begins in the middle of the log has to look up what lies before: `unresolved(in:)` says whom.
package struct CommitmentKeys: Sendable {
  /// What the log's beginning up to the current place says of one author.
  private enum Registration: Sendable {
    case absent
    case found(AuthorKey)
  }

  /// Kind of the record that registers a user.
  private static let registrationKind: UInt16 = 1
  /// Kind of the streams that belong to a user.
  private static let userStreamKind: UInt8 = 1

  private var known: [UUIDBytes: Registration] = [:]
  /// Whether all records from the first on have passed, so that who is unknown is not registered.
  private let isComplete: Bool

  /// - Parameter start: the first position that will pass.
  package init(from start: LogPosition = .first) {
    isComplete = start <= .first
  }

  /// The authors that must be looked up and resolved before these records are hashed, each once, in order. Records
  /// before `records` decide about them: the first registration in the author's stream, erased or not, or none.
  package func unresolved(in records: [LogRecord]) -> [UUIDBytes] {
    guard !isComplete else { return [] }
    var missing: [UUIDBytes] = []
    var seen: Set<UUIDBytes> = []
    for record in records {
      // A registration may be a second one, which counts for nothing.
      if Self.isRegistration(record), known[record.envelope.stream] == nil,
        seen.insert(record.envelope.stream).inserted
      {
        missing.append(record.envelope.stream)
      }
      if let actor = Self.author(of: record), known[actor] == nil, seen.insert(actor).inserted {
        missing.append(actor)
      }
    }
    return missing
  }

  /// Says what the records before the current place hold of an author.
  /// - Parameter registration: the payload of the first registration, erased or not; nil when there is none.
  package mutating func resolve(_ author: UUIDBytes, registration: RecordPayload?) {
    guard known[author] == nil else { return }
    known[author] = registration.map { .found(Self.key(in: $0)) } ?? .absent
  }

  /// Takes note of a record that passes, whether it registers anyone or not.
  package mutating func learn(_ record: LogRecord) {
    guard Self.isRegistration(record) else { return }
    switch known[record.envelope.stream] {
    case .found: return
    case .absent: break
    // Nothing is known of what lies before, so the author stays one to be looked up.
    case nil: guard isComplete else { return }
    }
    known[record.envelope.stream] = .found(Self.key(in: record.payload))
  }

  /// The key of a record's author at its place, for a record that `learn` has seen.
  /// - Throws: when the author is neither learnt nor resolved; a guess would give another leaf.
  package func key(for record: LogRecord) throws(FormatFlaw) -> AuthorKey {
    guard let actor = Self.author(of: record) else { return .none }
    switch known[actor] {
    case .found(let key): return key
    case .absent: return .none
    case nil:
      guard isComplete else {
        throw FormatFlaw("the registration of \(actor.text), author of the record \(record.position), is not known")
      }
      return .none
    }
  }

  /// Takes note of a record and gives its leaf; to be called for each record in the order of positions.
  package mutating func leaf(of record: LogRecord) throws(FormatFlaw) -> MerkleHash {
    learn(record)
    return try record.leaf(author: key(for: record))
  }

  /// The author on whom the leaf depends; none for a record that holds its digest or its salt.
  private static func author(of record: LogRecord) -> UUIDBytes? {
    switch record.payload {
    case .retained: record.envelope.actor
    case .erased, .retainedWithSalt: nil
    }
  }

  private static func isRegistration(_ record: LogRecord) -> Bool {
    record.envelope.kind == registrationKind && record.envelope.streamKind == userStreamKind
  }

  private static func key(in registration: RecordPayload) -> AuthorKey {
    switch registration {
    case .erased: .erased
    case .retained(let payload), .retainedWithSalt(let payload, salt: _):
      CommitmentKeyField.read(from: payload).map { .key($0) } ?? .none
    }
  }
}
