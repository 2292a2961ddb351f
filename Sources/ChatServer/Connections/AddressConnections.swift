import Logging
import NIOCore
import Synchronization

/// Bounds the open connections of one address, or of one /64 of version 6, so that nobody holds all. Trusted proxies, which
/// connect for many, are exempt.
final class AddressConnections: Sendable {
  private let connections: KeyedLimit<NetworkAddress>
  private let proxies: TrustedProxies
  private let warnAgainAt = Mutex(NIODeadline.uptimeNanoseconds(0))

  /// How often the log tells that connections are refused.
  private static let warningInterval = TimeAmount.minutes(1)

  /// - Returns: nil when the settings have no such limit.
  init?(_ settings: ConnectionSettings, proxies: TrustedProxies) {
    guard settings.perAddress > 0 else { return nil }
    connections = KeyedLimit(settings.perAddress)
    self.proxies = proxies
  }

  /// Counts the connection until it is closed.
  /// - Returns: false when its address has as many as one may have, and it must be closed.
  func admit(_ channel: any Channel, _ logger: Logger) -> Bool {
    guard let peer = channel.remoteAddress.flatMap({ NetworkAddress($0) }), !proxies.isTrusted(peer)
    else { return true }
    guard let connection = connections.reserve(for: peer.network) else {
      warn(of: channel, logger)
      return false
    }
    channel.closeFuture.whenComplete { _ in connection.release() }
    return true
  }

  /// An operator whose proxy is not named as trusted must learn why its clients are turned away.
  private func warn(of channel: any Channel, _ logger: Logger) {
    let now = NIODeadline.now()
    let isDue = warnAgainAt.withLock { warnAgainAt in
      guard warnAgainAt <= now else { return false }
      warnAgainAt = now + Self.warningInterval
      return true
    }
    guard isDue else { return }
    logger.warning(
      "an address has too many open connections; further ones are closed. If it is a proxy, name it in proxies.trusted",
      metadata: [
        "address": "\(channel.remoteAddress?.ipAddress ?? "unknown")", "connections.perAddress": "\(connections.limit)",
      ])
  }
}
