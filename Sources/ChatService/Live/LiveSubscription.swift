package import ChatPrimitives

/// Tells one stream when to read. It counts as open until it is cancelled or deallocated.
///
/// A stream subscribes before its first read. From then on, the subscription signals every change that concerns the user
/// and that the read may not have included.
package final class LiveSubscription: Sendable {
  let signals: LiveSignals
  private let feed: LiveFeed

  init(_ signals: LiveSignals, feed: LiveFeed) {
    self.signals = signals
    self.feed = feed
  }

  deinit { cancel() }

  /// Waits for the next signal. Several changes become one signal, with the newest position. Only one task may wait.
  /// - Returns: nil after the timeout.
  /// - Throws: `CancellationError` if the task or the subscription is cancelled.
  package func next(timeout: Duration) async throws(CancellationError) -> LiveSignal? {
    switch await signals.next(timeout: timeout) {
    case .signal(let signal): return signal
    case .timedOut: return nil
    case .cancelled: throw CancellationError()
    }
  }

  /// The next signal if there is one.
  /// - Throws: `CancellationError` if the subscription is cancelled.
  package func take() throws(CancellationError) -> LiveSignal? {
    switch signals.take() {
    case .signal(let signal): return signal
    case .timedOut, .cancelled: throw CancellationError()
    case nil: return nil
    }
  }

  /// Calls `body` once when `take` has a signal or throws, at once if that is so already. Replaces the previous body.
  package func whenSignalled(_ body: @escaping @Sendable () -> Void) {
    signals.whenSignalled(body)
  }

  /// Waits for the stream's turn to read. Until it comes, only the end of the stream is a signal.
  func waitForTurn(in reads: AsyncSemaphore<UserID>) { signals.waitForTurn(in: reads) }

  /// The turn if it has come. Otherwise the stream stops waiting for it.
  func takeTurn() -> ReadTurn? { signals.takeTurn() }

  /// The stream has something to send.
  func sends() { signals.sends() }

  /// Why the stream ended; nil while it is open.
  package var ending: StreamEnding? { signals.ending }

  var isCancelled: Bool { signals.isCancelled }

  /// Calls `body` once when the stream ends, at once if it has ended. Replaces the previous body.
  package func whenEnded(_ body: (@Sendable () -> Void)?) {
    signals.whenEnded(body)
  }

  /// Waits with `body`, which is cancelled when the stream ends.
  /// - Throws: what `body` throws, unless the stream has ended.
  package func whileOpen(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await body() }
    whenEnded { task.cancel() }
    defer { whenEnded(nil) }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    if ending == nil { try result.get() }
  }

  /// From now on, the stream shows who types and who is online, and its user is online.
  func show(_ filter: SyncFilter) {
    signals.show(filter)
    feed.withNews { $0.show(signals) }
  }

  /// Sets the presence that this stream says.
  /// - Parameter presence: not `offline`.
  package func set(_ presence: Presence) {
    _ = feed.withNews { registry in registry.set(presence, of: signals.user) { $0.number == signals.number } }
  }

  /// Sets the rooms that the client shows. They count for the device until its last stream ends. Does nothing if the
  /// stream's session has no device.
  package func setOpenRooms(_ rooms: Set<RoomID>) {
    guard let device = signals.device else { return }
    _ = feed.withNews { $0.setOpenRooms(rooms, device, of: signals.user) }
  }

  /// The client has a new access token, which expires at `time`. Check before that it is of the same user and session.
  package func renew(until time: Timestamp?) {
    signals.renew(until: time)
  }

  /// Ends the wait. Can be called more than once.
  package func cancel() {
    feed.remove(signals)
    signals.cancel()
  }
}
