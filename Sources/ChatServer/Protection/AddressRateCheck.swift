import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The checks before a request is routed: the size and the text of its target and header fields, and the rate limit of
/// its address.
struct AddressRateCheck: Sendable {
  let proxies: TrustedProxies
  let limiter: RateLimiter
  /// Whether a request has the token of a service.
  let isOfService: @Sendable (Request) -> Bool

  /// Health and readiness probes are exempt from the rate limit.
  private func isProbe(_ target: String) -> Bool {
    target == Endpoints.health.path || target == Endpoints.readiness.path
  }

  /// Stores the client's address and its rate status in the context.
  func admit(_ request: Request, _ context: inout ServerContext) throws {
    let target = request.uri.string
    guard target.utf8.count <= Limits.requestTargetBytes else { throw Refusal.targetTooLong }
    // The HTTP/1 decoder rejects too many fields itself; the HTTP/2 decoder limits only their bytes.
    guard request.headers.count <= Limits.headerFields else { throw Refusal.headersTooLarge }
    try StreamSafeRequest.require(target: target, request.headers)
    guard let peer = context.peer else { return }
    let address =
      proxies.isEmpty ? peer : proxies.client(peer: peer, forwardedFor: request.headers[.xForwardedFor])
    context.address = address
    guard limiter.limitsAddresses, !isProbe(target),
      limiter.countsServices || !isOfService(request)
    else { return }
    context.rateStatus = try limiter.admit(address)
  }
}

/// The context of a request on the way to its handler.
struct ServerContext: RequestContext {
  /// Where Hummingbird keeps the request's ID in the metadata of a logger.
  static let requestIDKey = "hb.request.id"

  var coreContext: CoreRequestContextStorage
  let channel: any Channel
  /// The other end of the connection.
  private(set) var peer: NetworkAddress?
  /// The trace that the request belongs to; nil if it has none.
  private(set) var trace: TraceContext?
  /// The client's address, if it is known.
  var address: NetworkAddress?
  /// The status of the address's rate limit; nil if the request was not counted.
  var rateStatus: RateStatus?

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    peer = source.channel.remoteAddress.flatMap { NetworkAddress($0) }
  }

  /// The context of a request that did not arrive as one.
  /// - Parameters:
  ///   - client: its address, if the channel may be closed already.
  ///   - trace: added to every line of the log, as the request's ID is.
  init(
    on channel: any Channel, client: NetworkAddress? = nil, _ logger: Logger, trace: TraceContext? = nil
  ) {
    var logger = logger
    for (key, value) in trace?.metadata ?? [:] { logger[metadataKey: key] = value }
    logger[metadataKey: Self.requestIDKey] = .stringConvertible(RequestID())
    self.init(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    peer = client ?? peer
    self.trace = trace
  }
}
