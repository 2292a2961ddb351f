import ChatDomain
import ChatPrimitives
import GRDB

/// Applies events to the rows of `media`.
struct MediaWriter {
  private let database: Database
  /// Whether any scheduled message has attachments. Usually none has, and then a sent message needs no lookup.
  private var hasScheduled: Bool

  init(_ database: Database) throws {
    self.database = database
    hasScheduled = try CachedStatement(database, "SELECT 1 FROM scheduled LIMIT 1").exists()
  }

  // MARK: - Users

  func apply(_ event: UserEvent, of user: UserID, _ stamp: Stamp) throws {
    switch event {
    case .media(.uploaded(let id, let media, let name)):
      try upload(id, media, name, by: user, stamp)
    case .account(.profileChanged(let edit)):
      try self.edit(edit.picture, of: .user, user.uuid)
    case .deletion(.deleted):
      try setPicture(nil, of: .user, user.uuid)
      // Nobody can get these files any more, also where other users have sent them again.
      try CachedStatement(database, "DELETE FROM media WHERE uploader = ?").run(user)
      try CachedStatement(database, "DELETE FROM scheduled WHERE author = ?").run(user)
    case .account(.registered), .account(.emailSet), .account(.disabled), .account(.enabled), .account(.preferencesSet),
      .logins, .sessions, .devices, .blocks, .deletion(.erased), .erased:
      break
    }
  }

  /// Only the first event counts. A second one is recorded only if the payload of the first was erased.
  private func upload(_ id: MediaID, _ media: Media, _ name: String?, by user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO media (id, uploader, hash, contentType, size, width, height, name, uploadedPosition, uploadedTime)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
      """
    ).run(
      id, user, media.hash, media.contentType, media.size, media.width.map { Int64($0) },
      media.height.map { Int64($0) }, name, stamp)
  }

  private func setPicture(_ media: MediaID?, of owner: PictureOwner, _ id: UUIDBytes) throws {
    guard let media else {
      try CachedStatement(database, "DELETE FROM picture WHERE owner = ? AND ownerId = ?").run(owner.rawValue, id)
      return
    }
    try CachedStatement(
      database,
      """
      INSERT INTO picture (owner, ownerId, mediaId) VALUES (?, ?, ?)
      ON CONFLICT (owner, ownerId) DO UPDATE SET mediaId = excluded.mediaId
      """
    ).run(owner.rawValue, id, media)
  }

  private func edit(_ picture: PictureEdit?, of owner: PictureOwner, _ id: UUIDBytes) throws {
    switch picture {
    case .set(let media): try setPicture(media, of: owner, id)
    case .remove: try setPicture(nil, of: owner, id)
    case nil: break
    }
  }

  // MARK: - Rooms

  mutating func apply(_ event: RoomEvent, in room: RoomID, at position: LogPosition) throws {
    switch event {
    case .lifecycle(.created(let creation)):
      if creation.isPublic, let workspace = creation.workspace { try publish(room, in: workspace) }
    case .lifecycle(.edited(let edit)):
      try self.edit(edit.picture, of: .room, room.uuid)
    case .lifecycle(.deleted):
      try delete(room)
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      try admit(user, to: room)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      try dismiss(user, from: room)
    case .messages(.sent(let message, _, _, let content)):
      if hasScheduled { try unschedule(message, in: room) }
      if let attachments = content?.details?.attachments { try attach(attachments, to: message, in: room) }
    case .messages(.deleted(let message, _)):
      try remove(message, in: room, from: "attachment")
    case .scheduling(.scheduled(let message, let scheduled)):
      if let scheduled { try schedule(message, scheduled, in: room) }
    case .scheduling(.cancelled(let message)):
      try unschedule(message, in: room)
    case .scheduling(.failed(let message, _)):
      if hasScheduled { try fail(message, in: room, at: position) }
    case .reports(.filed(let id, _, let report)):
      if let message = report?.subject.message { try keep(message, for: id, in: room) }
    case .lifecycle(.archived), .lifecycle(.restored), .sharing, .members(.admissionRepeated), .members(.roleChanged),
      .members(.unbanned), .members(.silenced), .members(.muted), .members(.notificationsSet), .members(.hidden),
      .members(.shown), .messages(.edited),
      .annotations, .reading, .threads, .scheduling(.changed), .reports(.resolved), .reports(.reopened), .erased:
      break
    }
  }

  private func publish(_ room: RoomID, in workspace: WorkspaceID) throws {
    try CachedStatement(
      database, "INSERT INTO publicChannel (roomId, workspaceId) VALUES (?, ?) ON CONFLICT (roomId) DO NOTHING"
    ).run(room, workspace)
  }

  /// `MediaQueries` ignores the rows of a room that are still to be removed.
  private func delete(_ room: RoomID) throws {
    try BulkDeletion.note(room, .room, database)
    try CachedStatement(database, "DELETE FROM publicChannel WHERE roomId = ?").run(room)
    try setPicture(nil, of: .room, room.uuid)
  }

  private func admit(_ user: UserID, to room: RoomID) throws {
    try CachedStatement(
      database, "INSERT INTO member (userId, roomId) VALUES (?, ?) ON CONFLICT (userId, roomId) DO NOTHING"
    ).run(user, room)
  }

  private func dismiss(_ user: UserID, from room: RoomID) throws {
    try CachedStatement(database, "DELETE FROM member WHERE userId = ? AND roomId = ?").run(user, room)
  }

  // MARK: - Messages

  private func attach(_ attachments: [Attachment], to message: MessageID, in room: RoomID) throws {
    let statement = try CachedStatement(
      database,
      "INSERT INTO attachment (roomId, messageId, mediaId) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    for attachment in attachments {
      try statement.run(room, message, attachment.media)
    }
  }

  /// The files of a reported message are evidence. They are kept when the message or its room is deleted.
  private func keep(_ message: ReportedMessage, for report: ReportID, in room: RoomID) throws {
    let statement = try CachedStatement(
      database, "INSERT INTO reported (roomId, reportId, mediaId) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    for attachment in message.content?.details?.attachments ?? [] { try statement.run(room, report, attachment.media) }
  }

  private mutating func schedule(_ message: MessageID, _ scheduled: ScheduledMessage, in room: RoomID) throws {
    try unschedule(message, in: room)
    let statement = try CachedStatement(
      database,
      "INSERT INTO scheduled (roomId, messageId, mediaId, author) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
    for attachment in scheduled.content.details?.attachments ?? [] {
      hasScheduled = true
      try statement.run(room, message, attachment.media, scheduled.author)
    }
  }

  /// A message that could not be sent stays in its author's list, so its files stay, too. The list keeps the newest
  /// messages of each author and room, `Limits.scheduledMessagesPerUserAndRoom` at most.
  private func fail(_ message: MessageID, in room: RoomID, at position: LogPosition) throws {
    let author = try CachedStatement(
      database,
      """
      UPDATE scheduled SET failedPosition = ? WHERE roomId = ? AND messageId = ? AND failedPosition IS NULL
      RETURNING author
      """
    ).first(position, room, message) { try $0.id(UserID.self) }
    guard let author else { return }
    let newestBeyond = try CachedStatement(
      database,
      """
      SELECT DISTINCT failedPosition FROM scheduled WHERE author = ? AND roomId = ? AND failedPosition IS NOT NULL
      ORDER BY failedPosition DESC LIMIT 1 OFFSET ?
      """
    ).first(author, room, Limits.scheduledMessagesPerUserAndRoom) { try $0.number() }
    guard let newestBeyond else { return }
    try CachedStatement(
      database, "DELETE FROM scheduled WHERE author = ? AND roomId = ? AND failedPosition <= ?"
    ).run(author, room, newestBeyond)
  }

  private func unschedule(_ message: MessageID, in room: RoomID) throws {
    try remove(message, in: room, from: "scheduled")
  }

  private func remove(_ message: MessageID, in room: RoomID, from table: String) throws {
    try CachedStatement(database, "DELETE FROM \(table) WHERE roomId = ? AND messageId = ?").run(room, message)
  }

  // MARK: - Workspaces

  func apply(_ event: WorkspaceEvent, in workspace: WorkspaceID) throws {
    switch event {
    case .lifecycle(.edited(let edit)):
      try self.edit(edit.picture, of: .workspace, workspace.uuid)
    case .lifecycle(.deleted):
      // The remaining member rows give access to nothing, because the workspace's channels and picture are gone.
      try BulkDeletion.note(workspace, .workspace, database)
      try setPicture(nil, of: .workspace, workspace.uuid)
    case .members(.joined(let user, let role, _)):
      try set(role, of: user, in: workspace, admits: true)
    case .members(.roleChanged(let user, let role)):
      try set(role, of: user, in: workspace, admits: false)
    case .members(.left(let user)), .members(.removed(let user)):
      try CachedStatement(database, "DELETE FROM workspaceMember WHERE userId = ? AND workspaceId = ?")
        .run(user, workspace)
    case .lifecycle(.created), .sharing, .members(.admissionRepeated), .invitations, .erased:
      break
    }
  }

  /// - Parameter admits: whether a user who is not a member becomes one. Otherwise only the role of an existing member
  ///   changes.
  private func set(_ role: WorkspaceRole, of user: UserID, in workspace: WorkspaceID, admits: Bool) throws {
    let sql =
      admits
      ? """
      INSERT INTO workspaceMember (role, userId, workspaceId) VALUES (?, ?, ?)
      ON CONFLICT (userId, workspaceId) DO UPDATE SET role = excluded.role
      """
      : "UPDATE workspaceMember SET role = ? WHERE userId = ? AND workspaceId = ?"
    try CachedStatement(database, sql).run(Int64(role.rawValue), user, workspace)
  }
}
