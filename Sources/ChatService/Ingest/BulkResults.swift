import ChatDomain
package import ChatPrimitives
import EventStore
import Synchronization

/// The result of one of many commands.
package typealias BulkResult = Result<BulkReceipt, ServiceError>

/// The position of a command's first event, and what the command did.
package struct BulkReceipt: Sendable, Hashable {
  package let position: LogPosition
  package let isNew: Bool
  /// Whether the command created something, and did not only change it.
  package let isCreation: Bool
}

/// The results of commands that were queued together, as they become durable. Does not keep the commands.
package final class BulkResults: Sendable {
  private struct State {
    var results: [BulkResult]
    var missing: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(count: Int) {
    state = Mutex(State(results: Array(repeating: .failure(.overloaded), count: count), missing: count))
  }

  /// The results in the order of the commands, once every command has one.
  package func results() async -> [BulkResult] {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if state.missing > 0 { state.waiters.append(continuation) }
        return state.missing == 0
      }
      if isSettled { continuation.resume() }
    }
    return state.withLock { $0.results }
  }

  func take(_ reply: Result<ChatReply, CommitError>, at index: Int, _ chat: ChatService) {
    do throws(ServiceError) {
      switch reply {
      case .success(let reply):
        // The lookup was outdated. No command after it was decided either, so all of them can be sent again.
        guard let outcome = try chat.take(reply) else { throw .overloaded }
        let receipt = BulkReceipt(
          position: outcome.stamp.position, isNew: outcome.isNew, isCreation: outcome.created != nil)
        set(.success(receipt), at: index)
      case .failure(let error): throw ServiceError(error)
      }
    } catch {
      set(.failure(error), at: index)
    }
  }

  /// Must be called once for each index.
  func set(_ result: BulkResult, at index: Int) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.results[index] = result
      state.missing -= 1
      guard state.missing == 0 else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
