import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Writes one line to the server's log for each problem that a client gets, so that its `requestId` can be found there. A
/// client can cause any number of problems, so the lines are limited. What was left out is counted.
final class ProblemLog: Sendable {
  /// How many problems are logged at once.
  static let burst = 1000
  /// How many problems are logged per second after a burst.
  static let perSecond = 100

  private struct State {
    var bucket = TokenBucket()
    var leftOut = 0
  }

  private static let rate = TokenBucket.Rate(RatePolicy(requests: burst, seconds: burst / perSecond))

  private let state = Mutex(State())
  private let clock: @Sendable () -> UInt64

  /// - Parameter clock: nanoseconds of a clock that only moves forward.
  init(clock: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanosecondsSinceStart }) {
    self.clock = clock
  }

  /// A failure of the server is an error, which is never left out.
  /// - Parameters:
  ///   - error: what the problem was made of.
  ///   - route: the method and the declared path. The path of a request may contain an invite's token.
  ///   - requestID: nil if `logger` adds it.
  func note(
    _ mapping: ProblemMapping, of error: any Error, route: String, requestID: RequestID? = nil, to logger: Logger
  ) {
    let logger = Self.logger(logger, of: requestID)
    guard mapping.code == ProblemCode.internalError.rawValue, !ProblemMapping.isCausedByClient(error) else {
      return note(mapping.code, status: mapping.status.code, route: route, to: logger)
    }
    logger.error("a request failed", metadata: ["route": "\(route)", "error": "\(LoggedError.text(error))"])
  }

  /// A problem that is not a failure of the server.
  func note(_ code: String, status: Int, route: String, requestID: RequestID? = nil, to logger: Logger) {
    let logger = Self.logger(logger, of: requestID)
    guard logger.logLevel <= .notice, let leftOut = admit() else { return }
    if leftOut > 0 {
      // This line is about no request.
      var logger = logger
      logger[metadataKey: ServerContext.requestIDKey] = nil
      logger.warning("problem lines were left out", metadata: ["leftOut": "\(leftOut)"])
    }
    logger.notice("request rejected", metadata: ["route": "\(route)", "status": "\(status)", "code": "\(code)"])
  }

  private static func logger(_ logger: Logger, of requestID: RequestID?) -> Logger {
    guard let requestID else { return logger }
    var logger = logger
    logger[metadataKey: ServerContext.requestIDKey] = .stringConvertible(requestID)
    return logger
  }

  /// - Returns: how many problems were left out since the last one; nil if this one is left out too.
  private func admit() -> Int? {
    guard let rate = Self.rate else { return nil }
    return state.withLock { state in
      guard case .admitted = state.bucket.take(at: clock(), under: rate) else {
        state.leftOut += 1
        return nil
      }
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }
}
