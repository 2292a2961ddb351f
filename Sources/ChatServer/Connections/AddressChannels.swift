import ChatPrimitives
import Logging
import NIOCore

/// Limits the open connections, or the open HTTP/2 streams, of one address or one IPv6 /64, so that no client can take
/// all of them. Trusted proxies are exempt, because they connect on behalf of many clients.
final class AddressChannels: Sendable {
  private let limit: AddressLimit
  private let proxies: TrustedProxies

  private init(_ limit: AddressLimit, proxies: TrustedProxies) {
    self.limit = limit
    self.proxies = proxies
  }

  /// - Returns: nil if the settings have no such limit.
  static func connections(_ settings: ConnectionSettings, proxies: TrustedProxies) -> AddressChannels? {
    guard settings.perAddress > 0 else { return nil }
    let limit = AddressLimit(
      settings.perAddress, name: "connections.perAddress",
      warning: "an address has too many open connections; further ones are closed")
    return AddressChannels(limit, proxies: proxies)
  }

  /// Streams are limited because each takes memory, and a client can open a hundred on each connection.
  static func streams(_ limit: Int = Limits.http2StreamsOfAddress, proxies: TrustedProxies) -> AddressChannels {
    let limit = AddressLimit(
      limit, name: "limitStreams", warning: "an address has too many open HTTP/2 streams; further ones are reset")
    return AddressChannels(limit, proxies: proxies)
  }

  /// Counts the connection or stream until it is closed.
  /// - Returns: false if its address has reached the limit; the caller must then close it.
  func admit(_ channel: any Channel, _ logger: Logger) -> Bool {
    guard let client = proxies.clientAddress(of: channel) else { return true }
    guard let reservation = limit.reserve(for: client, logger) else { return false }
    channel.closeFuture.whenComplete { _ in reservation.release() }
    return true
  }
}
