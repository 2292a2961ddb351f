import NIOCore
import SocketProtocols

/// The application on top of a session of Engine.IO. All of it is called on the event loop of the session.
protocol EngineApplication: AnyObject {
  func received(_ message: EngineMessage)
  /// The last call. Nothing can be sent any more.
  func ended(_ ending: EngineEnding)
  /// The server stops. Send what is left to send, and close the session.
  func stopping()
}

/// The server's end of a session. Its methods can be called from any thread and keep their order.
final class EngineChannel: Sendable {
  let id: EngineSessionID
  let eventLoop: any EventLoop
  /// The request that opened the session.
  let origin: CommandOrigin
  /// The credentials of that request, if it has any.
  let credentials: Credentials
  /// Empty until the session is open.
  private let connection: NIOLoopBoundBox<EngineConnection?>

  /// - Parameter eventLoop: the event loop on which the session runs, whichever connections the client uses.
  init(_ id: EngineSessionID, _ eventLoop: any EventLoop, _ origin: CommandOrigin, _ credentials: Credentials) {
    self.id = id
    self.eventLoop = eventLoop
    self.origin = origin
    self.credentials = credentials
    connection = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
  }

  /// Runs the session. Called on its event loop, before anything else.
  func attach(_ connection: EngineConnection) {
    self.connection.value = connection
  }

  /// Calls `body` on the event loop: at once if it is the current one.
  func onLoop(_ body: @escaping @Sendable (EngineConnection) -> Void) {
    guard eventLoop.inEventLoop else {
      eventLoop.execute { [self] in connection.value.map(body) }
      return
    }
    connection.value.map(body)
  }

  // MARK: The application

  /// Sends encoded message packets. If a polling client has not fetched what was sent before, and too much waits, the
  /// session ends.
  func send(_ packets: [WebSocketMessage]) {
    onLoop { $0.take { session, now in session.send(packets, now: now) } }
  }

  /// Sends packets of any length. Call it after `untilWritable`, so that they do not pile up.
  func sendPage(_ packets: [WebSocketMessage]) {
    onLoop { $0.take { session, now in session.sendUncounted(packets, now: now) } }
  }

  /// Returns when the client has taken most of what was sent.
  /// - Throws: `CancellationError` if the session has ended or the task was cancelled; `SlowReader` if a WebSocket takes
  ///   too long. A client that polls too slowly ends its session, because it does not answer pings.
  func untilWritable() async throws {
    let writable = eventLoop.makePromise(of: EngineSocket?.self)
    onLoop { $0.whenWritable(writable) }
    let socket = try await withTaskCancellationHandler {
      try await writable.futureResult.get()
    } onCancel: {
      writable.fail(CancellationError())
    }
    try await socket?.untilWritable()
  }

  /// Takes nothing more from the client until `resume` was called as often. A polling client waits for the response to
  /// its POST.
  func pause() {
    onLoop { $0.pause() }
  }

  func resume() {
    onLoop { $0.resume() }
  }

  /// Ends the session. A polling client can still fetch what was sent.
  func close() {
    onLoop { $0.take { session, now in session.close(now: now) } }
  }

  /// Counts a packet of the protocol above that is not an event. With too many of them, the session ends.
  func countPacket() {
    onLoop { $0.countPacket() }
  }

  func stop() {
    onLoop { $0.application?.stopping() }
  }

  // MARK: The client's requests

  /// Waits for packets. A task that is cancelled ends the session, because its client has left.
  /// - Returns: the body of the response.
  /// - Throws: `EngineError`; `CancellationError`.
  func poll() async throws -> [UInt8] {
    let response = eventLoop.makePromise(of: [UInt8].self)
    onLoop { $0.poll(response) }
    return try await withTaskCancellationHandler {
      try await response.futureResult.get()
    } onCancel: {
      onLoop { $0.cancelPoll(response.futureResult) }
    }
  }

  /// Passes in a request that the session takes or refuses.
  /// - Throws: `EngineError`.
  func request(
    _ input: @escaping @Sendable (inout EngineSession, Duration) -> [EngineAction], socket: EngineSocket? = nil
  ) async throws {
    let response = eventLoop.makePromise(of: Void.self)
    onLoop { $0.take(response, socket: socket, input) }
    try await response.futureResult.get()
  }
}
