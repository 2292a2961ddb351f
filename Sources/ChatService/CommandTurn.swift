import Synchronization

/// Lets commands of one client be decided in the order in which the client sent them, without waiting for each other's
/// writes: the next command can begin as soon as this one is in the writer's queue.
package final class CommandTurn: Sendable {
  /// The turn of the command that the current task performs.
  @TaskLocal package static var current: CommandTurn?

  private enum State {
    case waiting(CheckedContinuation<Void, Never>?)
    case passed
  }

  private let state = Mutex(State.waiting(nil))

  package init() {}

  /// Called when the command is queued, and when it has its response. Only the first call counts.
  package func pass() {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard case .waiting(let waiter) = state else { return nil }
      state = .passed
      return waiter
    }
    waiter?.resume()
  }

  /// Returns once the turn was passed. Only one task may wait.
  package func passed() async {
    await withCheckedContinuation { continuation in
      let hasPassed = state.withLock { state in
        guard case .waiting = state else { return true }
        state = .waiting(continuation)
        return false
      }
      if hasPassed { continuation.resume() }
    }
  }
}
