import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import Testing

@testable import HTTPClientLimits

@Suite("Responses without a valid status")
struct FinalResponseCheckSpecs {
  /// A connection with the decoder that `AsyncHTTPClient` uses, on which a request was sent.
  private func connection() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HTTPRequestEncoder())
    let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)
    try pipeline.addHandler(ByteToMessageHandler(decoder))
    try ResponseLimits.add(toConnection: channel).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try request(channel)
    return channel
  }

  /// The same for a stream over HTTP/2.
  private func stream() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ClientCodec(httpProtocol: .https))
    try ResponseLimits.add(toStream: channel, frames: 64).wait()
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try request(channel)
    return channel
  }

  private func request(_ channel: EmbeddedChannel) throws {
    let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/push", headers: ["Host": "h"])
    try channel.writeOutbound(HTTPClientRequestPart.head(head))
    try channel.writeOutbound(HTTPClientRequestPart.end(nil))
  }

  private func headers(_ status: String, ends: Bool) -> HTTP2Frame.FramePayload {
    .headers(.init(headers: HPACKHeaders([(":status", status)]), endStream: ends))
  }

  /// What was passed on.
  private func parts(_ channel: EmbeddedChannel) throws -> [HTTPClientResponsePart] {
    var parts: [HTTPClientResponsePart] = []
    while let part = try channel.readInbound(as: HTTPClientResponsePart.self) { parts.append(part) }
    return parts
  }

  @Test("end the connection over HTTP/1.1", arguments: ["000", "099"])
  func low(status: String) throws {
    let channel = try connection()
    #expect(throws: InvalidResponseStatus.self) {
      try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 \(status) x\r\nContent-Length: 0\r\n\r\n"))
    }
    #expect(try parts(channel).isEmpty && !channel.isActive)
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  @Test("end the stream over HTTP/2, and nothing of them is passed on", arguments: ["0", "099", "-1", "101", "1000", "+20", ""])
  func lowStream(status: String) throws {
    for ends in [true, false] {
      let channel = try stream()
      #expect(throws: InvalidResponseStatus.self) { try channel.writeInbound(headers(status, ends: ends)) }
      #expect(try parts(channel).isEmpty && !channel.isActive)
      try? channel.writeInbound(headers("200", ends: true))
      #expect(try parts(channel).isEmpty)
      _ = try? channel.finish(acceptAlreadyClosed: true)
    }
  }

  @Test("an informational response does not end one over HTTP/2")
  func ended() throws {
    let channel = try stream()
    #expect(throws: InvalidResponseStatus.self) { try channel.writeInbound(headers("103", ends: true)) }
    #expect(try parts(channel).isEmpty && !channel.isActive)
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  @Test("valid ones are passed on, after informational ones too, and several over one connection")
  func valid() throws {
    let channel = try connection()
    for number in 1...2 {
      if number > 1 { try request(channel) }
      let text = "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\nok"
      _ = try channel.writeInbound(ByteBuffer(string: text))
      #expect(try parts(channel).count == 4, "two heads, a body and an end")
    }
    #expect(channel.isActive)
    _ = try channel.finish()
    let stream = try stream()
    _ = try stream.writeInbound(headers("103", ends: false))
    _ = try stream.writeInbound(headers("200", ends: false))
    _ = try stream.writeInbound(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer(string: "ok")))))
    _ = try stream.writeInbound(
      HTTP2Frame.FramePayload.headers(.init(headers: HPACKHeaders([("x-trailer", "1")]), endStream: true)))
    #expect(try parts(stream).count == 4 && stream.isActive, "two heads, a body and an end")
    _ = try stream.finish()
  }
}
