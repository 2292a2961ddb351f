private import Dispatch
private import Foundation
private import Glibc
import Synchronization

/// Seals full segments on a thread of its own, which lives as long as there are any.
final class BackgroundSealer: Sendable {
  /// The thread's nice value: what is sealed can wait, requests cannot.
  private static let niceness: Int32 = 10

  private enum State {
    case resting
    case running
    /// Running, and there may be more to do than it has seen.
    case wokenAgain
    case stopped
  }

  private let sealing: LogSealing
  private let onFailure: @Sendable (LogError) -> Void
  private let state = Mutex(State.resting)
  /// Entered while the thread lives.
  private let life = DispatchGroup()

  init(_ sealing: LogSealing, onFailure: @escaping @Sendable (LogError) -> Void) {
    self.sealing = sealing
    self.onFailure = onFailure
  }

  /// Tells that a segment is full.
  /// - Parameter lock: that of the directory, which the thread keeps as long as it lives.
  func wake(holding lock: DirectoryLock) {
    let mustStart = state.withLock { state in
      switch state {
      case .resting:
        state = .running
        // Before anyone can stop it.
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
    let thread = Thread { [self] in
      // Named from within: only so does the system show the name too.
      Thread.current.name = "hansard-sealer"
      // On Linux the value is the thread's own. Without it sealing is only less polite.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
      withExtendedLifetime(lock) { run() }
      life.leave()
    }
    thread.start()
  }

  /// Begins nothing any more, and returns when the thread has ended.
  func stop() {
    state.withLock { $0 = .stopped }
    life.wait()
  }

  private func run() {
    repeat {
      do throws(LogError) {
        while try sealing.sealNext() {}
      } catch {
        onFailure(error)
      }
    } while goesOn()
  }

  private func goesOn() -> Bool {
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
