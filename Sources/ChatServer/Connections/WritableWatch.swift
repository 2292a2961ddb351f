import ChatPrimitives
import ChatService
import NIOCore

/// Sent down a connection, or an HTTP/2 stream, after a piece of a response. Its promise succeeds once the client has
/// taken so much that more may be written, and fails if the client goes away. Only one piece is watched at a time.
struct WritableWatch: Sendable {}

extension Channel {
  /// Waits in the same way, but not after the stream has ended.
  /// - Throws: `SlowReader` after `Limits.streamSendSeconds`.
  func untilWritable(for stream: LiveSubscription) async throws {
    let writable = eventLoop.makePromise(of: Void.self)
    let timer = eventLoop.scheduleTask(in: .seconds(Limits.streamSendSeconds)) { writable.fail(SlowReader()) }
    stream.whenEnded { writable.succeed() }
    defer {
      timer.cancel()
      stream.whenEnded(nil)
    }
    triggerUserOutboundEvent(WritableWatch(), promise: writable)
    try await writable.futureResult.get()
  }

  /// Waits until the client has taken most of what was written. A write alone does not wait for that: it returns at
  /// once if nothing else is buffered.
  func untilWritable() async throws {
    let writable = eventLoop.makePromise(of: Void.self)
    triggerUserOutboundEvent(WritableWatch(), promise: writable)
    try await withTaskCancellationHandler {
      try await writable.futureResult.get()
    } onCancel: {
      writable.fail(CancellationError())
    }
  }
}
