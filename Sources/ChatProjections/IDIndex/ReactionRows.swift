import ChatDomain
import ChatPrimitives
import GRDB

/// The reactions that messages have, as far as decisions ask for them: who, with what, and how many of each kind.
struct ReactionRows {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  func add(_ key: ReactionKey) throws {
    let added = try CachedStatement(
      database,
      """
      INSERT INTO reaction (roomId, messageId, userId, emoji) VALUES (?, ?, ?, ?)
      ON CONFLICT (roomId, messageId, userId, emoji) DO NOTHING
      """
    ).run { $0.add(key) }
    guard added > 0 else { return }
    try CachedStatement(
      database,
      """
      INSERT INTO reactionKind (roomId, messageId, emoji, users) VALUES (?, ?, ?, 1)
      ON CONFLICT (roomId, messageId, emoji) DO UPDATE SET users = users + 1
      """
    ).run { $0.addKind(of: key) }
  }

  func remove(_ key: ReactionKey) throws {
    let removed = try CachedStatement(
      database, "DELETE FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ? AND emoji = ?"
    ).run { $0.add(key) }
    guard removed > 0 else { return }
    for sql in [
      "UPDATE reactionKind SET users = users - 1 WHERE roomId = ? AND messageId = ? AND emoji = ?",
      "DELETE FROM reactionKind WHERE roomId = ? AND messageId = ? AND emoji = ? AND users = 0",
    ] {
      try CachedStatement(database, sql).run { $0.addKind(of: key) }
    }
  }

  /// Of a message that is deleted.
  func removeAll(from message: MessageKey) throws {
    for table in ["reaction", "reactionKind"] {
      try CachedStatement(database, "DELETE FROM \(table) WHERE roomId = ? AND messageId = ?").run {
        $0.add(message.room)
        $0.add(message.message)
      }
    }
  }

  func counts(for key: ReactionKey) throws -> ReactionCounts {
    let kinds = try count("SELECT COUNT(*) FROM reactionKind WHERE roomId = ? AND messageId = ?") {
      $0.add(key.message.room)
      $0.add(key.message.message)
    }
    guard kinds > 0 else { return .none }
    let users = try count("SELECT users FROM reactionKind WHERE roomId = ? AND messageId = ? AND emoji = ?") {
      $0.addKind(of: key)
    }
    let ownKinds = try count("SELECT COUNT(*) FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ?") {
      $0.add(key.message.room)
      $0.add(key.message.message)
      $0.add(key.user)
    }
    let own = try count(
      "SELECT COUNT(*) FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ? AND emoji = ?"
    ) { $0.add(key) }
    return ReactionCounts(kinds: kinds, users: users, ownKinds: ownKinds, isOwn: own > 0)
  }

  private func count(_ sql: String, _ bind: (inout Binder) -> Void) throws -> Int {
    Int(clamping: try CachedStatement(database, sql).first(bind, { try $0.number() }) ?? 0)
  }
}

extension Binder {
  fileprivate mutating func add(_ key: ReactionKey) {
    add(key.message.room)
    add(key.message.message)
    add(key.user)
    add(key.emoji)
  }

  fileprivate mutating func addKind(of key: ReactionKey) {
    add(key.message.room)
    add(key.message.message)
    add(key.emoji)
  }
}
