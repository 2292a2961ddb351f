import Synchronization

/// Work that several callers can wait for. Each key has one job at a time. It runs in the first slot that one of its
/// callers gets, and is cancelled when no caller waits any more.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Waits for a caller's slot and runs the body in it.
  typealias Slot = @Sendable (_ body: @escaping @Sendable () async -> Void) async throws -> Void

  private struct Waiter {
    let continuation: CheckedContinuation<Value, any Error>
    /// Waits for this caller's slot; nil if the caller arrived while the work was in progress.
    let slotWait: Task<Void, Never>?
  }

  private struct Job {
    var waiters: [UInt64: Waiter] = [:]
    /// The caller in whose slot the work runs; nil until a caller has a slot.
    var worker: UInt64?
    var work: Task<Void, Never>?
  }

  private struct State {
    var jobs: [Key: Job] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state = Mutex(State())

  /// - Parameter slot: waits for a slot of this caller. An error that it throws ends only this caller's wait.
  /// - Throws: the errors of `make`; `CancellationError` as soon as the caller is cancelled, even if others wait.
  func value(
    of key: Key, in slot: @escaping Slot, _ make: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        join(key, waiter, continuation) { await self.runInSlot(key, waiter, slot, make) }
      }
    } onCancel: {
      leave(key, waiter, CancellationError())
    }
  }

  func waiterCount(of key: Key) -> Int { state.withLock { $0.jobs[key]?.waiters.count ?? 0 } }

  private func join(
    _ key: Key, _ waiter: UInt64, _ continuation: CheckedContinuation<Value, any Error>,
    _ runInSlot: @escaping @Sendable () async -> Void
  ) {
    let isCancelled = state.withLock { state in
      // A cancellation after this check waits for the lock and then finds the waiter.
      if Task.isCancelled { return true }
      var job = state.jobs[key] ?? Job()
      let slotWait = job.worker == nil ? Task { await runInSlot() } : nil
      job.waiters[waiter] = Waiter(continuation: continuation, slotWait: slotWait)
      state.jobs[key] = job
      return false
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
  }

  private func runInSlot(
    _ key: Key, _ waiter: UInt64, _ slot: Slot, _ make: @escaping @Sendable () async throws -> Value
  ) async {
    do {
      try await slot {
        guard self.begin(key, waiter) else { return }
        let result: Result<Value, any Error>
        do { result = .success(try await make()) } catch { result = .failure(error) }
        self.finish(key, waiter, result)
      }
    } catch {
      // If the work runs in another caller's slot, that is why this wait was cancelled, and the caller keeps waiting.
      let isUnderWay = state.withLock { $0.jobs[key]?.worker != nil }
      if !isUnderWay { leave(key, waiter, error) }
    }
  }

  /// - Returns: false if the work runs in another caller's slot, or if the caller has left.
  private func begin(_ key: Key, _ waiter: UInt64) -> Bool {
    let others = state.withLock { state -> [Task<Void, Never>]? in
      guard let job = state.jobs[key], job.worker == nil, let own = job.waiters[waiter] else { return nil }
      state.jobs[key]?.worker = waiter
      state.jobs[key]?.work = own.slotWait
      return job.waiters.filter { $0.key != waiter }.compactMap(\.value.slotWait)
    }
    // The other callers no longer need a slot, so they leave the queue.
    for other in others ?? [] { other.cancel() }
    return others != nil
  }

  private func finish(_ key: Key, _ worker: UInt64, _ result: Result<Value, any Error>) {
    let waiters = state.withLock { state -> [Waiter] in
      guard let job = state.jobs[key], job.worker == worker else { return [] }
      state.jobs[key] = nil
      return Array(job.waiters.values)
    }
    for waiter in waiters { waiter.continuation.resume(with: result) }
  }

  /// Does nothing if the caller has already left.
  private func leave(_ key: Key, _ waiter: UInt64, _ error: any Error) {
    let (left, abandoned) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
      guard let left = state.jobs[key]?.waiters.removeValue(forKey: waiter), let job = state.jobs[key] else {
        return (nil, nil)
      }
      if job.waiters.isEmpty { state.jobs[key] = nil }
      if job.worker == nil { return (left, left.slotWait) }
      return (left, job.waiters.isEmpty ? job.work : nil)
    }
    abandoned?.cancel()
    left?.continuation.resume(throwing: error)
  }
}
