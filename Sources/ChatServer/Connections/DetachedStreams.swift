import NIOCore
import ServiceLifecycle
import Synchronization

/// The streams for which Hummingbird has no task. It does not wait for them when the server stops, so this service does.
final class DetachedStreams: Service {
  private struct State {
    var open = 0
    var whenNone: CheckedContinuation<Void, Never>?
    var isCancelled = false

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      guard open == 0 || isCancelled else { return nil }
      defer { whenNone = nil }
      return whenNone
    }
  }

  private let state = Mutex(State())

  /// Counts a connection until it is closed.
  func add(_ channel: any Channel) {
    state.withLock { $0.open += 1 }
    channel.closeFuture.whenComplete { [self] _ in
      update { $0.open -= 1 }
    }
  }

  private func update(_ body: (inout State) -> Void) {
    let waiter = state.withLock { state in
      body(&state)
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  /// Returns when the server was told to stop and the last stream has ended.
  func run() async throws {
    try await gracefulShutdown()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        update { $0.whenNone = continuation }
      }
    } onCancel: {
      update { $0.isCancelled = true }
    }
    try Task.checkCancellation()
  }
}
