import ChatPrimitives
import SocketProtocols
import Synchronization

/// The WebSocket of a session of Engine.IO. It can run on another event loop than the session.
final class EngineSocket: WebSocketApplication, Sendable {
  /// Where the session of the WebSocket comes from.
  enum Origin: Sendable {
    /// The client polls, and upgrades its session.
    case upgrade(of: EngineChannel)
    /// The session begins with the WebSocket.
    case opening(EngineOpening)
  }

  private struct State {
    var channel: WebSocketChannel?
    var session: EngineChannel?
    /// Set if the session closed it before its handshake was complete.
    var isClosed = false
  }

  private let origin: Origin
  private let state: Mutex<State>

  init(_ origin: Origin) {
    self.origin = origin
    switch origin {
    case .upgrade(let session): state = Mutex(State(session: session))
    case .opening: state = Mutex(State())
    }
  }

  // MARK: The session

  func send(_ message: WebSocketMessage) {
    state.withLock { $0.channel }?.send(message)
  }

  /// - Parameter ending: why the session ends; nil if only the upgrade is given up.
  func close(_ ending: EngineEnding?) {
    let channel = state.withLock { state in
      state.isClosed = true
      return state.channel
    }
    channel?.close(ending?.closeCode ?? .normal, reason: ending?.closeReason ?? "")
  }

  /// Returns when the client has taken most of what was written.
  func untilWritable() async throws {
    try await state.withLock { $0.channel }?.untilWritable()
  }

  func pauseReading() { state.withLock { $0.channel }?.pauseReading() }

  func resumeReading() { state.withLock { $0.channel }?.resumeReading() }

  // MARK: The client

  func opened(_ channel: WebSocketChannel) {
    let isClosed = state.withLock { state in
      state.channel = channel
      return state.isClosed
    }
    if isClosed { return channel.close(.normal, reason: "") }
    if case .opening(let opening) = origin {
      let session = opening.open(self, on: channel)
      state.withLock { $0.session = session }
    }
  }

  func received(_ message: WebSocketMessage) {
    state.withLock { $0.session }?.onLoop { $0.received(message, on: self) }
  }

  /// The session ends with the connection.
  func failed(_ failure: WebSocketFailure) {}

  /// The session closes the socket when its application has sent what is left to send.
  func willStop() -> Duration { .seconds(Limits.engineStopSeconds) }

  func closed(_ ending: WebSocketEnding) {
    state.withLock { $0.session }?.onLoop { $0.closed(self) }
  }
}

extension EngineEnding {
  var closeCode: WebSocketCloseCode {
    switch self {
    case .malformed, .tooManyPackets: .policyViolation
    case .bufferFull: .tryAgainLater
    case .closedByClient, .closedByServer, .socketClosed, .requestCancelled, .duplicatePoll, .duplicatePost,
      .pingTimeout:
      .normal
    }
  }

  var closeReason: String {
    switch self {
    case .malformed: ProblemCode.engineRequestInvalid.rawValue
    case .pingTimeout: "ping_timeout"
    case .bufferFull: "reader_too_slow"
    case .tooManyPackets: ProblemCode.tooManyCommands.rawValue
    case .closedByClient, .closedByServer, .socketClosed, .requestCancelled, .duplicatePoll, .duplicatePost: ""
    }
  }
}
