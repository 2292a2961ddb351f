import ChatPrimitives
import ChatService
import HTTPTypes
import NIOCore

/// How often requests may come.
package struct RateLimitSettings: Sendable, Hashable {
  package var isOn = true
  package var user = RatePolicy(requests: 1_200, seconds: 60)
  package var device = RatePolicy(requests: 900, seconds: 60)
  package var address = RatePolicy(requests: 18_000, seconds: 60)
  /// Those requests from one address for which a password is hashed.
  package var passwords = RatePolicy(requests: 60, seconds: 60)
  /// Kibibytes of messages that searches of one user read; `search.requests` is at least what one page may read.
  package var search = RatePolicy(requests: 64 * 1024, seconds: 60)
  /// Whether requests with a service token are counted too, against the address and against the user in whose name.
  package var countsServices = false

  package init() {}
}

/// The limits per address, user and device.
struct RateLimiter: Sendable {
  /// A device's ID is the user's own choice.
  private struct DeviceKey: Hashable, Sendable {
    let user: UserID
    let device: DeviceID
  }

  let countsServices: Bool
  private let addresses: RateLimit<NetworkAddress>?
  private let users: RateLimit<UserID>?
  private let devices: RateLimit<DeviceKey>?

  init(_ settings: RateLimitSettings) {
    countsServices = settings.countsServices
    addresses = settings.isOn ? RateLimit("address", settings.address) : nil
    users = settings.isOn ? RateLimit("user", settings.user) : nil
    devices = settings.isOn ? RateLimit("device", settings.device) : nil
  }

  /// Whether addresses are limited at all.
  var limitsAddresses: Bool { addresses != nil }

  /// Before anything is known of who asks.
  func admit(_ address: NetworkAddress) throws(Refusal) -> RateStatus? {
    try addresses?.take(address.network, at: NIODeadline.now().uptimeNanosecondsSinceStart)
  }

  /// - Parameter rateStatus: with the address's limit.
  /// - Returns: `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4) for the
  ///   answer, of the limits that are low; nil as long as none is. The draft lets a server leave them away where they
  ///   cost and tell nothing.
  func admit(_ principal: Principal?, rateStatus: RateStatus?) throws(Refusal) -> HTTPFields? {
    let (ofUser, ofDevice) = try take(principal)
    // Nearly every request ends here, and has made no array and no text.
    guard rateStatus?.isLow == true || ofUser?.isLow == true || ofDevice?.isLow == true else { return nil }
    return Self.fields([rateStatus, ofUser, ofDevice].compactMap { $0 }.filter(\.isLow))
  }

  /// Counts a line of a stream as a request.
  func admitLine(of principal: Principal) throws(Refusal) { _ = try take(principal) }

  private func take(_ principal: Principal?) throws(Refusal) -> (user: RateStatus?, device: RateStatus?) {
    guard let principal, let user = principal.user, users != nil || devices != nil,
      principal.service == nil || countsServices
    else { return (nil, nil) }
    let now = NIODeadline.now().uptimeNanosecondsSinceStart
    let ofUser = try users?.take(user, at: now)
    guard let device = principal.device else { return (ofUser, nil) }
    return (ofUser, try devices?.take(DeviceKey(user: user, device: device), at: now))
  }

  static func fields(_ rateStatuses: [RateStatus]) -> HTTPFields {
    var fields = HTTPFields()
    fields[.rateLimitPolicy] = rateStatuses.map { "\"\($0.name)\";q=\($0.policy.requests);w=\($0.policy.seconds)" }
      .joined(separator: ", ")
    fields[.rateLimit] = rateStatuses.map { "\"\($0.name)\";r=\($0.left);t=\($0.reset)" }.joined(separator: ", ")
    return fields
  }
}

extension NIODeadline {
  /// For clocks that count in nanoseconds without a sign.
  var uptimeNanosecondsSinceStart: UInt64 { UInt64(clamping: uptimeNanoseconds) }
}
