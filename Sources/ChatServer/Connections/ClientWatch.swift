import NIOCore

/// Sent down a connection, or an HTTP/2 stream, by code that must know when the client goes away before the response is
/// sent. The `RequestGuard` calls `onGone` at most once, on the event loop.
struct ClientWatch: Sendable {
  let onGone: @Sendable () -> Void
}

extension HansardRequestContext {
  /// Runs work that is useful only to this client, and cancels it when the client goes away. A client that closes only
  /// its sending direction counts as gone, because the server cannot distinguish the two.
  func whileClientWaits<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    let work = Task { try await body() }
    let watched = channel.eventLoop.makePromise(of: Void.self)
    // The promise fails if the connection is already closed.
    watched.futureResult.whenFailure { _ in work.cancel() }
    channel.triggerUserOutboundEvent(ClientWatch { work.cancel() }, promise: watched)
    return try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
  }
}
