import Logging
import NIOCore
import Synchronization

/// Bounds the open connections of one address, or of one /64 of version 6, so that nobody holds all. Trusted proxies, which
/// connect for many, are exempt.
final class AddressConnections: Sendable {
  private struct State {
    /// Addresses with open connections only, so there are no more entries than connections.
    var counts: [NetworkAddress: Int] = [:]
    var warnAgainAt = NIODeadline.uptimeNanoseconds(0)
  }

  private let limit: Int
  private let proxies: TrustedProxies
  private let state = Mutex(State())

  /// How often the log tells that connections are refused.
  private static let warningInterval = TimeAmount.minutes(1)

  /// - Returns: nil when the settings have no such limit.
  init?(_ settings: ConnectionSettings, proxies: TrustedProxies) {
    guard settings.perAddress > 0 else { return nil }
    limit = settings.perAddress
    self.proxies = proxies
  }

  /// Counts the connection until it is closed.
  /// - Returns: false when its address has as many as one may have, and it must be closed.
  func admit(_ channel: any Channel, _ logger: Logger) -> Bool {
    guard let peer = channel.remoteAddress.flatMap({ NetworkAddress($0) }), !proxies.isTrusted(peer)
    else { return true }
    let network = peer.network
    guard open(network) else {
      warn(of: channel, logger)
      return false
    }
    channel.closeFuture.whenComplete { _ in self.close(network) }
    return true
  }

  func open(_ network: NetworkAddress) -> Bool {
    state.withLock { state in
      guard state.counts[network, default: 0] < limit else { return false }
      state.counts[network, default: 0] += 1
      return true
    }
  }

  func close(_ network: NetworkAddress) {
    state.withLock { state in
      guard let count = state.counts[network] else { return }
      state.counts[network] = count > 1 ? count - 1 : nil
    }
  }

  /// An operator whose proxy is not named as trusted must learn why its clients are turned away.
  private func warn(of channel: any Channel, _ logger: Logger) {
    let now = NIODeadline.now()
    let isDue = state.withLock { state in
      guard state.warnAgainAt <= now else { return false }
      state.warnAgainAt = now + Self.warningInterval
      return true
    }
    guard isDue else { return }
    logger.warning(
      "an address has too many open connections; further ones are closed. If it is a proxy, name it in proxies.trusted",
      metadata: [
        "address": "\(channel.remoteAddress?.ipAddress ?? "unknown")", "connections.perAddress": "\(limit)",
      ])
  }
}
