import ChatPrimitives

/// The waiters for positions, ordered by position. It has no lock, and the owner resumes the waiters that it returns.
/// Each waiter is returned only once, so it is resumed only once.
struct WaiterList<Waiter> {
  private struct Entry {
    let position: LogPosition
    let number: UInt64
    let waiter: Waiter
  }

  /// Identifies a waiter, so that it can be removed.
  struct Ticket: Sendable, Hashable {
    fileprivate let position: LogPosition
    fileprivate let number: UInt64
  }

  private var entries: [Entry] = []
  private var nextNumber: UInt64 = 0

  var count: Int { entries.count }

  /// A ticket for a waiter that is added later.
  mutating func ticket(for position: LogPosition) -> Ticket {
    defer { nextNumber += 1 }
    return Ticket(position: position, number: nextNumber)
  }

  mutating func add(_ waiter: Waiter, _ ticket: Ticket) {
    let entry = Entry(position: ticket.position, number: ticket.number, waiter: waiter)
    entries.insert(entry, at: firstIndex(beyond: ticket.position))
  }

  /// - Returns: the waiters for `position` or an earlier one.
  mutating func advance(to position: LogPosition) -> [Waiter] {
    let end = firstIndex(beyond: position)
    guard end > 0 else { return [] }
    let ready = entries[..<end].map(\.waiter)
    entries.removeFirst(end)
    return ready
  }

  /// - Returns: nil if it was returned before, or is not added yet.
  mutating func remove(_ ticket: Ticket) -> Waiter? {
    var index = firstIndex(beyond: ticket.position)
    while index > 0, entries[index - 1].position == ticket.position {
      index -= 1
      if entries[index].number == ticket.number { return entries.remove(at: index).waiter }
    }
    return nil
  }

  /// - Returns: all waiters, each with the position that it waited for.
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
