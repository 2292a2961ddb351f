package import ChatDomain
package import ChatPrimitives
package import GRDB

/// The queries on `timeline`. Queries for a user only return messages of rooms where the user is a member in the same
/// snapshot. Nil means that the user is not a member or there is no such room, which the API does not distinguish.
package struct TimelineQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  // MARK: - Pages

  /// - Parameters:
  ///   - thread: the ordinal of a thread's root; zero for the room's own timeline.
  ///   - user: the reader; nil for a service, which may see every room.
  ///   - limit: the maximum number of messages, at least one. The page has fewer if they are too large.
  package func page(
    of room: RoomID, thread: UInt64 = 0, for user: UserID?, at anchor: TimelineAnchor = .newest, limit: Int
  ) throws -> TimelinePage? {
    guard let last = try lastOrdinal(of: room, thread: thread, for: user) else { return nil }
    let range = anchor.ordinals(upTo: last, limit: UInt64(max(1, limit)))
    let contents = try range.map { try self.contents(of: room, thread: thread, $0, anchor) }
    let (messages, run) = (contents?.messages ?? [], contents?.run)
    let annotations = try run.map { try self.annotations(of: messages, in: room, thread: thread, $0, for: user) } ?? [:]
    let gap = anchor.place(upTo: last)
    let (first, end) = run.map { ($0.lowerBound, $0.upperBound) } ?? (gap, gap - 1)
    return TimelinePage(
      messages: messages, annotations: annotations, threadID: try threadID(thread, in: room),
      profiles: try profiles(on: messages, annotations.values),
      blockedSenders: try Blocks.blocked(among: messages.lazy.map(\.sender), by: user, database), run: run,
      older: first > 1 ? first : nil, newer: end < last ? end : nil)
  }

  /// One message of the room's own timeline. Nil also if the room has no message with this ordinal.
  package func message(_ ordinal: UInt64, of room: RoomID, for user: UserID?) throws -> MessageRow? {
    try shown(at: .room(ordinal), of: room, for: user)?.row
  }

  /// One message, without a check of rights. Nil if there is no message at this location.
  func message(at location: MessageLocation, of room: RoomID) throws -> MessageRow? {
    try messages(of: room, thread: location.thread, location.run).first
  }

  /// One message with its annotations. Nil also if there is no message at this location.
  package func shown(at location: MessageLocation, of room: RoomID, for user: UserID?) throws -> ShownMessage? {
    guard try mayRead(room, user), let row = try messages(of: room, thread: location.thread, location.run).first else {
      return nil
    }
    return ShownMessage(
      row: row, threadID: try threadID(location.thread, in: room), annotations: try annotations(of: row, for: user),
      isFromBlockedUser: try user.map { try Blocks.isBlocked(row.sender, by: $0, database) } ?? false)
  }

  /// The ordinal of the first message at or after a time, by the times that clients see. Nil if all messages are
  /// earlier. In a room with imported messages, the times may not increase with the ordinals. Then the message with the
  /// earliest such time is returned.
  /// - Parameter latest: later messages are ignored.
  package func ordinal(
    at time: Timestamp, notAfter latest: Timestamp = .latest, in room: RoomID, thread: UInt64 = 0
  ) throws -> UInt64? {
    try CachedStatement(
      database,
      """
      SELECT ordinal FROM message WHERE roomId = ? AND thread = ? AND sentAt BETWEEN ? AND ? ORDER BY sentAt, ordinal LIMIT 1
      """
    ).first(room, thread, time, latest) { try $0.unsigned() }
  }

  /// The ordinal of the last message at or before a time. Nil if all messages are later. If the times do not increase
  /// with the ordinals, the message with the latest such time is returned.
  package func lastOrdinal(at time: Timestamp, in room: RoomID, thread: UInt64 = 0) throws -> UInt64? {
    try CachedStatement(
      database,
      """
      SELECT ordinal FROM message WHERE roomId = ? AND thread = ? AND sentAt <= ?
      ORDER BY sentAt DESC, ordinal DESC LIMIT 1
      """
    ).first(room, thread, time) { try $0.unsigned() }
  }

  /// How many messages have exactly this time.
  /// - Parameter limit: more are not counted.
  package func count(
    at time: Timestamp, in room: RoomID, thread: UInt64 = 0, atMost limit: Int
  ) throws -> Int {
    try CachedStatement(
      database, "SELECT ordinal FROM message WHERE roomId = ? AND thread = ? AND sentAt = ? LIMIT ?"
    ).all(room, thread, time, limit) { try $0.unsigned() }.count
  }

  // MARK: - Authorisation

  package func isMember(_ user: UserID, of room: RoomID) throws -> Bool {
    try CachedStatement(
      database, "SELECT 1 FROM member JOIN room ON room.id = member.roomId WHERE roomId = ? AND userId = ?"
    ).exists(room, user)
  }

  /// Omits users without a profile.
  package func profiles(of users: some Sequence<UserID>) throws -> [UserID: Profile] {
    try Profiles.profiles(of: users, database)
  }

  /// The profiles of all users whom these messages show.
  package func profiles(on messages: [ShownMessage]) throws -> [UserID: Profile] {
    try profiles(on: messages.map(\.row), messages.map(\.annotations))
  }

  // MARK: - Rows

  /// Nobody may read a deleted room, even while its messages are not removed yet.
  package func mayRead(_ room: RoomID, _ user: UserID?) throws -> Bool {
    if let user { return try isMember(user, of: room) }
    return try CachedStatement(database, "SELECT 1 FROM room WHERE id = ?").exists(room)
  }

  /// Nil if there is no such room or the user may not see it. Zero for a thread without replies.
  func lastOrdinal(of room: RoomID, thread: UInt64, for user: UserID?) throws -> UInt64? {
    guard try mayRead(room, user) else { return nil }
    let last = try CachedStatement(database, "SELECT lastOrdinal FROM room WHERE id = ?").first(room) {
      try $0.unsigned()
    }
    guard thread != 0, last != nil else { return last }
    return try CachedStatement(database, "SELECT lastOrdinal FROM thread WHERE roomId = ? AND root = ?")
      .first(room, thread) { try $0.unsigned() } ?? 0
  }

  /// The ID of the thread's root; nil for the room's own timeline.
  func threadID(_ thread: UInt64, in room: RoomID) throws -> MessageID? {
    guard thread != 0 else { return nil }
    return try CachedStatement(
      database, "SELECT messageId FROM message WHERE roomId = ? AND thread = 0 AND ordinal = ?"
    ).first(room, thread) { try $0.id() }
  }

  /// The profiles of the senders, of the users whom messages mention by name or quote, and of the shown participants of
  /// threads.
  func profiles(
    on messages: [MessageRow], _ annotations: some Sequence<MessageAnnotations>
  ) throws -> [UserID: Profile] {
    var users = Set(messages.lazy.map(\.sender))
    for message in messages { if let details = message.details { users.formUnion(details.mentions.users) } }
    for mark in annotations {
      if let thread = mark.thread { users.formUnion(thread.participants) }
      if let quote = mark.quote { users.insert(quote.sender) }
    }
    return try Profiles.profiles(of: users, database)
  }

  func messages(of room: RoomID, thread: UInt64, _ ordinals: ClosedRange<UInt64>) throws -> [MessageRow] {
    try CachedStatement(
      database,
      """
      SELECT \(Self.messageColumns) FROM message
      WHERE roomId = ? AND thread = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal
      """
    ).all(room, thread, ordinals.lowerBound, ordinals.upperBound) { row in
      try Self.readMessage(of: room, thread: thread, &row)
    }
  }

  static let messageColumns = """
    messageId, ordinal, sender, sentAt, position, revision, editedAt, deletedAt, details, text
    """

  static func readMessage(of room: RoomID, thread: UInt64, _ row: inout RowReader) throws -> MessageRow {
    let (id, ordinal, sender) = try (row.id(MessageID.self), row.unsigned(), row.id(UserID.self))
    let (sentAt, position, revision) = try (row.time(), row.position(), row.position())
    let editedAt = try row.optional { try $0.time() }
    let deletedAt = try row.optional { try $0.time() }
    let details = try row.optionalDetails()
    return MessageRow(
      room: room, id: id, thread: thread, ordinal: ordinal, sender: sender, text: try row.text(), details: details,
      sentAt: sentAt, position: position, revision: revision, editedAt: editedAt, deletedAt: deletedAt)
  }
}

extension TimelineAnchor {
  /// The range of ordinals that a page covers if the last ordinal is `last`; nil if it is empty.
  func ordinals(upTo last: UInt64, limit: UInt64) -> ClosedRange<UInt64>? {
    let lower: UInt64
    let upper: UInt64
    switch self {
    case .newest:
      upper = last
      lower = upper < limit ? 1 : upper - limit + 1
    case .before(let ordinal):
      upper = min(last, ordinal == 0 ? 0 : ordinal - 1)
      lower = upper < limit ? 1 : upper - limit + 1
    case .after(let ordinal):
      guard ordinal < last else { return nil }
      lower = ordinal + 1
      upper = min(last, ordinal.addingReportingOverflow(limit).overflow ? last : ordinal + limit)
    case .around(let ordinal):
      let center = min(max(1, ordinal), max(1, last))
      let first = center > limit / 2 ? center - limit / 2 : 1
      upper = min(last, first + limit - 1)
      lower = upper < limit ? 1 : upper - limit + 1
    }
    return lower <= upper ? lower...upper : nil
  }

  /// The ordinal at which an empty page is located: older messages are before it, newer ones begin with it.
  func place(upTo last: UInt64) -> UInt64 {
    switch self {
    case .newest: last + 1
    case .before(let ordinal): max(1, min(ordinal, last + 1))
    case .after(let ordinal): ordinal < last ? ordinal + 1 : last + 1
    case .around(let ordinal): max(1, min(ordinal, last + 1))
    }
  }
}
