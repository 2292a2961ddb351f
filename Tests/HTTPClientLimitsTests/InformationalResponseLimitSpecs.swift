import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPClientLimits

@Suite("Informational responses")
struct InformationalResponseLimitSpecs {
  private static let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
  private static let delivered = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  private let channel = EmbeddedChannel()

  /// A connection with the decoder that `AsyncHTTPClient` uses.
  init() throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HTTPRequestEncoder())
    let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)
    try pipeline.addHandler(ByteToMessageHandler(decoder))
    try ResponseLimits.add(toConnection: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  private func request() throws {
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/push", headers: ["Host": "h"])
    try channel.writeOutbound(HTTPClientRequestPart.head(head))
    try channel.writeOutbound(HTTPClientRequestPart.end(nil))
  }

  private func receive(_ text: String) throws {
    _ = try channel.writeInbound(ByteBuffer(string: text))
  }

  /// The status codes of the responses that were passed on.
  private func statuses() throws -> [UInt] {
    var statuses: [UInt] = []
    while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
      if case .head(let head) = part { statuses.append(head.status.code) }
    }
    return statuses
  }

  @Test("are passed on up to the limit; each final response resets the count")
  func upToTheLimit() throws {
    let hints = String(repeating: Self.hint, count: InformationalResponseLimit.maximum)
    for _ in 1...3 {
      try request()
      try receive(hints + Self.delivered)
      #expect(try statuses() == Array(repeating: 103, count: InformationalResponseLimit.maximum) + [200])
      #expect(channel.isActive)
    }
    _ = try channel.finish()
  }

  @Test("close the connection above the limit, and the rest of those already received is dropped")
  func beyondTheLimit() throws {
    try request()
    let hints = String(repeating: Self.hint, count: InformationalResponseLimit.maximum + 1_000)
    #expect(throws: TooManyInformationalResponses.self) { try receive(hints) }
    #expect(try statuses() == Array(repeating: 103, count: InformationalResponseLimit.maximum))
    #expect(!channel.isActive)
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }
}
