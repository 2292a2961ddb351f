package import ChatDomain
package import ChatPrimitives

/// Reads the annotations of all messages of a page together. If a page has none of a kind, that takes one query.
extension TimelineQueries {
  /// - Parameters:
  ///   - messages: the messages of the range.
  ///   - ordinals: a range in one thread, or in the room's own timeline.
  ///   - reader: the user whose reactions are marked; nil for a service.
  func annotations(
    of messages: [MessageRow], in room: RoomID, thread: UInt64, _ ordinals: ClosedRange<UInt64>, for reader: UserID?
  ) throws -> [UInt64: MessageAnnotations] {
    var annotations: [UInt64: MessageAnnotations] = [:]
    for (ordinal, quote) in try quotes(in: messages) {
      annotations[ordinal, default: MessageAnnotations()].quote = quote
    }
    if thread == 0 {
      for (root, summary) in try threads(in: room, ordinals) {
        annotations[root, default: MessageAnnotations()].thread = summary
      }
    }
    for ordinal in try reacted(in: room, thread: thread, ordinals) {
      let location = MessageLocation(thread: thread, ordinal: ordinal)
      annotations[ordinal, default: MessageAnnotations()].reactions = try reactions(to: location, in: room, for: reader)
    }
    for ordinal in try pinned(in: room, thread: thread, ordinals) {
      annotations[ordinal, default: MessageAnnotations()].isPinned = true
    }
    return annotations
  }

  func annotations(of message: MessageRow, for reader: UserID?) throws -> MessageAnnotations {
    let location = message.location
    let found = try annotations(of: [message], in: message.room, thread: location.thread, location.run, for: reader)
    return found[location.ordinal] ?? MessageAnnotations()
  }

  // MARK: - Threads

  private func threads(in room: RoomID, _ roots: ClosedRange<UInt64>) throws -> [(UInt64, ThreadSummary)] {
    let found = try CachedStatement(
      database, "SELECT root, replies, lastReplyAt FROM thread WHERE roomId = ? AND root BETWEEN ? AND ?"
    ).all(room, roots.lowerBound, roots.upperBound) { row in
      (try row.unsigned(), ThreadSummary(replyCount: try row.unsigned(), lastReplyAt: try row.time(), participants: []))
    }
    return try found.map { root, summary in
      var summary = summary
      summary.participants = try participants(of: root, in: room)
      return (root, summary)
    }
  }

  private func participants(of root: UInt64, in room: RoomID) throws -> [UserID] {
    try CachedStatement(
      database, "SELECT userId FROM threadParticipant WHERE roomId = ? AND root = ? ORDER BY firstOrdinal LIMIT ?"
    ).all(room, root, Limits.threadParticipantsShown) { try $0.id(UserID.self) }
  }

  // MARK: - Reactions

  /// The ordinals of messages with reactions. Goes directly from one to the next, however many reactions each has.
  private func reacted(in room: RoomID, thread: UInt64, _ ordinals: ClosedRange<UInt64>) throws -> [UInt64] {
    let statement = try CachedStatement(
      database,
      """
      SELECT ordinal FROM reactionCount WHERE roomId = ? AND thread = ? AND ordinal >= ? AND ordinal <= ?
      ORDER BY ordinal LIMIT 1
      """)
    var found: [UInt64] = []
    var next = ordinals.lowerBound
    while next <= ordinals.upperBound,
      let ordinal = try statement.first(room, thread, next, ordinals.upperBound, read: { try $0.unsigned() })
    {
      found.append(ordinal)
      next = ordinal + 1
    }
    return found
  }

  private func reactions(
    to location: MessageLocation, in room: RoomID, for reader: UserID?
  ) throws -> [ReactionSummary] {
    let kinds = try CachedStatement(
      database,
      """
      SELECT emoji, count FROM reactionCount WHERE roomId = ? AND thread = ? AND ordinal = ?
      ORDER BY firstPosition LIMIT ?
      """
    ).all(room, location, Limits.reactionKindsShown) {
      ReactionSummary(emoji: try $0.text(), count: try $0.unsigned(), isMine: false)
    }
    guard let reader else { return kinds }
    let mine = try CachedStatement(
      database, "SELECT 1 FROM reaction WHERE roomId = ? AND thread = ? AND ordinal = ? AND emoji = ? AND userId = ?")
    return try kinds.map { kind in
      var kind = kind
      kind.isMine = try mine.exists(room, location, kind.emoji, reader)
      return kind
    }
  }

  /// Who reacted, in the order in which the reactions were added. Nil if the user may not see the room.
  package func reactions(
    to location: MessageLocation, of room: RoomID, for user: UserID?, after cursor: LogPosition?, limit: Int
  ) throws -> ReactionPage? {
    guard try mayRead(room, user) else { return nil }
    let found = try CachedStatement(
      database,
      """
      SELECT emoji, userId, position, reactedAt FROM reaction
      WHERE roomId = ? AND thread = ? AND ordinal = ? AND position > ? ORDER BY position LIMIT ?
      """
    ).all(room, location, cursor.map { Int64(clamping: $0.value) } ?? 0, limit + 1) {
      try ReactionRow(emoji: $0.text(), user: $0.id(), position: $0.position(), reactedAt: $0.time())
    }
    let reactions = Array(found.prefix(limit))
    return ReactionPage(
      reactions: reactions, profiles: try profiles(of: reactions.map(\.user)),
      next: found.count > limit ? reactions.last?.position : nil)
  }

  // MARK: - Pins

  private func pinned(in room: RoomID, thread: UInt64, _ ordinals: ClosedRange<UInt64>) throws -> [UInt64] {
    try CachedStatement(
      database, "SELECT ordinal FROM pin WHERE roomId = ? AND thread = ? AND ordinal BETWEEN ? AND ?"
    ).all(room, thread, ordinals.lowerBound, ordinals.upperBound) { try $0.unsigned() }
  }

  /// The room's pins, newest first. Nil if the user may not see the room.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func pins(of room: RoomID, for user: UserID?, after cursor: LogPosition? = nil) throws -> PinPage? {
    guard try mayRead(room, user) else { return nil }
    let found = try CachedStatement(
      database, "SELECT thread, ordinal, position, pinnedAt, pinnedBy FROM pin WHERE roomId = ?"
    ).all(room) { row in
      try (
        location: MessageLocation(thread: row.unsigned(), ordinal: row.unsigned()), position: row.position(),
        pinnedAt: row.time(), pinnedBy: row.optional { try $0.id(UserID.self) }
      )
    }
    var page = PinPage(pins: [], profiles: [:], next: nil)
    var budget = PageBudget()
    for pin in found.sorted(by: { $0.position > $1.position }) where cursor.map({ pin.position < $0 }) ?? true {
      guard let message = try shown(at: pin.location, of: room, for: user) else { continue }
      guard budget.take(message.row.contentBytes) else {
        page.next = page.pins.last?.position
        break
      }
      page.pins.append(
        PinRow(message: message, position: pin.position, pinnedAt: pin.pinnedAt, pinnedBy: pin.pinnedBy))
    }
    page.profiles = try profiles(on: page.pins.map(\.message))
      .merging(profiles(of: page.pins.compactMap(\.pinnedBy))) { name, _ in name }
    return page
  }

  /// The pins of all rooms, for the deciders' state.
  func pins() throws -> [RoomID: [MessageID: PinnedMessage]] {
    var pins: [RoomID: [MessageID: PinnedMessage]] = [:]
    try CachedStatement(
      database,
      """
      SELECT roomId, messageId, thread, ordinal, position, time FROM pin
      WHERE EXISTS (SELECT 1 FROM room WHERE room.id = pin.roomId)
      """
    ).forEach { row in
      let (room, message) = try (row.id(RoomID.self), row.id(MessageID.self))
      let location = try MessageLocation(thread: row.unsigned(), ordinal: row.unsigned())
      pins[room, default: [:]][message] = PinnedMessage(location: location, pinned: try row.stamp())
    }
    return pins
  }
}
