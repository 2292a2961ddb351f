package import ChatPrimitives
package import EventStore
import Foundation
import GRDB

/// Rebuilds read models from the log, and verifies existing ones against it. It only touches the read model's file: it
/// sends nothing and writes no event.
package struct ProjectionRebuild: Sendable {
  private let directory: String
  private let feed: any EventFeed
  private let logIdentity: UUIDBytes

  /// - Parameters:
  ///   - directory: the folder of read models.
  ///   - feed: the log's durable events.
  package init(directory: String, feed: any EventFeed, logIdentity: UUIDBytes) {
    self.directory = directory
    self.feed = feed
    self.logIdentity = logIdentity
  }

  /// Rebuilds one read model up to the feed's head in a second file, which then replaces the old one in one step. No
  /// server may have the old file open: the caller holds the lock on the data directory. After a failure or a crash,
  /// the old file is unchanged.
  package func rebuild(
    _ projection: any Projection.Type, progress: (RebuildProgress) -> Void = { _ in }
  ) throws -> RebuildReport {
    try ProjectionFile.makeDirectory(directory)
    let live = ProjectionFile(projection, in: directory)
    let new = live.sibling("rebuild")
    let head = feed.head
    do {
      let elapsed = try ProjectionBuild(feed: feed, logIdentity: logIdentity).run(
        projection, into: new, through: head, progress)
      try new.replace(live)
      return RebuildReport(projection: projection.name, file: live.path, events: head.value, elapsed: elapsed)
    } catch {
      try? new.remove()
      throw error
    }
  }

  /// Rebuilds one read model into a temporary file, up to the live file's checkpoint, and compares all rows of all
  /// tables. Changes nothing. It may run beside a server, because it compares with one snapshot of the live file.
  package func verify(
    _ projection: any Projection.Type, progress: (RebuildProgress) -> Void = { _ in }
  ) throws -> VerificationReport {
    let live = ProjectionFile(projection, in: directory)
    guard live.exists else {
      throw ProjectionError(.missingFile, "there is no read model to verify; rebuild it first", file: live.path)
    }
    try live.requireRegular()
    // The name includes the process ID, so that two processes can compare at once. Files left by killed processes are
    // removed.
    try live.removeSiblings(ofDeadProcessesFor: "verify")
    let rebuilt = live.sibling("verify-\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? rebuilt.remove() }
    let queue = try live.openReadOnly(projection)
    let report = try queue.read { database in
      let checkpoint = try Checkpoint.read(database)
      try check(checkpoint, of: live)
      try ProjectionBuild(feed: feed, logIdentity: logIdentity).run(
        projection, into: rebuilt, through: checkpoint.position, progress)
      return try compare(database, rebuilt, projection, at: checkpoint.position)
    }
    try queue.close()
    return report
  }

  private func check(_ checkpoint: Checkpoint, of file: ProjectionFile) throws(ProjectionError) {
    guard checkpoint.logIdentity == logIdentity, reaches(checkpoint.position) else {
      throw ProjectionError(
        .foreignFile,
        "it follows the log \(checkpoint.logIdentity.text) up to \(checkpoint.position), but this is the log "
          + "\(logIdentity.text) up to \(feed.head)", file: file.path, position: checkpoint.position)
    }
  }

  /// Waits until the feed has the position; false if it never will. Beside a running server, the feed may learn of the
  /// last events slightly later than the live file.
  private func reaches(_ position: LogPosition) -> Bool {
    position == .origin || feed.waitForHead(beyond: LogPosition(position.value - 1))
  }

  private func compare(
    _ live: Database, _ file: ProjectionFile, _ projection: any Projection.Type, at position: LogPosition
  ) throws -> VerificationReport {
    let queue = try file.openReadOnly(projection)
    let report = try queue.read { rebuilt in
      var comparison = DatabaseComparison(live: live, rebuilt: rebuilt, projection)
      try comparison.run()
      return VerificationReport(
        projection: projection.name, position: position, rowsByTable: comparison.rowsByTable,
        differences: comparison.differences, differenceCount: comparison.differenceCount)
    }
    try queue.close()
    return report
  }
}

package struct RebuildReport: Sendable {
  package let projection: String
  package let file: String
  package let events: UInt64
  package let elapsed: Duration
}

/// The result of comparing a read model with the log.
package struct VerificationReport: Sendable {
  package let projection: String
  /// The live file's checkpoint.
  package let position: LogPosition
  /// How many rows of each table of the rebuilt file were compared.
  package let rowsByTable: [String: Int]
  /// The first differences, at most `DatabaseComparison.shownDifferences`.
  package let differences: [RowDifference]
  /// The number of all differences.
  package let differenceCount: Int

  package var isEqual: Bool { differenceCount == 0 }
}
