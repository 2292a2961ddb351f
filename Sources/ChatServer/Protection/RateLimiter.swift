import ChatPrimitives
import ChatService
import HTTPTypes
import NIOCore

/// How many requests are allowed in which time.
package struct RateLimitSettings: Sendable, Hashable {
  package var isOn = true
  package var user = RatePolicy(requests: 1_200, seconds: 60)
  package var device = RatePolicy(requests: 900, seconds: 60)
  package var address = RatePolicy(requests: 18_000, seconds: 60)
  /// The requests from one address for which a password is hashed.
  package var passwords = RatePolicy(requests: 60, seconds: 60)
  /// The kibibytes of messages that the searches of one user may read. A page reserves as much as it may read, at most
  /// all of this.
  package var search = RatePolicy(requests: 64 * 1024, seconds: 60)
  /// The searches of one user for other users.
  package var people = RatePolicy(requests: 60, seconds: 60)
  /// Whether requests with a service token are counted too, against the address and against the user in whose name they
  /// act.
  package var countsServices = false

  package init() {}
}

/// The limits per address, user and device.
struct RateLimiter: Sendable {
  /// Contains the user as well, because users choose the IDs of their devices.
  fileprivate struct DeviceKey: Hashable, Sendable {
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

  /// Counts a request against its address, before the caller is known.
  func admit(_ address: NetworkAddress) throws(Refusal) -> RateStatus? {
    try addresses?.take(address.network, at: NIODeadline.now().uptimeNanosecondsSinceStart)
  }

  /// - Parameter rateStatus: the status of the address's limit.
  /// - Returns: `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4) for the
  ///   response, with the limits that are low; nil if none is low. The draft allows a server to omit the fields.
  func admit(_ principal: Principal?, rateStatus: RateStatus?) throws(Refusal) -> HTTPFields? {
    var taken = Taken()
    return try admit(principal, rateStatus: rateStatus, &taken)
  }

  private func admit(
    _ principal: Principal?, rateStatus: RateStatus?, _ taken: inout Taken
  ) throws(Refusal) -> HTTPFields? {
    let (ofUser, ofDevice) = try take(principal, &taken)
    // Nearly every request ends here, without allocating an array or a text.
    guard rateStatus?.isLow == true || ofUser?.isLow == true || ofDevice?.isLow == true else { return nil }
    return Self.fields([rateStatus, ofUser, ofDevice].compactMap { $0 }.filter(\.isLow))
  }

  /// Counts a line of a stream as a request.
  func admitLine(of principal: Principal) throws(Refusal) {
    var taken = Taken()
    _ = try take(principal, &taken)
  }

  /// Counts a message of a stream as a request.
  /// - Parameter address: that of the client, if it is known.
  func admitMessage(of principal: Principal, at address: NetworkAddress?) throws(Refusal) {
    if let address, counts(principal) { _ = try admit(address) }
    try admitLine(of: principal)
  }

  private func counts(_ principal: Principal) -> Bool { principal.service == nil || countsServices }

  /// - Parameter taken: gets what was taken, also if a limit is reached.
  private func take(
    _ principal: Principal?, _ taken: inout Taken
  ) throws(Refusal) -> (user: RateStatus?, device: RateStatus?) {
    guard let principal, let user = principal.user, users != nil || devices != nil, counts(principal) else {
      return (nil, nil)
    }
    let now = NIODeadline.now().uptimeNanosecondsSinceStart
    let ofUser = try users?.take(user, at: now)
    taken.user = user
    guard let device = principal.device.map({ DeviceKey(user: user, device: $0) }) else { return (ofUser, nil) }
    let ofDevice = try devices?.take(device, at: now)
    taken.device = device
    return (ofUser, ofDevice)
  }

  /// What one request took from the limits.
  struct Taken: Sendable {
    fileprivate var address: NetworkAddress?
    fileprivate var user: UserID?
    fileprivate var device: DeviceKey?
    /// The fields for the response; nil if no limit is low.
    fileprivate(set) var fields: HTTPFields?
  }

  /// Counts a request against all limits, or against none.
  /// - Parameter address: that of the client; nil if it is not known.
  /// - Returns: nil if one of the limits is reached.
  func admitAtOnce(_ principal: Principal, at address: NetworkAddress?) -> Taken? {
    var taken = Taken()
    do throws(Refusal) {
      var ofAddress: RateStatus?
      if let address, counts(principal) {
        ofAddress = try admit(address)
        taken.address = address
      }
      taken.fields = try admit(principal, rateStatus: ofAddress, &taken)
      return taken
    } catch {
      giveBack(taken)
      return nil
    }
  }

  /// Undoes `admitAtOnce`.
  func giveBack(_ taken: Taken) {
    if let address = taken.address { addresses?.refund(address.network, tokens: 1) }
    if let user = taken.user { users?.refund(user, tokens: 1) }
    if let device = taken.device { devices?.refund(device, tokens: 1) }
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
  /// For clocks that count in unsigned nanoseconds.
  var uptimeNanosecondsSinceStart: UInt64 { UInt64(clamping: uptimeNanoseconds) }
}
