import ChatPrimitives

/// Who waits for which position, ordered by position. A value without a lock: whoever owns it resumes what it hands
/// back, and since a waiter is handed back only once, it is resumed only once.
struct WaiterList<Waiter> {
  private struct Entry {
    let position: LogPosition
    let number: UInt64
    let waiter: Waiter
  }

  /// Names a waiter, so that it can be taken back.
  struct Ticket: Sendable, Hashable {
    fileprivate let position: LogPosition
    fileprivate let number: UInt64
  }

  private var entries: [Entry] = []
  private var nextNumber: UInt64 = 0

  var count: Int { entries.count }

  /// A ticket for a waiter that is added with it later.
  mutating func ticket(for position: LogPosition) -> Ticket {
    defer { nextNumber += 1 }
    return Ticket(position: position, number: nextNumber)
  }

  mutating func add(_ waiter: Waiter, _ ticket: Ticket) {
    let entry = Entry(position: ticket.position, number: ticket.number, waiter: waiter)
    entries.insert(entry, at: firstIndex(beyond: ticket.position))
  }

  /// - Returns: those who waited for `position` or an earlier one.
  mutating func advance(to position: LogPosition) -> [Waiter] {
    let end = firstIndex(beyond: position)
    guard end > 0 else { return [] }
    let ready = entries[..<end].map(\.waiter)
    entries.removeFirst(end)
    return ready
  }

  /// - Returns: nil when it was handed back before, or not added yet.
  mutating func remove(_ ticket: Ticket) -> Waiter? {
    var index = firstIndex(beyond: ticket.position)
    while index > 0, entries[index - 1].position == ticket.position {
      index -= 1
      if entries[index].number == ticket.number { return entries.remove(at: index).waiter }
    }
    return nil
  }

  /// - Returns: everyone, with the position that each waited for.
  mutating func removeAll() -> [(position: LogPosition, waiter: Waiter)] {
    let all = entries.map { ($0.position, $0.waiter) }
    entries = []
    return all
  }

  private func firstIndex(beyond position: LogPosition) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].position <= position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
