import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `POST /v1/ingest`: lines in, results out, both streamed.
///
/// One task reads, decodes and queues; another writes results as they become durable. The reader never waits for a
/// client that does not read: what is decided but not fetched is bounded by the body's own limit.
struct IngestHandler: Sendable {
  /// Chunks that are queued and not settled before the reader waits.
  private static let chunksUnderWay = 4

  let chat: ChatService

  func run(_ exchange: Exchange) async throws -> Response {
    try exchange.requireMediaType("application/x-ndjson", "application/ndjson", "application/jsonl")
    let reader = IngestReader(chat: chat, caller: try exchange.actor)
    let body = exchange.request.body
    let responseBody = ResponseBody { writer in
      let (chunks, feed) = AsyncStream.makeStream(of: IngestChunk.self)
      async let reading: Void = Self.read(body, reader, feed)
      for await chunk in chunks { try await writer.write(try await chunk.encodedResults()) }
      try await reading
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: responseBody)
  }

  private static func read(
    _ body: RequestBodyStream, _ reader: IngestReader, _ feed: AsyncStream<IngestChunk>.Continuation
  ) async throws {
    defer { feed.finish() }
    var reader = reader
    var underWay: [IngestChunk] = []
    func pass(_ chunk: IngestChunk) async {
      feed.yield(chunk)
      underWay.append(chunk)
      if underWay.count > chunksUnderWay { await underWay.removeFirst().settled() }
    }
    for try await buffer in body {
      for lines in reader.take(buffer) { await pass(await reader.enqueue(lines)) }
      if reader.isOver { return }
    }
    for lines in reader.finish() { await pass(await reader.enqueue(lines)) }
  }
}

private typealias RequestBodyStream = RequestBody

/// The lines of one stream, numbered and decoded.
private struct IngestReader: Sendable {
  let chat: ChatService
  let caller: Principal
  private var lines = NDJSONLines(limit: Limits.ingestLineBytes)
  private var lineNumber = 0
  private var byteCount = 0
  /// The body's limit was passed: nothing more is read.
  private(set) var isOver = false

  init(chat: ChatService, caller: Principal) {
    self.chat = chat
    self.caller = caller
  }

  typealias Numbered = (number: Int, request: Result<ChatService.Request, any Error>)

  /// The lines that end within these bytes, in portions that are queued together.
  mutating func take(_ buffer: ByteBuffer) -> [[Numbered]] {
    let room = Limits.ingestBodyBytes - byteCount
    byteCount += buffer.readableBytes
    guard buffer.readableBytes <= room else {
      isOver = true
      var numbered = decode(lines.take(buffer.getSlice(at: buffer.readerIndex, length: room) ?? ByteBuffer()))
      lineNumber += 1
      numbered.append((lineNumber, .failure(Refusal.bodyTooLarge(limit: Limits.ingestBodyBytes))))
      return portions(numbered)
    }
    return portions(decode(lines.take(buffer)))
  }

  mutating func finish() -> [[Numbered]] {
    portions(decode(lines.finish().map { [$0] } ?? []))
  }

  func enqueue(_ lines: [Numbered]) async -> IngestChunk {
    let requests = lines.compactMap { try? $0.request.get() }
    return IngestChunk(lines: lines, commands: await chat.enqueue(requests))
  }

  private func portions(_ numbered: [Numbered]) -> [[Numbered]] {
    stride(from: 0, to: numbered.count, by: ChatService.bulkChunk).map {
      Array(numbered[$0..<min($0 + ChatService.bulkChunk, numbered.count)])
    }
  }

  private mutating func decode(_ found: [NDJSONLines.Line]) -> [Numbered] {
    var numbered: [Numbered] = []
    for line in found {
      lineNumber += 1
      switch line {
      case .blank: continue
      case .tooLong: numbered.append((lineNumber, .failure(Refusal.lineTooLong(limit: Limits.ingestLineBytes))))
      case .text(let bytes): numbered.append((lineNumber, Result { try request(for: bytes) }))
      }
    }
    return numbered
  }

  private func request(for bytes: ByteBuffer) throws -> ChatService.Request {
    try IngestOperation.request(for: try JSONBody.decode(IngestLine.self, from: bytes), by: caller, chat: chat)
  }
}

/// Lines that were queued together.
private struct IngestChunk: Sendable {
  let lines: [IngestReader.Numbered]
  let commands: BulkChunk

  func settled() async {
    await commands.settled()
  }

  /// One result a line, as NDJSON.
  func encodedResults() async throws -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    var outcomes = await commands.results().makeIterator()
    var buffer = ByteBuffer()
    for (number, request) in lines {
      let result: IngestResult
      switch request {
      case .failure(let error): result = IngestResult(line: number, error)
      case .success:
        switch outcomes.next() {
        case .success(let outcome):
          result = IngestResult(line: number, status: outcome.isNew ? 201 : 200, position: outcome.stamp.position)
        case .failure(let error): result = IngestResult(line: number, error)
        case nil: throw ServiceError.failed("a line without a result")
        }
      }
      buffer.writeBytes(try encoder.encode(result))
      buffer.writeInteger(UInt8(ascii: "\n"))
    }
    return buffer
  }
}

extension IngestResult {
  fileprivate init(line: Int, _ error: any Error) {
    let mapping = ProblemMapping(error)
    self.init(line: line, status: mapping.status.code, code: mapping.code, detail: mapping.detail)
  }
}
