import ChatDomain
import ChatPrimitives
import GRDB

/// Applies events to the rows of workspaces. These events are rare compared to messages, so each is written at once.
///
/// An erased first event makes a workspace without a name, which is also how the deciders treat it. Any other erased
/// event has no effect.
struct WorkspaceWriter {
  private let database: Database

  init(_ database: Database) {
    self.database = database
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
      try forgetInvitation(of: user, into: id)
      try admit(user, role, to: id, recorded.stamp)
      if case .link(let invite) = method { try InviteWriter(database).countUse(of: invite, in: id) }
    case .members(.left(let user)), .members(.removed(let user)):
      try dismiss(user, from: id)
    case .invitations(.invited(let user, let role)):
      try invite(user, role, into: id, recorded)
    case .invitations(.withdrawn(let user)):
      try forgetInvitation(of: user, into: id)
    case .members(.roleChanged(let user, let role)):
      try run(
        "UPDATE workspaceMember SET role = ? WHERE workspaceId = ? AND userId = ?", Int64(role.rawValue), id, user)
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
      INSERT INTO workspace (id, version, fingerprint, createdPosition, createdTime, revision, memberCount, name)
      VALUES (?, ?, ?, ?, ?, ?, 0, ?)
      """, id, recorded.version.value, creation?.fingerprint, recorded.stamp, recorded.position, creation?.name ?? "")
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
    try run("UPDATE workspace SET revision = ? WHERE id = ?", position, id)
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

  // MARK: - Members

  private func admit(_ user: UserID, _ role: WorkspaceRole, to id: WorkspaceID, _ stamp: Stamp) throws {
    let admitted = try run(
      """
      INSERT INTO workspaceMember (workspaceId, userId, role, joinedPosition, joinedTime) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (workspaceId, userId) DO NOTHING
      """, id, user, Int64(role.rawValue), stamp)
    if admitted > 0 { try count(1, in: id) }
  }

  private func dismiss(_ user: UserID, from id: WorkspaceID) throws {
    let dismissed = try run("DELETE FROM workspaceMember WHERE workspaceId = ? AND userId = ?", id, user)
    if dismissed > 0 { try count(-1, in: id) }
  }

  private func count(_ change: Int, in id: WorkspaceID) throws {
    try run("UPDATE workspace SET memberCount = memberCount + ? WHERE id = ?", change, id)
  }

  // MARK: - Invitations

  private func invite(
    _ user: UserID, _ role: WorkspaceRole, into id: WorkspaceID, _ recorded: RecordedEvent
  ) throws {
    try run(
      """
      INSERT OR REPLACE INTO invitation (workspaceId, userId, role, madePosition, madeTime, inviter)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6
      WHERE NOT EXISTS (SELECT 1 FROM workspaceMember WHERE workspaceId = ?1 AND userId = ?2)
      """, id, user, Int64(role.rawValue), recorded.stamp, recorded.actor)
  }

  private func forgetInvitation(of user: UserID, into id: WorkspaceID) throws {
    try run("DELETE FROM invitation WHERE workspaceId = ? AND userId = ?", id, user)
  }
}
