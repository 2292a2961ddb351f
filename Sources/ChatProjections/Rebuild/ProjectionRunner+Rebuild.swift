import ChatDomain
import ChatPrimitives
import Dispatch
import EventStore
import Foundation
import GRDB
import Logging
import Synchronization

/// Rebuilding the file while it is in use.
extension ProjectionRunner {
  /// When so few events are missing, the thread that applies events takes the new file over.
  private static var closeEvents: UInt64 { UInt64(batchEvents) }
  /// After so many batches of following, the log grows as fast as the rebuild, so this many may be missing.
  private static var patientBatches: Int { 64 }
  static var impatientEvents: UInt64 { 16 * closeEvents }

  /// The last rebuild since the server was started; nil if there was none.
  package var rebuildStatus: ViewRebuildStatus? { state.withLock { $0.rebuild }?.status }

  /// Whether there is a second file, which has or will have the same rows.
  var isReplacing: Bool { state.withLock { $0.isReplacing } }

  /// Begins to build a new file beside the current one, which it replaces when it is complete. Does nothing while a rebuild
  /// is running.
  /// - Throws: `ProjectionBehind` if the read model has no file that can be read, because it is being built or has failed.
  package func startRebuild() throws(ProjectionBehind) {
    let head = feed.head
    let begun: Result<ViewRebuild?, ProjectionBehind> = state.withLock { state in
      if state.rebuild?.isRunning == true { return .success(nil) }
      guard state.isStarted, !state.isStopping, state.pool != nil, state.isReadable, state.followingFault == nil else {
        return .failure(
          ProjectionBehind(
            projection: P.name, wanted: state.readableFrom, reached: state.position, reason: state.reason ?? .failing))
      }
      let rebuild = ViewRebuild(through: head)
      state.rebuild = rebuild
      // Entered here, so that `stop` cannot miss the thread.
      background.enter()
      return .success(rebuild)
    }
    guard let rebuild = try begun.get() else { return }
    LowPriorityThread.start("build-\(P.name)") { [self] in
      run(rebuild)
      background.leave()
    }
  }

  /// Ends a rebuild and removes its file, unless the file was already handed over. Does nothing if none is running.
  package func cancelRebuild() { state.withLock { $0.rebuild }?.cancel() }

  // MARK: - The thread of the rebuild

  private func run(_ rebuild: ViewRebuild) {
    let directory = (opening.file.path as NSString).deletingLastPathComponent
    let new = opening.file.sibling(ProjectionRebuild.purpose)
    var complete: ProjectionFile?
    logger.notice("a rebuild of a read model has begun", metadata: ["projection": "\(P.name)"])
    do {
      try fill(new, rebuild)
      try rebuild.throwIfCancelled()
      rebuild.enter(.switching)
      let next = ProjectionFile.next(of: P.self, in: directory)
      try new.publish(as: next)
      complete = next
      try handOver(next)
      rebuild.end(.complete)
      logger.notice(
        "a rebuilt read model has replaced the old one", metadata: ["projection": "\(P.name)", "file": "\(next.path)"])
    } catch {
      for file in [new, complete] { try? file?.remove() }
      end(rebuild, error)
    }
  }

  private func end(_ rebuild: ViewRebuild, _ error: any Error) {
    if rebuild.isCancelled || error is CancellationError {
      rebuild.end(.cancelled)
      return logger.notice("the rebuild of a read model was cancelled", metadata: ["projection": "\(P.name)"])
    }
    let kind = ProjectionFault.Kind(following: error)
    let advice = "The old file is still in use. \(kind == .temporary ? Self.advice(on: error) : kind.advice(on: error))"
    rebuild.end(.failed, problem: "\(Self.message(of: error)). \(advice)")
    logger.warning(
      "the rebuild of a read model failed; the old file is still in use",
      metadata: ["projection": "\(P.name)", "reason": "\(ProjectionFault.message(of: error))"])
  }

  /// Nobody tries a rebuild again but the operator.
  private static func advice(on error: any Error) -> String {
    (error as? DatabaseError)?.resultCode == .SQLITE_FULL
      ? "Free some disk space, and start the rebuild again." : "Check the disk, and start the rebuild again."
  }

  private static func message(of error: any Error) -> String {
    ProjectionFault.Kind(following: error) == .permanent
      ? "An event cannot be read or applied; the server log says why" : ProjectionFault.message(of: error)
  }

  /// Fills the file until few events are missing.
  private func fill(_ file: ProjectionFile, _ rebuild: ViewRebuild) throws {
    let queue = try file.openForRebuild(P.self, cacheKiB: ProjectionFile.busyWriterCacheKiB)
    // A transaction and an index can write many MiB at once, and messages wait for the sync of all of them.
    try queue.writeWithoutTransaction { PageChecksums.syncInSteps($0) }
    rebuild.onCancel { queue.interrupt() }
    defer { rebuild.onCancel(nil) }
    do {
      var projection = P()
      let batches = RebuildBatches(
        FeedBatches(feed, through: feed.head, joined: P.joinedBatches), rebuild, file)
      var position = try ProjectionBuild(logIdentity: opening.logIdentity).fill(&projection, queue, from: batches)
      rebuild.enter(.following)
      var followed = 0
      while feed.head.distance(from: position)
        > (followed < Self.patientBatches ? Self.closeEvents : Self.impatientEvents)
      {
        try rebuild.throwIfCancelled()
        let events = try feed.events(after: position, limit: SharedScan.batchEvents)
        position = try queue.write { [position] in
          try ProjectionBuild.apply(events, after: position, with: &projection, to: $0)
        }
        rebuild.advance(to: position, of: feed.head)
        try file.syncData()
        followed += 1
      }
      try queue.close()
    } catch {
      try? queue.close()
      throw error
    }
  }

  /// Blocks until the thread that applies events has taken the file over.
  private func handOver(_ file: ProjectionFile) throws {
    let rebuilt = RebuiltFile(file)
    let isAccepted = state.withLock { state in
      guard !state.isStopping, state.halt == nil else { return false }
      state.rebuilt = rebuilt
      return true
    }
    guard isAccepted else { throw CancellationError() }
    feed.wakeWaiters()
    hurry.signal()
    try rebuilt.wait()
  }

  // MARK: - The thread that applies events

  /// Fills a file without rows in the way of a rebuild if many events are missing. Until then it cannot be read. The push
  /// outbox is not filled in this way: it makes many rows from few events.
  func fillNewFile(_ onApplied: (LogPosition) -> Void) throws {
    guard Projections.all.contains(where: { $0.name == P.name }) else { return }
    _ = try openedFile()
    let head = feed.head
    let build = ViewRebuild(through: head)
    let isNeeded = state.withLock { state in
      guard !state.isStopping, state.position == .origin, head.value >= ProjectionBuild.worthwhileEvents else {
        return false
      }
      state.filling = build
      return true
    }
    guard isNeeded else { return }
    defer { state.withLock { $0.filling = nil } }
    let file = opening.file
    let new = file.sibling(ProjectionRebuild.purpose)
    let next = ProjectionFile.next(of: P.self, in: (file.path as NSString).deletingLastPathComponent)
    do {
      try fill(new, build)
      try new.publish(as: next)
      try adopt(next)
    } catch {
      for file in [new, next] { try? file.remove() }
      throw error
    }
    onApplied(position)
  }

  /// Whether there is a complete new file.
  func hasRebuiltFile() -> Bool { state.withLock { $0.rebuilt != nil } }

  /// Continues with the new file, if there is one. If that fails, it continues with the old one.
  func takeRebuiltFile(_ onApplied: (LogPosition) -> Void) {
    guard let rebuilt = state.withLock({ $0.rebuilt }) else { return }
    let result = Result { try adopt(rebuilt.file) }
    state.withLock { $0.rebuilt = nil }
    rebuilt.resolve(result)
    if case .success = result { onApplied(position) }
  }

  /// Nobody takes the new file over any more.
  func refuseRebuiltFile() {
    let rebuilt = state.withLock { state in
      defer { state.rebuilt = nil }
      return state.rebuilt
    }
    rebuilt?.resolve(.failure(CancellationError()))
  }

  private func adopt(_ file: ProjectionFile) throws {
    var opening = opening
    opening.file = file
    let opened = try opening.openComplete(head: feed.head)
    do {
      // Readers have seen everything up to here, and must never see less.
      let seen = position
      var reached = opened.position
      var projection = P()
      while reached < seen {
        reached = try opened.pool.write { [reached] in try apply(after: reached, with: &projection, to: $0).position }
      }
      exchange(opened, file, at: reached)
    } catch {
      opened.checkpoints.close()
      try? opened.pool.close()
      throw error
    }
  }

  /// From now on, reads begin in the new file. Those that have begun finish in the old one.
  private func exchange(_ opened: ProjectionOpening.Opened, _ file: ProjectionFile, at position: LogPosition) {
    let old = state.withLock { state in
      defer {
        state.pool = opened.pool
        state.checkpoints = opened.checkpoints
        state.file = file
        state.damage = nil
        state.readFault = ReadFault()
        state.retiring += 1
      }
      return (pool: state.pool, checkpoints: state.checkpoints, file: state.file)
    }
    publish(position)
    background.enter()
    LowPriorityThread.start("old-\(P.name)") { [self] in
      old.checkpoints?.close()
      // Waits for the queries in flight.
      try? old.pool?.close()
      do {
        try old.file.remove()
      } catch {
        logger.warning("the old file of a read model could not be removed", metadata: ["error": "\(error)"])
      }
      state.withLock { $0.retiring -= 1 }
      background.leave()
    }
  }
}

/// The events of a rebuild beside the running server. It stops if the rebuild is cancelled, and syncs what was written, so
/// that one large sync at the end does not delay the log's syncs.
private struct RebuildBatches: EventBatches {
  private var batches: FeedBatches
  private let rebuild: ViewRebuild
  private let file: ProjectionFile
  private var given = LogPosition.origin

  init(_ batches: FeedBatches, _ rebuild: ViewRebuild, _ file: ProjectionFile) {
    self.batches = batches
    self.rebuild = rebuild
    self.file = file
  }

  mutating func next() throws -> [RecordedEvent]? {
    try rebuild.throwIfCancelled()
    if given > .origin { try file.syncData() }
    rebuild.advance(to: given, of: batches.end)
    guard let events = try batches.next() else {
      rebuild.enter(.indexing)
      return nil
    }
    given = events.last?.position ?? given
    return events
  }
}
