import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// `POST /v1/ingest`: lines in, results out, both streamed.
///
/// One task reads, decodes and queues; one makes result lines as commands become durable; one writes them. The first
/// never waits for a client that does not read: of what such a client has sent, the result lines alone are kept, and the
/// bounds of the body bound them.
struct IngestHandler: Sendable {
  let chat: ChatService

  func run(_ exchange: Exchange) async throws -> Response {
    try exchange.requireMediaType("application/x-ndjson", "application/ndjson", "application/jsonl")
    let ingest = IngestRun(chat: chat, caller: try exchange.actor, logger: exchange.logger)
    let body = exchange.incomingBody()
    let responseBody = ResponseBody { writer in
      do {
        try await ingest.answer(body, &writer)
      } catch {
        // A client that goes away is noted where its body is read.
        if !ProblemMapping.isCancellation(error) {
          exchange.logger.warning("an ingest broke off", metadata: ["error": "\(LoggedError.text(error))"])
        }
        throw error
      }
    }
    return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: responseBody)
  }
}

/// One ingest from its first byte to its last result.
private struct IngestRun: Sendable {
  /// Portions that are queued and not yet result lines before the reader waits.
  private static let portionsUnderWay = 4

  let chat: ChatService
  let caller: Principal
  let logger: Logger

  private typealias Portions = AsyncStream<IngestPortion>
  private typealias Permits = AsyncStream<Void>
  private typealias Output = AsyncThrowingStream<[UInt8], any Error>

  func answer(_ body: IncomingBody, _ writer: inout any ResponseBodyWriter) async throws {
    let (portions, feed) = Portions.makeStream()
    let (permits, permit) = Permits.makeStream()
    let (output, outlet) = Output.makeStream()
    for _ in 0..<Self.portionsUnderWay { permit.yield() }
    async let reading: Void = read(body, permits, feed, outlet)
    async let settling: Void = settle(portions, permit, outlet)
    for try await bytes in output { try await writer.write(ByteBuffer(bytes: bytes)) }
    // A stream also ends because its task was cancelled; such an answer is not whole.
    try Task.checkCancellation()
    try await writer.finish(nil)
    try await reading
    await settling
  }

  /// Reads to the body's end even when its bounds were passed: a client may send everything before it reads anything.
  private func read(
    _ body: IncomingBody, _ permits: Permits, _ feed: Portions.Continuation, _ outlet: Output.Continuation
  ) async throws {
    defer { feed.finish() }
    do {
      let stream = BulkStream(chat: chat)
      var permits = permits.makeAsyncIterator()
      var lines = IngestLines()
      for try await buffer in body {
        for portion in Self.portions(lines.take(buffer)) {
          feed.yield(try await queue(portion, stream, &permits))
        }
        if lines.isOver { feed.finish() }
      }
      try Task.checkCancellation()
      for portion in Self.portions(lines.finish()) { feed.yield(try await queue(portion, stream, &permits)) }
    } catch {
      outlet.finish(throwing: error)
      throw error
    }
  }

  private func settle(_ portions: Portions, _ permit: Permits.Continuation, _ outlet: Output.Continuation) async {
    var results = IngestResults(logger: logger)
    do {
      for await portion in portions {
        outlet.yield(try await results.encoded(portion))
        permit.yield()
      }
      outlet.finish()
    } catch {
      outlet.finish(throwing: error)
      permit.finish()
    }
  }

  private static func portions(_ lines: [IngestLines.Line]) -> [ArraySlice<IngestLines.Line>] {
    stride(from: 0, to: lines.count, by: BulkStream.chunkCommands).map {
      lines[$0..<min($0 + BulkStream.chunkCommands, lines.count)]
    }
  }

  /// Decodes the lines and queues their commands.
  private func queue(
    _ lines: ArraySlice<IngestLines.Line>, _ stream: BulkStream, _ permits: inout Permits.Iterator
  ) async throws -> IngestPortion {
    guard await permits.next() != nil else { throw CancellationError() }
    var requests: [ChatService.Request] = []
    var fates: [(number: Int, fate: IngestPortion.Fate)] = []
    var ended: (any Error)? = stream.ended
    var decodedBytes = 0
    for line in lines {
      do {
        if let ended { throw ended }
        let bytes = try line.content.get()
        // Others get their turn on the event loop before more than one long line was decoded there.
        decodedBytes += bytes.readableBytes
        if decodedBytes > Limits.inlineDecodingBytes {
          decodedBytes = bytes.readableBytes
          await Task.yield()
        }
        let request = try await request(for: bytes)
        requests.append(request.lacksMedia ? try await chat.withMedia(request) : request)
        fates.append((line.number, .queued))
      } catch {
        if ProblemMapping(error).isOfTheMachine { ended = error }
        fates.append((line.number, .refused(error)))
      }
    }
    let commands = await stream.enqueue(requests)
    if let ended { stream.end((ended as? ServiceError) ?? .failed("\(ended)")) }
    return IngestPortion(lines: fates, commands: commands)
  }

  private func request(for bytes: ByteBuffer) async throws -> ChatService.Request {
    try IngestOperation.request(for: try await JSONBody.decode(IngestLine.self, from: bytes), by: caller, chat: chat)
  }
}
