package import ChatDomain
package import ChatPrimitives
package import GRDB

/// The queries on `ids`.
package struct IDIndexQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// What is known about the keys of `lookups`, except endings.
  func known(by lookups: [Lookup]) throws -> Known {
    var known = Known()
    known.messages = try messages(lookups.flatMap(\.messages))
    known.scheduled = try scheduled(lookups.flatMap(\.scheduled))
    known.reactions = try reactions(lookups.compactMap(\.reaction))
    known.commands = try commands(lookups.compactMap(\.command))
    return known
  }

  /// This and the following queries omit keys that do not exist.
  package func messages(_ keys: [MessageKey]) throws -> [MessageKey: KnownMessage] {
    let statement = try CachedStatement(
      database,
      """
      SELECT author, thread, ordinal, CASE thread WHEN 0 THEN IFNULL((
          SELECT lastOrdinal FROM threadEnd WHERE threadEnd.roomId = message.roomId AND root = message.ordinal
        ), 0) ELSE 0 END, sentPosition, sentTime, sentAt, revision, revisedAt, deleted, parts, fingerprint
      FROM message WHERE roomId = ? AND messageId = ?
      """)
    return try found(keys) { try statement.first($0, read: Self.readMessage) }
  }

  private static func readMessage(_ row: inout RowReader) throws -> KnownMessage {
    let author: UserID = try row.id()
    let location = try MessageLocation(thread: row.unsigned(), ordinal: row.unsigned())
    let (replies, sent) = try (row.unsigned(), row.stamp())
    let (sentAt, revision) = try (row.time(), row.position())
    let revisedAt = try row.optional { try $0.time() }
    let isDeleted = try row.number() != 0
    let parts: StoredParts = try row.choice()
    return KnownMessage(
      author: author, location: location, replies: replies, sent: sent, sentAt: sentAt, revision: revision,
      isDeleted: isDeleted, fingerprint: try row.optional { try $0.fingerprint() }, revisedAt: revisedAt,
      hasParts: parts != .none, isCustom: parts == .custom)
  }

  /// IDs under which a message was ever scheduled, even if it was sent, cancelled or failed.
  package func scheduled(_ keys: [MessageKey]) throws -> [MessageKey: KnownScheduledMessage] {
    let statement = try CachedStatement(
      database, "SELECT author, position, time, fingerprint FROM scheduled WHERE roomId = ? AND messageId = ?")
    return try found(keys) { key in
      try statement.first(key) { row in
        try KnownScheduledMessage(
          author: row.id(), scheduled: row.stamp(), fingerprint: row.optional { try $0.fingerprint() })
      }
    }
  }

  /// All counts are zero for a message without reactions.
  package func reactions(_ keys: [ReactionKey]) throws -> [ReactionKey: ReactionCounts] {
    try found(keys) { try ReactionRows(database).counts(for: $0) }
  }

  /// The fingerprints are those of `ChatEvent.commandFingerprint`, which include the stream.
  package func commands(_ keys: [CommandKey]) throws -> [CommandKey: KnownCommand] {
    let statement = try CachedStatement(
      database, "SELECT position, time, fingerprint FROM command WHERE actor = ? AND id = ?")
    return try found(keys) { key in
      try statement.first(key.actor, key.command) { row in
        KnownCommand(stamp: try row.stamp(), fingerprint: try row.optional { try $0.fingerprint() })
      }
    }
  }

  private func found<Key: Hashable, Value>(_ keys: [Key], _ find: (Key) throws -> Value?) rethrows -> [Key: Value] {
    var values: [Key: Value] = [:]
    for key in keys where values[key] == nil {
      if let value = try find(key) { values[key] = value }
    }
    return values
  }

  /// The "never seen" filter with all entries of this snapshot, and the snapshot's position. Reads two bytes per entry.
  package func restoreFilter() throws -> (filter: KnownIDFilter, position: LogPosition) {
    (try FilterTail.restore(database), try checkpoint().position)
  }
}
