import ChatPrimitives
import ChatService
import NIOCore

/// Sent down a connection, or an HTTP/2 stream, after a piece of a response or a frame. Its promise succeeds once the
/// client has taken so much that more may be written, and fails if the client goes away.
struct WritableWatch: Sendable {
  /// Then the promise fails with `SlowReader`; nil if another rule ends slow clients.
  var timeout: TimeAmount?

  /// How long a stream waits for its client.
  static let ofStream = WritableWatch(timeout: .seconds(Limits.streamSendSeconds))
}

/// The watches of a connection. Its handler of HTTP or WebSockets passes the events on.
struct WritableWatches {
  private var promises: [EventLoopPromise<Void>] = []

  mutating func add(_ watch: WritableWatch, _ promise: EventLoopPromise<Void>, on channel: any Channel) {
    guard !channel.isWritable else { return promise.succeed() }
    promises.append(promise)
    guard let timeout = watch.timeout else { return }
    let timer = channel.eventLoop.scheduleTask(in: timeout) { promise.fail(SlowReader()) }
    promise.futureResult.whenComplete { _ in timer.cancel() }
  }

  /// Call it when the writability of the channel has changed.
  mutating func update(_ channel: any Channel) {
    guard channel.isWritable else { return }
    for promise in takeAll() { promise.succeed() }
  }

  mutating func fail(_ error: any Error) {
    for promise in takeAll() { promise.fail(error) }
  }

  private mutating func takeAll() -> [EventLoopPromise<Void>] {
    defer { promises = [] }
    return promises
  }
}

extension Channel {
  /// Waits until the client has taken most of what was written. A write alone does not wait for that: it returns at
  /// once if nothing else is buffered.
  /// - Throws: `SlowReader` after the timeout of the watch, `ChannelError` if the client is gone, and
  ///   `CancellationError`.
  func untilWritable(_ watch: WritableWatch = WritableWatch()) async throws {
    let writable = eventLoop.makePromise(of: Void.self)
    triggerUserOutboundEvent(watch, promise: writable)
    try await withTaskCancellationHandler {
      try await writable.futureResult.get()
    } onCancel: {
      writable.fail(CancellationError())
    }
  }
}
