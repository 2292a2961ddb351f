package import ChatDomain
package import ChatPrimitives
package import GRDB

/// What can be asked of `ids`: lists of keys, each list in one snapshot.
package struct IDIndexQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// What is known of these messages, in their order.
  package func messageFacts(_ keys: [MessageKey]) throws -> IndexAnswer<KnownMessage> {
    let statement = try CachedStatement(
      database,
      """
      SELECT author, thread, ordinal, CASE thread WHEN 0 THEN IFNULL((
          SELECT lastOrdinal FROM threadEnd WHERE threadEnd.roomId = message.roomId AND root = message.ordinal
        ), 0) ELSE 0 END, sentPosition, sentTime, sentAt, revision, revisedAt, deleted, parts, fingerprint
      FROM message WHERE roomId = ? AND messageId = ?
      """)
    let facts = try keys.map { key in
      try statement.first(key, read: Self.readMessage)
    }
    return IndexAnswer(facts: facts, position: try checkpoint().position)
  }

  private static func readMessage(_ row: inout RowReader) throws -> KnownMessage {
    let author: UserID = try row.id()
    let place = try MessageLocation(thread: row.unsigned(), ordinal: row.unsigned())
    let (replies, sent) = try (row.unsigned(), row.stamp())
    let (sentAt, revision) = try (row.time(), row.position())
    let revisedAt = try row.optional { try $0.time() }
    let (isDeleted, hasParts) = try (row.number() != 0, row.number() != 0)
    return KnownMessage(
      author: author, place: place, replies: replies, sent: sent, sentAt: sentAt, revision: revision,
      isDeleted: isDeleted, fingerprint: try row.optional { try $0.fingerprint() }, revisedAt: revisedAt,
      hasParts: hasParts)
  }

  /// What these messages have of reactions, in the keys' order.
  package func reactionCounts(_ keys: [ReactionKey]) throws -> [ReactionCounts] {
    try keys.map { try ReactionRows(database).counts(for: $0) }
  }

  /// What is known of these IDs as scheduled messages, in their order.
  package func schedulingFacts(_ keys: [MessageKey]) throws -> IndexAnswer<KnownScheduledMessage> {
    let statement = try CachedStatement(
      database, "SELECT author, position, time, fingerprint FROM scheduled WHERE roomId = ? AND messageId = ?")
    let facts = try keys.map { key in
      try statement.first(key) { row in
        try KnownScheduledMessage(
          author: row.id(), scheduled: row.stamp(), fingerprint: row.optional { try $0.fingerprint() })
      }
    }
    return IndexAnswer(facts: facts, position: try checkpoint().position)
  }

  /// What is known of these commands, in their order. Their fingerprints are those of `ChatEvent.commandFingerprint`,
  /// which say the stream as well.
  package func commandFacts(_ keys: [CommandKey]) throws -> IndexAnswer<KnownCommand> {
    let statement = try CachedStatement(
      database, "SELECT position, time, fingerprint FROM command WHERE actor = ? AND id = ?")
    let facts = try keys.map { key in
      try statement.first(key.actor, key.command) { row in
        KnownCommand(stamp: try row.stamp(), fingerprint: try row.optional { try $0.fingerprint() })
      }
    }
    return IndexAnswer(facts: facts, position: try checkpoint().position)
  }

  /// The "never seen" filter with all that this snapshot knows of, and its position. Reads two bytes per entry.
  package func restoreFilter() throws -> (filter: KnownIDFilter, position: LogPosition) {
    (try FilterTail.restore(database), try checkpoint().position)
  }
}
