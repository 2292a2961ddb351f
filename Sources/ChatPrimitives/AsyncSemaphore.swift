import Synchronization

/// Too many tasks are waiting for a slot.
package struct TooManyWaiting: Error {
  package init() {}
}

/// Slots for work that only a few tasks may do at once, shared fairly among users (`FairQueue`). A cancelled task stops
/// waiting.
package final class AsyncSemaphore<User: Hashable & Sendable>: Sendable {
  private struct State {
    var queue: FairQueue<User, UInt64>
    var lastTicket: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
  }

  private let state: Mutex<State>

  /// - Parameters: the same as those of `FairQueue`.
  package init(_ count: Int, ofUser: Int, waitingLimit: Int) {
    state = Mutex(State(queue: FairQueue(slots: count, slotsOfUser: ofUser, waitingLimit: waitingLimit)))
  }

  package var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

  /// A slot that is released when the last reference to it is gone.
  package final class Slot: Sendable {
    private let user: User
    private let slots: AsyncSemaphore

    fileprivate init(of user: User, in slots: AsyncSemaphore) {
      self.user = user
      self.slots = slots
    }

    deinit { slots.leave(user) }
  }

  /// - Throws: `TooManyWaiting`; `CancellationError`.
  package func take(for user: User) async throws -> Slot {
    try await enter(user)
    return Slot(of: user, in: self)
  }

  /// Waits for a slot for at most `timeout`.
  /// - Throws: `TooManyWaiting`, also if no slot became free in this time; `CancellationError`.
  package func take(for user: User, timeout: Duration) async throws -> Slot {
    if state.withLock({ $0.queue.enterIfFree(user) }) { return Slot(of: user, in: self) }
    return try await withThrowingTaskGroup(of: Slot?.self) { group in
      group.addTask { try await self.take(for: user) }
      group.addTask {
        try await Task.sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next(), let slot = first else { throw TooManyWaiting() }
      return slot
    }
  }

  /// - Throws: `TooManyWaiting`; `CancellationError`; the errors of the body.
  package func run<T: Sendable>(for user: User, _ body: () async throws -> T) async throws -> T {
    let slot = try await take(for: user)
    defer { withExtendedLifetime(slot) {} }
    return try await body()
  }

  private func enter(_ user: User) async throws {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        enter(ticket, of: user, continuation)
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.queue.withdraw(ticket, of: user) ? state.waiting.removeValue(forKey: ticket) : nil
      }
      waiting?.resume(throwing: CancellationError())
    }
  }

  private enum Entry {
    case now
    case later(evicted: CheckedContinuation<Void, any Error>?)
    case refused(any Error)
  }

  private func enter(_ ticket: UInt64, of user: User, _ continuation: CheckedContinuation<Void, any Error>) {
    let entry: Entry = state.withLock { state in
      // A cancellation after this check waits for the lock and then finds the ticket.
      if Task.isCancelled { return .refused(CancellationError()) }
      switch state.queue.enter(ticket, of: user) {
      case .admitted: return .now
      case .waits(let evicted):
        state.waiting[ticket] = continuation
        return .later(evicted: evicted.flatMap { state.waiting.removeValue(forKey: $0) })
      case .full: return .refused(TooManyWaiting())
      }
    }
    switch entry {
    case .now: continuation.resume()
    case .later(let evicted): evicted?.resume(throwing: TooManyWaiting())
    case .refused(let error): continuation.resume(throwing: error)
    }
  }

  private func leave(_ user: User) {
    let next = state.withLock { state in
      state.queue.leave(user).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.resume()
  }
}
