import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// `POST /v1/ingest`: streams lines in and results out.
///
/// One task reads, decodes and queues lines; one takes results as commands become durable; one writes them. The reading
/// task never waits for a client that does not read. For such a client only the results are kept, a few bytes each
/// (`UnreadResults`); the limits on the body and on the user's streams bound them.
///
/// All three run on threads that serve no connections. On an event loop, a task that yields is resumed before the loop
/// reads from its connections, so many streams would delay all other clients.
struct IngestHandler: Sendable {
  let chat: ChatService
  let limiter: RateLimiter
  /// Limits the open streams of each user, because a stream keeps unread results in memory and takes processor time.
  private let streams = KeyedLimit<UserID>(Limits.ingestStreamsOfUser)
  private let threads = ThreadPoolExecutor(.singleton)

  init(chat: ChatService, limiter: RateLimiter) {
    self.chat = chat
    self.limiter = limiter
  }

  func run(
    _ context: HansardRequestContext, _ body: TypedBody<Lines<IngestLine>>
  ) async throws -> TypedResponse<Lines<IngestResult>> {
    try context.requireMediaType("application/x-ndjson", "application/ndjson", "application/jsonl")
    let caller = try context.actor
    let reservation = try reserveStream(for: caller)
    let ingest = IngestRun(
      chat: chat, limiter: limiter, caller: caller, reservation: reservation, logger: context.logger)
    let lines = body.bytes()
    let responseBody = ResponseBody { writer in
      do {
        try await withTaskExecutorPreference(threads) { try await ingest.respond(lines, &writer) }
      } catch {
        // A client that goes away is not a failure of the server.
        context.logger.log(
          level: ProblemMapping.isCausedByClient(error) ? .debug : .warning, "an ingest stream ended early",
          metadata: ["error": "\(LoggedError.text(error))"])
        throw error
      }
    }
    return TypedResponse(
      raw: Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: responseBody))
  }

  /// - Returns: nil for a service, which may have any number of streams.
  private func reserveStream(for caller: Principal) throws -> KeyedLimit<UserID>.Reservation? {
    guard caller.service == nil, let user = caller.user else { return nil }
    guard let reservation = streams.reserve(for: user) else { throw Refusal.tooManyStreams }
    return reservation
  }
}

/// One ingest from its first byte to its last result.
struct IngestRun: Sendable {
  /// How many batches may be queued without results before the reader waits.
  private static let batchesUnderWay = 4
  /// How many lines are decoded before the task yields its thread to other streams.
  private static let linesInARow = 16
  /// How much text of results is made at a time, in bytes.
  private static let writtenBytes = 16 * 1024

  let chat: ChatService
  let limiter: RateLimiter
  let caller: Principal
  let reservation: KeyedLimit<UserID>.Reservation?
  let logger: Logger

  private typealias Batches = AsyncStream<IngestBatch>
  private typealias Permits = AsyncStream<Void>
  /// Signals to the writer that there are results.
  private typealias Arrivals = AsyncThrowingStream<Void, any Error>

  func respond(_ body: IncomingBody, _ writer: inout any ResponseBodyWriter) async throws {
    let (batches, feed) = Batches.makeStream()
    let (permits, permit) = Permits.makeStream()
    let (arrivals, arrival) = Arrivals.makeStream(bufferingPolicy: .bufferingNewest(1))
    let unread = UnreadResultsBox()
    for _ in 0..<Self.batchesUnderWay { permit.yield() }
    async let reading: Void = read(body, permits, feed, arrival)
    async let collecting: Void = collectResults(batches, permit, unread, arrival)
    for try await _ in arrivals {
      while let text = unread.text(upTo: Self.writtenBytes) { try await writer.write(text) }
    }
    // A stream also ends if its task was cancelled. The response is then incomplete.
    try Task.checkCancellation()
    // Released first, because a client that has seen the end may open its next stream at once.
    reservation?.release()
    try await writer.finish(nil)
    try await reading
    await collecting
  }

  /// Reads to the end of the body even if the results have ended, because a client may send everything before it reads
  /// anything.
  private func read(
    _ body: IncomingBody, _ permits: Permits, _ feed: Batches.Continuation, _ arrival: Arrivals.Continuation
  ) async throws {
    defer { feed.finish() }
    do {
      let stream = BulkStream(chat: chat)
      var permits = permits.makeAsyncIterator()
      var lines = IngestLines()
      var refusedInARow = 0
      for try await received in body {
        var buffer = received
        while buffer.readableBytes > 0 {
          for batch in Self.batches(lines.take(&buffer)) {
            feed.yield(try await queue(batch, stream, &permits, &refusedInARow))
            guard refusedInARow < Limits.ingestLinesRefusedInARow else {
              lines.stop()
              break
            }
          }
          if lines.isOver { feed.finish() }
          // Blank lines are not queued, so only this yield lets other tasks run between them.
          if buffer.readableBytes > 0 { await Task.yield() }
        }
      }
      try Task.checkCancellation()
      for batch in Self.batches(lines.finish()) {
        feed.yield(try await queue(batch, stream, &permits, &refusedInARow))
      }
    } catch {
      arrival.finish(throwing: error)
      throw error
    }
  }

  private func collectResults(
    _ batches: Batches, _ permit: Permits.Continuation, _ unread: UnreadResultsBox, _ arrival: Arrivals.Continuation
  ) async {
    var results = IngestResults(logger: logger)
    do {
      for await batch in batches {
        try unread.append(await results.results(of: batch))
        arrival.yield()
        permit.yield()
      }
      arrival.finish()
    } catch {
      arrival.finish(throwing: error)
      permit.finish()
    }
  }

  private static func batches(_ lines: [IngestLines.Line]) -> [ArraySlice<IngestLines.Line>] {
    stride(from: 0, to: lines.count, by: BulkStream.chunkCommands).map {
      lines[$0..<min($0 + BulkStream.chunkCommands, lines.count)]
    }
  }

  /// Decodes the lines and queues their commands, up to the line at which the rate limits end the stream.
  private func queue(
    _ lines: ArraySlice<IngestLines.Line>, _ stream: BulkStream, _ permits: inout Permits.Iterator,
    _ refusedInARow: inout Int
  ) async throws -> IngestBatch {
    guard await permits.next() != nil else { throw CancellationError() }
    var requests: [ChatService.Request] = []
    var states: [(number: Int, state: IngestBatch.LineState)] = []
    var ended: (any Error)? = stream.ended
    var decodedBytes = 0
    for (index, line) in lines.enumerated() where refusedInARow < Limits.ingestLinesRefusedInARow {
      if index.isMultiple(of: Self.linesInARow) { await Task.yield() }
      do {
        if let ended { throw ended }
        let bytes = try admitted(line, &refusedInARow)
        // The same threads decode all clients' long bodies and encode long pages.
        decodedBytes += bytes.readableBytes
        if decodedBytes > Limits.inlineDecodingBytes {
          decodedBytes = bytes.readableBytes
          await Task.yield()
        }
        let request = try request(for: bytes)
        requests.append(request.lacksMedia ? try await chat.withMedia(request) : request)
        states.append((line.number, .queued))
      } catch {
        if ProblemMapping(error).isOfTheMachine { ended = error }
        states.append((line.number, .refused(error)))
      }
    }
    let commands = await stream.enqueue(requests)
    if let ended { stream.end((ended as? ServiceError) ?? .failed("\(ended)")) }
    return IngestBatch(lines: states, commands: commands)
  }

  /// A line counts as a request. It is decoded only if the rate limits admit it, so a rejected line is cheap.
  /// - Parameter refusedInARow: how many lines the rate limits have rejected since the last one that they admitted.
  private func admitted(_ line: IngestLines.Line, _ refusedInARow: inout Int) throws -> ByteBuffer {
    let admission = Result { () throws(Refusal) in try limiter.admitLine(of: caller) }
    if case .failure = admission { refusedInARow += 1 } else { refusedInARow = 0 }
    guard refusedInARow < Limits.ingestLinesRefusedInARow else {
      throw Refusal.tooManyRefusedLines(limit: Limits.ingestLinesRefusedInARow)
    }
    // If a line is too long, the sender needs that error first.
    let bytes = try line.content.get()
    try admission.get()
    return bytes
  }

  private func request(for bytes: ByteBuffer) throws -> ChatService.Request {
    let line = try PlainLine.message(in: bytes) ?? JSONBody.decodeNow(IngestLine.self, from: bytes)
    return try IngestOperation.request(for: line, by: caller, chat: chat)
  }
}

/// The results that one task adds and another writes.
private final class UnreadResultsBox: Sendable {
  private let results = Mutex(UnreadResults())

  func append(_ new: [(line: Int, result: LineResult)]) throws {
    try results.withLock { results in
      for (line, result) in new { try results.append(line, result) }
    }
  }

  func text(upTo bytes: Int) -> ByteBuffer? { results.withLock { $0.text(upTo: bytes) } }
}
