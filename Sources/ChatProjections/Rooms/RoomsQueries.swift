package import ChatDomain
package import ChatPrimitives
package import GRDB

/// What can be asked of `rooms`.
package struct RoomsQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  // MARK: - Rooms

  /// The user's rooms, latest activity first, archived ones left out.
  /// - Parameters:
  ///   - cursor: `next` of the page before; nil for the first.
  ///   - limit: how many rooms at most.
  package func roomList(of user: UserID, after cursor: LogPosition? = nil, limit: Int) throws -> RoomListPage {
    let found = try CachedStatement(
      database,
      """
      SELECT room.id FROM member JOIN room ON room.id = member.roomId
      WHERE member.userId = ? AND room.archivedPosition IS NULL AND room.activity < ?
      ORDER BY room.activity DESC LIMIT ?
      """
    ).all({
      $0.add(user)
      $0.add(cursor.map { Int64(clamping: $0.value) } ?? Int64.max)
      $0.add(limit + 1)
    }) { try $0.id(RoomID.self) }
    let rooms = try found.prefix(limit).compactMap { try roomListRow($0, for: user) }
    return RoomListPage(
      rooms: rooms,
      nicknames: try Profiles.nicknames(of: rooms.lazy.compactMap { $0.room.lastMessage?.sender }, database),
      next: found.count > limit ? rooms.last?.room.activity : nil)
  }

  /// The room as the user sees it, archived or not; nil when the user is not a member or there is no such room.
  package func roomListRow(_ id: RoomID, for user: UserID) throws -> RoomListRow? {
    guard let member = try member(user, of: id), let room = try room(id) else { return nil }
    let unread = try unreadCount(
      UnreadParts(room: id, lastOrdinal: room.lastOrdinal, deletedCount: room.deletedCount, marker: member.marker))
    return RoomListRow(room: room, member: member, unreadCount: unread, mentionCount: 0)
  }

  /// The room whoever asks: the caller has checked that they may.
  package func room(_ id: RoomID) throws -> RoomRow? {
    try CachedStatement(database, "SELECT \(Self.roomColumns) FROM room WHERE id = ?")
      .first({ $0.add(id) }, Self.readRoom)
  }

  static let roomColumns = """
    id, kind, lastOrdinal, memberCount, deletedCount, activity, archivedPosition, archivedTime, creator, fingerprint,
    createdPosition, createdTime, revision, name, lastMessageId, lastMessageSender, lastMessageSentAt,
    lastMessagePosition, lastMessageRevision, lastMessageEditedAt, lastMessageDeletedAt, lastMessageText
    """

  static func readRoom(_ row: inout ColumnReader) throws -> RoomRow {
    let id: RoomID = try row.id()
    let kind = try row.choice(RoomKind.self)
    let lastOrdinal = try row.unsigned()
    let memberCount = try row.unsigned()
    let deletedCount = try row.unsigned()
    let activity = try row.position()
    let archived = try row.optionalStamp()
    return try RoomRow(
      id: id, kind: kind, name: "", creator: row.optional { try $0.id() },
      creationFingerprint: row.optional { try $0.fingerprint() }, created: row.stamp(), revision: row.position(),
      archived: archived, lastOrdinal: lastOrdinal, memberCount: memberCount, deletedCount: deletedCount,
      activity: activity, lastMessage: nil
    ).completed(from: &row)
  }

  // MARK: - Members

  package func member(_ user: UserID, of room: RoomID) throws -> MemberRow? {
    try CachedStatement(database, "SELECT \(Self.memberColumns) FROM member WHERE roomId = ? AND userId = ?").first(
      {
        $0.add(room)
        $0.add(user)
      }, Self.readMember)
  }

  /// Members in the order in which they joined.
  /// - Parameter cursor: `next` of the page before; nil for the first.
  package func members(of room: RoomID, after cursor: LogPosition? = nil, limit: Int) throws -> MemberPage {
    let found = try CachedStatement(
      database,
      """
      SELECT \(Self.memberColumns) FROM member WHERE roomId = ? AND joinedPosition > ?
      ORDER BY joinedPosition LIMIT ?
      """
    ).all(
      {
        $0.add(room)
        $0.add(cursor.map { Int64(clamping: $0.value) } ?? 0)
        $0.add(limit + 1)
      }, Self.readMember)
    let members = Array(found.prefix(limit))
    return MemberPage(
      members: members, nicknames: try Profiles.nicknames(of: members.lazy.map(\.user), database),
      next: found.count > limit ? members.last?.joined.position : nil)
  }

  static let memberColumns = "roomId, userId, role, joinedPosition, joinedTime, joinedOrdinal, marker, mutedUntil"

  static func readMember(_ row: inout ColumnReader) throws -> MemberRow {
    try MemberRow(
      room: row.id(), user: row.id(), role: row.choice(), joined: row.stamp(), joinedOrdinal: row.unsigned(),
      marker: row.unsigned(), mutedUntil: row.optional { try $0.time() })
  }

  /// The nicknames of those users who have one.
  package func nicknames(of users: some Sequence<UserID>) throws -> [UserID: String] {
    try Profiles.nicknames(of: users, database)
  }

  // MARK: - Invites

  /// - Parameter tokenHash: SHA-256 of the token.
  package func invite(tokenHash: [UInt8]) throws -> InviteRow? {
    try CachedStatement(database, "SELECT \(Self.inviteColumns) FROM invite WHERE tokenHash = ?")
      .first({ $0.add(tokenHash) }, Self.readInvite)
  }

  package func invite(_ id: InviteID, of room: RoomID) throws -> InviteRow? {
    try CachedStatement(database, "SELECT \(Self.inviteColumns) FROM invite WHERE roomId = ? AND id = ?").first(
      {
        $0.add(room)
        $0.add(id)
      }, Self.readInvite)
  }

  /// Every invite that the room ever had, in the order of their making.
  package func invites(of room: RoomID) throws -> [InviteRow] {
    try CachedStatement(
      database, "SELECT \(Self.inviteColumns) FROM invite WHERE roomId = ? ORDER BY createdPosition, id"
    ).all({ $0.add(room) }, Self.readInvite)
  }

  static let inviteColumns = """
    roomId, id, tokenHash, role, expiresAt, maximumUses, uses, createdPosition, createdTime, creator, revokedPosition,
    revokedTime
    """

  static func readInvite(_ row: inout ColumnReader) throws -> InviteRow {
    let room: RoomID = try row.id()
    let invite = try Invite(
      id: row.id(), tokenHash: row.bytes(), role: row.choice(), expiresAt: row.time(),
      maximumUses: row.optional { try $0.narrow() })
    return try InviteRow(
      room: room, invite: invite, uses: row.unsigned(), created: row.stamp(), creator: row.optional { try $0.id() },
      revoked: row.optionalStamp())
  }
}

extension RoomRow {
  /// With the columns that stand last, because they may be long.
  fileprivate func completed(from row: inout ColumnReader) throws -> RoomRow {
    var room = self
    room.name = try row.text()
    guard !row.isNull else { return room }
    let message = try (
      id: row.id(MessageID.self), sender: row.id(UserID.self), sentAt: row.time(), position: row.position(),
      revision: row.position(), editedAt: row.optional { try $0.time() }, deletedAt: row.optional { try $0.time() }
    )
    room.lastMessage = try MessageRow(
      room: id, id: message.id, ordinal: lastOrdinal, sender: message.sender, text: row.text(), sentAt: message.sentAt,
      position: message.position, revision: message.revision, editedAt: message.editedAt, deletedAt: message.deletedAt)
    return room
  }
}
