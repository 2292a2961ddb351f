import NIOCore

/// The proxies that are trusted to report a client's address. Anybody can send an `X-Forwarded-For`, so without trusted
/// proxies the client's address is that of the connection.
package struct TrustedProxies: Sendable, Hashable {
  private let ranges: [NetworkRange]

  package init(_ ranges: [NetworkRange]) {
    self.ranges = ranges
  }

  var isEmpty: Bool { ranges.isEmpty }

  /// The last address of the chain that is not a trusted proxy. A client can make up the addresses before it.
  /// - Parameters:
  ///   - peer: the other end of the connection.
  ///   - forwardedFor: the header, to which each proxy appends the address from which it got the request.
  func client(peer: NetworkAddress, forwardedFor: String?) -> NetworkAddress {
    guard let forwardedFor, isTrusted(peer) else { return peer }
    var client = peer
    for entry in forwardedFor.split(separator: ",").reversed() {
      guard let address = NetworkAddress(entry.drop { $0 == " " }.prefix { $0 != " " }) else { return client }
      client = address
      if !isTrusted(address) { return client }
    }
    return client
  }

  /// The address whose limits apply to a connection or HTTP/2 stream.
  /// - Returns: nil for a trusted proxy, which connects on behalf of many clients, and for an unknown address.
  func clientAddress(of channel: any Channel) -> NetworkAddress? {
    channel.remoteAddress.flatMap { NetworkAddress($0) }.flatMap { isTrusted($0) ? nil : $0 }
  }

  func isTrusted(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }
}
