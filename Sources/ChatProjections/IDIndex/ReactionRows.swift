import ChatDomain
import ChatPrimitives
import GRDB

/// The part of a message's reactions that decisions need: who reacted with which emoji, and how many users per emoji.
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
    ).run(key.message, key.user, key.emoji)
    guard added > 0 else { return }
    try CachedStatement(
      database,
      """
      INSERT INTO reactionKind (roomId, messageId, emoji, users) VALUES (?, ?, ?, 1)
      ON CONFLICT (roomId, messageId, emoji) DO UPDATE SET users = users + 1
      """
    ).run(key.message, key.emoji)
  }

  func remove(_ key: ReactionKey) throws {
    let removed = try CachedStatement(
      database, "DELETE FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ? AND emoji = ?"
    ).run(key.message, key.user, key.emoji)
    guard removed > 0 else { return }
    for sql in [
      "UPDATE reactionKind SET users = users - 1 WHERE roomId = ? AND messageId = ? AND emoji = ?",
      "DELETE FROM reactionKind WHERE roomId = ? AND messageId = ? AND emoji = ? AND users = 0",
    ] {
      try CachedStatement(database, sql).run(key.message, key.emoji)
    }
  }

  /// Called when a deleted user's reactions are removed.
  func removeAll(of user: UserID, from message: MessageKey) throws {
    let kinds = try CachedStatement(
      database, "SELECT emoji FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ?"
    ).all(message, user) { try $0.bytes() }
    for emoji in kinds {
      try remove(ReactionKey(message: message, user: user, emoji: String(decoding: emoji, as: UTF8.self)))
    }
  }

  /// Called when a message is deleted.
  func removeAll(from message: MessageKey) throws {
    for table in ["reaction", "reactionKind"] {
      try CachedStatement(database, "DELETE FROM \(table) WHERE roomId = ? AND messageId = ?").run(message)
    }
  }

  func counts(for key: ReactionKey) throws -> ReactionCounts {
    let kinds = try count("SELECT COUNT(*) FROM reactionKind WHERE roomId = ? AND messageId = ?", key.message)
    guard kinds > 0 else { return .none }
    let users = try count(
      "SELECT users FROM reactionKind WHERE roomId = ? AND messageId = ? AND emoji = ?", key.message, key.emoji)
    let ownKinds = try count(
      "SELECT COUNT(*) FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ?", key.message, key.user)
    let own = try count(
      "SELECT COUNT(*) FROM reaction WHERE roomId = ? AND messageId = ? AND userId = ? AND emoji = ?", key.message,
      key.user, key.emoji)
    return ReactionCounts(kinds: kinds, users: users, ownKinds: ownKinds, isOwn: own > 0)
  }

  private func count<each Value: SQLBindable>(_ sql: String, _ values: repeat each Value) throws -> Int {
    Int(clamping: try CachedStatement(database, sql).first(repeat each values) { try $0.number() } ?? 0)
  }
}

/// Binds the room and the message.
extension MessageKey: SQLBindable {
  package static var parameterCount: Int { 2 }

  package func bind(to binder: inout Binder) {
    room.bind(to: &binder)
    message.bind(to: &binder)
  }
}
