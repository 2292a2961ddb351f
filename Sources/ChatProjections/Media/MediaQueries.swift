package import ChatDomain
package import ChatPrimitives
package import GRDB

/// An uploaded medium.
package struct MediaRow: Sendable, Hashable {
  package var id: MediaID
  package var uploader: UserID
  package var content: Media
  /// What the upload called itself.
  package var name: String?
  package var uploaded: Stamp

  package init(id: MediaID, uploader: UserID, content: Media, name: String?, uploaded: Stamp) {
    self.id = id
    self.uploader = uploader
    self.content = content
    self.name = name
    self.uploaded = uploaded
  }
}

/// What can be asked of `media`.
package struct MediaQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// A medium that the user may see: an own upload, what a message of a room of theirs holds, the picture of such a
  /// room, of a workspace of theirs, of a channel that is open to them there, or of any user, and what they have
  /// attached to a message that waits for its time.
  /// - Parameter user: nil for a service, which sees everything.
  /// - Returns: nil also when there is no such medium.
  package func media(_ id: MediaID, for user: UserID?) throws -> MediaRow? {
    guard let row = try row(id) else { return nil }
    guard let user, row.uploader != user else { return row }
    return try isShown(id, to: user) ? row : nil
  }

  /// Of these contents, the ones that no referenced medium has. What a deleted room referenced counts until its rows
  /// are cleared.
  package func unused(_ hashes: some Sequence<[UInt8]>) throws -> [[UInt8]] {
    let statement = try CachedStatement(
      database,
      """
      SELECT 1 FROM media WHERE hash = ? AND (
        EXISTS (SELECT 1 FROM attachment WHERE mediaId = media.id)
        OR EXISTS (SELECT 1 FROM scheduled WHERE mediaId = media.id)
        OR EXISTS (SELECT 1 FROM picture WHERE mediaId = media.id)
      ) LIMIT 1
      """)
    return try hashes.filter { hash in try !statement.exists(hash) }
  }

  /// Whether anybody has uploaded this content, now or before.
  package func isKnown(_ hash: [UInt8]) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM media WHERE hash = ? LIMIT 1").exists(hash)
  }

  /// Whether the user has uploaded a file of just this size, in bytes.
  package func hasUpload(by user: UserID, size: UInt64) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM media WHERE uploader = ? AND size = ? LIMIT 1").exists(user, size)
  }

  private func row(_ id: MediaID) throws -> MediaRow? {
    try CachedStatement(
      database,
      """
      SELECT id, uploader, hash, contentType, size, width, height, name, uploadedPosition, uploadedTime
      FROM media WHERE id = ?
      """
    ).first(id) { row in
      let (id, uploader) = try (row.id(MediaID.self), row.id(UserID.self))
      let (hash, type, size) = try (row.bytes(), row.text(), row.unsigned())
      let width = try row.optional { try $0.narrow(UInt32.self) }
      let height = try row.optional { try $0.narrow(UInt32.self) }
      let name = try row.optional { try $0.text() }
      return MediaRow(
        id: id, uploader: uploader,
        content: Media(hash: hash, contentType: type, size: size, width: width, height: height), name: name,
        uploaded: try row.stamp())
    }
  }

  /// The rooms with the medium, one after the other, out of the index by medium and room.
  private static let roomsWithMedium = """
    WITH RECURSIVE holding (roomId) AS (
      SELECT MIN(roomId) FROM attachment WHERE mediaId = ?1
      UNION ALL
      SELECT (SELECT MIN(roomId) FROM attachment WHERE mediaId = ?1 AND roomId > holding.roomId) FROM holding
      WHERE holding.roomId IS NOT NULL)
    """

  /// Costs a step for each room that holds the medium, however many messages hold it and however many rooms the user is
  /// in. Rows of a deleted room that are not cleared yet give nobody access.
  private func isShown(_ id: MediaID, to user: UserID) throws -> Bool {
    let guest = Int64(WorkspaceRole.guest.rawValue)
    let cleared = "SELECT id FROM clearing WHERE scope = \(BulkDeletion.Scope.room.rawValue)"
    return try CachedStatement(
      database,
      """
      \(Self.roomsWithMedium)
      SELECT 1 WHERE
        EXISTS (
          SELECT 1 FROM holding CROSS JOIN member ON member.userId = ?2 AND member.roomId = holding.roomId
          WHERE holding.roomId NOT IN (\(cleared)))
        OR EXISTS (
          SELECT 1 FROM scheduled WHERE mediaId = ?1 AND author = ?2 AND roomId NOT IN (\(cleared)))
        OR EXISTS (
          SELECT 1 FROM picture WHERE mediaId = ?1 AND (
            owner = \(PictureOwner.user.rawValue)
            OR owner = \(PictureOwner.room.rawValue) AND (
              EXISTS (SELECT 1 FROM member WHERE userId = ?2 AND roomId = ownerId)
              OR EXISTS (
                SELECT 1 FROM publicChannel JOIN workspaceMember USING (workspaceId)
                WHERE roomId = ownerId AND userId = ?2 AND role > \(guest)))
            OR owner = \(PictureOwner.workspace.rawValue) AND EXISTS (
              SELECT 1 FROM workspaceMember WHERE userId = ?2 AND workspaceId = ownerId)))
      """
    ).exists(id, user)
  }
}
