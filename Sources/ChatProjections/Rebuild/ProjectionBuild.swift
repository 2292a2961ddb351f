import ChatDomain
import ChatPrimitives
import EventStore
import GRDB

/// The progress of a rebuild of one or more read models.
package struct RebuildProgress: Sendable {
  /// The number of events that all of them have applied.
  package let done: UInt64
  package let total: UInt64
  package let elapsed: Duration
}

/// Fills a new file by applying the log to one projection.
struct ProjectionBuild {
  /// A file without rows that lacks at least this many events is filled in this way. With fewer, it just follows the log.
  static let worthwhileEvents = UInt64(4 * SharedScan.batchEvents)

  let logIdentity: UUIDBytes
  /// The page cache, in KiB.
  var cacheKiB = ProjectionFile.rebuildCacheKiB(views: 1)

  /// Does everything in one transaction and creates the indexes last.
  func run<P: Projection>(_ type: P.Type, into file: ProjectionFile, from batches: some EventBatches) throws {
    let queue = try file.openForRebuild(type, cacheKiB: cacheKiB)
    do {
      var projection = P()
      try fill(&projection, queue, from: batches)
      try queue.close()
    } catch {
      try? queue.close()
      throw error
    }
  }

  /// - Returns: the last position that was applied.
  @discardableResult
  func fill<P: Projection>(
    _ projection: inout P, _ queue: DatabaseQueue, from batches: some EventBatches
  ) throws -> LogPosition {
    try queue.write { database in
      try ProjectionOpening.createSchema(of: P.self, logIdentity: logIdentity, database)
      var batches = batches
      var position = LogPosition.origin
      while let events = try batches.next() {
        position = try Self.apply(events, after: position, with: &projection, to: database)
      }
      try P.createIndexes(database)
      return position
    }
  }

  /// Applies all events, and removes the rows of what they delete. Call it within a transaction.
  static func apply<P: Projection>(
    _ events: [RecordedEvent], after start: LogPosition, with projection: inout P, to database: Database
  ) throws -> LogPosition {
    var (position, rest) = (start, events)
    while !rest.isEmpty {
      let applied = try ProjectionBatch.apply(rest, after: position, with: &projection, to: database)
      // Usually all of them fit, and nothing is copied.
      rest = applied == rest.last?.position ? [] : rest.filter { $0.position > applied }
      position = applied
    }
    while try BulkDeletion.step(P.bulkDeletedRows, database) {}
    return position
  }
}
