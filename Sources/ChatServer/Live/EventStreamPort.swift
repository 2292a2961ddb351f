import ChatProtocol
import NIOCore

/// Sends a stream as server-sent events (WHATWG HTML, section 9.2) in the body of a response.
struct EventStreamPort: StreamPort {
  private let channel: any Channel
  private let handler: NIOLoopBound<EventStreamHandler>

  /// - Parameter channel: the connection, or the HTTP/2 stream, of a response whose head was written. It is detached from
  ///   Hummingbird if that is possible.
  /// - Throws: if the client is gone, or has sent another request for a stream on the same connection.
  static func open(on channel: any Channel) async throws -> EventStreamPort {
    try await channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      guard (try? pipeline.handler(type: EventStreamHandler.self)) == nil || !(channel is DetachableChannel) else {
        throw ChannelError.ioOnClosedChannel
      }
      let handler = EventStreamHandler()
      try pipeline.addHandler(handler, position: .after(try pipeline.handler(type: StreamTakeover.self)))
      ReceiveBuffer.boundIfHTTP1(of: channel)
      if channel is DetachableChannel { try handler.detach() }
      return EventStreamPort(channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop))
    }.get()
  }

  var transport: StreamTransport { .events }

  private func onLoop(_ body: @escaping @Sendable (EventStreamHandler) -> Void) {
    channel.eventLoop.execute { body(handler.value) }
  }

  private func send(_ event: ByteBuffer) {
    onLoop { $0.send(event) }
  }

  private func send(_ name: String, _ data: some Encodable) {
    // The types of this file always encode.
    if let json = try? JSONBody.encode(data) { send(Self.event(name, json)) }
  }

  func page(_ json: ByteBuffer, cursor: String) { send(Self.event("sync", id: cursor, json)) }

  func typing(_ typing: StreamTyping) { send("typing", typing) }

  func presence(_ presence: StreamPresence) { send("presence", presence) }

  func expiring(_ expiring: StreamExpiring) { send("expiring", expiring) }

  func heartbeat() { send(Self.comment("heartbeat")) }

  var isWritable: Bool { channel.isWritable }

  func untilWritable() async throws { try await channel.untilWritable(.ofStream) }

  /// Ends the response if the connection was detached.
  /// - Parameter end: nil if the client is gone.
  func finish(_ end: StreamEnd?) {
    let event = end.flatMap { try? Self.event($0) }
    onLoop { $0.finish(event) }
  }

  /// Removes what `open` added to a connection that stays open.
  func leave() {
    onLoop { $0.leave() }
  }

  // MARK: Events

  static func comment(_ text: String) -> ByteBuffer { ByteBuffer(string: ": \(text)\n\n") }

  /// The last event. `retry` makes the browser wait before it connects again.
  static func event(_ end: StreamEnd) throws -> ByteBuffer {
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
