public import ChatDomain
public import ChatPrimitives
import DequeModule
public import EventLog
import Synchronization

/// The log as a sequence of events. The newest events are kept decoded, so that the projections, which follow closely,
/// need not read them from disk.
package final class EventStore: EventFeed, Sendable {
  /// The maximum that is kept decoded until every projection has applied it: the number of events, and the size of
  /// their records in bytes.
  static let tailEvents = 131_072
  static let tailBytes = 64 * 1024 * 1024
  /// The part that is kept even after every projection has applied it, for other followers of the log: the number of
  /// events, and the size of their records in bytes.
  static let releasedTailEvents = 2_048
  static let releasedTailBytes = 1024 * 1024

  package let log: any BlockStore
  private let tail: Tail
  private let erasedReplies = ErasedReplies()

  package init(log: any BlockStore) {
    self.log = log
    tail = Tail(head: log.head)
  }

  /// Needs no lock, because every request reads it.
  package var head: LogPosition { tail.head }

  /// Writes a block and publishes its events once it is durable. Blocks until then. Only the one writer may call it.
  package func commit(_ block: BlockBuilder, _ events: [RecordedEvent]) throws(LogError) {
    try log.append(block)
    tail.publish(Batch(events: events, bytes: block.rawBytes))
  }

  package func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    if let recent = tail.events(after: position, limit: limit) { return recent }
    return try log.decodedEvents(after: position, through: head, limit: limit, erasedReplies)
  }

  package func waitForHead(beyond position: LogPosition) -> Bool {
    tail.waitForHead(beyond: position, unless: { false })
  }

  package func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
    tail.waitForHead(beyond: position, unless: isInterrupted)
  }

  /// Does the same, but also returns once the deadline has passed.
  package func waitForHead(
    beyond position: LogPosition, until deadline: MonotonicCondition.Deadline, unless isInterrupted: () -> Bool
  ) -> HeadWait {
    tail.waitForHead(beyond: position, until: deadline, unless: isInterrupted)
  }

  package func wakeWaiters() {
    tail.wakeWaiters()
  }

  package func release(through position: LogPosition) {
    tail.release(through: position)
  }

  /// The number of events that are kept decoded.
  var tailCount: Int { tail.count }

  /// Releases every thread that waits for more events.
  package func close() {
    tail.close()
  }
}

/// Why a wait for the head is over.
package enum HeadWait: Sendable {
  case advanced
  case interrupted
  case timedOut
  /// The store was closed and no more events will come.
  case closed
}

/// The events of one block.
private struct Batch {
  let events: [RecordedEvent]
  let bytes: Int
}

/// The newest durable events in memory.
///
/// Unchecked: all mutable state is accessed only while `condition` is locked.
private final class Tail: @unchecked Sendable {
  private let condition = MonotonicCondition()
  private var batches: Deque<Batch> = []
  private var eventCount = 0
  private var byteCount = 0
  private var durable: LogPosition
  private var isClosed = false
  /// A copy of `durable` that can be read without the lock.
  private let published: Atomic<UInt64>

  init(head: LogPosition) {
    durable = head
    published = Atomic(head.value)
  }

  var head: LogPosition {
    LogPosition(published.load(ordering: .acquiring))
  }

  func publish(_ batch: Batch) {
    condition.withLock {
      guard let last = batch.events.last else { return }
      precondition(batch.events.first?.position == durable.next, "a batch must follow the head")
      durable = last.position
      published.store(durable.value, ordering: .releasing)
      batches.append(batch)
      eventCount += batch.events.count
      byteCount += batch.bytes
      while eventCount > EventStore.tailEvents || byteCount > EventStore.tailBytes, dropOldest() {}
      condition.broadcast()
    }
  }

  var count: Int { condition.withLock { eventCount } }

  func release(through position: LogPosition) {
    condition.withLock {
      while eventCount > EventStore.releasedTailEvents || byteCount > EventStore.releasedTailBytes,
        let last = batches.first?.events.last, last.position <= position, dropOldest()
      {}
    }
  }

  /// Call it only while `condition` is locked.
  /// - Returns: whether there was a batch to drop.
  private func dropOldest() -> Bool {
    guard let oldest = batches.popFirst() else { return false }
    eventCount -= oldest.events.count
    byteCount -= oldest.bytes
    return true
  }

  /// Returns nil if the tail does not reach back that far.
  func events(after position: LogPosition, limit: Int) -> [RecordedEvent]? {
    let reachable: (batches: [Batch], skip: Int)? = condition.withLock {
      if position >= durable { return ([], 0) }
      guard let first = batches.first?.events.first, first.position <= position.next else { return nil }
      var low = 0
      var high = batches.count - 1
      while low < high {
        let middle = (low + high + 1) / 2
        if batches[middle].events[0].position <= position.next { low = middle } else { high = middle - 1 }
      }
      let skip = Int(position.next.value - batches[low].events[0].position.value)
      var taken: [Batch] = []
      var count = -skip
      for index in low..<batches.count where count < limit {
        taken.append(batches[index])
        count += batches[index].events.count
      }
      return (taken, skip)
    }
    return reachable.map { Self.joined($0.batches, without: $0.skip) }
  }

  /// The events of one whole batch are not copied. Every follower of the log asks for all events, so a copy of each is a
  /// considerable part of what a follower costs.
  /// - Parameter skip: how many of the first events are left out; fewer than the first batch has.
  private static func joined(_ batches: [Batch], without skip: Int) -> [RecordedEvent] {
    if skip == 0, batches.count == 1 { return batches[0].events }
    var events: [RecordedEvent] = []
    events.reserveCapacity(batches.reduce(-skip) { $0 + $1.events.count })
    for (index, batch) in batches.enumerated() {
      events.append(contentsOf: index == 0 ? batch.events.dropFirst(skip) : batch.events[...])
    }
    return events
  }

  func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
    waitForHead(beyond: position, until: nil, unless: isInterrupted) == .advanced
  }

  /// - Parameter deadline: nil to wait without a limit.
  func waitForHead(
    beyond position: LogPosition, until deadline: MonotonicCondition.Deadline?, unless isInterrupted: () -> Bool
  ) -> HeadWait {
    condition.withLock {
      while durable <= position {
        if isClosed { return .closed }
        if isInterrupted() { return .interrupted }
        if let deadline {
          guard condition.wait(until: deadline) else { return .timedOut }
        } else {
          condition.wait()
        }
      }
      return .advanced
    }
  }

  func wakeWaiters() {
    condition.withLock { condition.broadcast() }
  }

  func close() {
    condition.withLock {
      isClosed = true
      condition.broadcast()
    }
  }
}
