import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Logging
import NIOCore

/// How a transport sends the frames of a stream.
protocol StreamPort: Sendable {
  /// The transport, for metrics.
  var transport: StreamTransport { get }
  /// - Parameters:
  ///   - json: the object of `GET /v1/sync`.
  ///   - cursor: the cursor in this object.
  func page(_ json: ByteBuffer, cursor: String)
  func typing(_ typing: StreamTyping)
  func presence(_ presence: StreamPresence)
  func expiring(_ expiring: StreamExpiring)
  /// Nothing was sent for a while.
  func heartbeat()
  /// Whether the client has taken most of what was sent, as far as the connection knows by now.
  var isWritable: Bool { get }
  /// Returns when the client has taken most of what was sent.
  /// - Throws: `SlowReader` if that takes too long; any other error if the client is gone.
  func untilWritable() async throws
}

/// Passes the frames of a stream to its transport.
struct StreamFollower: Sendable {
  let port: any StreamPort
  let logger: Logger
  /// Called once when the stream has ended, with what the client is told; nil if it is gone.
  let ended: @Sendable (StreamEnd?) async -> Void

  /// Sends the frames of a stream until it ends.
  func start(_ stream: OpenStream) async {
    stream.metrics.began(port.transport)
    await follow(stream)
  }

  private func finish(_ stream: OpenStream, _ end: StreamEnd?) async {
    stream.subscription.cancel()
    stream.metrics.ended(port.transport, because: end?.code)
    await ended(end)
  }

  /// Sends all frames that are ready. Then the task ends, and the next signal, or the stream's turn to read, begins another
  /// one: a task takes many kilobytes even while it waits, and most streams wait most of the time.
  private func follow(_ stream: OpenStream) async {
    var (stream, isFirst) = (stream, true)
    /// The reservation of the previous page, which the client may not have taken yet.
    var held: KeyedLimit<NetworkAddress?>.Reservation?
    do {
      while let frame = try await stream.frames.nextNow() {
        switch frame {
        case .page(let page):
          let (json, cursor) = try await stream.encoder.encode(page)
          // Most pages are short and alone, and do not need a task that waits.
          if !isFirst || json.readableBytes > Limits.shortPageBytes || !port.isWritable {
            try await stream.subscription.whileOpen(port.untilWritable)
          }
          held = try stream.hold(json.readableBytes)
          port.page(json, cursor: cursor)
          stream.metrics.sent(items: page.items.count, port.transport)
        case .typing(let notice):
          try await stream.subscription.whileOpen(port.untilWritable)
          port.typing(StreamTyping(notice))
        case .presence(let notice):
          try await stream.subscription.whileOpen(port.untilWritable)
          port.presence(StreamPresence(notice))
        case .expiring(let time): port.expiring(StreamExpiring(expiresAt: time))
        case .heartbeat: port.heartbeat()
        case .ended(let ending):
          return await finish(stream, ending.end)
        }
        isFirst = false
      }
      // The client has taken the last page before the stream waits, so that idle streams hold no budget.
      if held != nil { try await stream.subscription.whileOpen(port.untilWritable) }
    } catch {
      return await finish(stream, end(error))
    }
    let waiting = stream
    waiting.frames.whenReady { Task { await follow(waiting) } }
  }

  /// What the client is told after an error; nil if it is gone.
  func end(_ error: any Error) -> StreamEnd? {
    if error is SlowReader { return StreamEnding.tooSlow.end }
    guard !ProblemMapping.isCausedByClient(error) else { return nil }
    let end = StreamEnd(refusing: error)
    if end.code == ProblemCode.internalError.rawValue {
      logger.error("a stream failed", metadata: ["error": "\(LoggedError.text(error))"])
    }
    return end
  }
}
