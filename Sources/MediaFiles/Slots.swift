import DequeModule
import Synchronization

/// Lets few in at once; the others wait in the order in which they came, and beyond a limit are turned away.
final class Slots: Sendable {
  private struct State {
    var free: Int
    var waiting: Deque<CheckedContinuation<Bool, Never>> = []
  }

  private let state: Mutex<State>
  private let waitingLimit: Int

  init(_ count: Int, waitingLimit: Int) {
    state = Mutex(State(free: count))
    self.waitingLimit = waitingLimit
  }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// - Throws: `busy` when `waitingLimit` wait already.
  func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    guard await enter() else { throw MediaError.busy }
    defer { leave() }
    return try await body()
  }

  private enum Entry {
    case now
    case later
    case full
  }

  /// - Returns: whether the caller is in; false when `waitingLimit` wait already.
  private func enter() async -> Bool {
    await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      let entry: Entry = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return .now
        }
        guard state.waiting.count < waitingLimit else { return .full }
        state.waiting.append(continuation)
        return .later
      }
      switch entry {
      case .now: continuation.resume(returning: true)
      case .later: break
      case .full: continuation.resume(returning: false)
      }
    }
  }

  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      if let next = state.waiting.popFirst() { return next }
      state.free += 1
      return nil
    }
    next?.resume(returning: true)
  }
}
