import ChatDomain
import ChatPrimitives
import EventStore
import Foundation

/// An event feed in memory, which can be set to fail from a position on.
///
/// `@unchecked Sendable`: stored variables are only accessed while the condition is locked.
final class MemoryFeed: EventFeed, @unchecked Sendable {
  struct Unreadable: Error {}

  private let condition = NSCondition()
  private var stored: [RecordedEvent]
  private var isClosed = false
  private var failingFrom: LogPosition?
  private let largestRead: Int

  /// - Parameters:
  ///   - failingFrom: this event and later ones cannot be read.
  ///   - largestRead: a read of more events fails.
  init(
    _ events: some Sequence<RecordedEvent> = [], failingFrom: LogPosition? = nil, largestRead: Int = .max
  ) {
    stored = Array(events)
    self.failingFrom = failingFrom
    self.largestRead = largestRead
  }

  private func locked<T>(_ body: () throws -> T) rethrows -> T {
    condition.lock()
    defer { condition.unlock() }
    return try body()
  }

  var head: LogPosition { locked { LogPosition(UInt64(stored.count)) } }

  func append(_ events: some Sequence<RecordedEvent>) {
    locked {
      stored.append(contentsOf: events)
      condition.broadcast()
    }
  }

  func close() {
    locked {
      isClosed = true
      condition.broadcast()
    }
  }

  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    try locked {
      let start = Int(position.value)
      let end = min(stored.count, start + limit)
      if end - start > largestRead { throw Unreadable() }
      if let failingFrom, end >= Int(failingFrom.value) {
        guard start + 1 < Int(failingFrom.value) else { throw Unreadable() }
        return Array(stored[start..<Int(failingFrom.value) - 1])
      }
      return start < end ? Array(stored[start..<end]) : []
    }
  }

  func waitForHead(beyond position: LogPosition) -> Bool { waitForHead(beyond: position, unless: { false }) }

  func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
    locked {
      while stored.count <= Int(position.value), !isClosed {
        if isInterrupted() { return false }
        condition.wait()
      }
      return stored.count > Int(position.value)
    }
  }

  func wakeWaiters() { locked { condition.broadcast() } }
}
