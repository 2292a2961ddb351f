import HeapModule

/// Elements that wait until a time. Those that are due at the same time keep their order.
struct DueQueue<Element> {
  private struct Entry: Comparable {
    let due: ContinuousClock.Instant
    let number: UInt64
    let element: Element

    static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
    static func < (left: Entry, right: Entry) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  private var heap = Heap<Entry>()
  private var added: UInt64 = 0

  /// When the first element is due; nil if there is none.
  var nextDue: ContinuousClock.Instant? { heap.min?.due }

  mutating func add(_ element: Element, due: ContinuousClock.Instant) {
    added += 1
    heap.insert(Entry(due: due, number: added, element: element))
  }

  /// Removes and returns the first element if it is due.
  mutating func popDue(at now: ContinuousClock.Instant) -> Element? {
    guard let due = nextDue, due <= now else { return nil }
    return heap.removeMin().element
  }
}
