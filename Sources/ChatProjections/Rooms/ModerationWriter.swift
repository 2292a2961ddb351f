import ChatDomain
import ChatPrimitives
import GRDB

/// A change of a membership in the join history. The raw values are stored in the read model.
package enum MembershipChange: UInt8, Sendable, CaseIterable {
  /// Joined through an invite, through a service, or, in a public channel, on their own.
  case joined = 1
  /// Was added by another member.
  case added = 2
  case left = 3
  /// Was removed.
  case removed = 4
  case banned = 5
  case unbanned = 6
  case roleChanged = 7

  package var name: String {
    switch self {
    case .joined: "joined"
    case .added: "added"
    case .left: "left"
    case .removed: "removed"
    case .banned: "banned"
    case .unbanned: "unbanned"
    case .roleChanged: "role_changed"
    }
  }
}

/// Writes the rows of bans, of the silence of members who left, and of the join history.
struct ModerationWriter {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  func note(
    _ change: MembershipChange, of user: UserID, _ role: Role? = nil, in room: RoomID, _ recorded: RecordedEvent
  ) throws {
    try CachedStatement(
      database,
      "INSERT INTO joinHistory (roomId, position, time, userId, change, role, actor) VALUES (?, ?, ?, ?, ?, ?, ?)"
    ).run(
      room, recorded.position, recorded.occurredAt, user, Int64(change.rawValue), role.map { Int64($0.rawValue) },
      recorded.actor)
  }

  /// - Returns: false if the user was already banned.
  func ban(_ user: UserID, in room: RoomID, _ recorded: RecordedEvent) throws -> Bool {
    try CachedStatement(
      database,
      """
      INSERT INTO ban (roomId, userId, position, time, banner) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (roomId, userId) DO NOTHING
      """
    ).run(room, user, recorded.stamp, recorded.actor) > 0
  }

  /// - Returns: false if the user was not banned.
  func unban(_ user: UserID, in room: RoomID) throws -> Bool {
    try CachedStatement(database, "DELETE FROM ban WHERE roomId = ? AND userId = ?").run(room, user) > 0
  }

  /// Stores the silence of a member who leaves, and deletes those in the room that have expired.
  func keepSilence(of user: UserID, until: Timestamp, in room: RoomID, at time: Timestamp) throws {
    try CachedStatement(database, "DELETE FROM silencedAway WHERE roomId = ? AND until <= ?").run(room, time)
    try CachedStatement(
      database, "INSERT OR REPLACE INTO silencedAway (roomId, userId, until) VALUES (?, ?, ?)"
    ).run(room, user, until)
  }

  /// Removes and returns the stored silence of a user who joins again, so that it applies to the new membership.
  func takeSilence(of user: UserID, in room: RoomID) throws -> Timestamp? {
    let until = try CachedStatement(database, "SELECT until FROM silencedAway WHERE roomId = ? AND userId = ?")
      .first(room, user) { try $0.time() }
    guard until != nil else { return nil }
    try CachedStatement(database, "DELETE FROM silencedAway WHERE roomId = ? AND userId = ?").run(room, user)
    return until
  }
}
