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

/// Parsed subscriptions, so that most are parsed once: a message to a room goes to the same browsers as the one before.
final class WebPushTargets: Sendable {
  /// The maximum number of subscriptions in memory, each of which takes about 2 KB. When there are that many, all are
  /// dropped.
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
