import EventStore
import Synchronization

/// Commands that were queued together, and their results as they become durable.
package final class BulkChunk: Sendable {
  private struct State {
    var results: [BulkResult?]
    var missing: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let requests: [ChatService.Request]
  private let chat: ChatService
  private let state: Mutex<State>

  init(requests: [ChatService.Request], chat: ChatService) {
    self.requests = requests
    self.chat = chat
    state = Mutex(State(results: Array(repeating: nil, count: requests.count), missing: requests.count))
  }

  /// Returns when every command has a result.
  package func settled() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if state.missing > 0 { state.waiters.append(continuation) }
        return state.missing == 0
      }
      if isSettled { continuation.resume() }
    }
  }

  /// The results in the order of the commands.
  package func results() async -> [BulkResult] {
    await settled()
    var results: [BulkResult] = []
    for (index, result) in state.withLock({ $0.results }).enumerated() {
      // Overtaken between its lookup and its decision: it is decided once more, by itself.
      if let result { results.append(result) } else { results.append(await chat.attempt(requests[index])) }
    }
    return results
  }

  func take(_ reply: Result<ChatReply, CommitError>, at index: Int) {
    do throws(ServiceError) {
      switch reply {
      case .success(let reply): set(try chat.take(reply).map { .success($0) }, at: index)
      case .failure(let error): set(.failure(ServiceError(error)), at: index)
      }
    } catch {
      set(.failure(error), at: index)
    }
  }

  func set(_ result: BulkResult?, at index: Int) {
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

extension ChatService {
  fileprivate func attempt(_ request: Request) async -> BulkResult {
    do throws(ServiceError) {
      return .success(try await perform(request))
    } catch {
      return .failure(error)
    }
  }
}
