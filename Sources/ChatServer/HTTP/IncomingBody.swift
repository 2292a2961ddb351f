import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// A request's body. If it ends early because the connection was lost, it throws a `CancellationError`: nothing has failed,
/// and nobody waits for a response. If the client ends it early or sends invalid HTTP, it throws the refusal that the client
/// gets: it may have closed only its own side.
struct IncomingBody: AsyncSequence, Sendable {
  let body: RequestBody
  let logger: Logger

  struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var base: RequestBody.AsyncIterator
    fileprivate let logger: Logger

    mutating func next() async throws -> ByteBuffer? {
      do {
        return try await base.next()
      } catch {
        logger.info(
          "a request body ended early: the client disconnected or sent invalid HTTP", metadata: ["error": "\(error)"])
        if let refusal = Refusal(parsing: error) { throw refusal }
        throw CancellationError()
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(base: body.makeAsyncIterator(), logger: logger)
  }

  /// Collects the whole body. Charges each piece before it is kept.
  /// - Throws: `Refusal.bodyTooLarge`; `ServiceError.overloaded` when the budget of the address is used up.
  func collect(upTo limit: Int, charging charge: BodyCharge) async throws -> ByteBuffer {
    var whole = ByteBuffer()
    for try await piece in self {
      guard piece.readableBytes <= limit - whole.readableBytes else { throw Refusal.bodyTooLarge(limit: limit) }
      try charge.add(piece.readableBytes)
      // Copies the piece: a short one may be part of a long buffer, and would keep all of it in memory.
      whole.writeImmutableBuffer(piece)
    }
    return whole
  }
}

extension Refusal {
  /// The refusal for an error of the HTTP/1 decoder; nil for other errors.
  init?(parsing error: any Error) {
    guard let error = error as? HTTPParserError else { return nil }
    switch error {
    case .headerOverflow: self = .headersTooLarge
    case .invalidEOFState: self = .malformedRequest("the request ended before the end of its body")
    case .invalidChunkSize: self = .malformedRequest("a chunk's size must be a hexadecimal number")
    case .unexpectedContentLength:
      self = .malformedRequest("Content-Length must not occur together with Transfer-Encoding, twice, or in trailers")
    default: self = .malformedRequest("\(error)")
    }
  }
}
