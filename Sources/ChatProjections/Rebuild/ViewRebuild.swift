package import ChatPrimitives
import Synchronization

/// How far a rebuild of a read model beside the running server is.
package struct ViewRebuildStatus: Sendable, Hashable {
  package enum State: String, Sendable, CaseIterable {
    /// Events are applied to the new file.
    case building
    /// Its indexes are created.
    case indexing
    /// It catches up with what was recorded meanwhile.
    case following
    /// It is complete and replaces the old one.
    case switching
    case complete
    case cancelled
    /// `problem` says why. The old file continues.
    case failed
  }

  package var state: State
  /// The last event that the new file has.
  package var position: LogPosition
  /// The log's head, as the rebuild last saw it.
  package var target: LogPosition
  /// Since the rebuild began, until its end.
  package var elapsed: Duration
  package var problem: String?

  /// Whether the rebuild can still end in another way than its state says.
  package var isRunning: Bool {
    switch state {
    case .building, .indexing, .following, .switching: true
    case .complete, .cancelled, .failed: false
    }
  }

  /// Nil at the beginning.
  package var eventsPerSecond: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && position > .origin ? Double(position.value) / seconds : nil
  }

  /// How long the remaining events take at the same rate, without the indexes. Nil if that is unknown, or no events remain.
  package var secondsLeft: Double? {
    guard state == .building || state == .following, let eventsPerSecond else { return nil }
    return Double(target.distance(from: min(position, target))) / eventsPerSecond
  }
}

/// A rebuild of a read model beside the running server.
final class ViewRebuild: Sendable {
  private struct Progress {
    var state = ViewRebuildStatus.State.building
    var position = LogPosition.origin
    var target: LogPosition
    var ended: ContinuousClock.Instant?
    var problem: String?
    var isCancelled = false
    /// Ends a statement that takes long.
    var interrupt: (@Sendable () -> Void)?
  }

  private let started = ContinuousClock.now
  private let progress: Mutex<Progress>

  init(through target: LogPosition) {
    progress = Mutex(Progress(target: target))
  }

  var status: ViewRebuildStatus {
    progress.withLock { progress in
      ViewRebuildStatus(
        state: progress.state, position: progress.position, target: progress.target,
        elapsed: (progress.ended ?? .now) - started, problem: progress.problem)
    }
  }

  var isRunning: Bool { status.isRunning }
  var isCancelled: Bool { progress.withLock { $0.isCancelled } }

  func throwIfCancelled() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Has no effect once the new file was handed over.
  func cancel() {
    let interrupt = progress.withLock { progress in
      progress.isCancelled = true
      return progress.interrupt
    }
    interrupt?()
  }

  /// - Parameter interrupt: nil once there is nothing to interrupt.
  func onCancel(_ interrupt: (@Sendable () -> Void)?) {
    progress.withLock { $0.interrupt = interrupt }
  }

  func enter(_ state: ViewRebuildStatus.State) { progress.withLock { $0.state = state } }

  func advance(to position: LogPosition, of target: LogPosition) {
    progress.withLock { progress in
      progress.position = position
      progress.target = max(target, position)
    }
  }

  func end(_ state: ViewRebuildStatus.State, problem: String? = nil) {
    progress.withLock { progress in
      progress.state = state
      progress.problem = problem
      progress.ended = .now
    }
  }
}

/// A complete file of a read model, for the thread that applies events.
final class RebuiltFile: Sendable {
  let file: ProjectionFile
  private let semaphore = TimedSemaphore()
  private let result = Mutex<Result<Void, any Error>?>(nil)
  private static let waitMilliseconds = 1000

  init(_ file: ProjectionFile) {
    self.file = file
  }

  /// Called once, when the thread has taken the file over, or cannot.
  func resolve(_ outcome: Result<Void, any Error>) {
    result.withLock { $0 = outcome }
    semaphore.signal()
  }

  /// Blocks until `resolve` is called.
  func wait() throws {
    while true {
      if let outcome = result.withLock({ $0 }) { return try outcome.get() }
      semaphore.wait(milliseconds: Self.waitMilliseconds)
    }
  }
}
