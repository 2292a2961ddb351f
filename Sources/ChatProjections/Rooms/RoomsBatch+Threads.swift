import ChatDomain
import ChatPrimitives
import GRDB

/// Threads: the last ordinal of each, who follows it, and how far each follower has read.
///
/// The root's author, everyone who writes in a thread and everyone who is mentioned in it by name follow it, unless
/// they have unfollowed it. A follower's marker starts at their own message for an author of a reply, just before the
/// reply for the others, and at the thread's end for a user who asks to follow. A reply makes nobody follow who blocks
/// its author.
extension RoomsBatch {
  mutating func sendInThread(
    _ message: MessageID, in thread: ThreadLocation, by author: UserID, _ content: MessageContent?,
    in room: BufferedRoom,
    _ recorded: RecordedEvent
  ) throws {
    guard room.row != nil else { return }
    try extend(thread, in: room)
    let blocking = try blockingMembers(of: author, in: room)
    let before = thread.ordinal - min(1, thread.ordinal)
    for follower in Set([thread.rootAuthor, author]) where try !blocking.includes(follower, database) {
      try follow(root: thread.root.ordinal, follower, from: before, in: room)
    }
    try moveThreadMarker(of: author, to: message, at: thread.location, in: room, recorded.occurredAt)
    if content?.isSilent == true { return try uncount(thread.location, in: room) }
    let mentions = content?.details?.mentions
    try LeftOutMessages.add(blocking.members, .unread, at: thread.location, in: room, database)
    try addMentionedFollowers(mentions, at: thread.location, except: blocking, in: room)
    try addMentions(mentions, at: thread.location, except: blocking, to: room)
  }

  /// A user who is mentioned in a thread follows it from that message on.
  func addMentionedFollowers(
    _ mentions: Mentions?, at location: MessageLocation, except blocking: BlockingMembers, in room: BufferedRoom
  ) throws {
    guard location.isInThread else { return }
    let root = location.thread
    for user in try mentionedMembers(mentions, in: room) where try !blocking.includes(user, database) {
      try follow(root: root, user, from: location.ordinal - min(1, location.ordinal), in: room)
    }
  }

  // MARK: - The end of a thread

  /// The newest reply of a thread.
  private struct ThreadEnd {
    /// Zero if no reply is known.
    var ordinal: UInt64 = 0
    /// Where the reply was sent.
    var activity: LogPosition = .origin

    /// The value of `threadFollower.seenActivity` for a follower with this marker.
    func seen(from marker: UInt64) -> LogPosition? { marker >= ordinal ? activity : nil }
  }

  private func end(ofThread root: UInt64, in room: RoomID) throws -> ThreadEnd? {
    try CachedStatement(database, "SELECT lastOrdinal, activity FROM thread WHERE roomId = ? AND root = ?")
      .first(room, root) { try ThreadEnd(ordinal: $0.unsigned(), activity: $0.position()) }
  }

  private func extend(_ thread: ThreadLocation, in room: BufferedRoom) throws {
    let last = try end(ofThread: thread.root.ordinal, in: room.id)?.ordinal ?? 0
    let gaps = last + 1 < thread.ordinal ? try markErased(last + 1..<thread.ordinal, thread.root.ordinal, in: room) : 0
    try CachedStatement(
      database,
      """
      INSERT INTO thread (roomId, root, rootId, lastOrdinal, deletedCount, activity, changed, hasErasedReplies)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0)
      ON CONFLICT (roomId, root) DO UPDATE SET
        lastOrdinal = MAX(lastOrdinal, excluded.lastOrdinal), deletedCount = deletedCount + excluded.deletedCount,
        activity = excluded.activity, changed = excluded.changed
      """
    ).run(room.id, thread.root.ordinal, thread.root.message, thread.ordinal, gaps, position, position)
    try leaveBehind(thread.root.ordinal, in: room.id, since: position)
  }

  /// An event about a reply proves that the thread has reached its ordinal, even if the reply itself was erased and no
  /// other followed.
  func noteReply(at location: MessageLocation, in room: BufferedRoom) throws {
    guard location.isInThread, let end = try end(ofThread: location.thread, in: room.id), location.ordinal > end.ordinal
    else { return }
    let gaps = try markErased(end.ordinal + 1..<location.ordinal + 1, location.thread, in: room)
    try CachedStatement(
      database,
      "UPDATE thread SET lastOrdinal = ?, deletedCount = deletedCount + ?, changed = ? WHERE roomId = ? AND root = ?"
    ).run(location.ordinal, gaps, position, room.id, location.thread)
    try leaveBehind(location.thread, in: room.id, since: end.activity)
  }

  /// Marks gaps as deleted. A reply whose payload was erased is only known by the gap that it leaves.
  /// - Returns: how many of them were not counted before.
  private func markErased(_ ordinals: Range<UInt64>, _ root: UInt64, in room: BufferedRoom) throws -> UInt64 {
    let owner = OrdinalOwner.deletions(in: room.id, thread: root)
    var count: UInt64 = 0
    for missing in ordinals where try room.insert(missing, into: owner, database) { count += 1 }
    return count
  }

  /// Marks the thread as unread, because nobody has read the new reply. Only writes the rows of followers who had read
  /// everything before it.
  private func leaveBehind(_ root: UInt64, in room: RoomID, since activity: LogPosition) throws {
    try CachedStatement(
      database,
      """
      UPDATE threadFollower SET seenActivity = NULL, behindSince = ?
      WHERE roomId = ? AND root = ? AND seenActivity IS NOT NULL
      """
    ).run(activity, room, root)
  }

  /// - Parameter isByService: whether nobody deleted it but a service, as in an erasure.
  func deleteInThread(_ location: MessageLocation, in room: BufferedRoom, isByService: Bool) throws {
    try noteReply(at: location, in: room)
    if isByService {
      try CachedStatement(database, "UPDATE thread SET hasErasedReplies = 1 WHERE roomId = ? AND root = ?")
        .run(room.id, location.thread)
    }
    guard let last = try end(ofThread: location.thread, in: room.id)?.ordinal, location.ordinal >= 1,
      location.ordinal <= last
    else { return }
    try uncount(location, in: room)
    try LeftOutMessages.remove(.unread, at: location, from: room, database)
    try removeMentions(at: location, from: room)
  }

  /// Counts a reply that was deleted, or a silent one that was sent.
  private func uncount(_ location: MessageLocation, in room: BufferedRoom) throws {
    let isNew = try room.insert(location.ordinal, into: .deletions(in: room.id, thread: location.thread), database)
    try CachedStatement(
      database, "UPDATE thread SET deletedCount = deletedCount + ?, changed = ? WHERE roomId = ? AND root = ?"
    ).run(isNew ? UInt64(1) : 0, position, room.id, location.thread)
  }

  /// An edit can change how many replies mention a follower.
  func noteThreadChange(at location: MessageLocation, in room: BufferedRoom) throws {
    try CachedStatement(database, "UPDATE thread SET changed = ? WHERE roomId = ? AND root = ?")
      .run(position, room.id, location.thread)
  }

  // MARK: - Followers

  /// Does nothing if the user already follows the thread, has unfollowed it, or is not a member.
  private func follow(root: UInt64, _ user: UserID, from marker: UInt64, in room: BufferedRoom) throws {
    guard try room.member(user, database).row != nil else { return }
    let end = try end(ofThread: root, in: room.id) ?? ThreadEnd()
    try CachedStatement(
      database,
      """
      INSERT INTO threadFollower (roomId, root, userId, follows, marker, seenActivity, behindSince, changed)
      VALUES (?, ?, ?, 1, ?, ?, ?, ?)
      ON CONFLICT (roomId, root, userId) DO NOTHING
      """
    ).run(room.id, root, user, marker, end.seen(from: marker), end.activity, position)
  }

  /// The marker of a user who starts to follow moves to the thread's end.
  func setFollowing(_ user: UserID, _ root: ThreadRoot, _ follows: Bool, in room: BufferedRoom) throws {
    guard try room.member(user, database).row != nil else { return }
    let end = try end(ofThread: root.ordinal, in: room.id) ?? ThreadEnd()
    try CachedStatement(
      database,
      """
      INSERT INTO threadFollower (roomId, root, userId, follows, marker, seenActivity, behindSince, changed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (roomId, root, userId) DO UPDATE SET
        marker = CASE WHEN excluded.follows > follows THEN MAX(marker, excluded.marker) ELSE marker END,
        seenActivity = CASE WHEN excluded.follows = follows THEN seenActivity ELSE excluded.seenActivity END,
        follows = excluded.follows, changed = excluded.changed
      """
    ).run(room.id, root.ordinal, user, follows, end.ordinal, follows ? end.activity : nil, end.activity, position)
  }

  func readInThread(
    _ user: UserID, to message: MessageID, at location: MessageLocation, in room: BufferedRoom, _ time: Timestamp
  ) throws {
    try noteReply(at: location, in: room)
    try moveThreadMarker(of: user, to: message, at: location, in: room, time)
  }

  /// Markers only move forward. A user without a row in `threadFollower` has no marker.
  private func moveThreadMarker(
    of user: UserID, to message: MessageID, at location: MessageLocation, in room: BufferedRoom, _ time: Timestamp
  ) throws {
    let end = try end(ofThread: location.thread, in: room.id) ?? ThreadEnd()
    try CachedStatement(
      database,
      """
      UPDATE threadFollower SET marker = ?4, markerMessageId = ?5, markerTime = ?6,
        seenActivity = CASE WHEN follows = 1 AND ?4 >= ?7 THEN ?8 END, changed = ?9
      WHERE roomId = ?1 AND root = ?2 AND userId = ?3 AND marker < ?4
      """
    ).run(room.id, location.thread, user, location.ordinal, message, time, end.ordinal, end.activity, position)
  }

  /// A user who leaves a room no longer follows its threads.
  func unfollowAll(_ user: UserID, in room: RoomID) throws {
    try CachedStatement(database, "DELETE FROM threadFollower WHERE userId = ? AND roomId = ?").run(user, room)
  }
}
