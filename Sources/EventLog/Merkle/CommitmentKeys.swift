package import ChatPrimitives

/// The commitment keys of the authors, learned from their registrations as records are processed in the order of
/// positions. A value that starts in the middle of the log needs the keys of earlier registrations: `unresolved(in:)`
/// says for which authors.
package struct CommitmentKeys: Sendable {
  /// What the records up to the current position say about one author.
  private enum Registration: Sendable {
    case absent
    case found(AuthorKey)
  }

  /// The kind of the record that registers a user.
  private static let registrationKind: UInt16 = 1
  /// The kind of the streams that belong to a user.
  static let userStreamKind: UInt8 = 1

  private var known: [UUIDBytes: Registration] = [:]
  /// Whether all records from the first one on are processed, so that an unknown author has no registration.
  private let isComplete: Bool

  /// - Parameter start: the position of the first record that will be processed.
  package init(from start: LogPosition = .first) {
    isComplete = start <= .first
  }

  /// The authors that must be resolved before these records are hashed, each once, in order. The records before
  /// `records` decide about each of them: use the first registration in the author's stream, erased or not, or none.
  package func unresolved(in records: [LogRecord]) -> [UUIDBytes] {
    guard !isComplete else { return [] }
    var missing: [UUIDBytes] = []
    var seen: Set<UUIDBytes> = []
    for record in records {
      // This may be a second registration, which must be ignored.
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

  /// Sets what the records before the current position say about an author.
  /// - Parameter registration: the payload of the first registration, erased or not; nil if there is none.
  package mutating func resolve(_ author: UUIDBytes, registration: RecordPayload?) {
    guard known[author] == nil else { return }
    known[author] = registration.map { .found(Self.key(in: $0)) } ?? .absent
  }

  /// Processes the next record. Remembers the key if the record is a registration.
  package mutating func recordRegistration(in record: LogRecord) {
    guard Self.isRegistration(record) else { return }
    switch known[record.envelope.stream] {
    case .found: return
    case .absent: break
    // The earlier records are unknown, so the author still has to be looked up.
    case nil: guard isComplete else { return }
    }
    known[record.envelope.stream] = .found(Self.key(in: record.payload))
  }

  /// The key of a record's author at the record's position. Call it after `recordRegistration` for that record.
  /// - Throws: if the author is neither learned nor resolved, because a wrong guess would give a different leaf.
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

  /// Processes the next record and returns its leaf. Call it for every record in the order of positions.
  package mutating func leaf(of record: LogRecord) throws(FormatFlaw) -> MerkleHash {
    recordRegistration(in: record)
    return try record.leaf(author: key(for: record))
  }

  /// The author on whom the leaf depends; nil for a record that holds its own digest or salt.
  private static func author(of record: LogRecord) -> UUIDBytes? {
    switch record.payload {
    case .retained: record.envelope.actor
    case .erased, .retainedWithSalt: nil
    }
  }

  private static func isRegistration(_ record: LogRecord) -> Bool {
    record.envelope.kind == registrationKind && record.envelope.streamKind == userStreamKind
  }

  static func key(in registration: RecordPayload) -> AuthorKey {
    switch registration {
    case .erased: .erased
    case .retained(let payload), .retainedWithSalt(let payload, salt: _):
      CommitmentKeyField.read(from: payload).map { .key($0) } ?? .none
    }
  }
}
