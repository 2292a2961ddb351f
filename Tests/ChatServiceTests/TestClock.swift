import ChatPrimitives
import Synchronization

/// A clock that moves only if a test moves it, and the tasks that sleep by it.
final class TestClock: Sendable {
  private struct Sleeper {
    /// The elapsed time at which the sleeper wakes, in milliseconds. Setting the clock does not change it.
    let wakes: Int64
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var time: Timestamp
    var passed: Int64 = 0
    var sleepers: [Int: Sleeper] = [:]
    var asked = 0
    /// The sleepers whose tasks were cancelled before they slept.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>

  init(_ start: Timestamp = Timestamp(milliseconds: 1_800_000_000_000)) {
    state = Mutex(State(time: start))
  }

  /// The time that the clock shows.
  var now: Timestamp { state.withLock { $0.time } }
  /// The remaining time of each sleeper, in milliseconds.
  var sleepers: [Int64] {
    state.withLock { state in state.sleepers.values.map { $0.wakes - state.passed }.sorted() }
  }

  /// Lets time pass, which wakes sleepers.
  func advance(milliseconds: Int64) {
    let ready = state.withLock { state in
      state.time = state.time.adding(milliseconds: milliseconds)
      state.passed += milliseconds
      let ready = state.sleepers.filter { $0.value.wakes <= state.passed }
      for number in ready.keys { state.sleepers[number] = nil }
      return ready.sorted { $0.key < $1.key }.map(\.value)
    }
    for sleeper in ready { sleeper.continuation.resume() }
  }

  /// Sets the time that the clock shows. No time passes.
  func set(to time: Timestamp) { state.withLock { $0.time = time } }

  func sleep(milliseconds: Int64) async throws {
    let number = state.withLock { state in
      state.asked += 1
      return state.asked
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          state.sleepers[number] = Sleeper(wakes: state.passed + milliseconds, continuation: continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.cancelled.insert(number) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
