package import ChatPrimitives
package import EventStore
import Foundation
import GRDB
import Synchronization

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

  /// Rebuilds read models up to the feed's head in files of their own, which then replace the old ones, each in one step.
  /// No server may have the old files open: the caller holds the lock on the data directory. After a failure or a crash,
  /// the old files are unchanged.
  ///
  /// The log is decoded once for all of them, and each is built on its own thread. They have 512 MiB of page caches
  /// together, besides the batches of `SharedScan`.
  /// - Parameters:
  ///   - isCancelled: ends the rebuild with a `CancellationError`. Asked at least five times a second, but not while
  ///     indexes are created.
  ///   - progress: called on the calling thread.
  @discardableResult
  package func rebuild(
    _ projections: [any Projection.Type], isCancelled: @Sendable () -> Bool = { false },
    progress: (RebuildProgress) -> Void = { _ in }
  ) throws -> RebuildReport {
    try ProjectionFile.makeDirectory(directory)
    let head = feed.head
    let build = ProjectionBuild(
      logIdentity: logIdentity, cacheKiB: ProjectionFile.rebuildCacheKiB(views: projections.count))
    let files = projections.map { ProjectionFile($0, in: directory) }
    defer { for file in files { try? file.sibling(Self.purpose).remove() } }
    let works = zip(projections, files).map { projection, file in
      Self.work(projection) { reader in
        try reader.begin(through: head)
        try build.run(projection, into: file.sibling(Self.purpose), from: reader)
      }
    }
    let elapsed = try scan(works, isCancelled, progress)
    for file in files { try file.sibling(Self.purpose).replace(file) }
    return RebuildReport(
      projections: projections.map { $0.name }, files: files.map(\.path), events: head.value, elapsed: elapsed)
  }

  /// Rebuilds read models into temporary files, each up to its live file's checkpoint, and compares all rows of all
  /// tables. Changes nothing. It may run beside a server, because it compares with one snapshot of each live file.
  ///
  /// The log is decoded once for all of them, and each is built and compared on its own thread, with as much memory as
  /// `rebuild` uses.
  /// - Parameter progress: called on the calling thread.
  package func verify(
    _ projections: [any Projection.Type], progress: (RebuildProgress) -> Void = { _ in }
  ) throws -> [VerificationReport] {
    let build = ProjectionBuild(
      logIdentity: logIdentity, cacheKiB: ProjectionFile.rebuildCacheKiB(views: projections.count))
    let reports = Mutex<[Int: VerificationReport]>([:])
    let works = projections.enumerated().map { index, projection in
      Self.work(projection) { [self] reader in
        let report = try verify(projection, build, from: reader)
        reports.withLock { $0[index] = report }
      }
    }
    _ = try scan(works, { false }, progress)
    return reports.withLock { reports in projections.indices.compactMap { reports[$0] } }
  }

  /// Rebuilds one read model.
  @discardableResult
  package func rebuild(
    _ projection: any Projection.Type, progress: (RebuildProgress) -> Void = { _ in }
  ) throws -> RebuildReport {
    try rebuild([projection], progress: progress)
  }

  /// Verifies one read model.
  package func verify(
    _ projection: any Projection.Type, progress: (RebuildProgress) -> Void = { _ in }
  ) throws -> VerificationReport {
    try verify([projection], progress: progress)[0]
  }

  private func verify(
    _ projection: any Projection.Type, _ build: ProjectionBuild, from reader: SharedScan.Reader
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
      try reader.begin(through: checkpoint.position)
      try build.run(projection, into: rebuilt, from: reader)
      return try compare(database, rebuilt, projection, at: checkpoint.position)
    }
    try queue.close()
    return report
  }

  /// Builds those of the read models that have no file. Does nothing if the log is short, because they then follow it as
  /// fast by themselves.
  /// - Returns: their names.
  package func buildMissing(
    _ projections: [any Projection.Type], isCancelled: @Sendable () -> Bool,
    progress: (_ names: [String], RebuildProgress) -> Void
  ) throws -> [String] {
    guard feed.head.value >= ProjectionBuild.worthwhileEvents else { return [] }
    let missing = projections.filter { !ProjectionFile($0, in: directory).exists }
    guard !missing.isEmpty else { return [] }
    let names = missing.map { $0.name }
    try rebuild(missing, isCancelled: isCancelled) { progress(names, $0) }
    return names
  }

  /// The suffix of a file that is being built.
  static let purpose = "rebuild"

  private static func work(
    _ projection: any Projection.Type, _ body: @escaping @Sendable (SharedScan.Reader) throws -> Void
  ) -> SharedScan.Work {
    SharedScan.Work(thread: "build-\(projection.name)", joinedBatches: projection.joinedBatches, body: body)
  }

  /// - Returns: how long it took.
  private func scan(
    _ works: [SharedScan.Work], _ isCancelled: @Sendable () -> Bool, _ progress: (RebuildProgress) -> Void
  ) throws -> Duration {
    let start = ContinuousClock.now
    try SharedScan.run(works, over: feed, isCancelled: isCancelled) { done, total in
      progress(
        RebuildProgress(done: done.value, total: total.value, elapsed: ContinuousClock.now - start))
    }
    return ContinuousClock.now - start
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
  package let projections: [String]
  package let files: [String]
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
