import ChatPrimitives
private import Dispatch
import Synchronization

/// Runs erasure passes of a log, one at a time, and stops them when the log is closed.
final class LogErasing: Sendable {
  private let folder: LogFolder
  private let identity: LogIdentity
  private let catalog: SegmentCatalog
  private let counts: ReadCounts
  private let random: @Sendable () -> UInt64
  private let isStopped = Atomic(false)
  private let isBusy = Mutex(false)
  /// Entered while a pass runs.
  private let work = DispatchGroup()
  /// Ends a rest.
  private let stop = DispatchSemaphore(value: 0)

  init(
    folder: LogFolder, identity: LogIdentity, catalog: SegmentCatalog, counts: ReadCounts,
    random: @escaping @Sendable () -> UInt64
  ) {
    self.folder = folder
    self.identity = identity
    self.catalog = catalog
    self.counts = counts
    self.random = random
  }

  /// Makes a pass stop soon and prevents new ones.
  func requestStop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    stop.signal()
  }

  /// Requests the stop, and returns when the pass has ended.
  func stopAndWait() {
    requestStop()
    work.wait()
  }

  /// - Parameters:
  ///   - rests: how many times as long as it worked the pass rests after each segment.
  /// - Returns: nil if the pass was stopped.
  func run(
    _ plan: ErasurePlan, resting rests: Int, mustStop: @escaping () -> Bool,
    progress: @escaping (_ done: UInt64, _ total: UInt64) -> Void
  ) throws(LogError) -> ErasureReport? {
    guard
      isBusy.withLock({ busy in
        defer { busy = true }
        return !busy
      })
    else { throw LogError(.busy, "Another erasure is running; try again when it is done.") }
    work.enter()
    defer {
      isBusy.withLock { $0 = false }
      work.leave()
    }
    guard try catalog.sealedThrough() >= plan.last else {
      throw LogError(.busy, "Records of the users are not in sealed segments yet; try again later.")
    }
    var start = ContinuousClock.now
    let pass = ErasurePass(
      folder: folder, identity: identity, catalog: catalog, counts: counts, random: random, plan: plan,
      mustStop: { [self] in isStopped.load(ordering: .sequentiallyConsistent) || mustStop() },
      finished: { [self] done, total in
        progress(done, total)
        rest(rests, since: start)
        start = .now
      },
      // It is unknown which file a crash would leave, and a later sync would not show it. The old file may need a key
      // that another swap would remove. Therefore nothing more is erased until the log is opened again.
      syncFailed: requestStop)
    if isStopped.load(ordering: .sequentiallyConsistent) { return nil }
    let report = try pass.run()
    if report != nil { try removeTornTails() }
    return report
  }

  private func rest(_ rests: Int, since start: ContinuousClock.Instant) {
    guard rests > 0 else { return }
    let nanoseconds = (ContinuousClock.now - start) * rests / .nanoseconds(1)
    // On Linux this wait follows the wall clock. If that is set back, the rest is longer, which harms nothing.
    _ = stop.wait(timeout: .now() + .nanoseconds(Int(nanoseconds)))
  }

  /// Removes the torn tails that were cut from segments that are full by now, because they can contain what was erased.
  /// Recovery needs only those of the last segment.
  private func removeTornTails() throws(LogError) {
    guard let active = catalog.all.last?.first else { return }
    var isChanged = false
    for name in try folder.names() ?? [] {
      guard let position = TailRecovery.savedPosition(name), position < active else { continue }
      try folder.remove(name)
      isChanged = true
    }
    if isChanged { try folder.sync() }
  }
}

extension SegmentCatalog {
  /// The last position in a sealed segment; `LogPosition.origin` if no segment is sealed.
  func sealedThrough() throws(LogError) -> LogPosition {
    let sealed = try sealedCount()
    let all = all
    return sealed > 0 && sealed < all.count ? LogPosition(all[sealed].first.value - 1) : .origin
  }
}
