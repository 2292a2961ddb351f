package import ChatDomain
package import ChatPrimitives
package import GRDB

/// What can be asked of `timeline`. Each question that names a user is answered only where the user is a member, by the
/// same snapshot that the messages come from; nil says "not a member, or no such room", which the API does not tell
/// apart.
package struct TimelineQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  // MARK: - Pages

  /// - Parameters:
  ///   - user: who reads; nil when a service does, which sees every room.
  ///   - limit: how many messages at most, at least one.
  package func page(
    of room: RoomID, for user: UserID?, at anchor: TimelineAnchor = .newest, limit: Int
  ) throws -> TimelinePage? {
    guard let last = try lastOrdinal(of: room, for: user) else { return nil }
    let range = anchor.ordinals(upTo: last, limit: UInt64(max(1, limit)))
    let messages = try range.map { try self.messages(of: room, $0) } ?? []
    let gap = anchor.place(upTo: last)
    return TimelinePage(
      messages: messages, nicknames: try Profiles.nicknames(of: messages.lazy.map(\.sender), database),
      hasOlder: (range?.lowerBound ?? gap) > 1, hasNewer: (range.map { $0.upperBound + 1 } ?? gap) <= last)
  }

  /// One message; nil also when the room has no such ordinal.
  package func message(_ ordinal: UInt64, of room: RoomID, for user: UserID?) throws -> MessageRow? {
    guard let last = try lastOrdinal(of: room, for: user), ordinal >= 1, ordinal <= last else { return nil }
    return try messages(of: room, ordinal...ordinal).first
  }

  /// The message at a place; nil also when there is none. The timeline holds no threads.
  package func message(at place: MessagePlace, of room: RoomID, for user: UserID?) throws -> MessageRow? {
    place.isInThread ? nil : try message(place.ordinal, of: room, for: user)
  }

  /// The ordinal of the first message at or after a time, by the times that clients see; nil when all are earlier. In
  /// a room with imported messages these times need not rise with the ordinals: then the earliest time counts.
  package func ordinal(at time: Timestamp, in room: RoomID) throws -> UInt64? {
    try CachedStatement(
      database, "SELECT ordinal FROM message WHERE roomId = ? AND sentAt >= ? ORDER BY sentAt, ordinal LIMIT 1"
    ).first(
      {
        $0.add(room)
        $0.add(time)
      }, { try $0.unsigned() })
  }

  // MARK: - Rights

  package func isMember(_ user: UserID, of room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM member WHERE roomId = ? AND userId = ?").first(
      {
        $0.add(room)
        $0.add(user)
      }, { _ in true }) ?? false
  }

  /// The nicknames of those users who have one.
  package func nicknames(of users: some Sequence<UserID>) throws -> [UserID: String] {
    try Profiles.nicknames(of: users, database)
  }

  // MARK: - Rows

  /// Nil when there is no such room, or none that the user may see.
  private func lastOrdinal(of room: RoomID, for user: UserID?) throws -> UInt64? {
    if let user, try !isMember(user, of: room) { return nil }
    return try CachedStatement(database, "SELECT lastOrdinal FROM room WHERE id = ?").first(
      { $0.add(room) }, { try $0.unsigned() })
  }

  private func messages(of room: RoomID, _ ordinals: ClosedRange<UInt64>) throws -> [MessageRow] {
    try CachedStatement(
      database,
      """
      SELECT messageId, ordinal, sender, sentAt, position, revision, editedAt, deletedAt, text FROM message
      WHERE roomId = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal
      """
    ).all(
      {
        $0.add(room)
        $0.add(ordinals.lowerBound)
        $0.add(ordinals.upperBound)
      },
      { row in
        let (id, ordinal, sender) = try (row.id(MessageID.self), row.unsigned(), row.id(UserID.self))
        let (sentAt, position, revision) = try (row.time(), row.position(), row.position())
        let editedAt = try row.optional { try $0.time() }
        let deletedAt = try row.optional { try $0.time() }
        return MessageRow(
          room: room, id: id, ordinal: ordinal, sender: sender, text: try row.text(), sentAt: sentAt,
          position: position, revision: revision, editedAt: editedAt, deletedAt: deletedAt)
      })
  }
}

extension TimelineAnchor {
  /// The run of ordinals that a page covers in a room whose last ordinal is `last`; nil when it is empty.
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

  /// The ordinal at which an empty page stands: before it are older messages, from it on newer ones.
  func place(upTo last: UInt64) -> UInt64 {
    switch self {
    case .newest: last + 1
    case .before(let ordinal): max(1, min(ordinal, last + 1))
    case .after(let ordinal): ordinal < last ? ordinal + 1 : last + 1
    case .around(let ordinal): max(1, min(ordinal, last + 1))
    }
  }
}
