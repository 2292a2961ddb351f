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
    var waiting: [UInt64: Waiter] = [:]
  }

  private enum Waiter {
    case task(CheckedContinuation<Void, any Error>)
    /// Called with nil when it has a slot.
    case callback(@Sendable (TooManyWaiting?) -> Void)

    var isCancelled: Bool {
      switch self {
      case .task: Task.isCancelled
      case .callback: false
      }
    }

    func admit() {
      switch self {
      case .task(let continuation): continuation.resume()
      case .callback(let callback): callback(nil)
      }
    }

    func turnAway() {
      switch self {
      case .task(let continuation): continuation.resume(throwing: TooManyWaiting())
      case .callback(let callback): callback(TooManyWaiting())
      }
    }

    func cancel() {
      switch self {
      case .task(let continuation): continuation.resume(throwing: CancellationError())
      case .callback: break
      }
    }
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

  /// A slot if one is free for the user.
  package func takeIfFree(for user: User) -> Slot? {
    state.withLock { $0.queue.enterIfFree(user) } ? Slot(of: user, in: self) : nil
  }

  /// A place in the queue for a caller that waits without a task, because a waiting task takes memory.
  package struct Place: Sendable {
    private let ticket: UInt64
    private let user: User
    private let slots: AsyncSemaphore

    fileprivate init(_ ticket: UInt64, of user: User, in slots: AsyncSemaphore) {
      self.ticket = ticket
      self.user = user
      self.slots = slots
    }

    /// Waits for a slot. Call it once.
    /// - Parameter body: called once, on any thread, possibly before this method returns; never after `leave`, unless both
    ///   happen at the same time.
    package func wait(_ body: @escaping @Sendable (Result<Slot, TooManyWaiting>) -> Void) {
      let waiter = Waiter.callback { [user, slots] error in
        body(error.map { .failure($0) } ?? .success(Slot(of: user, in: slots)))
      }
      slots.enter(ticket, of: user, waiter)
    }

    /// Stops waiting.
    package func leave() { slots.withdraw(ticket, of: user) }
  }

  /// A new place. It enters the queue with `Place.wait`.
  package func place(for user: User) -> Place { Place(newTicket(), of: user, in: self) }

  /// Waits for a slot for at most `timeout`.
  /// - Throws: `TooManyWaiting`, also if no slot became free in this time; `CancellationError`.
  package func take(for user: User, timeout: Duration) async throws -> Slot {
    if let slot = takeIfFree(for: user) { return slot }
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

  private func newTicket() -> UInt64 {
    state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
  }

  private func enter(_ user: User) async throws {
    let ticket = newTicket()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enter(ticket, of: user, .task(continuation))
      }
    } onCancel: {
      withdraw(ticket, of: user)
    }
  }

  private enum Entry {
    case now
    case later(evicted: Waiter?)
    case full
    case cancelled
  }

  private func enter(_ ticket: UInt64, of user: User, _ waiter: Waiter) {
    let entry: Entry = state.withLock { state in
      // A cancellation after this check waits for the lock and then finds the ticket.
      if waiter.isCancelled { return .cancelled }
      switch state.queue.enter(ticket, of: user) {
      case .admitted: return .now
      case .waits(let evicted):
        state.waiting[ticket] = waiter
        return .later(evicted: evicted.flatMap { state.waiting.removeValue(forKey: $0) })
      case .full: return .full
      }
    }
    switch entry {
    case .now: waiter.admit()
    case .later(let evicted): evicted?.turnAway()
    case .full: waiter.turnAway()
    case .cancelled: waiter.cancel()
    }
  }

  private func withdraw(_ ticket: UInt64, of user: User) {
    let waiter = state.withLock { state in
      state.queue.withdraw(ticket, of: user) ? state.waiting.removeValue(forKey: ticket) : nil
    }
    waiter?.cancel()
  }

  private func leave(_ user: User) {
    let next = state.withLock { state in
      state.queue.leave(user).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.admit()
  }
}
