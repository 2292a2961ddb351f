import ChatDomain
import ChatPrimitives
import EventStore

/// The events from the first one on, in order and in batches. The rows of a read model do not depend on the batches.
protocol EventBatches {
  /// Returns the next batch; nil at the end. Blocks until there is one.
  mutating func next() throws -> [RecordedEvent]?
}

/// Reads the events of a feed up to a position.
struct FeedBatches: EventBatches {
  let feed: any EventFeed
  let end: LogPosition
  /// How many reads of the feed make a batch.
  private let joined: Int
  private var position = LogPosition.origin

  init(_ feed: any EventFeed, through end: LogPosition, joined: Int = 1) {
    self.feed = feed
    self.end = end
    self.joined = joined
  }

  mutating func next() throws -> [RecordedEvent]? {
    guard var batch = try read() else { return nil }
    for _ in 1..<joined {
      guard let more = try read() else { break }
      batch += more
    }
    return batch
  }

  private mutating func read() throws -> [RecordedEvent]? {
    guard position < end else { return nil }
    let events = try feed.events(after: position, limit: SharedScan.batchEvents).through(end)
    guard let last = events.last else { throw ProjectionError.gap(after: position) }
    position = last.position
    return events
  }
}

extension [RecordedEvent] {
  /// Those up to a position. The events are in order.
  func through(_ end: LogPosition) -> [RecordedEvent] {
    guard let last, last.position > end else { return self }
    return filter { $0.position <= end }
  }
}

extension ProjectionError {
  static func gap(after position: LogPosition) -> ProjectionError {
    ProjectionError(.feedGap, "the feed has nothing after \(position) though its head lies beyond", position: position)
  }
}
