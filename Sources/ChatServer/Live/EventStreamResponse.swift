import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import NIOCore

/// A stream as server-sent events (WHATWG HTML, section 9.2).
struct EventStreamResponse: Sendable {
  let stream: OpenStream
  /// The connection, or the HTTP/2 stream, of the request.
  let channel: any Channel

  var response: Response {
    var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    // Otherwise nginx would collect events before it passes them on.
    headers[.accelBuffering] = "no"
    return Response(status: .ok, headers: headers, body: ResponseBody { writer in try await write(to: writer) })
  }

  private func write(to writer: any ResponseBodyWriter) async throws {
    var (writer, stream) = (writer, stream)
    let subscription = stream.subscription
    defer { subscription.cancel() }
    channel.whenClientGone { subscription.cancel() }
    channel.eventLoop.execute { [channel] in ReceiveBuffer.boundIfHTTP1(of: channel) }
    // Lets the client know that the stream is open, although nothing may happen for long.
    try await writer.write(Self.comment("open"))
    do {
      while try await send(try await stream.frames.next(), of: stream, to: &writer) {}
    } catch is SlowReader {
      // Frees its place among the user's streams, because this is not written before the client reads again.
      subscription.cancel()
      try await writer.write(try Self.event(StreamEnding.tooSlow.end))
    }
    try await writer.finish(nil)
  }

  /// - Returns: whether another frame follows.
  private func send(
    _ frame: StreamFrame, of stream: OpenStream, to writer: inout any ResponseBodyWriter
  ) async throws -> Bool {
    switch frame {
    case .page(let page):
      let (json, cursor) = try await stream.encoder.encode(page)
      let held = try stream.hold(json.readableBytes)
      defer { withExtendedLifetime(held) {} }
      try await writer.write(Self.event("sync", id: cursor, json))
      try await untilWritable()
      return true
    case .typing(let notice):
      try await send("typing", StreamTyping(notice), of: stream, to: &writer)
      return true
    case .presence(let notice):
      try await send("presence", StreamPresence(notice), of: stream, to: &writer)
      return true
    case .expiring(let time):
      try await writer.write(Self.event("expiring", try JSONBody.encode(StreamExpiring(expiresAt: time))))
      return true
    case .heartbeat:
      try await writer.write(Self.comment("heartbeat"))
      return true
    case .ended(let ending):
      try await writer.write(try Self.event(ending.end))
      return false
    }
  }

  private func send(
    _ name: String, _ notice: some Encodable, of stream: OpenStream, to writer: inout any ResponseBodyWriter
  ) async throws {
    try await writer.write(Self.event(name, try JSONBody.encode(notice)))
    try await untilWritable()
  }

  private func untilWritable() async throws {
    try await stream.subscription.whileOpen { [channel] in try await channel.untilWritable(.ofStream) }
  }

  // MARK: Events

  private static func comment(_ text: String) -> ByteBuffer { ByteBuffer(string: ": \(text)\n\n") }

  /// The last event. `retry` makes the browser wait before it connects again.
  private static func event(_ end: StreamEnd) throws -> ByteBuffer {
    var event = event("end", try JSONBody.encode(end))
    if let milliseconds = end.resumeAfterMilliseconds {
      event = ByteBuffer(string: "retry: \(milliseconds)\n" + String(buffer: event))
    }
    return event
  }

  /// - Parameter data: JSON in one line.
  private static func event(_ name: String, id: String? = nil, _ data: ByteBuffer) -> ByteBuffer {
    var event = ByteBuffer()
    event.reserveCapacity(data.readableBytes + 256)
    event.writeString("event: \(name)\n")
    if let id { event.writeString("id: \(id)\n") }
    event.writeString("data: ")
    event.writeImmutableBuffer(data)
    event.writeString("\n\n")
    return event
  }
}

extension HTTPField.Name {
  static let lastEventID = own("Last-Event-ID")
  fileprivate static let accelBuffering = own("X-Accel-Buffering")
}
