import ChatDomain
import ChatPrimitives
import GRDB

/// What facts do to the rows of invites.
struct InviteWriter {
  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  func create(_ invite: Invite, in room: RoomID, _ recorded: RecordedEvent) throws {
    try CachedStatement(
      database,
      """
      INSERT OR REPLACE INTO invite (
        roomId, id, tokenHash, role, expiresAt, maximumUses, uses, createdPosition, createdTime, creator
      ) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
      """
    ).run {
      $0.add(room)
      $0.add(invite.id)
      $0.add(invite.tokenHash)
      $0.add(invite.role)
      $0.add(invite.expiresAt)
      $0.add(invite.maximumUses.map(Int64.init))
      $0.add(recorded.stamp)
      $0.add(recorded.actor)
    }
  }

  func revoke(_ invite: InviteID, in room: RoomID, _ stamp: Stamp) throws {
    try CachedStatement(
      database, "UPDATE invite SET revokedPosition = ?, revokedTime = ? WHERE roomId = ? AND id = ?"
    ).run {
      $0.add(stamp)
      $0.add(room)
      $0.add(invite)
    }
  }

  func countUse(of invite: InviteID, in room: RoomID) throws {
    try CachedStatement(database, "UPDATE invite SET uses = uses + 1 WHERE roomId = ? AND id = ?").run {
      $0.add(room)
      $0.add(invite)
    }
  }
}
