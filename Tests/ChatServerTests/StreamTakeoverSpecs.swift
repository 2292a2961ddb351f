import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import SocketProtocols
import Synchronization
import Testing

@testable import ChatServer

/// Accepts `/socket`, and `/slow` once it is released. Refuses all other paths.
private final class TestAdmission: WebSocketAdmission {
  let application = RecordingApplication { message, socket in socket.send(message) }
  private let asked = Mutex<[String]>([])
  private let made = Mutex(0)
  private let (releases, release) = AsyncStream<Void>.makeStream()
  private let (endings, ending) = AsyncStream<Bool>.makeStream()

  var paths: [String] { asked.withLock { $0 } }
  /// How many applications were made.
  var applications: Int { made.withLock { $0 } }

  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    let path = request.path ?? ""
    asked.withLock { $0.append(path) }
    if path == "/slow" {
      for await _ in releases { break }
      ending.yield(Task.isCancelled)
    } else if path != "/socket" {
      return nil
    }
    return WebSocketAcceptance(limits: .small) { [self] in
      made.withLock { $0 += 1 }
      return application
    }
  }

  func releaseSlow() { release.yield() }

  /// Waits until the check of `/slow` has ended.
  /// - Returns: whether its task was cancelled.
  func slowWasCancelled() async -> Bool {
    for await wasCancelled in endings { return wasCancelled }
    return false
  }
}

/// In the place of Hummingbird's handler: records requests, and responds to those whose path is not `/unanswered`.
private final class TestRouter: ChannelInboundHandler, Sendable {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  private let recorded = Mutex<(begun: String, complete: [String])>(("", []))

  /// The paths of the requests that arrived completely.
  var requests: [String] { recorded.withLock { $0.complete } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let request): recorded.withLock { $0.begun = request.path ?? "" }
    case .body: break
    case .end:
      let path = recorded.withLock { recorded in
        recorded.complete.append(recorded.begun)
        return recorded.begun
      }
      if path != "/unanswered" { Self.respond(context.channel) }
    }
  }

  static func respond(_ channel: any Channel) {
    channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: [.contentLength: "2"])), promise: nil)
    channel.write(HTTPResponsePart.body(ByteBuffer(string: "ok")), promise: nil)
    channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
  }
}

/// A connection with the handlers of a real one.
private struct Connection {
  let channel = NIOAsyncTestingChannel()
  let admission = TestAdmission()
  let router = TestRouter()
  let reads = ReadCounter()

  init() async throws {
    let pipeline = channel.pipeline
    try await channel.testingEventLoop.executeInContext { [channel, admission, router, reads] in
      let handlers = pipeline.syncOperations
      let settings = ConnectionSettings()
      try handlers.addHandler(reads)
      try handlers.addHandler(SlowReaderGuard(settings))
      try handlers.addHandler(ConnectionGuard(settings))
      try handlers.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: .init(), withDecoderLimitConfiguration: .init())
      try handlers.addHandler(HTTP1ToHTTPServerCodec(secure: false))
      let idle = IdleStateHandler(allTimeout: StalledConnections.timeout)
      try handlers.addHandlers([
        idle, StalledConnections(), RequestGuard(settings, ProblemLog(), LoopTurns(), Logger(label: "test")),
      ])
      try handlers.addHandler(StreamTakeover(admission))
      try handlers.addHandler(router)
      _ = channel
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
  }

  var isOpen: Bool { channel.isActive }

  func send(_ bytes: ByteBuffer) async throws { try await channel.writeInbound(bytes) }
  func send(_ text: String) async throws { try await send(ByteBuffer(string: text)) }

  /// Waits until the client was sent something that ends with these bytes.
  /// - Returns: everything that it was sent since the last call.
  func receive(until end: String) async throws -> String {
    String(decoding: try await receive { $0.suffix(end.utf8.count).elementsEqual(end.utf8) }, as: UTF8.self)
  }

  func receive(_ frame: [UInt8]) async throws -> Bool { try await receive { $0.count >= frame.count } == frame }

  private func receive(until isComplete: ([UInt8]) -> Bool) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while !isComplete(bytes) {
      if let part = try await channel.readOutbound(as: ByteBuffer.self) {
        bytes += part.readableBytesView
      } else {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    return bytes
  }

  func fire(_ event: ChannelEvent) async throws {
    try await channel.testingEventLoop.executeInContext { [channel] in
      channel.pipeline.fireUserInboundEventTriggered(event)
    }
  }

  func wait(seconds: Int64) async { await channel.testingEventLoop.advanceTime(by: .seconds(seconds)) }
}

@Suite("A connection that asks for an upgrade", .timeLimit(.minutes(1)))
struct StreamTakeoverSpecs {
  private static let plain = "GET /plain HTTP/1.1\r\nHost: h\r\n\r\n"
  private static let accepted = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
  private static let hello = WebSocketMessage.text(Array("hello".utf8)).frame

  private static func upgrade(
    _ path: String, to name: String = "websocket", version: String = "1.1", method: String = "GET", more: String = ""
  ) -> String {
    """
    \(method) \(path) HTTP/\(version)\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: \(name)\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(more)\r\n
    """
  }

  private let connection: Connection

  init() async throws {
    connection = try await Connection()
  }

  private func expectLastResponse() async throws {
    let response = try await connection.receive(until: "ok")
    #expect(response.contains("HTTP/1.1 200 OK\r\n"))
    #expect(response.contains("Connection: close\r\n"))
    await connection.wait(seconds: 1)
    #expect(!connection.isOpen)
    #expect(connection.admission.applications == 0)
  }

  @Test("becomes a WebSocket, also after other requests")
  func accepted() async throws {
    for _ in 0..<2 {
      try await connection.send(Self.plain)
      let response = try await connection.receive(until: "ok")
      #expect(!response.contains("Connection: close"))
    }
    try await connection.send(Self.upgrade("/socket"))
    let response = try await connection.receive(until: Self.accepted)
    #expect(response.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
    try await connection.send(ClientFrames.text("hello"))
    #expect(try await connection.receive(Self.hello))
    #expect(connection.router.requests == ["/plain", "/plain"])
    #expect(connection.admission.application.calls == [.opened, .text("hello")])
  }

  @Test("and is refused gets the router's response, which ends the connection")
  func refused() async throws {
    try await connection.send(Self.upgrade("/refused"))
    try await expectLastResponse()
    #expect(connection.admission.paths == ["/refused"])
    #expect(connection.router.requests == ["/refused"])
  }

  @Test("and is refused gets no response to what follows")
  func refusedAndFollowed() async throws {
    try await connection.send(Self.upgrade("/refused") + Self.plain)
    try await expectLastResponse()
    #expect(connection.router.requests == ["/refused"])
  }

  @Test(
    "cannot become a WebSocket with another protocol, method, version, or with a body",
    arguments: [
      upgrade("/socket", to: "h2c"), upgrade("/socket", version: "1.0"), upgrade("/socket", method: "POST"),
      upgrade("/socket", more: "Content-Length: 2\r\n") + "hi",
      upgrade("/socket", more: "Transfer-Encoding: chunked\r\n") + "2\r\nhi\r\n0\r\n\r\n",
      upgrade("/socket").replacing("Key: dGh", with: "Key: "),
      upgrade("/socket").replacing("Version: 13", with: "Version: 8"),
      "CONNECT /socket HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
  func otherUpgrade(request: String) async throws {
    try await connection.send(request)
    try await expectLastResponse()
    #expect(connection.admission.paths.isEmpty)
    #expect(connection.router.requests.count == 1)
  }

  @Test("while another request is in flight is refused after that request")
  func pipelined() async throws {
    try await connection.send(Self.plain.replacing("/plain", with: "/unanswered") + Self.upgrade("/socket"))
    TestRouter.respond(connection.channel)
    let first = try await connection.receive(until: "ok")
    #expect(!first.contains("Connection: close"))
    TestRouter.respond(connection.channel)
    try await expectLastResponse()
    #expect(connection.admission.paths.isEmpty)
  }

  @Test("and sends frames in the same packet is refused")
  func samePacket() async throws {
    var bytes = ByteBuffer(string: Self.upgrade("/socket"))
    bytes.writeImmutableBuffer(ClientFrames.text("hello"))
    try await connection.send(bytes)
    try await expectLastResponse()
    #expect(connection.admission.paths.isEmpty)
  }

  @Test("and sends frames before the response loses none of them")
  func early() async throws {
    try await connection.send(Self.upgrade("/slow"))
    let frame = ClientFrames.text("hello")
    for part in [frame.getSlice(at: 0, length: 3), frame.getSlice(at: 3, length: frame.readableBytes - 3)] {
      try await connection.send(try #require(part))
    }
    connection.admission.releaseSlow()
    _ = try await connection.receive(until: Self.accepted)
    #expect(try await connection.receive(Self.hello))
  }

  @Test("and leaves while it is checked gets nothing", arguments: [true, false])
  func leaves(inOneDirection: Bool) async throws {
    try await connection.send(Self.upgrade("/slow"))
    if inOneDirection {
      try await connection.fire(.inputClosed)
    } else {
      try await connection.channel.close()
    }
    #expect(!connection.isOpen)
    #expect(await connection.admission.slowWasCancelled())
    await connection.channel.testingEventLoop.run()
    #expect(connection.admission.applications == 0)
    #expect(connection.router.requests.isEmpty)
  }

  @Test("is not read until the decision, and then is")
  func reads() async throws {
    try await connection.send(Self.upgrade("/slow"))
    let before = connection.reads.count
    connection.channel.read()
    await connection.channel.testingEventLoop.run()
    #expect(connection.reads.count == before)
    connection.admission.releaseSlow()
    _ = try await connection.receive(until: Self.accepted)
    await connection.channel.testingEventLoop.run()
    #expect(connection.reads.count == before + 1)
  }

  @Test("may send a frame slowly, and be idle, as a WebSocket")
  func slowFrame() async throws {
    try await connection.send(Self.upgrade("/socket"))
    _ = try await connection.receive(until: Self.accepted)
    for _ in 0..<4 {
      await connection.wait(seconds: 20)
      try await connection.send(ClientFrames.encode(.pong, []))
    }
    let frame = ClientFrames.text("hello")
    try await connection.send(try #require(frame.getSlice(at: 0, length: 1)))
    await connection.wait(seconds: 40)
    #expect(connection.isOpen)
    try await connection.send(try #require(frame.getSlice(at: 1, length: frame.readableBytes - 1)))
    #expect(connection.admission.application.calls.last == .text("hello"))
  }
}
