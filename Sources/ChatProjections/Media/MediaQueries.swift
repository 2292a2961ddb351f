package import ChatDomain
package import ChatPrimitives
package import GRDB

/// An uploaded file.
package struct MediaRow: Sendable, Hashable {
  package var id: MediaID
  package var uploader: UserID
  package var content: Media
  /// The file name that the upload came with.
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

/// The queries on `media`.
package struct MediaQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// A file that the user may see. These are: the user's own uploads; attachments of messages in the user's rooms; the
  /// pictures of these rooms, of the user's workspaces, of the channels that are open to the user there, and of any
  /// user; and attachments of the user's own scheduled messages.
  /// - Parameter user: nil for a service, which may see everything.
  /// - Returns: nil also if there is no such file.
  package func media(_ id: MediaID, for user: UserID?) throws -> MediaRow? {
    guard let row = try row(id) else { return nil }
    guard let user, row.uploader != user else { return row }
    return try isShown(id, to: user) ? row : nil
  }

  /// Returns those of the given content hashes that no referenced file has. References of a deleted room count until
  /// their rows are removed.
  package func unused(_ hashes: some Sequence<[UInt8]>) throws -> [[UInt8]] {
    let statement = try CachedStatement(
      database,
      """
      SELECT 1 FROM media WHERE hash = ? AND (
        \(Self.isInUse) OR EXISTS (SELECT 1 FROM reported WHERE mediaId = media.id)
      ) LIMIT 1
      """)
    return try hashes.filter { hash in try !statement.exists(hash) }
  }

  /// Whether only reports keep this content: nothing but reported messages refers to it.
  package func isKeptByReportsOnly(_ hash: [UInt8]) throws -> Bool {
    let isReported = try CachedStatement(
      database,
      "SELECT 1 FROM media WHERE hash = ? AND EXISTS (SELECT 1 FROM reported WHERE mediaId = media.id) LIMIT 1"
    ).exists(hash)
    guard isReported else { return false }
    return try !CachedStatement(database, "SELECT 1 FROM media WHERE hash = ? AND (\(Self.isInUse)) LIMIT 1")
      .exists(hash)
  }

  /// Whether anything refers to a row of `media`, except reports.
  private static let isInUse = """
    EXISTS (SELECT 1 FROM attachment WHERE mediaId = media.id)
    OR EXISTS (SELECT 1 FROM scheduled WHERE mediaId = media.id)
    OR EXISTS (SELECT 1 FROM picture WHERE mediaId = media.id)
    """

  /// Whether anybody whose account is not deleted has uploaded this content. The rows of deleted users are removed.
  package func isKnown(_ hash: [UInt8]) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM media WHERE hash = ? LIMIT 1").exists(hash)
  }

  /// Whether the user has uploaded a file of exactly this size, in bytes.
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

  /// Finds the rooms that have the file, one at a time, through the index by file and room.
  private static let roomsWithMedium = """
    WITH RECURSIVE holding (roomId) AS (
      SELECT MIN(roomId) FROM attachment WHERE mediaId = ?1
      UNION ALL
      SELECT (SELECT MIN(roomId) FROM attachment WHERE mediaId = ?1 AND roomId > holding.roomId) FROM holding
      WHERE holding.roomId IS NOT NULL)
    """

  /// Takes one step for each room that has the file, however many messages have it and however many rooms the user is
  /// in. Rows of a deleted room that are not removed yet give nobody access.
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
