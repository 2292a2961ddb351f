package import ChatDomain
package import ChatPrimitives

/// A thread as one of its followers sees it.
package struct FollowedThread: Sendable, Hashable {
  package var room: RoomID
  package var rootID: MessageID
  /// The root's ordinal in the room.
  package var root: UInt64
  /// The ordinal of the newest reply, from 1.
  package var lastOrdinal: UInt64
  package var marker: UInt64
  /// Where the newest reply was sent.
  package var activity: LogPosition
  package var unreadCount: UInt64
  package var mentionCount: UInt64
}

/// Threads, latest reply first.
package struct FollowedThreadPage: Sendable, Hashable {
  package var threads: [FollowedThread]
  /// The cursor of the next page; nil if this is the last.
  package var next: LogPosition?
}

/// How far a user who follows or has unfollowed a thread has read in it.
package struct ThreadReading: Sendable, Hashable {
  package var follows: Bool
  /// The ordinal up to which the user has read.
  package var marker: UInt64
  /// The message at the marker, and when the marker was moved there. Nil until the user has read or sent something
  /// there.
  package var read: ReadPoint?
  package var unreadCount: UInt64 = 0
  package var mentionCount: UInt64 = 0
}

/// Threads and their followers. The unread replies of a thread are those after the follower's marker, except deleted
/// ones and those whose sender the follower blocked when they were sent.
extension RoomsQueries {
  /// The threads that the user follows and that have a reply, in rooms that are not archived, latest reply first.
  ///
  /// Threads that are read to the end come from an index in this order. The others are sorted in, because the user's
  /// rows do not contain their latest replies. They are usually few. If there are more than `unreadThreads`, the rest
  /// are omitted until some have been read. As for the list of rooms, a page with a filter looks at a limited number of
  /// threads.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func followedThreads(
    of user: UserID, _ filter: RoomListFilter = RoomListFilter(), after cursor: LogPosition? = nil, limit: Int
  ) throws -> FollowedThreadPage {
    let mostExamined = filter.mostExamined(forPageOf: limit)
    let found = try Self.pageParts.flatMap { sql in
      try CachedStatement(database, sql)
        .all(user, cursor.map { Int64(clamping: $0.value) } ?? Int64.max, mostExamined + 1, read: Self.readParts)
    }.sorted { $0.thread.activity > $1.thread.activity }
    let blocker = try blocker(user)
    var threads: [FollowedThread] = []
    var lastExamined: LogPosition?
    var isCut = found.count > mostExamined
    for parts in found.prefix(mostExamined) {
      if try admits(parts.thread.room, filter) {
        guard threads.count < limit else {
          isCut = true
          break
        }
        threads.append(try counted(parts, for: user, leftOutFor: blocker))
      }
      lastExamined = parts.thread.activity
    }
    return FollowedThreadPage(threads: threads, next: isCut ? lastExamined : nil)
  }

  /// How the user follows one thread, even in an archived room. Nil if the user has neither followed nor unfollowed it,
  /// or if there is no such room.
  package func threadReading(_ root: UInt64, in room: RoomID, of user: UserID) throws -> ThreadReading? {
    let found = try CachedStatement(
      database,
      """
      SELECT threadFollower.follows, threadFollower.markerMessageId, threadFollower.markerTime,
        room.id, IFNULL(thread.rootId, zeroblob(16)), threadFollower.root, IFNULL(thread.lastOrdinal, 0),
        threadFollower.marker, IFNULL(thread.activity, 0), IFNULL(thread.deletedCount, 0)
      FROM threadFollower CROSS JOIN room ON room.id = threadFollower.roomId
      LEFT JOIN thread ON thread.roomId = threadFollower.roomId AND thread.root = threadFollower.root
      WHERE threadFollower.roomId = ? AND threadFollower.root = ? AND threadFollower.userId = ?
      """
    ).first(room, root, user) { row in
      let (follows, read) = try (row.number() != 0, Self.readPoint(&row))
      return (follows: follows, read: read, parts: try Self.readParts(&row))
    }
    guard let found else { return nil }
    var reading = ThreadReading(follows: found.follows, marker: found.parts.thread.marker, read: found.read)
    guard found.follows else { return reading }
    let thread = try counted(found.parts, for: user, leftOutFor: try blocker(user))
    (reading.unreadCount, reading.mentionCount) = (thread.unreadCount, thread.mentionCount)
    return reading
  }

  /// One thread that the user follows and that has a reply, and where it last changed for the user. Also in an archived
  /// room.
  package func followedThread(
    _ root: UInt64, in room: RoomID, of user: UserID
  ) throws -> (thread: FollowedThread, changed: LogPosition)? {
    let found = try CachedStatement(
      database,
      """
      SELECT \(Self.partColumns), MAX(thread.changed, threadFollower.changed) FROM threadFollower
      CROSS JOIN thread ON thread.roomId = threadFollower.roomId AND thread.root = threadFollower.root
      WHERE threadFollower.roomId = ? AND threadFollower.root = ? AND threadFollower.userId = ? AND follows = 1
      """
    ).first(room, root, user) { row in (parts: try Self.readParts(&row), changed: try row.position()) }
    guard let found else { return nil }
    return (try counted(found.parts, for: user, leftOutFor: try blocker(user)), found.changed)
  }

  /// The number of unread replies in all threads that the user follows, in rooms that are neither archived nor hidden, nor
  /// muted at `time`. The cost grows with the number of threads with unread replies, of which it counts at most `unreadThreads`.
  package func threadBadge(of user: UserID, at time: Timestamp) throws -> UInt64 {
    let found = try CachedStatement(database, Self.badgeParts).all(user, time, read: Self.readParts)
    let blocker = found.isEmpty ? nil : try blocker(user)
    var count: UInt64 = 0
    for parts in found { count += try unread(parts, leftOutFor: blocker) }
    return count
  }

  /// The message that a thread starts from; nil if nobody has replied to it.
  /// - Parameter root: its ordinal.
  package func root(ofThread root: UInt64, in room: RoomID) throws -> MessageID? {
    try CachedStatement(database, "SELECT rootId FROM thread WHERE roomId = ? AND root = ?")
      .first(room, root) { try $0.id() }
  }

  /// Where the newest message of a room's timeline, or of one of its threads, is. Nil if there is none.
  /// - Parameter thread: the ordinal of the thread's root; zero for the timeline.
  package func newestMessage(in room: RoomID, thread: UInt64) throws -> MessageLocation? {
    let sql =
      thread == 0
      ? "SELECT lastOrdinal FROM room WHERE id = ? AND ? = 0"
      : "SELECT lastOrdinal FROM thread WHERE roomId = ? AND root = ?"
    return try CachedStatement(database, sql).first(room, thread) {
      MessageLocation(thread: thread, ordinal: try $0.unsigned())
    }
  }

  /// The users who follow a thread.
  package func followers(ofThread root: UInt64, in room: RoomID) throws -> Set<UserID> {
    Set(
      try CachedStatement(
        database, "SELECT userId FROM threadFollower WHERE roomId = ? AND root = ? AND follows = 1"
      ).all(room, root) { try $0.id(UserID.self) })
  }

  // MARK: - Parts

  private struct Parts {
    let thread: FollowedThread
    let deletedCount: UInt64
  }

  private static let partColumns = """
    thread.roomId, thread.rootId, thread.root, thread.lastOrdinal, threadFollower.marker, thread.activity,
    thread.deletedCount
    """

  /// `CROSS JOIN` keeps the order in which SQLite reads the tables: the follower's rows first.
  private static let threadAndRoom = """
    CROSS JOIN thread ON thread.roomId = threadFollower.roomId AND thread.root = threadFollower.root
    CROSS JOIN room ON room.id = threadFollower.roomId AND room.archivedPosition IS NULL
    """

  /// The maximum number of threads with unread replies that a badge counts and a page sorts.
  static let unreadThreads = 1000

  /// The user's rows of threads with unread replies; if there are too many, those that became unread last.
  private static let behind = """
    (SELECT roomId, root, userId, marker FROM threadFollower INDEXED BY follower_behind
     WHERE userId = ? AND follows = 1 AND seenActivity IS NULL ORDER BY behindSince DESC LIMIT \(unreadThreads))
    AS threadFollower
    """

  /// The parameters of both are the user, the cursor and the limit.
  static let pageParts = [
    """
    SELECT \(partColumns) FROM threadFollower INDEXED BY follower_by_activity \(threadAndRoom)
    WHERE threadFollower.userId = ? AND threadFollower.seenActivity < ? AND threadFollower.seenActivity > 0
    ORDER BY threadFollower.seenActivity DESC LIMIT ?
    """,
    """
    SELECT \(partColumns) FROM \(behind) \(threadAndRoom)
    WHERE thread.activity < ?
    ORDER BY thread.activity DESC LIMIT ?
    """,
  ]

  /// The parameters are the user and the time.
  static let badgeParts = """
    SELECT \(partColumns) FROM \(behind) \(threadAndRoom)
    CROSS JOIN member ON member.roomId = threadFollower.roomId AND member.userId = threadFollower.userId
      AND (member.mutedUntil IS NULL OR member.mutedUntil <= ?) AND NOT member.isHidden
    """

  private static func readParts(_ row: inout RowReader) throws -> Parts {
    let thread = try FollowedThread(
      room: row.id(), rootID: row.id(), root: row.unsigned(), lastOrdinal: row.unsigned(), marker: row.unsigned(),
      activity: row.position(), unreadCount: 0, mentionCount: 0)
    return Parts(thread: thread, deletedCount: try row.unsigned())
  }

  private func counted(
    _ parts: Parts, for user: UserID, leftOutFor blocker: UserID?
  ) throws -> FollowedThread {
    var thread = parts.thread
    thread.unreadCount = try unread(parts, leftOutFor: blocker)
    if thread.lastOrdinal > thread.marker {
      thread.mentionCount = try mentionCount(
        of: user, in: thread.room, thread: thread.root, after: thread.marker, leftOutFor: blocker)
    }
    return thread
  }

  private func unread(_ parts: Parts, leftOutFor blocker: UserID?) throws -> UInt64 {
    let thread = parts.thread
    guard thread.lastOrdinal > thread.marker else { return 0 }
    var after = thread.lastOrdinal - thread.marker
    let leftOut = try leftOutCount(after: thread.marker, for: blocker, in: thread.room, thread: thread.root)
    after -= min(after, leftOut)
    guard parts.deletedCount > 0 else { return after }
    let deletedAfter = try OrdinalSet.count(
      after: thread.marker, of: .deletions(in: thread.room, thread: thread.root), database)
    return after - min(after, deletedAfter)
  }
}
