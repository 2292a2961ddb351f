import ChatDomain
import ChatPrimitives
import ChatProtocol
import Dispatch
import EventStore
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Synchronization
import Testing

@testable import ChatServer
@testable import ChatService

/// In the place of Hummingbird's handler: records what arrives, and responds to nothing by itself.
private final class RecordingRouter: ChannelInboundHandler, Sendable {
  typealias InboundIn = HTTPRequestPart

  private let recorded = Mutex<[String]>([])
  var events: [String] { recorded.withLock { $0 } }

  private func note(_ event: String) { recorded.withLock { $0.append(event) } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): note("\(head.method) \(head.path ?? "")")
    case .body(let body): note("body \(String(buffer: body))")
    case .end: note("end")
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { note("input closed") }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { note("error") }
}

/// A connection with the handler, in front of a service whose writer can be held.
private final class DirectConnection: Sendable {
  static let user = UserID(UUIDBytes(high: 1, low: 1))
  static let room = RoomID(UUIDBytes(high: 2, low: 2))

  let channel = NIOAsyncTestingChannel()
  let reads = ReadCounter()
  let router = RecordingRouter()
  let path: DirectPath
  private let chat: ChatService
  private let token: String
  private let release = DispatchSemaphore(value: 0)

  init(_ opened: ServiceOpening.Opened) async throws {
    chat = opened.chat
    let administrator = AdministratorToken(opened.keys)
    let service = Principal(user: Self.user, service: administrator.service)
    _ = try await chat.register(
      ChatService.NewAccount(id: Self.user, nickname: "Anna", email: nil, password: nil, externalID: nil), by: service)
    let session = SessionID(UUIDBytes(high: 3, low: 3))
    let grant = try await chat.startSession(.given(session), device: nil, by: service)
    _ = try await chat.performRoom(
      Self.room, .lifecycle(.create(RoomCreation(kind: .group, name: "Tea", creator: Self.user))),
      by: Principal(user: Self.user, session: session))
    let issuer = TokenIssuer(keys: opened.keys, signingKeys: chat.signingKeys, accessTokenLifetimeSeconds: 900)
    token = try await issuer.accessToken(for: grant)
    let authenticator = Authenticator(
      issuer: issuer, administrator: administrator,
      identities: IdentityProviders(IdentitySettings(), fetcher: KeySetFetcher(), logger: Logger(label: "test")),
      chat: chat)
    // From now on the token is known.
    _ = try await authenticator.caller(
      Credentials(authorization: "Bearer \(token)"), for: Endpoints.sendMessage.erased, at: chat.now())
    let nothing = HansardServer.Configuration(host: "h", port: 0, servesBench: false).metrics
    path = DirectPath(
      chat: chat, authenticator: authenticator, limiter: RateLimiter(RateLimitSettings()), proxies: TrustedProxies([]),
      bodies: BodyBudget(), crossOrigin: nil, metrics: HTTPMetrics(nothing, routes: []), accessLog: nil,
      logger: Logger(label: "test"))
    try await channel.testingEventLoop.executeInContext { [channel, reads, router, path] in
      let pipeline = channel.pipeline.syncOperations
      let requests = RequestGuard(ConnectionSettings(), ProblemLog(), LoopTurns(), Logger(label: "test"))
      try pipeline.addHandlers([reads, DirectSendHandler(requests) { path }])
      try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
      try pipeline.addHandlers([HTTP1ToHTTPServerCodec(secure: false), requests, router])
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
  }

  /// Lets the writer decide nothing until `releaseWriter`.
  func holdWriter() { chat.pipeline.maintain { [release] _ in release.wait() } }
  func releaseWriter() { release.signal() }

  /// - Parameter isWhole: whether the body is sent too.
  func send(_ number: UInt64, _ body: String = #"{"text":"hello"}"#, isWhole: Bool = true) async throws {
    let id = MessageID(UUIDBytes(high: 4, low: number))
    let lines = [
      "PUT /v1/rooms/\(Self.room)/messages/\(id) HTTP/1.1", "Host: h", "Authorization: Bearer \(token)",
      "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "", "",
    ]
    try await write(lines.joined(separator: "\r\n") + (isWhole ? body : ""))
  }

  func get() async throws { try await write("GET /v1/me HTTP/1.1\r\nHost: h\r\n\r\n") }

  private func write(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

  /// What a channel that reads by itself does after each read.
  /// - Returns: whether the channel would read.
  func isRead() async throws -> Bool {
    let before = reads.count
    try await channel.testingEventLoop.executeInContext { [channel] in channel.pipeline.read() }
    return reads.count > before
  }

  func closeInput() async throws {
    try await channel.testingEventLoop.executeInContext { [channel] in
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
  }

  /// Waits for the next response of the direct path.
  /// - Returns: its status.
  func response() async throws -> Int? {
    while true {
      if case .byteBuffer(let bytes) = try await channel.readOutbound(as: IOData.self) {
        return String(buffer: bytes).split(separator: " ").dropFirst().first.flatMap { Int($0) }
      }
      await channel.testingEventLoop.run()
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// The messages that are durable, of those with these numbers.
  func durable(_ numbers: [UInt64]) async throws -> Int {
    var count = 0
    for number in numbers {
      let id = MessageID(UUIDBytes(high: 4, low: number))
      if (try? await chat.message(id, of: Self.room, for: Self.user)) != nil { count += 1 }
    }
    return count
  }
}

@Suite("A connection with the direct path", .timeLimit(.minutes(2)))
struct DirectSendHandlerSpecs {
  @Test("its responses do not pass the HTTP encoder")
  func placement() throws {
    let channel = EmbeddedChannel()
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
    try pipeline.addHandlers([
      HTTP1ToHTTPServerCodec(secure: false), RequestGuard(ConnectionSettings(), ProblemLog(), LoopTurns(), Logger(label: "test")),
      DirectSendPlacement(StartGate()),
    ])
    let response = IOData.byteBuffer(ByteBuffer(string: "HTTP/1.1 201 Created\r\n\r\n"))
    try pipeline.context(handlerType: DirectSendHandler.self).writeAndFlush(NIOAny(response), promise: nil)
    #expect(try channel.readOutbound(as: IOData.self) == response)
  }

  private static let prefix = "PUT /v1/rooms/\(DirectConnection.room)/messages/"

  private func withConnection(_ body: (DirectConnection) async throws -> Void) async throws {
    try await withService { opened in
      let connection = try await DirectConnection(opened)
      try await body(connection)
      _ = try? await connection.channel.finish()
      try opened.close()
    }
  }

  @Test("keeps what arrives while the writer has a message, and then reads no more")
  func bounded() async throws {
    try await withConnection { connection in
      connection.holdWriter()
      try await connection.send(1)
      // Nothing is kept yet, so the connection can notice that its client leaves.
      #expect(try await connection.isRead())
      try await connection.get()
      #expect(try await !connection.isRead())
      #expect(connection.router.events.isEmpty)
      connection.releaseWriter()
      #expect(try await connection.response() == 201)
      #expect(connection.router.events == ["GET /v1/me", "end"])
      #expect(try await connection.isRead())
    }
  }

  @Test("passes the end of the input on after the response")
  func inputClosed() async throws {
    try await withConnection { connection in
      connection.holdWriter()
      try await connection.send(1)
      try await connection.closeInput()
      #expect(connection.router.events.isEmpty)
      connection.releaseWriter()
      #expect(try await connection.response() == 201)
      #expect(connection.router.events == ["input closed"])
    }
  }

  @Test("sends messages one after the other")
  func inOrder() async throws {
    try await withConnection { connection in
      for number in 1...20 { try await connection.send(UInt64(number)) }
      for _ in 1...20 { #expect(try await connection.response() == 201) }
      #expect(connection.router.events.isEmpty)
      #expect(try await connection.durable(Array(1...20)) == 20)
    }
  }

  @Test("leaves a message with a problem to the router, and what follows too while the router has it")
  func replayed() async throws {
    try await withConnection { connection in
      try await connection.send(1, "no")
      try await connection.send(2)
      let expected = [1, 2].map { Self.prefix + MessageID(UUIDBytes(high: 4, low: $0)).description }
      #expect(
        connection.router.events
          == [expected[0], "body no", "end", expected[1], #"body {"text":"hello"}"#, "end"])
    }
  }

  @Test("leaves half a message to the router when the input ends")
  func half() async throws {
    try await withConnection { connection in
      try await connection.send(1, isWhole: false)
      #expect(connection.router.events.isEmpty)
      try await connection.closeInput()
      #expect(
        connection.router.events
          == [Self.prefix + MessageID(UUIDBytes(high: 4, low: 1)).description, "error", "input closed"])
    }
  }

  @Test("leaves half a message to the router when the rest does not come")
  func late() async throws {
    try await withConnection { connection in
      try await connection.send(1, isWhole: false)
      await connection.channel.testingEventLoop.advanceTime(by: .milliseconds(199))
      #expect(connection.router.events.isEmpty)
      await connection.channel.testingEventLoop.advanceTime(by: .milliseconds(1))
      #expect(connection.router.events.count == 1)
    }
  }

  @Test("leaves a message to the router when the router has seen none for five seconds")
  func seen() async throws {
    try await withConnection { connection in
      try await connection.send(1)
      #expect(try await connection.response() == 201)
      await connection.channel.testingEventLoop.advanceTime(by: .seconds(5))
      try await connection.send(2)
      #expect(connection.router.events.count == 3)
    }
  }

  @Test("that is closed while the writer has a message loses nothing")
  func closed() async throws {
    try await withConnection { connection in
      connection.holdWriter()
      try await connection.send(1)
      try await connection.send(2)
      try await connection.channel.close()
      connection.releaseWriter()
      while try await connection.durable([1]) == 0 { await connection.channel.testingEventLoop.run() }
      await connection.channel.testingEventLoop.run()
      // The second one was never begun, as if it had not arrived.
      #expect(try await connection.durable([2]) == 0)
      #expect(connection.router.events.isEmpty)
    }
  }
}
