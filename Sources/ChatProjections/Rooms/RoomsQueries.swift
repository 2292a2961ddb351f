package import ChatDomain
package import ChatPrimitives
package import GRDB

/// The queries on `rooms`.
package struct RoomsQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  // MARK: - Rooms

  /// The user's rooms of one list or several, latest activity first. The rooms where the user is tracked are one range of
  /// an index for each list. The others, usually few, are sorted in.
  ///
  /// A page with a filter looks at no more than `Limits.roomsFilteredForPage` rooms, so it can have fewer rooms than
  /// `limit`, or none, although there are more.
  /// - Parameters:
  ///   - cursor: `next` of the previous page; nil for the first.
  ///   - limit: the maximum number of rooms.
  package func roomList(
    of user: UserID, in lists: [TrackedRoom.List] = [.open], _ filter: RoomListFilter = RoomListFilter(),
    after cursor: LogPosition? = nil, limit: Int
  ) throws -> RoomListPage {
    let mostExamined = filter.mostExamined(forPageOf: limit)
    let found = try rooms(of: user, in: lists, after: cursor, limit: mostExamined + 1)
    var rooms: [RoomListRow] = []
    var lastExamined: LogPosition?
    var isCut = found.count > mostExamined
    var budget = PageBudget()
    for (id, activity) in found.prefix(mostExamined) {
      if try admits(id, filter), let row = try roomListRow(id, for: user) {
        guard rooms.count < limit, budget.take(row.contentBytes) else {
          isCut = true
          break
        }
        rooms.append(row)
      }
      lastExamined = activity
    }
    return RoomListPage(rooms: rooms, profiles: try profiles(in: rooms), next: isCut ? lastExamined : nil)
  }

  func admits(_ room: RoomID, _ filter: RoomListFilter) throws -> Bool {
    guard !filter.admitsAll else { return true }
    return try CachedStatement(
      database, "SELECT 1 FROM room WHERE id = ?1 AND IFNULL(kind = ?2, 1) AND IFNULL(workspaceId = ?3, ?3 IS NULL)"
    ).exists(room, filter.kind.map { Int64($0.rawValue) }, filter.workspace)
  }

  /// The IDs of the user's rooms of these lists, latest activity first.
  func rooms(
    of user: UserID, in lists: [TrackedRoom.List], after cursor: LogPosition?, limit: Int
  ) throws -> [(id: RoomID, activity: LogPosition)] {
    var found: [(id: RoomID, activity: LogPosition)] = []
    for sql in Self.roomListParts {
      for list in lists {
        found += try CachedStatement(database, sql).all(
          user, Int64(list.rawValue), cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit
        ) { (id: try $0.id(RoomID.self), activity: try $0.position()) }
      }
    }
    return Array(found.sorted { $0.activity > $1.activity }.prefix(limit))
  }

  /// The rooms where the user is tracked, and those where not. The parameters of both are the user, the list, the
  /// cursor and the limit.
  static let roomListParts = [
    """
    SELECT roomId, roomActivity FROM member WHERE userId = ? AND list = ? AND roomActivity < ?
    ORDER BY roomActivity DESC LIMIT ?
    """,
    """
    SELECT room.id, room.activity FROM member CROSS JOIN room ON room.id = member.roomId
    WHERE member.userId = ? AND member.list IS NULL
      AND CASE WHEN room.archivedPosition IS NOT NULL THEN 1 WHEN member.isHidden THEN 2 ELSE 0 END = ?
      AND room.activity < ?
    ORDER BY room.activity DESC LIMIT ?
    """,
  ]

  /// The room as the user sees it, archived or not. Nil if the user is not a member or there is no such room.
  package func roomListRow(_ id: RoomID, for user: UserID) throws -> RoomListRow? {
    guard let member = try member(user, of: id), let room = try room(id) else { return nil }
    let participants = room.kind == .direct ? try participants(of: room) : []
    let counts: (unread: UInt64, mentions: UInt64) =
      if let tracked = member.tracked {
        (tracked.unreadCount, tracked.mentionCount)
      } else {
        try counted(member, in: room)
      }
    return RoomListRow(
      room: room, member: member, participants: participants, unreadCount: counts.unread,
      mentionCount: counts.mentions, isLastFromBlockedUser: try isLast(of: room, fromUserBlockedBy: user),
      custom: try RoomCustom.value(of: id, database))
  }

  private func isLast(of room: RoomRow, fromUserBlockedBy user: UserID) throws -> Bool {
    guard let sender = room.lastMessage?.sender, sender != user else { return false }
    return try Blocks.isBlocked(sender, by: user, database)
  }

  /// Computes a member's unread counts from the room's sets.
  func counted(_ member: MemberRow, in room: RoomRow) throws -> (unread: UInt64, mentions: UInt64) {
    let blocker = try blocker(member.user)
    let unread = try unreadCount(
      UnreadParts(
        room: room.id, lastOrdinal: room.lastOrdinal, deletedCount: room.deletedCount, readThrough: member.readThrough,
        joinedOrdinal: member.joinedOrdinal, leftOutFor: blocker))
    guard unread > 0 else { return (0, 0) }
    let mentions = try mentionCount(
      of: member.user, in: room.id, after: member.readThrough, joinedAt: member.joinedOrdinal, leftOutFor: blocker)
    return (unread, mentions)
  }

  /// The profiles of the last messages' senders and of the members of direct rooms.
  package func profiles(in rooms: [RoomListRow]) throws -> [UserID: Profile] {
    try Profiles.profiles(
      of: rooms.lazy.flatMap { [$0.room.lastMessage?.sender].compactMap { $0 } + $0.participants }, database)
  }

  /// All members of a direct room. Users who have left the workspace of a direct room are among them, so that the others
  /// still see with whom they wrote.
  private func participants(of room: RoomRow) throws -> [UserID] {
    let sql =
      room.workspace == nil
      ? "SELECT userId FROM member WHERE roomId = ? ORDER BY userId"
      : "SELECT DISTINCT userId FROM joinHistory WHERE roomId = ? ORDER BY userId"
    return try CachedStatement(database, sql).all(room.id) { try $0.id() }
  }

  /// Whether the room existed and was deleted.
  package func isDeleted(_ room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM deletedRoom WHERE id = ?").exists(room)
  }

  /// The room. The caller must have checked that the user may see it.
  package func room(_ id: RoomID) throws -> RoomRow? {
    try CachedStatement(database, "SELECT \(Self.roomColumns) FROM room WHERE id = ?")
      .first(id, read: Self.readRoom)
  }

  static let roomColumns = """
    id, kind, lastOrdinal, memberCount, deletedCount, activity, changed, shown, largeSince, archivedPosition, archivedTime,
    creator, fingerprint, createdPosition, createdTime, revision, workspaceId, isPublic, hasHadOwner, tracked, picture, topic, name,
    lastMessageId, lastMessageSender, lastMessageSentAt, lastMessagePosition, lastMessageRevision, lastMessageEditedAt,
    lastMessageDeletedAt, lastMessageDetails, lastMessageText
    """

  static func readRoom(_ row: inout RowReader) throws -> RoomRow {
    let id: RoomID = try row.id()
    let kind = try row.choice(RoomKind.self)
    let lastOrdinal = try row.unsigned()
    let memberCount = try row.unsigned()
    let deletedCount = try row.unsigned()
    let (activity, changed, shown) = try (row.position(), row.position(), row.position())
    let largeSince = try row.optional { try $0.position() }
    let archived = try row.optionalStamp()
    return try RoomRow(
      id: id, kind: kind, name: "", creator: row.optional { try $0.id() },
      creationFingerprint: row.optional { try $0.fingerprint() }, created: row.stamp(), isPublic: false,
      revision: row.position(), archived: archived, lastOrdinal: lastOrdinal, memberCount: memberCount,
      deletedCount: deletedCount,
      activity: activity, changed: changed, shown: shown, largeSince: largeSince, lastMessage: nil
    ).completed(from: &row)
  }

  // MARK: - Members

  /// Nil also if the room is deleted and the rows of its members are not removed yet.
  package func member(_ user: UserID, of room: RoomID) throws -> MemberRow? {
    try CachedStatement(
      database,
      """
      SELECT \(Self.memberColumns) FROM member
      WHERE roomId = ? AND userId = ? AND EXISTS (SELECT 1 FROM room WHERE room.id = member.roomId)
      """
    ).first(room, user, read: Self.readMember)
  }

  /// Members in the order in which they joined.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func members(of room: RoomID, after cursor: LogPosition? = nil, limit: Int) throws -> MemberPage {
    let found = try CachedStatement(
      database,
      """
      SELECT \(Self.memberColumns) FROM member WHERE roomId = ? AND joinedPosition > ?
      ORDER BY joinedPosition LIMIT ?
      """
    ).all(room, cursor.map { Int64(clamping: $0.value) } ?? 0, limit + 1, read: Self.readMember)
    let members = Array(found.prefix(limit))
    return MemberPage(
      members: members, profiles: try Profiles.profiles(of: members.lazy.map(\.user), database),
      next: found.count > limit ? members.last?.joined.position : nil)
  }

  static let memberColumns = """
    roomId, userId, role, joinedPosition, joinedTime, joinedOrdinal, marker, mutedUntil, notifications, isHidden,
    silencedUntil, markerMessageId, markerTime, unreadFrom, unreadMessageId, own, markerPosition, list, roomActivity, changed,
    unreadCount, mentionCount
    """

  static func readMember(_ row: inout RowReader) throws -> MemberRow {
    try MemberRow(
      room: row.id(), user: row.id(), role: row.choice(), joined: row.stamp(), joinedOrdinal: row.unsigned(),
      marker: row.unsigned(), mutedUntil: row.optional { try $0.time() },
      notifications: row.optional { try $0.choice() }, isHidden: row.number() != 0,
      silencedUntil: row.optional { try $0.time() }, read: readPoint(&row), unread: readUnreadMark(&row),
      own: row.position(),
      markerPosition: row.optional { try $0.position() }, tracked: readTracked(&row))
  }

  /// Reads five columns, which are NULL together.
  private static func readTracked(_ row: inout RowReader) throws -> TrackedRoom? {
    if row.isNull {
      row.skip(5)
      return nil
    }
    let list = try row.choice(TrackedRoom.List.self)
    return try TrackedRoom(
      activity: row.position(), changed: row.position(), list: list, unreadCount: row.unsigned(),
      mentionCount: row.unsigned())
  }

  /// Omits users without a profile.
  package func profiles(of users: some Sequence<UserID>) throws -> [UserID: Profile] {
    try Profiles.profiles(of: users, database)
  }
}

extension RoomRow {
  /// Reads the remaining columns, which come last because they may be long.
  fileprivate func completed(from row: inout RowReader) throws -> RoomRow {
    var room = self
    room.workspace = try row.optional { try $0.id() }
    room.isPublic = try row.number() != 0
    room.hasHadOwner = try row.number() != 0
    room.tracked = try row.ids()
    room.picture = try row.optional { try $0.id() }
    room.topic = try row.optional { try $0.text() }
    room.name = try row.text()
    guard !row.isNull else { return room }
    let message = try (
      id: row.id(MessageID.self), sender: row.id(UserID.self), sentAt: row.time(), position: row.position(),
      revision: row.position(), editedAt: row.optional { try $0.time() }, deletedAt: row.optional { try $0.time() },
      details: row.optionalDetails()
    )
    room.lastMessage = try MessageRow(
      room: id, id: message.id, ordinal: lastOrdinal, sender: message.sender, text: row.text(),
      details: message.details, sentAt: message.sentAt, position: message.position, revision: message.revision,
      editedAt: message.editedAt, deletedAt: message.deletedAt)
    return room
  }
}
