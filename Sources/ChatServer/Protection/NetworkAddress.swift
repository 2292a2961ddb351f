import Foundation
import NIOCore

/// An IP address. IPv4 addresses are stored as IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2), so that both are
/// compared in the same way.
package struct NetworkAddress: Sendable, Hashable {
  fileprivate let bits: UInt128

  /// The first 96 bits of IPv4 addresses.
  private static let mappedPrefix: UInt128 = 0xffff << 32
  /// The number of bits in an IPv6 address that identify its network. One client usually has all addresses of a /64.
  private static let networkBits = 64

  fileprivate init(bits: UInt128) {
    self.bits = bits
  }

  /// - Returns: nil if the socket has no IP address.
  init?(_ socket: SocketAddress) {
    switch socket {
    case .v4(let address):
      bits = Self.mappedPrefix | UInt128(UInt32(bigEndian: address.address.sin_addr.s_addr))
    case .v6(let address):
      bits = withUnsafeBytes(of: address.address.sin6_addr) { $0.reduce(0) { $0 << 8 | UInt128($1) } }
    case .unixDomainSocket: return nil
    }
  }

  /// Parses an IPv4 or IPv6 address. It may have brackets or, for IPv4, a port after it, as proxies write it.
  package init?(_ text: some StringProtocol) {
    var text = text[...]
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      text = text[text.index(after: text.startIndex)..<end]
    } else if text.contains("."), let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
      text = text[..<colon]
    }
    guard let socket = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
    self.init(socket)
  }

  fileprivate var isVersion4: Bool { bits >> 32 == Self.mappedPrefix >> 32 }

  /// The unit that limits count: an IPv4 address, or the /64 network of an IPv6 address.
  var network: NetworkAddress {
    isVersion4 ? self : NetworkAddress(bits: (bits >> Self.networkBits) << Self.networkBits)
  }
}

extension NetworkAddress: CustomStringConvertible {
  /// IPv4 with dots, IPv6 as eight groups (RFC 4291, section 2.2).
  package var description: String {
    if isVersion4 {
      return [24, 16, 8, 0].map { (shift: Int) in "\(bits >> shift & 0xff)" }.joined(separator: ".")
    }
    return stride(from: 112, through: 0, by: -16).map { (shift: Int) in String(bits >> shift & 0xffff, radix: 16) }
      .joined(separator: ":")
  }
}

/// A range of addresses, as in CIDR notation.
package struct NetworkRange: Sendable, Hashable {
  private let first: UInt128
  /// How many leading bits, of 128, all addresses in the range share.
  private let sharedBits: Int

  /// Parses `10.0.0.0/8`, `fd00::/8`, or one address.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let address = NetworkAddress(parts[0]) else { return nil }
    let bitCount = address.isVersion4 ? 32 : 128
    guard let shared = parts.count == 1 ? bitCount : Int(parts[1]), (0...bitCount).contains(shared) else { return nil }
    sharedBits = shared + UInt128.bitWidth - bitCount
    first = Self.prefix(address.bits, sharedBits)
  }

  package func contains(_ address: NetworkAddress) -> Bool { Self.prefix(address.bits, sharedBits) == first }

  private static func prefix(_ bits: UInt128, _ count: Int) -> UInt128 {
    let rest = UInt128.bitWidth - count
    return rest == UInt128.bitWidth ? 0 : (bits >> rest) << rest
  }
}
