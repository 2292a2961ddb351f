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
  package func messageFacts(_ keys: [MessageKey]) throws -> IndexAnswer<MessageFacts> {
    let statement = try CachedStatement(
      database,
      """
      SELECT author, ordinal, sentPosition, sentTime, sentAt, revision, revisedAt, deleted, fingerprint FROM message
      WHERE roomId = ? AND messageId = ?
      """)
    let facts = try keys.map { key in
      try statement.first(
        {
          $0.add(key.room)
          $0.add(key.message)
        }, Self.readMessage)
    }
    return IndexAnswer(facts: facts, position: try checkpoint().position)
  }

  private static func readMessage(_ row: inout ColumnReader) throws -> MessageFacts {
    let (author, ordinal, sent) = try (row.id(UserID.self), row.unsigned(), row.stamp())
    let (sentAt, revision) = try (row.time(), row.position())
    let revisedAt = try row.optional { try $0.time() }
    let isDeleted = try row.number() != 0
    return MessageFacts(
      author: author, place: .room(ordinal), sent: sent, sentAt: sentAt, revision: revision, isDeleted: isDeleted,
      fingerprint: try row.optional { try $0.fingerprint() }, revisedAt: revisedAt)
  }

  /// What is known of these commands, in their order. Their fingerprints are those of `ChatEvent.commandFingerprint`,
  /// which say the stream as well.
  package func commandFacts(_ keys: [CommandKey]) throws -> IndexAnswer<CommandFacts> {
    let statement = try CachedStatement(
      database, "SELECT position, time, fingerprint FROM command WHERE actor = ? AND id = ?")
    let facts = try keys.map { key in
      try statement.first({
        $0.add(key.actor)
        $0.add(key.command)
      }) { row in
        CommandFacts(stamp: try row.stamp(), fingerprint: try row.optional { try $0.fingerprint() })
      }
    }
    return IndexAnswer(facts: facts, position: try checkpoint().position)
  }

  /// The "never seen" filter with all that this snapshot knows of, and its position. Reads two bytes per entry.
  package func restoreFilter() throws -> (filter: SeenFilter, position: LogPosition) {
    (try FilterTail.restore(database), try checkpoint().position)
  }
}
