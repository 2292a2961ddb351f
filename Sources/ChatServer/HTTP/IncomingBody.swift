import Hummingbird
import Logging
import NIOCore

/// A request's body. When it breaks off, its client has gone away or sends what is no HTTP: nothing has failed, and
/// nobody waits for an answer. It then throws a `CancellationError`.
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
        logger.info("a body broke off: its client went away or sent no HTTP", metadata: ["error": "\(error)"])
        throw CancellationError()
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(base: body.makeAsyncIterator(), logger: logger)
  }
}
