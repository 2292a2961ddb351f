import Synchronization

/// Work that several callers may wait for. It is done once for each key at a time, and cancelled when nobody waits any
/// more.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Job {
    let task: Task<Value, any Error>
    var waiters: Set<UInt64>
  }

  private struct State {
    var jobs: [Key: Job] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  func value(of key: Key, _ make: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let (task, waiter) = join(key, make)
    return try await withTaskCancellationHandler {
      defer { leave(key, waiter) }
      return try await task.value
    } onCancel: {
      leave(key, waiter)
    }
  }

  func waiterCount(of key: Key) -> Int { state.withLock { $0.jobs[key]?.waiters.count ?? 0 } }

  private func join(
    _ key: Key, _ make: @escaping @Sendable () async throws -> Value
  ) -> (task: Task<Value, any Error>, waiter: UInt64) {
    state.withLock { state in
      state.lastWaiter += 1
      let waiter = state.lastWaiter
      let task = state.jobs[key]?.task ?? Task { try await make() }
      state.jobs[key, default: Job(task: task, waiters: [])].waiters.insert(waiter)
      return (task, waiter)
    }
  }

  /// Does nothing for who has left already.
  private func leave(_ key: Key, _ waiter: UInt64) {
    let abandoned = state.withLock { state -> Task<Value, any Error>? in
      guard state.jobs[key]?.waiters.remove(waiter) != nil, state.jobs[key]?.waiters.isEmpty == true else { return nil }
      return state.jobs.removeValue(forKey: key)?.task
    }
    abandoned?.cancel()
  }
}
