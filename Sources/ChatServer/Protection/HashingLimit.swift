import ChatService
import Hummingbird
import NIOCore

/// Limits how often an address may send requests that hash a password, whether it is correct or not. Each takes a tenth
/// of a second on one of few threads. The limit is checked before anything is hashed.
struct HashingLimit: Sendable {
  private let addresses: RateLimit<NetworkAddress>?
  private let countsServices: Bool

  init(_ settings: RateLimitSettings) {
    addresses = settings.isOn ? RateLimit("passwords", settings.passwords) : nil
    countsServices = settings.countsServices
  }

  /// - Throws: `Refusal.rateLimited`.
  func admit(_ context: HansardRequestContext) throws {
    guard let addresses, let address = context.address,
      context.principal?.service == nil || countsServices
    else { return }
    _ = try addresses.take(address.network, at: NIODeadline.now().uptimeNanosecondsSinceStart)
  }
}
