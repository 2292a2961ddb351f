import ChatDomain
import ChatPrimitives
import EventStore
import GRDB

/// The progress of a rebuild.
package struct RebuildProgress: Sendable {
  package let projection: String
  /// The number of events already applied.
  package let done: UInt64
  package let total: UInt64
  package let elapsed: Duration
}

/// Fills a new file by applying the log up to a position to one projection.
struct ProjectionBuild {
  /// The number of events in a batch. The rows do not depend on it.
  private static let batchEvents = 16_384

  let feed: any EventFeed
  let logIdentity: UUIDBytes

  /// Does everything in one transaction and creates the indexes last.
  /// - Returns: how long it took.
  @discardableResult
  func run<P: Projection>(
    _ type: P.Type, into file: ProjectionFile, through end: LogPosition, _ progress: (RebuildProgress) -> Void
  ) throws -> Duration {
    let clock = ContinuousClock()
    let start = clock.now
    let queue = try file.openForRebuild(type)
    do {
      try queue.write { database in
        try ProjectionOpening.createSchema(of: type, logIdentity: logIdentity, database)
        var projection = P()
        var position = LogPosition.origin
        while position < end {
          let events = try feed.events(after: position, limit: Self.batchEvents)
          let wanted = events.last.map { $0.position > end } == true ? events.filter { $0.position <= end } : events
          position = try ProjectionBatch.apply(wanted, after: position, with: &projection, to: database)
          while try BulkDeletion.step(type.bulkDeletedRows, database) {}
          progress(
            RebuildProgress(
              projection: type.name, done: position.value, total: end.value, elapsed: clock.now - start))
        }
        try type.createIndexes(database)
      }
      try queue.close()
    } catch {
      try? queue.close()
      throw error
    }
    return clock.now - start
  }
}
