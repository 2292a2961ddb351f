import ChatDomain
import ChatPrimitives
import GRDB

/// Applies events to the invites of rooms or of workspaces. The tables differ only in their names.
struct InviteWriter<Space> {
  private let database: Database
  private let table: String
  private let owner: String

  private init(_ database: Database, table: String, owner: String) {
    self.database = database
    self.table = table
    self.owner = owner
  }

  func create(_ invite: InviteLink<some InvitableRole>, in space: ID<Space>, _ recorded: RecordedEvent) throws {
    try CachedStatement(
      database,
      """
      INSERT OR REPLACE INTO \(table) (
        \(owner), id, tokenHash, codeHash, role, expiresAt, maximumUses, uses, createdPosition, createdTime, creator
      ) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
      """
    ).run(
      space, invite.id, invite.tokenHash, invite.codeHash, Int64(invite.role.rawValue), invite.expiresAt,
      invite.maximumUses.map(Int64.init), recorded.stamp, recorded.actor)
  }

  func revoke(_ invite: InviteID, in space: ID<Space>, _ stamp: Stamp) throws {
    try CachedStatement(
      database, "UPDATE \(table) SET revokedPosition = ?, revokedTime = ? WHERE \(owner) = ? AND id = ?"
    ).run(stamp, space, invite)
  }

  func countUse(of invite: InviteID, in space: ID<Space>) throws {
    try CachedStatement(database, "UPDATE \(table) SET uses = uses + 1 WHERE \(owner) = ? AND id = ?")
      .run(space, invite)
  }
}

extension InviteWriter where Space == Entity.Room {
  init(_ database: Database) { self.init(database, table: "invite", owner: "roomId") }
}

extension InviteWriter where Space == Entity.Workspace {
  init(_ database: Database) { self.init(database, table: "workspaceInvite", owner: "workspaceId") }
}
