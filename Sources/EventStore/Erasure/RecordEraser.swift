package import ChatDomain
package import ChatPrimitives
package import EventLog

/// Erases what deleted users recorded from the log of a running server, on a thread of low priority.
///
/// It stores nothing. After a restart, each erasure must be requested again, and a pass finds what is left.
///
/// Unchecked: `state` is accessed only while `condition` is locked.
package final class RecordEraser: @unchecked Sendable {
  /// The pass rests this many times as long as it works.
  private static let rests = 3
  /// The minimum time between two segments that are ended early, in milliseconds: each remains a small file.
  package static let rollIntervalMilliseconds = 3_600_000
  /// How long nothing is tried after a failure, in milliseconds.
  private static let retryMilliseconds = 60_000

  private struct State {
    var requests: [UserID: LogPosition] = [:]
    var finished: [UserID: ErasureCounts] = [:]
    /// Something may have changed since the thread last looked.
    var isWoken = false
    /// The thread wakes by itself then.
    var deadline: MonotonicCondition.Deadline?
    /// Counts the calls of `withdrawAll`.
    var withdrawals = 0
    var isStopping = false
    var hasEnded = false
  }

  private let log: EmbeddedLog
  private let rollInterval: Duration
  private let roll: @Sendable () -> Void
  private let onFinished: @Sendable () -> Void
  private let onFailure: @Sendable (LogError) -> Void
  private let condition = MonotonicCondition()
  private var state = State()

  /// - Parameters:
  ///   - roll: makes the log's writer begin a new segment. It need not wait for that.
  ///   - onFinished: called on the eraser's thread when users were erased. It must not block.
  ///   - onFailure: called on that thread with the reason if a pass failed. It is tried again.
  package init(
    _ log: EmbeddedLog, rollIntervalMilliseconds: Int = rollIntervalMilliseconds, roll: @escaping @Sendable () -> Void,
    onFinished: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (LogError) -> Void
  ) {
    self.log = log
    rollInterval = .milliseconds(rollIntervalMilliseconds)
    self.roll = roll
    self.onFinished = onFinished
    self.onFailure = onFailure
    LowPriorityThread.start("hansard-eraser") { [self] in run() }
  }

  /// Asks for a user's records to be erased.
  /// - Parameter deletion: where the account was deleted. Nothing later has the user as its actor.
  /// - Returns: what is left, once, when no file of the log has any of the payloads any more; nil until then.
  package func erased(_ user: UserID, deleted deletion: LogPosition) -> ErasureCounts? {
    condition.withLock {
      if let counts = state.finished.removeValue(forKey: user) { return counts }
      if state.requests.updateValue(deletion, forKey: user) == nil { wake() }
      return nil
    }
  }

  /// Forgets all requests, because a legal hold was placed. The pass in progress replaces no further segment. Users
  /// without a hold must be requested again.
  package func withdrawAll() {
    condition.withLock {
      state.requests = [:]
      state.withdrawals += 1
    }
  }

  /// Call it when a segment was sealed, because only sealed segments are rewritten.
  package func segmentSealed() {
    condition.withLock { wake() }
  }

  /// Returns when the thread has ended. The log must not be closed before.
  package func stop() {
    condition.withLock {
      state.isStopping = true
      condition.broadcast()
    }
    log.stopErasing()
    condition.withLock { while !state.hasEnded { condition.wait() } }
  }

  /// Call it only while `condition` is locked.
  private func wake() {
    state.isWoken = true
    condition.broadcast()
  }

  // MARK: The thread

  private func run() {
    var lastRoll: ContinuousClock.Instant?
    while let (requests, withdrawals) = nextRequests() {
      do throws(LogError) {
        try erase(requests, withdrawals, &lastRoll)
      } catch {
        onFailure(error)
        setDeadline(milliseconds: Self.retryMilliseconds)
      }
    }
    condition.withLock {
      state.hasEnded = true
      condition.broadcast()
    }
  }

  /// Waits until there may be something to do. Returns nil when the eraser is stopped.
  private func nextRequests() -> (requests: [UserID: LogPosition], withdrawals: Int)? {
    condition.withLock {
      while !state.isStopping {
        if state.isWoken, !state.requests.isEmpty {
          state.isWoken = false
          return (state.requests, state.withdrawals)
        }
        if let deadline = state.deadline {
          if !condition.wait(until: deadline) {
            state.deadline = nil
            state.isWoken = true
          }
        } else {
          condition.wait()
        }
      }
      return nil
    }
  }

  private func setDeadline(milliseconds: Int) {
    condition.withLock { state.deadline = .init(millisecondsFromNow: milliseconds) }
  }

  private func erase(
    _ requests: [UserID: LogPosition], _ withdrawals: Int, _ lastRoll: inout ContinuousClock.Instant?
  ) throws(LogError) {
    let sealed = try log.sealedThrough()
    let ready = requests.filter { $0.value <= sealed }
    if ready.count < requests.count, try log.segmentsToSeal() == 0 { endSegment(&lastRoll) }
    guard !ready.isEmpty else { return }
    let report = try log.erase(
      ErasurePlan(erasing: ready, in: log), resting: Self.rests, mustStop: { [self] in isWithdrawn(since: withdrawals) }
    )
    guard let report else { return }
    condition.withLock {
      for (user, counts) in report.users {
        state.requests[UserID(user)] = nil
        state.finished[UserID(user)] = counts
      }
    }
    onFinished()
  }

  /// Ends the active segment, so that it is sealed. `segmentSealed` wakes this thread then.
  private func endSegment(_ lastRoll: inout ContinuousClock.Instant?) {
    if let last = lastRoll {
      let wait = rollInterval - last.duration(to: .now)
      if wait > .zero {
        setDeadline(milliseconds: Int(wait / .milliseconds(1)) + 1)
        return
      }
    }
    lastRoll = .now
    // The writer would have to wait for that.
    log.prepareRoll()
    roll()
  }

  private func isWithdrawn(since withdrawals: Int) -> Bool {
    condition.withLock { state.isStopping || state.withdrawals != withdrawals }
  }
}
