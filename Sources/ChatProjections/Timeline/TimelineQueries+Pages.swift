import ChatPrimitives

/// Limits the messages of a page by their size.
extension TimelineQueries {
  /// The messages of a range, oldest first, and the range that they cover. It is shorter than requested if the messages
  /// are too large for one page. Then those farthest from the anchor are omitted.
  func contents(
    of room: RoomID, thread: UInt64, _ run: ClosedRange<UInt64>, _ anchor: TimelineAnchor
  ) throws -> (messages: [MessageRow], run: ClosedRange<UInt64>) {
    var budget = PageBudget()
    switch anchor {
    case .newest, .before:
      return try backward(of: room, thread: thread, run, &budget)
    case .after:
      return try forward(of: room, thread: thread, run, &budget)
    case .around(let ordinal):
      let center = min(max(ordinal, run.lowerBound), run.upperBound)
      var half = budget.half()
      let older = try backward(of: room, thread: thread, run.lowerBound...center, &half)
      guard center < run.upperBound else { return older }
      budget = budget.after(half)
      let newer = try forward(of: room, thread: thread, center + 1...run.upperBound, &budget)
      return (older.messages + newer.messages, older.run.lowerBound...newer.run.upperBound)
    }
  }

  private func backward(
    of room: RoomID, thread: UInt64, _ run: ClosedRange<UInt64>, _ budget: inout PageBudget
  ) throws -> (messages: [MessageRow], run: ClosedRange<UInt64>) {
    var found: [MessageRow] = []
    var first = run.lowerBound
    try read("DESC", of: room, thread: thread, run) { row in
      guard budget.take(row.contentBytes) else {
        first = row.ordinal + 1
        return false
      }
      found.append(row)
      return true
    }
    return (found.reversed(), first...run.upperBound)
  }

  /// If not even the first message fits, the returned range ends before the requested one begins and covers none of it.
  private func forward(
    of room: RoomID, thread: UInt64, _ run: ClosedRange<UInt64>, _ budget: inout PageBudget
  ) throws -> (messages: [MessageRow], run: ClosedRange<UInt64>) {
    var found: [MessageRow] = []
    var last = run.upperBound
    try read("ASC", of: room, thread: thread, run) { row in
      guard budget.take(row.contentBytes) else {
        last = row.ordinal - 1
        return false
      }
      found.append(row)
      return true
    }
    return (found, min(run.lowerBound, last)...last)
  }

  private func read(
    _ order: String, of room: RoomID, thread: UInt64, _ run: ClosedRange<UInt64>, _ body: (MessageRow) -> Bool
  ) throws {
    try CachedStatement(
      database,
      """
      SELECT \(Self.messageColumns) FROM message
      WHERE roomId = ? AND thread = ? AND ordinal BETWEEN ? AND ? ORDER BY ordinal \(order)
      """
    ).readWhile(room, thread, run.lowerBound, run.upperBound) { row in
      body(try Self.readMessage(of: room, thread: thread, &row))
    }
  }
}
