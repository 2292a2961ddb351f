import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Writes one line to the server's log for each problem that a client gets, so that its `requestId` can be found there. A
/// client can cause any number of problems, so the lines are limited: for all clients together, and to a fifth of that for
/// each address, so that one client does not keep the problems of the others out of the log. The next line says how many were
/// left out (`leftOut`).
final class ProblemLog: Sendable {
  /// How many lines can be written at once, and how many per second after that.
  struct Share: Sendable {
    let burst: Int
    let perSecond: Int

    fileprivate var rate: TokenBucket.Rate? {
      TokenBucket.Rate(RatePolicy(requests: burst, seconds: burst / perSecond))
    }
  }

  static let ofAll = Share(burst: 1000, perSecond: 100)
  /// The lines about one address, or one IPv6 /64.
  static let ofAddress = Share(burst: 200, perSecond: 20)
  /// How many addresses are remembered. One that was forgotten has its whole share again.
  private static let addresses = 1024

  private struct State {
    var all = TokenBucket()
    var addresses = BoundedTable<NetworkAddress?, TokenBucket>(limit: ProblemLog.addresses)
    var leftOut = 0
  }

  private static let rate = ofAll.rate
  private static let addressRate = ofAddress.rate

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
  ///   - address: that of the client; nil if it is not known.
  ///   - requestID: nil if `logger` adds it.
  func note(
    _ mapping: ProblemMapping, of error: any Error, route: String, from address: NetworkAddress?,
    requestID: RequestID? = nil, to logger: Logger
  ) {
    let logger = Self.logger(logger, of: requestID)
    guard mapping.code == ProblemCode.internalError.rawValue, !ProblemMapping.isCausedByClient(error) else {
      return note(mapping.code, status: mapping.status.code, route: route, from: address, to: logger)
    }
    logger.error("a request failed", metadata: ["route": "\(route)", "error": "\(LoggedError.text(error))"])
  }

  /// A problem that is not a failure of the server.
  func note(
    _ code: String, status: Int, route: String, from address: NetworkAddress?, requestID: RequestID? = nil,
    to logger: Logger
  ) {
    let logger = Self.logger(logger, of: requestID)
    guard logger.logLevel <= .notice, let leftOut = admit(address?.network) else { return }
    var metadata: Logger.Metadata = ["route": "\(route)", "status": "\(status)", "code": "\(code)"]
    if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
    logger.notice("request rejected", metadata: metadata)
  }

  private static func logger(_ logger: Logger, of requestID: RequestID?) -> Logger {
    guard let requestID else { return logger }
    var logger = logger
    logger[metadataKey: ServerContext.requestIDKey] = .stringConvertible(requestID)
    return logger
  }

  /// - Returns: how many problems were left out since the last one; nil if this one is left out too.
  private func admit(_ address: NetworkAddress?) -> Int? {
    guard let rate = Self.rate, let addressRate = Self.addressRate else { return nil }
    return state.withLock { state in
      let now = clock()
      let ofAddress = state.addresses.update(address, default: TokenBucket()) { $0.take(at: now, under: addressRate) }
      // The address is charged first, so that lines beyond its share take nothing from the share of all clients.
      guard case .admitted = ofAddress, case .admitted = state.all.take(at: now, under: rate) else {
        state.leftOut += 1
        return nil
      }
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }
}
