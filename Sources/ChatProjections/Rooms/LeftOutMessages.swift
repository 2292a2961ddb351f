import ChatDomain
import ChatPrimitives
import GRDB

/// Messages that do not count for a member, because the member blocked the sender when they were sent.
///
/// The counts use sets of ordinals (`OrdinalOwner.leftOut` and `.unmentioned`). The table `leftOut` has the same
/// messages by their location, so that a deletion or an edit finds the members whose sets contain the message. All
/// members of a message are in one row, because a row for each of 256 members takes three times the space.
enum LeftOutMessages {
  /// How the message does not count. The raw values are in the table.
  enum Scope: Int64 {
    /// It does not count as unread.
    case unread = 1
    /// It mentions everyone, but does not count as a mention of the member.
    case everyone = 2
  }

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE leftOut (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          scope INTEGER NOT NULL,
          userIds BLOB NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal, scope)
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func add(
    _ users: Set<UserID>, _ scope: Scope, at location: MessageLocation, in room: BufferedRoom, _ database: Database
  ) throws {
    let added = try users.filter {
      try room.insert(location.ordinal, into: owner($0, scope, at: location, in: room), database)
    }
    guard !added.isEmpty else { return }
    // Sorted, so that a rebuild gives the same bytes.
    try CachedStatement(
      database, "INSERT INTO leftOut (roomId, thread, ordinal, scope, userIds) VALUES (?, ?, ?, ?, ?)"
    ).run(room.id, location, scope.rawValue, added.sorted().flatMap(\.uuid.bytes))
  }

  /// - Returns: the members for whom the message did not count.
  @discardableResult
  static func remove(
    _ scope: Scope, at location: MessageLocation, from room: BufferedRoom, _ database: Database
  ) throws -> Set<UserID> {
    let users = try stored(scope, at: location, in: room, database)
    guard !users.isEmpty else { return users }
    for user in users { try room.remove(location.ordinal, from: owner(user, scope, at: location, in: room), database) }
    try CachedStatement(
      database, "DELETE FROM leftOut WHERE roomId = ? AND thread = ? AND ordinal = ? AND scope = ?"
    ).run(room.id, location, scope.rawValue)
    return users
  }

  static func stored(
    _ scope: Scope, at location: MessageLocation, in room: BufferedRoom, _ database: Database
  ) throws -> Set<UserID> {
    let users = try CachedStatement(
      database, "SELECT userIds FROM leftOut WHERE roomId = ? AND thread = ? AND ordinal = ? AND scope = ?"
    ).first(room.id, location, scope.rawValue) { try $0.ids() as [UserID] }
    return Set(users ?? [])
  }

  private static func owner(
    _ user: UserID, _ scope: Scope, at location: MessageLocation, in room: BufferedRoom
  ) -> OrdinalOwner {
    switch scope {
    case .unread: .leftOut(for: user, in: room.id, thread: location.thread)
    case .everyone: .unmentioned(user, in: room.id, thread: location.thread)
    }
  }
}
