import ChatDomain
import ChatPrimitives
import GRDB

/// One transaction's worth of work: rows and checkpoint, from events that are checked to follow the checkpoint.
enum ProjectionBatch {
  /// Called within a transaction.
  /// - Returns: the position of the last event.
  static func apply(
    _ events: [RecordedEvent], after position: LogPosition, with projection: inout some Projection,
    to database: Database
  ) throws -> LogPosition {
    guard let first = events.first, let last = events.last else {
      throw ProjectionError(
        .feedGap, "the feed has nothing after its checkpoint though its head lies beyond", position: position)
    }
    guard first.position == position.next, last.position == position.advanced(by: events.count) else {
      throw ProjectionError(
        .feedGap,
        "the feed gave \(events.count) events from \(first.position) to \(last.position) after \(position)",
        position: position.next)
    }
    try projection.apply(events[...], to: database)
    try Checkpoint.move(to: last.position, at: last.stamp.time, database)
    return last.position
  }
}
