import ChatDomain
import ChatPrimitives
import GRDB

/// Applies events to the rows of workspaces. These events are rare compared to messages, so each is written at once.
///
/// An erased first event makes a workspace without a name, which is also how the deciders treat it. Any other erased
/// event has no effect.
struct WorkspaceWriter {
  private let database: Database

  private let contents: RoomsProjection.Contents

  init(_ database: Database, _ contents: RoomsProjection.Contents) {
    self.database = database
    self.contents = contents
  }

  func apply(_ event: WorkspaceEvent, in id: WorkspaceID, _ recorded: RecordedEvent) throws {
    guard let isOpen = try state(of: id) else { return try begin(id, with: event, recorded) }
    try run("UPDATE workspace SET version = ? WHERE id = ?", recorded.version.value, id)
    guard isOpen else { return }
    switch event {
    case .lifecycle(.created), .members(.admissionRepeated), .erased:
      break
    case .lifecycle(.edited(let edit)):
      try self.edit(id, edit, recorded.position)
    case .lifecycle(.deleted):
      try end(id, recorded.stamp)
    case .sharing(.inviteCreated(let invite)):
      try InviteWriter(database).create(invite, in: id, recorded)
    case .sharing(.inviteRevoked(let invite)):
      try InviteWriter(database).revoke(invite, in: id, recorded.stamp)
    case .members(.joined(let user, let role, let method)):
      try forgetInvitation(of: user, into: id, recorded.position)
      try admit(user, role, to: id, recorded.stamp)
      if case .link(let invite) = method { try InviteWriter(database).countUse(of: invite, in: id) }
    case .members(.left(let user)), .members(.removed(let user)):
      try dismiss(user, from: id, recorded.position)
    case .invitations(.invited(let user, let role)):
      try invite(user, role, into: id, recorded)
    case .invitations(.withdrawn(let user)):
      try forgetInvitation(of: user, into: id, recorded.position)
    case .members(.roleChanged(let user, let role)):
      try changeRole(of: user, to: role, in: id, recorded.position)
    }
  }

  @discardableResult
  private func run<each Value: SQLBindable>(_ sql: String, _ values: repeat each Value) throws -> Int {
    try CachedStatement(database, sql).run(repeat each values)
  }

  // MARK: - Lifecycle

  /// Whether the workspace is open. Nil if there is none.
  private func state(of id: WorkspaceID) throws -> Bool? {
    try CachedStatement(database, "SELECT deletedPosition IS NULL FROM workspace WHERE id = ?")
      .first(id) { try $0.number() != 0 }
  }

  private func begin(_ id: WorkspaceID, with event: WorkspaceEvent, _ recorded: RecordedEvent) throws {
    let creation: WorkspaceCreation?
    switch event {
    case .lifecycle(.created(let made)): creation = made
    case .erased: creation = nil
    case .lifecycle(.edited), .lifecycle(.deleted), .sharing, .members, .invitations:
      return
    }
    try run(
      """
      INSERT INTO workspace (
        id, version, fingerprint, creator, createdPosition, createdTime, revision, changed, memberCount, topic, name
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
      """, id, recorded.version.value, creation?.fingerprint, creation == nil ? nil : recorded.actor, recorded.stamp,
      recorded.position, recorded.position, creation?.topic.flatMap { $0.isEmpty ? nil : $0 }, creation?.name ?? "")
  }

  private func edit(_ id: WorkspaceID, _ edit: WorkspaceEdit, _ position: LogPosition) throws {
    if let name = edit.name {
      try run("UPDATE workspace SET name = ? WHERE id = ?", name, id)
    }
    if let topic = edit.topic {
      try run("UPDATE workspace SET topic = ? WHERE id = ?", topic.isEmpty ? nil : topic, id)
    }
    if let change = edit.picture {
      var picture: MediaID?
      change.apply(to: &picture)
      try run("UPDATE workspace SET picture = ? WHERE id = ?", picture, id)
    }
    try run("UPDATE workspace SET revision = ?1, changed = ?1 WHERE id = ?2", position, id)
  }

  /// Keeps the row without its texts, so that the ID stays taken. `BulkDeletion` removes the other rows later.
  private func end(_ id: WorkspaceID, _ stamp: Stamp) throws {
    try run(
      """
      UPDATE workspace SET deletedPosition = ?, deletedTime = ?, memberCount = 0, picture = NULL, topic = NULL, name = ''
      WHERE id = ?
      """, stamp, id)
    try BulkDeletion.note(id, .workspace, database)
  }

  /// Forgets the creations of deleted workspaces and rooms by a deleted user: they can be erased in the log. Nobody can
  /// retry them.
  static func forgetCreations(by user: UserID, _ database: Database) throws {
    try CachedStatement(
      database,
      """
      UPDATE workspace INDEXED BY workspace_by_creator SET fingerprint = NULL, creator = NULL
      WHERE creator = ? AND deletedPosition IS NOT NULL
      """
    ).run(user)
    try CachedStatement(
      database,
      "UPDATE deletedRoom INDEXED BY deletedRoom_by_creator SET fingerprint = NULL, creator = NULL WHERE creator = ?"
    ).run(user)
  }

  // MARK: - Members

  private func admit(_ user: UserID, _ role: WorkspaceRole, to id: WorkspaceID, _ stamp: Stamp) throws {
    let admitted = try run(
      """
      INSERT INTO workspaceMember (workspaceId, userId, role, joinedPosition, joinedTime) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (workspaceId, userId) DO NOTHING
      """, id, user, Int64(role.rawValue), stamp)
    guard admitted > 0 else { return }
    try count(1, in: id, stamp.position)
    try note(.workspace, id.uuid, in: .user(user), stamp.position)
  }

  private func changeRole(
    of user: UserID, to role: WorkspaceRole, in id: WorkspaceID, _ position: LogPosition
  ) throws {
    let changed = try run(
      "UPDATE workspaceMember SET role = ? WHERE workspaceId = ? AND userId = ?", Int64(role.rawValue), id, user)
    guard changed > 0 else { return }
    try note(.workspace, id.uuid, in: .user(user), position)
    try note(.workspaceMember, user.uuid, in: .workspace(id), position)
  }

  private func dismiss(_ user: UserID, from id: WorkspaceID, _ position: LogPosition) throws {
    let dismissed = try run("DELETE FROM workspaceMember WHERE workspaceId = ? AND userId = ?", id, user)
    guard dismissed > 0 else { return }
    try count(-1, in: id, position)
    try note(.workspace, id.uuid, in: .user(user), position)
    try note(.workspaceMember, user.uuid, in: .workspace(id), position)
  }

  private func count(_ change: Int, in id: WorkspaceID, _ position: LogPosition) throws {
    try run("UPDATE workspace SET memberCount = memberCount + ?, changed = ? WHERE id = ?", change, position, id)
  }

  /// Notes that something changed for a user, or for the workspace's members.
  private func note(
    _ type: ChangeType, _ entity: UUIDBytes, in scope: ChangeScope, _ position: LogPosition
  ) throws {
    guard contents == .everything else { return }
    try Changes.note(ChangedEntity(type: type, id: entity), in: scope, at: position, database)
  }

  // MARK: - Invitations

  private func invite(
    _ user: UserID, _ role: WorkspaceRole, into id: WorkspaceID, _ recorded: RecordedEvent
  ) throws {
    let invited = try run(
      """
      INSERT OR REPLACE INTO invitation (workspaceId, userId, role, madePosition, madeTime, inviter)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6
      WHERE NOT EXISTS (SELECT 1 FROM workspaceMember WHERE workspaceId = ?1 AND userId = ?2)
      """, id, user, Int64(role.rawValue), recorded.stamp, recorded.actor)
    if invited > 0 { try note(.invitation, id.uuid, in: .user(user), recorded.position) }
  }

  private func forgetInvitation(of user: UserID, into id: WorkspaceID, _ position: LogPosition) throws {
    let forgotten = try run("DELETE FROM invitation WHERE workspaceId = ? AND userId = ?", id, user)
    if forgotten > 0 { try note(.invitation, id.uuid, in: .user(user), position) }
  }
}
