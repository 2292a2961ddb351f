import NIOCore

/// Sent down a connection, or a stream of HTTP/2, behind a piece of a response. Its promise succeeds once the client has
/// taken so much that more may be written, and fails when the client goes away. One piece is watched at a time.
struct TakenWatch: Sendable {}

extension Channel {
  /// Waits until the client has taken most of what was written. A write does not wait for that: it returns at once while
  /// nothing else is buffered.
  func untilTaken() async throws {
    let taken = eventLoop.makePromise(of: Void.self)
    triggerUserOutboundEvent(TakenWatch(), promise: taken)
    try await withTaskCancellationHandler {
      try await taken.futureResult.get()
    } onCancel: {
      taken.fail(CancellationError())
    }
  }
}
