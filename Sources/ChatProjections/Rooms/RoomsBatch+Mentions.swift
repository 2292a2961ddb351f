import ChatDomain
import ChatPrimitives
import GRDB

/// Records which messages mention whom: a set of ordinals for each user who is mentioned by name, and one for everyone.
///
/// A mention of everyone is one entry, however many members there are. Such a message has no entries for single users,
/// so the sets share no ordinal and their counts can be added. A user who is not a member when the message is written
/// is not mentioned by it.
extension RoomsBatch {
  /// - Parameter blocking: the members whom the message does not mention.
  func addMentions(
    _ mentions: Mentions?, at location: MessageLocation, except blocking: BlockingMembers, to room: BufferedRoom
  ) throws {
    guard let mentions, !mentions.isEmpty else { return }
    for user in try mentioned(by: mentions, in: room) where try canMention(user, except: blocking) {
      try add(user, at: location, except: blocking, to: room)
    }
  }

  /// An edit can add mentions and remove earlier ones.
  ///
  /// - Parameter blocking: the members for whom the edit adds no mention. A member whom the message already mentioned by
  ///   name can stay mentioned.
  func changeMentions(
    _ mentions: Mentions, at location: MessageLocation, except blocking: BlockingMembers, in room: BufferedRoom
  ) throws {
    let before = try stored(at: location, in: room)
    guard !before.isEmpty || !mentions.isEmpty else { return }
    let after = try Set(
      mentioned(by: mentions, in: room).filter { try before.contains($0) || canMention($0, except: blocking) })
    for user in before where !after.contains(user) { try remove(user, at: location, from: room) }
    for user in after where !before.contains(user) {
      try add(user, at: location, except: blocking, to: room)
    }
  }

  /// Whether a message counts for anybody. A deleted message and a silent one do not.
  func counts(at location: MessageLocation, in room: BufferedRoom) throws -> Bool {
    let uncounted = OrdinalOwner.deletions(in: room.id, thread: location.thread)
    return try !room.set(uncounted).contains(location.ordinal, database)
  }

  func removeMentions(at location: MessageLocation, from room: BufferedRoom) throws {
    for user in try stored(at: location, in: room) { try remove(user, at: location, from: room) }
  }

  /// The members whom a message mentions by name, even if it also mentions everyone.
  func mentionedMembers(_ mentions: Mentions?, in room: BufferedRoom) throws -> [UserID] {
    try mentions?.users.filter { try room.member($0, database).row != nil } ?? []
  }

  // MARK: - Entries

  /// The users whom the message mentions; a single nil if it mentions everyone.
  private func mentioned(by mentions: Mentions, in room: BufferedRoom) throws -> [UserID?] {
    mentions.everyone ? [nil] : try mentionedMembers(mentions, in: room)
  }

  /// - Parameter mentioned: the mentioned user; nil for everyone.
  private func canMention(_ mentioned: UserID?, except blocking: BlockingMembers) throws -> Bool {
    guard let mentioned else { return true }
    return try !blocking.includes(mentioned, database)
  }

  private func owner(_ mentioned: UserID?, at location: MessageLocation, in room: BufferedRoom) -> OrdinalOwner {
    guard let mentioned else { return .everyone(in: room.id, thread: location.thread) }
    return .mentions(of: mentioned, in: room.id, thread: location.thread)
  }

  private func add(
    _ mentioned: UserID?, at location: MessageLocation, except blocking: BlockingMembers, to room: BufferedRoom
  ) throws {
    guard try room.insert(location.ordinal, into: owner(mentioned, at: location, in: room), database) else { return }
    let unmentioned = mentioned == nil ? blocking.members : []
    try LeftOutMessages.add(unmentioned, .everyone, at: location, in: room, database)
    if !location.isInThread {
      try countMention(of: mentioned, at: location.ordinal, isAdded: true, except: unmentioned, in: room)
    }
    try CachedStatement(database, "INSERT INTO mention (roomId, thread, ordinal, userId) VALUES (?, ?, ?, ?)")
      .run(room.id, location, mentioned?.uuid ?? .zero)
  }

  private func remove(_ mentioned: UserID?, at location: MessageLocation, from room: BufferedRoom) throws {
    try room.remove(location.ordinal, from: owner(mentioned, at: location, in: room), database)
    let unmentioned = mentioned == nil ? try LeftOutMessages.remove(.everyone, at: location, from: room, database) : []
    if !location.isInThread {
      try countMention(of: mentioned, at: location.ordinal, isAdded: false, except: unmentioned, in: room)
    }
    try CachedStatement(
      database, "DELETE FROM mention WHERE roomId = ? AND thread = ? AND ordinal = ? AND userId = ?"
    ).run(room.id, location, mentioned?.uuid ?? .zero)
  }

  /// Like `mentioned`, for the stored mentions of a message.
  private func stored(at location: MessageLocation, in room: BufferedRoom) throws -> Set<UserID?> {
    let mentions = try RoomsQueries(database).mentions(at: location, in: room.id)
    return mentions.everyone ? [nil] : Set(mentions.users)
  }
}
