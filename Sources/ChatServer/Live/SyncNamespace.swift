import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import SocketProtocols
import Synchronization

/// The sync and commands over one namespace of Socket.IO. All of it is called on the event loop of the session.
final class SyncNamespace: SocketApplication {
  private static let roomPrefix = "/rooms-"

  private let connection: SocketConnection
  private let port: NamespacePort
  private let stream: MessageStream

  init(_ services: StreamServices, _ connection: SocketConnection) {
    self.connection = connection
    port = NamespacePort(connection, services.problems)
    stream = MessageStream(services, port, from: connection.origin)
  }

  // MARK: The connection

  func connect(_ payload: [UInt8]?) {
    do {
      let frame = try Self.frame(AuthenticateFrame.self, payload ?? Array("{}".utf8))
      let (credentials, options) = (try credentials(frame), try options(frame))
      try stream.admit(credentials)
      stream.start(credentials, options)
    } catch {
      stream.end(refusing: error)
    }
  }

  private func credentials(_ frame: AuthenticateFrame) throws -> Credentials {
    if frame.token == nil, connection.credentials.authorization != nil { return connection.credentials }
    return try frame.credentials
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

  /// The session has ended, or the client has left.
  func disconnected() { stream.cancel() }

  /// The stream ends by itself.
  func stopping() {}

  // MARK: Events

  func received(_ event: SocketArguments, _ acknowledgement: SocketEventID?) {
    guard !stream.isEnded else { return }
    do {
      guard event.count == 2, event.attachments.isEmpty else {
        throw Refusal.invalidFrame("An event has one argument, which is a JSON object.")
      }
      switch event.name {
      case "command": perform(try Self.frame(CommandFrame.self, event[1]), acknowledgement)
      case "authenticate": try renew(Self.frame(AuthenticateFrame.self, event[1]), acknowledgement)
      case "typing": perform(try CommandFrame(Self.frame(TypingFrame.self, event[1])), acknowledgement)
      case "presence": perform(try CommandFrame(Self.frame(PresenceFrame.self, event[1])), acknowledgement)
      case "open": perform(try CommandFrame(Self.frame(OpenFrame.self, event[1])), acknowledgement)
      case nil, .some:
        throw Refusal.invalidFrame("The name of an event must be authenticate, command, typing, presence or open.")
      }
    } catch {
      // A client that waits for an acknowledgement gets the problem.
      guard acknowledgement != nil else { return stream.end(refusing: error) }
      stream.refuse(error) { [port] in port.acknowledge(acknowledgement, $0.json) }
    }
  }

  private func perform(_ frame: CommandFrame, _ acknowledgement: SocketEventID?) {
    stream.perform(frame) { [port] in port.acknowledge(acknowledgement, $0.json) }
  }

  private func renew(_ frame: AuthenticateFrame, _ acknowledgement: SocketEventID?) throws {
    try stream.renew(frame) { [port, stream] result in
      switch result {
      case .success(let ready): port.acknowledge(acknowledgement, Self.json(TokenRenewed(body: ready)))
      case .failure(let error): port.acknowledge(acknowledgement, stream.response(to: error).json)
      }
    }
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
private final class NamespacePort: MessagePort {
  private let connection: SocketConnection
  private let problems: ProblemLog
  private let isOpen = Mutex(false)

  init(_ connection: SocketConnection, _ problems: ProblemLog) {
    self.connection = connection
    self.problems = problems
  }

  var eventLoop: any EventLoop { connection.eventLoop }

  var transport: StreamTransport { .socketIO }

  func pauseReading() { connection.pause() }

  func resumeReading() { connection.resume() }

  func ready(_ ready: StreamReady) {
    isOpen.withLock { $0 = true }
    connection.accept()
  }

  func page(_ json: ByteBuffer, cursor: String) {
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

  /// The session has its own pings.
  func heartbeat() {}

  /// Only the session knows, on its event loop.
  var isWritable: Bool { false }

  func untilWritable() async throws { try await connection.untilWritable() }

  func finish(_ end: StreamEnd) {
    if isOpen.withLock({ $0 }) {
      connection.disconnect(SocketArguments(event: "end", [SyncNamespace.json(end)]))
    } else {
      let requestID = RequestID()
      let problem = Problem(end, requestID)
      problems.note(
        problem.code, status: problem.status, route: "a namespace of Socket.IO", from: connection.origin.address,
        requestID: requestID, to: connection.origin.logger)
      connection.refuse(end.detail, detail: SyncNamespace.json(problem))
    }
  }

  func acknowledge(_ acknowledgement: SocketEventID?, _ json: [UInt8]) {
    guard let acknowledgement else { return }
    connection.acknowledge(acknowledgement, SocketArguments([json]))
  }
}

extension Problem {
  /// What a refused CONNECT gets as `data`.
  fileprivate init(_ end: StreamEnd, _ requestID: RequestID) {
    let status = ProblemCode.everyCode.first { $0.code == end.code }?.status
    let known = HTTPResponse.Status(code: status ?? ProblemCode.internalError.status.code)
    self.init(
      code: end.code, title: known.reasonPhrase, status: known.code, detail: end.detail,
      requestId: requestID.description)
  }
}

/// The acknowledgement of a renewed token.
private struct TokenRenewed: Encodable {
  var status = HTTPResponse.Status.ok.code
  let body: StreamReady
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
