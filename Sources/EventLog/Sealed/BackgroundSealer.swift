import ChatPrimitives
private import Dispatch
import Synchronization

/// Seals full segments on a separate thread, which runs only while there are segments to seal.
final class BackgroundSealer: Sendable {
  private enum State {
    case resting
    case running
    /// The thread is running, and there may be a new segment that it has not seen.
    case wokenAgain
    case stopped
  }

  private let sealing: LogSealing
  private let onSealed: @Sendable (Duration) -> Void
  private let onFailure: @Sendable (LogError) -> Void
  private let state = Mutex(State.resting)
  /// Entered while the thread is running.
  private let life = DispatchGroup()

  init(
    _ sealing: LogSealing, onSealed: @escaping @Sendable (Duration) -> Void,
    onFailure: @escaping @Sendable (LogError) -> Void
  ) {
    self.sealing = sealing
    self.onSealed = onSealed
    self.onFailure = onFailure
  }

  /// Tells the sealer that a segment is full.
  /// - Parameter lock: the lock of the directory, which the thread keeps until it ends.
  func wake(holding lock: DirectoryLock) {
    let mustStart = state.withLock { state in
      switch state {
      case .resting:
        state = .running
        // Entered here, so that `stop` cannot miss the thread.
        life.enter()
        return true
      case .running, .wokenAgain:
        state = .wokenAgain
        return false
      case .stopped:
        return false
      }
    }
    guard mustStart else { return }
    LowPriorityThread.start("hansard-sealer") { [self] in
      withExtendedLifetime(lock) { run() }
      life.leave()
    }
  }

  /// Prevents new work and returns when the thread has ended.
  func stop() {
    state.withLock { $0 = .stopped }
    life.wait()
  }

  private func run() {
    repeat {
      do throws(LogError) {
        var start = ContinuousClock.now
        while try sealing.sealNext() {
          let end = ContinuousClock.now
          onSealed(start.duration(to: end))
          start = end
        }
      } catch {
        onFailure(error)
      }
    } while shouldContinue()
  }

  private func shouldContinue() -> Bool {
    state.withLock { state in
      switch state {
      case .wokenAgain:
        state = .running
        return true
      case .resting, .running:
        state = .resting
        return false
      case .stopped:
        return false
      }
    }
  }
}
