import ChatPrimitives
import ChatProtocol
import ChatService
import NIOCore
import SocketProtocols

/// The sync and commands over a WebSocket, `GET /v1/sync/socket`. Everything is called on the event loop of the connection.
final class SyncSocket: WebSocketApplication {
  private enum State {
    /// The client must authenticate with its first message.
    case waiting(timer: Scheduled<Void>?)
    case running
    case ended
  }

  /// What the request of the WebSocket said.
  struct Beginning: Sendable {
    /// Nil if the client authenticates with its first message.
    var credentials: @Sendable () throws -> Credentials?
    var options: @Sendable () throws -> SyncOptions
    var origin: CommandOrigin
  }

  private let services: StreamServices
  /// Nil once the stream has begun.
  private var beginning: Beginning?
  private var state = State.waiting(timer: nil)
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
    self.port = port
    stream = MessageStream(services, port, from: beginning.origin)
    do {
      guard let credentials = try beginning.credentials() else {
        let timeout = TimeAmount.seconds(Limits.streamAuthenticationSeconds)
        let timer = socket.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
          self.end(StreamEnd(refusing: Refusal.authenticationTimeout))
        }
        state = .waiting(timer: timer)
        return
      }
      start(credentials, try beginning.options())
    } catch {
      end(StreamEnd(refusing: error))
    }
  }

  func closed(_ ending: WebSocketEnding) {
    leaveWaiting()
    state = .ended
    stream?.cancel()
    (stream, port) = (nil, nil)
  }

  func failed(_ failure: WebSocketFailure) {
    guard !isEnded else { return }
    port?.send(StreamEnd(refusing: failure.refusal))
    leaveWaiting()
    state = .ended
    stream?.cancel()
  }

  /// The stream ends by itself when the server stops, after the commands in flight.
  func willStop() -> Duration { .seconds(Limits.commandDrainSeconds + 1) }

  // MARK: The stream

  private func start(_ credentials: Credentials, _ options: SyncOptions) {
    leaveWaiting()
    beginning = nil
    state = .running
    guard let stream, let port else { return }
    // Commands that follow at once wait until the stream is open.
    port.socket.pauseReading()
    stream.start(credentials, options) { [commands = stream.commands] end in
      // If the client is gone, nobody is told.
      guard let end else { return port.close(.normal) }
      await commands.drain()
      port.finish(end)
    }
  }

  private func leaveWaiting() {
    if case .waiting(let timer) = state { timer?.cancel() }
  }

  private var isEnded: Bool {
    if case .ended = state { return true }
    return false
  }

  private func end(_ end: StreamEnd) {
    guard !isEnded else { return }
    leaveWaiting()
    state = .ended
    stream?.cancel()
    port?.finish(end)
  }

  // MARK: Messages

  func received(_ message: WebSocketMessage) {
    guard !isEnded, let stream, let port else { return }
    do {
      switch try SocketFrame(message) {
      case .authenticate(let frame):
        guard let token = frame.token else { throw Refusal.accessTokenMissing }
        let credentials = Credentials(authorization: "Bearer \(token)")
        if case .waiting = state {
          guard let options = try beginning?.options() else { return }
          start(credentials, options.overridden(by: frame))
        } else {
          guard frame.hasOnlyToken else { throw Refusal.invalidField("A message that renews the token has only that.") }
          renew(credentials, stream, port)
        }
      case .command(let id, let frame):
        if case .waiting = state { throw Refusal.accessTokenMissing }
        perform(frame, id, stream, port)
      case .saying(let frame):
        if case .waiting = state { throw Refusal.accessTokenMissing }
        perform(frame, nil, stream, port)
      case .malformedCommand(let id, let error):
        if case .waiting = state { throw Refusal.accessTokenMissing }
        port.respond(CommandResponse(refusing: error), to: id)
      }
    } catch {
      end(StreamEnd(refusing: error))
    }
  }

  private func renew(_ credentials: Credentials, _ stream: MessageStream, _ port: SocketPort) {
    // Messages that follow wait until the token is renewed, so one client checks one token at a time.
    port.socket.pauseReading()
    let socket = NIOLoopBound(self, eventLoop: port.socket.eventLoop)
    Task {
      do {
        try await stream.renew(credentials)
      } catch {
        let end = StreamEnd(refusing: error)
        port.socket.eventLoop.execute { socket.value.end(end) }
      }
    }
  }

  /// - Parameter id: nil if the client is told only of a problem.
  private func perform(_ frame: CommandFrame, _ id: String?, _ stream: MessageStream, _ port: SocketPort) {
    let socket = NIOLoopBound(self, eventLoop: port.socket.eventLoop)
    stream.commands.perform(frame) { [commands = stream.commands] response in
      if id != nil || response.status >= 400 { port.respond(response, to: id) }
      guard commands.areTooMany else { return port.socket.resumeReading() }
      port.socket.eventLoop.execute { socket.value.end(StreamEnd(refusing: Refusal.tooManyCommands)) }
    }
    if stream.commands.isFull { port.socket.pauseReading() }
  }
}

/// Sends the messages of a stream over a WebSocket.
struct SocketPort: StreamPort {
  let socket: WebSocketChannel

  func ready(_ ready: StreamReady) {
    send(ready)
    socket.resumeReading()
  }

  func page(_ json: ByteBuffer) { socket.send(.text(Array(json.readableBytesView))) }

  func typing(_ typing: StreamTyping) { send(typing) }

  func presence(_ presence: StreamPresence) { send(presence) }

  func expiring(_ expiring: StreamExpiring) { send(expiring) }

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
    page(json)
  }

  /// Sends the last message and closes.
  func finish(_ end: StreamEnd) {
    send(end)
    close(end.closeCode, reason: end.code)
  }

  func close(_ code: WebSocketCloseCode, reason: String = "") {
    socket.close(code, reason: reason)
    // Otherwise the client's close frame would not be read.
    socket.resumeReading()
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
  fileprivate var refusal: Refusal {
    switch self {
    case .messageTooLarge: .frameTooLarge(limit: Limits.streamMessageBytes)
    case .tooManyFragments: .webSocketMalformed("a message can have at most \(Limits.streamFragments) fragments")
    case .invalidUTF8: .invalidUTF8
    case .unmasked, .reservedBits, .unknownOpcode, .fragmentedControl, .controlTooLong, .unexpectedContinuation,
      .interleavedMessage, .malformedClose, .invalidCloseCode:
      .webSocketMalformed("\(self)")
    }
  }
}
