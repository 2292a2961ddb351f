import ChatDomain
package import ChatPrimitives

/// Pages of the messages with an app's own type. An index by type and ordinal finds them, so a page costs the same however
/// many other messages are between them.
extension TimelineQueries {
  /// A page as `page(of:)` returns it, of the messages with one type. `older` and `newer` lead to messages of this type.
  /// - Parameter type: the exact type.
  package func page(
    of room: RoomID, thread: UInt64 = 0, withType type: String, for user: UserID?, at anchor: TimelineAnchor = .newest,
    limit: Int
  ) throws -> TimelinePage? {
    guard let last = try lastOrdinal(of: room, thread: thread, for: user) else { return nil }
    let typed = TypedMessages(timeline: self, room: room, thread: thread, type: type)
    let messages = try typed.messages(at: anchor, limit: max(1, limit))
    var annotations: [UInt64: MessageAnnotations] = [:]
    for message in messages { annotations[message.ordinal] = try self.annotations(of: message, for: user) }
    // Outside of an empty page, older messages are before its place, and newer ones begin with it.
    let place = anchor.place(upTo: last)
    let (first, end) = (messages.first?.ordinal ?? place, messages.last?.ordinal ?? place - 1)
    return TimelinePage(
      messages: messages, annotations: annotations, threadID: try threadID(thread, in: room),
      profiles: try profiles(on: messages, annotations.values),
      blockedSenders: try Blocks.blocked(among: messages.lazy.map(\.sender), by: user, database),
      run: messages.isEmpty ? nil : first...end,
      older: try typed.ordinals(before: first, limit: 1).isEmpty ? nil : first,
      newer: try typed.ordinals(from: end + 1, limit: 1).isEmpty ? nil : end)
  }
}

/// The messages of a room or thread with one type.
private struct TypedMessages {
  let timeline: TimelineQueries
  let room: RoomID
  let thread: UInt64
  let type: String

  /// Messages next to an anchor, oldest first. There are fewer if they are too large for one page.
  func messages(at anchor: TimelineAnchor, limit: Int) throws -> [MessageRow] {
    var budget = PageBudget()
    switch anchor {
    case .newest:
      return try read(ordinals(before: UInt64(Int64.max), limit: limit), &budget).reversed()
    case .before(let ordinal):
      return try read(ordinals(before: ordinal, limit: limit), &budget).reversed()
    case .after(let ordinal):
      return try read(ordinals(after: ordinal, limit: limit), &budget)
    case .around(let ordinal):
      let newer = try ordinals(from: ordinal, limit: limit)
      // If there are few newer ones, more older ones fill the page.
      let older = try ordinals(before: ordinal, limit: limit - min(newer.count, limit - limit / 2))
      var half = budget.half()
      let first = try read(older, &half)
      budget = budget.after(half)
      // A cut among the older messages leaves them next to the anchor.
      return try first.reversed() + read(Array(newer.prefix(limit - older.count)), &budget)
    }
  }

  /// - Returns: the messages with these ordinals, up to the first that does not fit.
  private func read(_ ordinals: [UInt64], _ budget: inout PageBudget) throws -> [MessageRow] {
    var found: [MessageRow] = []
    for ordinal in ordinals {
      let location = MessageLocation(thread: thread, ordinal: ordinal)
      guard let message = try timeline.message(at: location, of: room) else { continue }
      guard budget.take(message.contentBytes) else { break }
      found.append(message)
    }
    return found
  }

  /// The newest first.
  func ordinals(before ordinal: UInt64, limit: Int) throws -> [UInt64] {
    try CachedStatement(
      timeline.database,
      """
      SELECT ordinal FROM typedMessage WHERE roomId = ? AND thread = ? AND type = ? AND ordinal < ?
      ORDER BY ordinal DESC LIMIT ?
      """
    ).all(room, thread, type, ordinal, limit) { try $0.unsigned() }
  }

  /// The oldest first.
  func ordinals(from ordinal: UInt64, limit: Int) throws -> [UInt64] {
    try CachedStatement(
      timeline.database,
      """
      SELECT ordinal FROM typedMessage WHERE roomId = ? AND thread = ? AND type = ? AND ordinal >= ?
      ORDER BY ordinal LIMIT ?
      """
    ).all(room, thread, type, ordinal, limit) { try $0.unsigned() }
  }

  private func ordinals(after ordinal: UInt64, limit: Int) throws -> [UInt64] {
    guard ordinal < UInt64(Int64.max) else { return [] }
    return try ordinals(from: ordinal + 1, limit: limit)
  }
}
