import Logging
import NIOCore

/// Bounds the open connections of one address, or of one /64 of IPv6, so that nobody holds all. Trusted proxies, which
/// connect for many, are exempt.
final class AddressConnections: Sendable {
  private let connections: KeyedLimit<NetworkAddress>
  private let proxies: TrustedProxies
  private let warnings: AddressWarnings

  /// - Returns: nil when the settings have no such limit.
  init?(_ settings: ConnectionSettings, proxies: TrustedProxies) {
    guard settings.perAddress > 0 else { return nil }
    connections = KeyedLimit(settings.perAddress)
    warnings = AddressWarnings(
      "an address has too many open connections; further ones are closed",
      limit: ("connections.perAddress", settings.perAddress))
    self.proxies = proxies
  }

  /// Counts the connection until it is closed.
  /// - Returns: false when its address has as many as one may have, and it must be closed.
  func admit(_ channel: any Channel, _ logger: Logger) -> Bool {
    guard let peer = proxies.clientAddress(of: channel) else { return true }
    guard let reservation = connections.reserve(for: peer.network) else {
      warnings.warn(of: peer, logger)
      return false
    }
    channel.closeFuture.whenComplete { _ in reservation.release() }
    return true
  }
}
