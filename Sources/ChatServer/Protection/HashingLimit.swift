import ChatService
import Hummingbird
import NIOCore

/// How often an address may ask for what hashes a password, right or wrong: a tenth of a second of a thread each, of
/// which there are few. Asked before anything is hashed.
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
