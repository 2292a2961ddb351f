import ChatDomain
import ChatPrimitives
import GRDB

/// For each user, the sums over the rooms where the user is tracked: the unread messages and mentions in all of these
/// rooms, and in the channels of each workspace. A row whose values are all zero is deleted.
///
/// `untracked` is the number of rooms in which the user is not tracked. Deleting a room does not decrease it, because
/// it only decides whether a user who joins a room is tracked there.
final class BadgeTotals {
  /// The scope of the totals over all rooms. The scope of a workspace's channels is the workspace's ID.
  static let allRooms = UUIDBytes.zero

  private struct Key: Hashable {
    let user: UserID
    let scope: UUIDBytes
  }

  private struct Change {
    var unread: Int64 = 0
    var mentions: Int64 = 0
    var untracked: Int64 = 0
  }

  private let database: Database
  private var changes: [Key: Change] = [:]

  init(_ database: Database) {
    self.database = database
  }

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE badge (
          userId BLOB NOT NULL,
          scope BLOB NOT NULL,
          unread INTEGER NOT NULL,
          mentions INTEGER NOT NULL,
          untracked INTEGER NOT NULL,
          PRIMARY KEY (userId, scope)
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// Records a change of what a room adds to the user's badge.
  func change(_ user: UserID, in workspace: WorkspaceID?, from old: BadgeRow, to new: BadgeRow) {
    guard old != new else { return }
    for scope in [Self.allRooms, workspace?.uuid].compactMap({ $0 }) {
      let key = Key(user: user, scope: scope)
      changes[key, default: Change()].unread += Int64(clamping: new.unread) - Int64(clamping: old.unread)
      changes[key, default: Change()].mentions += Int64(clamping: new.mentions) - Int64(clamping: old.mentions)
    }
  }

  func changeUntracked(_ user: UserID, by step: Int64) {
    changes[Key(user: user, scope: Self.allRooms), default: Change()].untracked += step
  }

  /// The number of rooms in which the user is not tracked.
  func untracked(_ user: UserID) throws -> UInt64 {
    let stored =
      try CachedStatement(database, "SELECT untracked FROM badge WHERE userId = ? AND scope = ?")
      .first(user, Self.allRooms) { try $0.number() } ?? 0
    return UInt64(clamping: stored + (changes[Key(user: user, scope: Self.allRooms)]?.untracked ?? 0))
  }

  func flush() throws {
    let add = try CachedStatement(
      database,
      """
      INSERT INTO badge (userId, scope, unread, mentions, untracked) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (userId, scope) DO UPDATE SET unread = unread + excluded.unread,
        mentions = mentions + excluded.mentions, untracked = untracked + excluded.untracked
      """)
    let dropIfZero = try CachedStatement(
      database,
      "DELETE FROM badge WHERE userId = ? AND scope = ? AND unread = 0 AND mentions = 0 AND untracked = 0")
    for (key, change) in changes where change.unread != 0 || change.mentions != 0 || change.untracked != 0 {
      try add.run(key.user, key.scope, change.unread, change.mentions, change.untracked)
      guard change.unread < 0 || change.mentions < 0 || change.untracked < 0 else { continue }
      try dropIfZero.run(key.user, key.scope)
    }
    changes = [:]
  }
}
