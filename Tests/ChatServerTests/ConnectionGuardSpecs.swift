import ChatPrimitives
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@testable import ChatServer

/// A connection with the real HTTP decoder, on an event loop whose time moves only if a test advances it.
private final class Connection {
  private let channel = EmbeddedChannel()

  init() throws {
    var settings = ConnectionSettings()
    settings.headSeconds = 20
    settings.bodySeconds = 10
    settings.bodyBytesPerSecond = 100
    settings.uploadBytesPerSecond = 200
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = Limits.headerFieldBytes
    limits.maxHeaderListSize = Limits.headerBytes
    limits.maxHeaderFieldCount = Limits.headerFields
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(ConnectionGuard(settings))
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
      withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
    try pipeline.addHandler(RequestGuard(settings, ProblemLog(), LoopTurns(), Logger(label: "test")))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  var isOpen: Bool { channel.isActive }

  func wait(seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

  func send(_ text: String) throws { _ = try channel.writeInbound(ByteBuffer(string: text)) }

  func respond() throws {
    try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
    try channel.writeOutbound(HTTPResponsePart.end(nil))
  }

  /// Everything that was sent to the client.
  func received() throws -> String {
    var text = ""
    while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
    return text
  }
}

@Suite("A guarded connection")
struct ConnectionGuardSpecs {
  private static let head = "PUT /v1/x HTTP/1.1\r\nHost: h\r\n"
  private static let request = "GET /v1/me HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test("that sends nothing is closed after the idle time")
  func silent() throws {
    let connection = try Connection()
    connection.wait(seconds: 59)
    #expect(connection.isOpen)
    connection.wait(seconds: 1)
    #expect(!connection.isOpen)
  }

  @Test("that sends a head byte by byte is closed after its time, however often bytes arrive")
  func dripped() throws {
    let connection = try Connection()
    connection.wait(seconds: 30)
    try connection.send("GET /v1/me HTTP/1.1\r\nX: ")
    for _ in 0..<19 {
      connection.wait(seconds: 1)
      try connection.send("x")
    }
    #expect(connection.isOpen)
    connection.wait(seconds: 1)
    #expect(!connection.isOpen)
  }

  @Test("may bring a head in pieces within its time, again and again")
  func pieces() throws {
    let connection = try Connection()
    for _ in 0..<5 {
      try connection.send("GET /v1/me HTTP/1.1\r\nHos")
      connection.wait(seconds: 19)
      try connection.send("t: h\r\n\r\n")
      try connection.respond()
      // This handler does not close idle connections.
      connection.wait(seconds: 50)
      #expect(connection.isOpen)
    }
  }

  @Test("that sends its second head byte by byte is closed too")
  func secondHead() throws {
    let connection = try Connection()
    try connection.send(Self.request)
    try connection.respond()
    connection.wait(seconds: 100)
    try connection.send("GET /v1")
    connection.wait(seconds: 19)
    #expect(connection.isOpen)
    connection.wait(seconds: 1)
    #expect(!connection.isOpen)
  }

  @Test("whose response takes long is not closed")
  func slowResponse() throws {
    let connection = try Connection()
    try connection.send(Self.request)
    connection.wait(seconds: 1_000)
    #expect(connection.isOpen)
  }

  @Test("that sends a body byte by byte is closed when its budget is used up")
  func drippedBody() throws {
    let connection = try Connection()
    try connection.send(Self.head + "Content-Length: 9000\r\n\r\n" + String(repeating: "x", count: 200))
    // Ten seconds are free, and the bytes received so far add two.
    connection.wait(seconds: 11)
    #expect(connection.isOpen)
    try connection.send(String(repeating: "x", count: 100))
    connection.wait(seconds: 1)
    #expect(connection.isOpen)
    connection.wait(seconds: 1)
    #expect(!connection.isOpen)
  }

  @Test("that sends a body at the required pace has no time limit")
  func steadyBody() throws {
    let connection = try Connection()
    try connection.send(Self.head + "Content-Length: 20000\r\n\r\n")
    for _ in 0..<200 {
      connection.wait(seconds: 1)
      try connection.send(String(repeating: "x", count: 100))
      #expect(connection.isOpen)
    }
    connection.wait(seconds: 1_000)
    #expect(connection.isOpen)
  }

  @Test("that sends an upload at the pace of other bodies is closed", arguments: ["/v1/media", "/v1/media?name=x"])
  func slowUpload(target: String) throws {
    let connection = try Connection()
    try connection.send("POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n")
    // Ten seconds are free, and each second brings 100 bytes, which add half a second.
    for _ in 0..<18 {
      connection.wait(seconds: 1)
      #expect(connection.isOpen)
      try connection.send(String(repeating: "x", count: 100))
    }
    connection.wait(seconds: 1)
    #expect(!connection.isOpen)
  }

  @Test("that streams lines to ingest may pause until it gets a response")
  func stream() throws {
    let connection = try Connection()
    try connection.send("POST /v1/ingest HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n{}\n")
    connection.wait(seconds: 500)
    #expect(connection.isOpen)
    try connection.respond()
    connection.wait(seconds: 9)
    #expect(connection.isOpen)
    connection.wait(seconds: 2)
    #expect(!connection.isOpen)
  }

  @Test("is closed when too much arrives after the response", arguments: [0, 1])
  func drained(excess: Int) throws {
    let connection = try Connection()
    try connection.send(Self.head + "Content-Length: 99999999\r\n\r\n")
    try connection.respond()
    let piece = String(repeating: "x", count: Limits.drainedBodyBytes / 16)
    for _ in 0..<16 { try connection.send(piece) }
    #expect(connection.isOpen)
    if excess > 0 { try connection.send(String(repeating: "x", count: excess)) }
    #expect(connection.isOpen == (excess == 0))
  }

  @Test(
    "with a head at the limits is accepted; beyond them it gets problem details and is closed",
    arguments: [
      (Limits.headerFields - 1, 0, true), (Limits.headerFields, 0, false), (0, Limits.headerFieldBytes - 1, true),
      (0, Limits.headerFieldBytes, true), (0, Limits.headerFieldBytes + 1, false),
    ])
  func bounds(fields: Int, bytes: Int, isTaken: Bool) throws {
    let connection = try Connection()
    // `Host` is one of the fields. The size of a field includes its name.
    let many = (0..<fields).map { "x\($0): 1\r\n" }.joined()
    let long = bytes > 0 ? "y: \(String(repeating: "v", count: bytes))\r\n" : ""
    try connection.send("GET /v1/me HTTP/1.1\r\nHost: h\r\n\(many)\(long)\r\n")
    let received = try connection.received()
    #expect(connection.isOpen == isTaken)
    #expect(received.hasPrefix("HTTP/1.1 431 ") == !isTaken)
    #expect(received.contains(#""code":"headers_too_large""#) == !isTaken)
    #expect(received.contains("application/problem+json") == !isTaken)
  }

  @Test("does not put a response into another one that is in progress")
  func underWay() throws {
    let connection = try Connection()
    try connection.send(Self.request)
    let many = (0...Limits.headerFields).map { "x\($0): 1\r\n" }.joined()
    try connection.send("GET /v1/me HTTP/1.1\r\nHost: h\r\n\(many)\r\n")
    #expect(try connection.received() == "")
    try connection.respond()
    let received = try connection.received()
    #expect(received.hasPrefix("HTTP/1.1 200 ") && received.contains("HTTP/1.1 431 "))
  }
}
