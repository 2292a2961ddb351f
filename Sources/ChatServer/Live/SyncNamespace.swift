import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import SocketProtocols
import Synchronization

/// The sync and commands over one namespace of Socket.IO. Everything is called on the event loop of the session.
final class SyncNamespace: SocketApplication {
  private static let roomPrefix = "/rooms-"

  private let connection: SocketConnection
  private let port: NamespacePort
  private let stream: MessageStream
  private var isEnded = false
  private var commandsInFlight = 0
  private var isPaused = false

  init(_ services: StreamServices, _ connection: SocketConnection) {
    self.connection = connection
    port = NamespacePort(connection)
    stream = MessageStream(services, port, from: connection.origin)
  }

  // MARK: The connection

  func connect(_ payload: [UInt8]?) {
    do {
      let frame = try Self.frame(AuthenticateFrame.self, payload ?? Array("{}".utf8))
      start(try credentials(frame), try options(frame))
    } catch {
      finish(StreamEnd(refusing: error))
    }
  }

  private func credentials(_ frame: AuthenticateFrame) throws -> Credentials {
    if let token = frame.token { return Credentials(authorization: "Bearer \(token)") }
    guard connection.credentials.authorization != nil else { throw Refusal.accessTokenMissing }
    return connection.credentials
  }

  /// - Throws: `Refusal` if there is no such namespace.
  private func options(_ frame: AuthenticateFrame) throws -> SyncOptions {
    let name = connection.namespace.name
    var options = SyncOptions().overridden(by: frame)
    if connection.namespace == .main { return options }
    guard name.hasPrefix(Self.roomPrefix) else { throw Refusal.namespaceUnknown }
    let id = String(name.dropFirst(Self.roomPrefix.count))
    guard RoomID(id) != nil else { throw Refusal.namespaceUnknown }
    guard options.rooms == nil else { throw Refusal.invalidQuery("A namespace of one room has no field rooms.") }
    options.rooms = [id]
    return options
  }

  private func start(_ credentials: Credentials, _ options: SyncOptions) {
    let namespace = NIOLoopBound(self, eventLoop: connection.eventLoop)
    stream.start(credentials, options) { [stream, port, eventLoop = connection.eventLoop] end in
      // The commands in flight get their responses first.
      if port.isReady { await stream.commands.drain() }
      eventLoop.execute { namespace.value.finish(end ?? StreamEnd(refusing: CancellationError())) }
    }
  }

  /// The session has ended, or the client has left.
  func disconnected() {
    isEnded = true
    stream.cancel()
    resume()
  }

  /// The stream ends by itself.
  func stopping() {}

  /// Says why the stream ends, or why it was not opened.
  private func finish(_ end: StreamEnd) {
    guard !isEnded else { return }
    isEnded = true
    stream.cancel()
    resume()
    if port.isReady {
      connection.disconnect(SocketArguments(event: "end", [Self.json(end)]))
    } else {
      connection.refuse(end.detail, detail: Self.json(Problem(end)))
    }
  }

  // MARK: Events

  func received(_ event: SocketArguments, _ acknowledgement: SocketEventID?) {
    guard !isEnded else { return }
    do {
      guard event.count == 2, event.attachments.isEmpty else {
        throw Refusal.invalidFrame("An event has one argument, which is a JSON object.")
      }
      switch event.name {
      case "command": perform(try Self.frame(CommandFrame.self, event[1]), acknowledgement)
      case "authenticate": try renew(try Self.frame(AuthenticateFrame.self, event[1]), acknowledgement)
      case "typing": perform(try CommandFrame(Self.frame(TypingFrame.self, event[1])), acknowledgement)
      case "presence": perform(try CommandFrame(Self.frame(PresenceFrame.self, event[1])), acknowledgement)
      case "open": perform(try CommandFrame(Self.frame(OpenFrame.self, event[1])), acknowledgement)
      case nil, .some:
        throw Refusal.invalidFrame("The name of an event must be authenticate, command, typing, presence or open.")
      }
    } catch {
      // A client that waits for an acknowledgement gets the problem.
      guard acknowledgement != nil else { return finish(StreamEnd(refusing: error)) }
      port.acknowledge(acknowledgement, CommandResponse(refusing: error).json)
    }
  }

  private func perform(_ frame: CommandFrame, _ acknowledgement: SocketEventID?) {
    // The packets of one request arrive together.
    guard commandsInFlight < Limits.commandsInFlight + Limits.enginePostPackets else {
      return finish(StreamEnd(refusing: Refusal.tooManyCommands))
    }
    commandsInFlight += 1
    let namespace = NIOLoopBound(self, eventLoop: connection.eventLoop)
    stream.commands.perform(frame) { [eventLoop = connection.eventLoop] response in
      eventLoop.execute { namespace.value.performed(response, acknowledgement) }
    }
    if stream.commands.isFull, !isPaused {
      isPaused = true
      connection.pause()
    }
  }

  private func performed(_ response: CommandResponse, _ acknowledgement: SocketEventID?) {
    commandsInFlight -= 1
    port.acknowledge(acknowledgement, response.json)
    if stream.commands.areTooMany { return finish(StreamEnd(refusing: Refusal.tooManyCommands)) }
    if commandsInFlight < Limits.commandsInFlight { resume() }
  }

  private func resume() {
    guard isPaused else { return }
    isPaused = false
    connection.resume()
  }

  private func renew(_ frame: AuthenticateFrame, _ acknowledgement: SocketEventID?) throws {
    guard let token = frame.token else { throw Refusal.accessTokenMissing }
    guard frame.hasOnlyToken else { throw Refusal.invalidField("An event that renews the token has only that.") }
    let credentials = Credentials(authorization: "Bearer \(token)")
    let namespace = NIOLoopBound(self, eventLoop: connection.eventLoop)
    Task { [stream, port, eventLoop = connection.eventLoop] in
      let end = await port.renew(stream, credentials, acknowledgement)
      eventLoop.execute { namespace.value.finishIfRefused(end) }
    }
  }

  private func finishIfRefused(_ end: StreamEnd?) {
    if let end { finish(end) }
  }

  // MARK: JSON

  private static func frame<Frame: RequestObject>(_ type: Frame.Type, _ json: [UInt8]) throws -> Frame {
    let document: JSONDocument
    do throws(JSONFlaw) {
      document = try JSONDocument(json)
    } catch {
      throw Refusal.invalidJSON(error)
    }
    return try JSONBody.decode(type, from: document)
  }

  fileprivate static func json(_ value: some Encodable) -> [UInt8] {
    // The types that are sent always encode.
    (try? JSONWriter.bytes(of: value)) ?? Array("null".utf8)
  }
}

@available(*, unavailable)
extension SyncNamespace: Sendable {}

/// Sends the events of a stream to a namespace.
private final class NamespacePort: StreamPort {
  private let connection: SocketConnection
  /// Nil until the stream is open.
  private let newest = Mutex<StreamReady?>(nil)

  init(_ connection: SocketConnection) {
    self.connection = connection
  }

  var ready: StreamReady? { newest.withLock { $0 } }
  var isReady: Bool { ready != nil }

  func ready(_ ready: StreamReady) {
    let isFirst = newest.withLock { newest in
      defer { newest = ready }
      return newest == nil
    }
    if isFirst { connection.accept() }
  }

  func page(_ json: ByteBuffer) {
    connection.sendPage(SocketArguments(event: "sync", [Array(json.readableBytesView)]))
  }

  func expiring(_ expiring: StreamExpiring) {
    connection.send(SocketArguments(event: "expiring", [SyncNamespace.json(expiring)]))
  }

  func typing(_ typing: StreamTyping) {
    connection.send(SocketArguments(event: "typing", [SyncNamespace.json(typing)]))
  }

  func presence(_ presence: StreamPresence) {
    connection.send(SocketArguments(event: "presence", [SyncNamespace.json(presence)]))
  }

  func untilWritable() async throws { try await connection.untilWritable() }

  /// - Returns: nil if the token was renewed; otherwise why the stream ends.
  func renew(
    _ stream: MessageStream, _ credentials: Credentials, _ acknowledgement: SocketEventID?
  ) async -> StreamEnd? {
    do {
      try await stream.renew(credentials)
    } catch {
      acknowledge(acknowledgement, CommandResponse(refusing: error).json)
      return StreamEnd(refusing: error)
    }
    acknowledge(acknowledgement, SyncNamespace.json(TokenRenewed(body: ready)))
    return nil
  }

  func acknowledge(_ acknowledgement: SocketEventID?, _ json: [UInt8]) {
    guard let acknowledgement else { return }
    connection.acknowledge(acknowledgement, SocketArguments([json]))
  }
}

extension Problem {
  /// What a refused CONNECT gets as `data`.
  fileprivate init(_ end: StreamEnd) {
    let status = ProblemCode.everyCode.first { $0.code == end.code }?.status
    let known = HTTPResponse.Status(code: status ?? ProblemCode.internalError.status.code)
    self.init(
      code: end.code, title: known.reasonPhrase, status: known.code, detail: end.detail,
      requestId: RequestID().description)
  }
}

/// The acknowledgement of a renewed token.
private struct TokenRenewed: Encodable {
  var status = HTTPResponse.Status.ok.code
  let body: StreamReady?
}

extension CommandResponse {
  fileprivate var json: [UInt8] {
    var json = Array(#"{"status":\#(status)"#.utf8)
    if !headers.isEmpty { json += Array(#","headers":"#.utf8) + SyncNamespace.json(headers) }
    json += Array(#","body":"#.utf8)
    json += body.readableBytes > 0 ? Array(body.readableBytesView) : Array("null".utf8)
    json.append(UInt8(ascii: "}"))
    return json
  }
}
