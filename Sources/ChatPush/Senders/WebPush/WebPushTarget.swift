import ChatService
import Crypto
import Synchronization

/// A browser's subscription: where its messages are sent, and the keys that encrypt them. As a token it is the text
/// `endpoint p256dh auth`.
struct WebPushTarget: Sendable {
  /// The maximum length of an endpoint, in bytes.
  static let endpointBytes = 1024
  /// The lengths of the keys in bytes (RFC 8291, section 2).
  static let publicKeyBytes = 65
  static let authBytes = 16

  /// The endpoint.
  let address: ProviderAddress
  /// `https://` and the host.
  let origin: String
  /// The browser's public key.
  let publicKey: P256.KeyAgreement.PublicKey
  /// The same as an uncompressed point.
  let point: [UInt8]
  /// Computes codes with the browser's secret.
  let auth: HMAC<SHA256>

  /// - Returns: nil if it is not a subscription, or if messages may not be sent to its host.
  init?(token: String, hosts: WebPushHosts) {
    // Bytes are split and compared, because characters take several times as long.
    let parts = token.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map(Substring.init)
    guard parts.count == 3, let origin = hosts.origin(of: parts[0]),
      let point = Base64URL.decode(parts[1], atMost: Self.publicKeyBytes),
      let auth = Base64URL.decode(parts[2], atMost: Self.authBytes), auth.count == Self.authBytes,
      let publicKey = try? P256.KeyAgreement.PublicKey(x963Representation: point),
      // The host in lower case, so that one connection serves all endpoints at it.
      let address = try? ProviderAddress(origin + Substring(parts[0].utf8.dropFirst(origin.utf8.count)))
    else { return nil }
    self.address = address
    self.origin = origin
    self.publicKey = publicKey
    self.point = point
    self.auth = HMAC(key: SymmetricKey(data: auth))
  }
}

/// The subscriptions to which messages were sent last, so that each is read once: a message to a room goes to the same
/// browsers as the one before.
final class WebPushTargets: Sendable {
  /// The maximum number of subscriptions in memory, each of which takes about 2 KB. If a server sends to more browsers in turn,
  /// each subscription is read each time.
  static let capacity = 16_384

  private let hosts: WebPushHosts
  private let known = Mutex<[String: WebPushTarget]>([:])

  init(_ hosts: WebPushHosts) { self.hosts = hosts }

  /// How many subscriptions are in memory.
  var count: Int { known.withLock(\.count) }

  /// - Returns: nil if it is not a subscription, or if messages may not be sent to its host.
  func target(of token: String) -> WebPushTarget? {
    if let target = known.withLock({ $0[token] }) { return target }
    guard let target = WebPushTarget(token: token, hosts: hosts) else { return nil }
    known.withLock { known in
      if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
      known[token] = target
    }
    return target
  }
}

/// The hosts to which messages may be sent, so that a client cannot make the server send requests to any other.
package struct WebPushHosts: Sendable, Hashable {
  /// The push services of the browsers.
  package static let usual = [
    "fcm.googleapis.com", "updates.push.services.mozilla.com", ".push.services.mozilla.com", ".notify.windows.com",
    "web.push.apple.com", ".push.apple.com",
  ]

  private let names: Set<String>
  private let suffixes: [String]

  /// - Parameter entries: each is a host, or a suffix such as `.example.org`, which allows every host below
  ///   `example.org`.
  package init(_ entries: [String] = WebPushHosts.usual) {
    let entries = entries.map { $0.lowercased() }
    names = Set(entries.filter { !$0.hasPrefix(".") })
    suffixes = entries.filter { $0.hasPrefix(".") }
  }

  /// The first entry that no endpoint can match, such as a URL or a host with a port.
  package static func invalidEntry(in entries: [String]) -> String? {
    entries.first { entry in
      let name = entry.hasPrefix(".") ? entry.dropFirst() : entry[...]
      return !isName(String(name)) || !name.lowercased().utf8.allSatisfy(isHostCharacter)
    }
  }

  /// Whether messages may be sent to an endpoint.
  package func allows(_ endpoint: String) -> Bool { origin(of: endpoint) != nil }

  /// The origin of an endpoint (RFC 6454, section 6.2).
  /// - Returns: nil if messages may not be sent there: it is not an `https` URL, has credentials, a fragment or a port,
  ///   is too long, or its host is not in the list.
  func origin(of endpoint: some StringProtocol) -> String? {
    let bytes = Array(endpoint.utf8.prefix(WebPushTarget.endpointBytes + 1))
    guard bytes.count <= WebPushTarget.endpointBytes,
      String(decoding: bytes.prefix(Self.scheme.utf8.count), as: UTF8.self).lowercased() == Self.scheme
    else { return nil }
    // Before the path there is only a host, so that no other parser can find another host in the URL.
    let rest = bytes.dropFirst(Self.scheme.utf8.count)
    let name = rest.prefix { $0 != UInt8(ascii: "/") }
    guard name.allSatisfy({ Self.isHostCharacter($0) || Self.isCapital($0) }),
      Self.isPath(rest.dropFirst(name.count))
    else { return nil }
    let host = String(decoding: name, as: UTF8.self).lowercased()
    return Self.isName(host) && isAllowed(host) ? Self.scheme + host : nil
  }

  /// Whether the host is a valid DNS name (RFC 1123, section 2.1; RFC 1035, section 2.3.4).
  private static func isName(_ host: String) -> Bool {
    host.utf8.count <= hostBytes
      && host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
        (1...labelBytes).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      }
  }

  private static let hostBytes = 253
  private static let labelBytes = 63

  private static let scheme = "https://"

  private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  private func isAllowed(_ host: String) -> Bool {
    names.contains(host) || suffixes.contains { host.hasSuffix($0) && host.utf8.count > $0.utf8.count }
  }

  /// Whether this is an absolute path, perhaps with a query (RFC 3986, sections 3.3 and 3.4).
  private static func isPath(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.first == UInt8(ascii: "/") else { return false }
    var escaped = 0
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        escaped = max(escaped - 1, 0)
      case _ where escaped > 0: return false
      case UInt8(ascii: "%"): escaped = 2
      case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "G")...UInt8(ascii: "Z"): continue
      case _ where pathSymbols.contains(byte): continue
      default: return false
      }
    }
    return escaped == 0
  }

  private static let pathSymbols = Set("-._~!$&'()*+,;=:@/?".utf8)

  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
