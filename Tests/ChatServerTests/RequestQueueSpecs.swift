import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Synchronization
import Testing

@testable import ChatServer

@Suite("Requests behind another of their connection")
struct RequestQueueSpecs {
  /// In the place of Hummingbird's handler: records what arrives.
  private final class Router: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPRequestPart

    private let arrived = Mutex<[String]>([])

    /// The paths of the heads, the texts of the bodies, `end` for each end, and what else arrived.
    var seen: [String] { arrived.withLock { $0 } }
    var paths: [String] { seen.filter { $0.hasPrefix("/") } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): note(head.path ?? "")
      case .body(let body): note(String(buffer: body))
      case .end: note("end")
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { note("error") }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event as? ChannelEvent == .inputClosed { note("closed") }
    }

    private func note(_ text: String) { arrived.withLock { $0.append(text) } }
  }

  /// Counts the reads that reach the socket.
  private final class Reads: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = HTTPResponsePart

    private let counted = Mutex(0)

    var count: Int { counted.withLock { $0 } }

    func read(context: ChannelHandlerContext) { counted.withLock { $0 += 1 } }
  }

  private struct Connection {
    let channel: EmbeddedChannel
    let router = Router()
    let reads = Reads()

    init(_ turns: LoopTurns = LoopTurns(), on eventLoop: EmbeddedEventLoop = EmbeddedEventLoop()) throws {
      channel = EmbeddedChannel(loop: eventLoop)
      try channel.pipeline.syncOperations.addHandlers([reads, RequestQueue(turns), router])
    }

    func receive(_ path: String, body: String? = nil) throws {
      try receive(.head(HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)))
      if let body { try receive(.body(ByteBuffer(string: body))) }
      try receive(.end(nil))
    }

    func receive(_ part: HTTPRequestPart) throws { try channel.writeInbound(part) }

    func answer() throws {
      try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
      try channel.writeOutbound(HTTPResponsePart.end(nil))
    }
  }

  @Test("wait for its response, and are passed on in order with their bodies")
  func order() throws {
    let connection = try Connection()
    try connection.receive("/1", body: "a")
    try connection.receive("/2", body: "b")
    try connection.receive("/3")
    #expect(connection.router.seen == ["/1", "a", "end"])
    try connection.answer()
    #expect(connection.router.seen == ["/1", "a", "end", "/2", "b", "end"])
    try connection.answer()
    try connection.answer()
    #expect(connection.router.seen.suffix(2) == ["/3", "end"])
    try connection.receive("/4")
    #expect(connection.router.paths == ["/1", "/2", "/3", "/4"])
  }

  @Test("are passed on as far as they have arrived")
  func parts() throws {
    let connection = try Connection()
    try connection.receive("/1")
    try connection.receive(.head(HTTPRequest(method: .put, scheme: nil, authority: nil, path: "/2")))
    try connection.answer()
    #expect(connection.router.seen == ["/1", "end", "/2"])
    try connection.receive(.body(ByteBuffer(string: "late")))
    try connection.receive(.end(nil))
    #expect(connection.router.seen.suffix(2) == ["late", "end"])
  }

  @Test("keep what follows them behind them: reads, an error, the end of the input")
  func following() throws {
    let connection = try Connection()
    try connection.receive("/1")
    connection.channel.read()
    #expect(connection.reads.count == 1)
    try connection.receive("/2")
    connection.channel.read()
    connection.channel.pipeline.fireErrorCaught(ChannelError.eof)
    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(connection.reads.count == 1)
    #expect(connection.router.seen == ["/1", "end"])
    try connection.answer()
    #expect(connection.router.seen == ["/1", "end", "/2", "end", "error", "closed"])
    #expect(connection.reads.count == 2)
  }

  @Test("begin one in each pause, after the first ones, on all connections of an event loop together")
  func turns() throws {
    let (turns, eventLoop) = (LoopTurns(), EmbeddedEventLoop())
    let connections = try (0..<2).map { _ in try Connection(turns, on: eventLoop) }
    let each = RequestTurns.atOnce
    for connection in connections {
      for number in 0...each { try connection.receive("/\(number)") }
    }
    var begun: Int { connections.reduce(0) { $0 + $1.router.paths.count } }
    var answered = 0
    while answered < begun {
      for connection in connections {
        try connection.answer()
        answered += 1
      }
    }
    // The first of each connection did not wait.
    #expect(begun == 2 + RequestTurns.atOnce)
    for more in 1...4 {
      eventLoop.advanceTime(by: RequestTurns.pause)
      #expect(begun == 2 + RequestTurns.atOnce + min(more, 2))
    }
  }

  @Test("begin at once again after a while without any")
  func rest() throws {
    let eventLoop = EmbeddedEventLoop()
    let turns = RequestTurns(eventLoop)
    var begun = 0
    for _ in 0..<RequestTurns.atOnce + 1 { turns.take { begun += 1 } }
    #expect(begun == RequestTurns.atOnce)
    eventLoop.advanceTime(by: .milliseconds(RequestTurns.pause.nanoseconds / 1_000_000 * Int64(RequestTurns.atOnce + 2)))
    #expect(begun == RequestTurns.atOnce + 1)
    for _ in 0..<RequestTurns.atOnce { turns.take { begun += 1 } }
    #expect(begun == 2 * RequestTurns.atOnce + 1)
  }

  @Test("are dropped with their connection")
  func closing() throws {
    let eventLoop = EmbeddedEventLoop()
    let connection = try Connection(on: eventLoop)
    for number in 0...RequestTurns.atOnce + 2 { try connection.receive("/\(number)") }
    for _ in 0...RequestTurns.atOnce { try connection.answer() }
    let begun = connection.router.paths.count
    _ = try connection.channel.finish()
    eventLoop.advanceTime(by: .seconds(1))
    #expect(connection.router.paths.count == begun)
  }
}
