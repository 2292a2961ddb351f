import NIOCore

/// Sent down a connection, or a stream of HTTP/2, by who wants to know when its client goes away before the response has
/// gone out. The `RequestGuard` calls `onGone` at most once, on the event loop.
struct ClientWatch: Sendable {
  let onGone: @Sendable () -> Void
}

extension HansardRequestContext {
  /// Runs work that is of use to this client alone, and cancels it when the client goes away. Closing only its own
  /// direction of the connection counts as going away, because nobody can tell the two apart.
  func whileClientWaits<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
    let work = Task { try await body() }
    let watched = channel.eventLoop.makePromise(of: Void.self)
    // It fails when the connection is closed already.
    watched.futureResult.whenFailure { _ in work.cancel() }
    channel.triggerUserOutboundEvent(ClientWatch { work.cancel() }, promise: watched)
    return try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
  }
}
