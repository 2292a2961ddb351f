import ChatDomain
import ChatPrimitives
import GRDB

/// What happened to a membership, as the join history tells it. The raw values are stored in the read model.
package enum MembershipChange: UInt8, Sendable, CaseIterable {
  /// Came in by an invite, by a service's word, or into a public channel by the user's own will.
  case joined = 1
  /// Was brought in by another member.
  case added = 2
  case left = 3
  /// Was put out.
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

/// The rows of bans, of silence that outlasts a membership, and of the join history.
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

  /// - Returns: false when the user was banned already.
  func ban(_ user: UserID, in room: RoomID, _ recorded: RecordedEvent) throws -> Bool {
    try CachedStatement(
      database,
      """
      INSERT INTO ban (roomId, userId, position, time, banner) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (roomId, userId) DO NOTHING
      """
    ).run(room, user, recorded.stamp, recorded.actor) > 0
  }

  /// - Returns: false when the user was not banned.
  func unban(_ user: UserID, in room: RoomID) throws -> Bool {
    try CachedStatement(database, "DELETE FROM ban WHERE roomId = ? AND userId = ?").run(room, user) > 0
  }

  /// A silence that the member takes along when going. Those that are over by then are forgotten.
  func keepSilence(of user: UserID, until: Timestamp, in room: RoomID, at time: Timestamp) throws {
    try CachedStatement(database, "DELETE FROM silencedAway WHERE roomId = ? AND until <= ?").run(room, time)
    try CachedStatement(
      database, "INSERT OR REPLACE INTO silencedAway (roomId, userId, until) VALUES (?, ?, ?)"
    ).run(room, user, until)
  }

  /// The silence that the user took along, which now stands with the membership again.
  func takeSilence(of user: UserID, in room: RoomID) throws -> Timestamp? {
    let until = try CachedStatement(database, "SELECT until FROM silencedAway WHERE roomId = ? AND userId = ?")
      .first(room, user) { try $0.time() }
    guard until != nil else { return nil }
    try CachedStatement(database, "DELETE FROM silencedAway WHERE roomId = ? AND userId = ?").run(room, user)
    return until
  }
}
