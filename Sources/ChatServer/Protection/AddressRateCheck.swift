import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore

/// What is looked at before a request is routed: how long its target is, where it comes from, and how many came from
/// there.
struct AddressRateCheck: Sendable {
  let proxies: TrustedProxies
  let limiter: RateLimiter
  /// Whether a request has the token of a service.
  let isOfService: @Sendable (Request) -> Bool

  /// Probes of the machine that runs the server are never refused.
  private func isProbe(_ target: String) -> Bool {
    target == Endpoints.health.path || target == Endpoints.readiness.path
  }

  /// Notes in the context where the request comes from and how it stands.
  func admit(_ request: Request, _ context: inout ServerContext) throws {
    let target = request.uri.string
    guard target.utf8.count <= Limits.requestTargetBytes else { throw Refusal.targetTooLong }
    // HTTP/1 is refused by its decoder; that of HTTP/2 looks at bytes alone.
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

/// What a request brings along on its way to its handler.
struct ServerContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel
  /// The other end of the connection.
  let peer: NetworkAddress?
  /// Where the request comes from, as far as is known.
  var address: NetworkAddress?
  /// With the limit of its address, where it was counted.
  var rateStatus: RateStatus?

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    peer = source.channel.remoteAddress.flatMap { NetworkAddress($0) }
  }
}
