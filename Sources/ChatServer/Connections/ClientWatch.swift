import NIOCore

/// Sent down a connection, or an HTTP/2 stream, by code that must know when the client goes away before the response is
/// sent. The `RequestGuard` calls `onGone` at most once, on the event loop.
struct ClientWatch: Sendable {
  let onGone: @Sendable () -> Void
}

extension Channel {
  /// Calls `body` once when the client goes away before the response is complete, at once if it has gone. Replaces the
  /// previous body.
  func whenClientGone(_ body: @escaping @Sendable () -> Void) {
    let watched = eventLoop.makePromise(of: Void.self)
    // The promise fails if the connection is already closed.
    watched.futureResult.whenFailure { _ in body() }
    triggerUserOutboundEvent(ClientWatch(onGone: body), promise: watched)
  }
}

extension HansardRequestContext {
  /// Runs work that is useful only to this client, and cancels it when the client goes away. A client that closes only
  /// its sending direction counts as gone, because the server cannot distinguish the two.
  func whileClientWaits<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    let work = Task { try await body() }
    channel.whenClientGone { work.cancel() }
    return try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
  }
}
