import ChatPrimitives
import ChatProtocol
import ChatService
import NIOCore
import SocketProtocols

/// The sync and commands over a WebSocket, `GET /v1/sync/socket`. All of it is called on the event loop of the connection.
final class SyncSocket: WebSocketApplication {
  /// The credentials and options in the request of the WebSocket.
  struct Beginning: Sendable {
    /// Nil if the client authenticates with its first message.
    var credentials: @Sendable () throws -> Credentials?
    var options: @Sendable () throws -> SyncOptions
    var origin: CommandOrigin
  }

  private let services: StreamServices
  /// Nil once the stream has begun.
  private var beginning: Beginning?
  /// Runs while the client must authenticate with its first message.
  private var timer: Scheduled<Void>?
  private var port: SocketPort?
  private var stream: MessageStream?

  init(_ services: StreamServices, _ beginning: Beginning) {
    self.services = services
    self.beginning = beginning
  }

  // MARK: The socket

  func opened(_ socket: WebSocketChannel) {
    guard let beginning else { return }
    let port = SocketPort(socket: socket)
    let stream = MessageStream(services, port, from: beginning.origin)
    (self.port, self.stream) = (port, stream)
    do {
      if let credentials = try beginning.credentials() { return start(credentials, try beginning.options()) }
      let timeout = TimeAmount.seconds(Limits.streamAuthenticationSeconds)
      timer = socket.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
        stream.end(refusing: Refusal.authenticationTimeout)
      }
    } catch {
      stream.end(refusing: error)
    }
  }

  private func start(_ credentials: Credentials, _ options: SyncOptions) {
    timer?.cancel()
    (timer, beginning) = (nil, nil)
    stream?.start(credentials, options)
  }

  func closed(_ ending: WebSocketEnding) {
    timer?.cancel()
    stream?.cancel()
    (timer, stream, port) = (nil, nil, nil)
  }

  var longestMessage: Int {
    beginning == nil ? Limits.streamMessageBytes : Limits.streamFirstMessageBytes
  }

  func failed(_ failure: WebSocketFailure) {
    guard stream?.cancel() == true else { return }
    port?.send(StreamEnd(refusing: failure.refusal(longestMessage: longestMessage)))
  }

  /// The stream ends by itself when the server stops, after the commands in flight.
  func willStop() -> Duration { .seconds(Limits.commandDrainSeconds + 1) }

  // MARK: Messages

  func received(_ message: WebSocketMessage) {
    guard let stream, let port, !stream.isEnded else { return }
    do {
      let frame = try SocketFrame(message)
      guard let beginning else { return try take(frame, stream, port) }
      guard case .authenticate(let frame) = frame else { throw Refusal.accessTokenMissing }
      start(try frame.credentials, try beginning.options().overridden(by: frame))
    } catch {
      stream.end(refusing: error)
    }
  }

  private func take(_ frame: SocketFrame, _ stream: MessageStream, _ port: SocketPort) throws {
    switch frame {
    case .authenticate(let frame):
      try stream.renew(frame) { result in
        if case .success(let ready) = result { port.ready(ready) }
      }
    case .command(let id, let frame):
      stream.perform(frame) { port.respond($0, to: id) }
    case .saying(let frame):
      // Only a problem is sent to the client.
      stream.perform(frame) { response in
        if response.status >= 400 { port.respond(response, to: nil) }
      }
    case .malformedCommand(let id, let error):
      stream.refuse(error) { port.respond($0, to: id) }
    }
  }
}

/// Sends the messages of a stream over a WebSocket.
struct SocketPort: MessagePort {
  let socket: WebSocketChannel

  var transport: StreamTransport { .webSocket }
  var eventLoop: any EventLoop { socket.eventLoop }

  func pauseReading() { socket.pauseReading() }

  func resumeReading() { socket.resumeReading() }

  func ready(_ ready: StreamReady) { send(ready) }

  func page(_ json: ByteBuffer, cursor: String) { send(json) }

  private func send(_ json: ByteBuffer) { socket.send(.text(Array(json.readableBytesView))) }

  func typing(_ typing: StreamTyping) { send(typing) }

  func presence(_ presence: StreamPresence) { send(presence) }

  func expiring(_ expiring: StreamExpiring) { send(expiring) }

  /// The WebSocket has its own pings.
  func heartbeat() {}

  var isWritable: Bool { socket.isWritable }

  func untilWritable() async throws { try await socket.untilWritable() }

  func send(_ message: some Encodable) {
    // The types of this file always encode.
    if let json = try? JSONWriter.bytes(of: message) { socket.send(.text(json)) }
  }

  /// Sends the response to a command.
  func respond(_ response: CommandResponse, to id: String?) {
    var json = ByteBuffer(string: #"{"type":"response","id":"#)
    json.writeBytes((try? JSONWriter.bytes(of: id)) ?? Array("null".utf8))
    json.writeString(#","status":\#(response.status)"#)
    if !response.headers.isEmpty, let headers = try? JSONWriter.bytes(of: response.headers) {
      json.writeString(#","headers":"#)
      json.writeBytes(headers)
    }
    json.writeString(#","body":"#)
    if response.body.readableBytes > 0 { json.writeImmutableBuffer(response.body) } else { json.writeString("null") }
    json.writeString("}")
    send(json)
  }

  /// Sends the last message and closes, with nothing in between.
  func finish(_ end: StreamEnd) {
    guard eventLoop.inEventLoop else { return eventLoop.execute { finish(end) } }
    send(end)
    socket.close(end.closeCode, reason: end.code)
  }
}

extension StreamEnd {
  fileprivate var closeCode: WebSocketCloseCode {
    switch ProblemCode(rawValue: code) {
    case .shuttingDown: .goingAway
    case .internalError: .internalError
    case .readerTooSlow, .overloaded, .projectionBehind: .tryAgainLater
    case .frameTooLarge: .messageTooBig
    default: .policyViolation
    }
  }
}

extension WebSocketFailure {
  /// What the client is told before the close frame.
  fileprivate func refusal(longestMessage: Int) -> any Error {
    switch self {
    case .messageTooLarge: Refusal.frameTooLarge(limit: longestMessage)
    case .tooManyFragments:
      Refusal.webSocketMalformed("a message can have at most \(Limits.streamFragments) fragments")
    case .invalidUTF8: Refusal.invalidUTF8
    case .overBudget: ServiceError.overloaded
    case .messageTooSlow: Refusal.webSocketMalformed("a message arrived too slowly")
    case .tooManyControlFrames: Refusal.tooManyControlFrames
    case .unmasked, .reservedBits, .unknownOpcode, .fragmentedControl, .controlTooLong, .unexpectedContinuation,
      .interleavedMessage, .malformedClose, .invalidCloseCode:
      Refusal.webSocketMalformed("\(self)")
    }
  }
}
