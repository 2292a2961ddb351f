import ChatDomain
import ChatPrimitives
import GRDB

/// Applies events to the rows and moves the checkpoint, in one transaction. Checks first that the events directly
/// follow the checkpoint.
enum ProjectionBatch {
  /// Call this within a transaction. Events that this projection cannot fit into one transaction are left for the next.
  /// - Returns: the position of the last event that was applied.
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
    let applied = events.prefix(try projection.applyFirst(of: events[...], to: database)).last ?? first
    try Checkpoint.move(to: applied.position, at: applied.stamp.time, database)
    return applied.position
  }
}
