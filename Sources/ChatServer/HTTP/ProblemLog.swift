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

  /// - Parameters:
  ///   - route: the method and the declared path. The path of a request may contain an invite's token.
  ///   - logger: adds the request's ID.
  func note(_ code: String, status: Int, route: String, to logger: Logger) {
    guard logger.logLevel <= .notice, let leftOut = admit() else { return }
    if leftOut > 0 { logger.warning("too many problems to log each", metadata: ["leftOut": "\(leftOut)"]) }
    logger.notice("a request got a problem", metadata: ["route": "\(route)", "status": "\(status)", "code": "\(code)"])
  }

  /// The same for a problem that answers no request of HTTP.
  func note(_ code: String, status: Int, route: String, requestID: RequestID, to logger: Logger) {
    var logger = logger
    logger[metadataKey: ServerContext.requestIDKey] = .stringConvertible(requestID)
    note(code, status: status, route: route, to: logger)
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
