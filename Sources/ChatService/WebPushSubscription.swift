import ChatPrimitives
import Crypto

/// The address of a browser at a push service, and the keys with which a message for it is encrypted (RFC 8291).
///
/// It is stored as the token of a device: the endpoint, the key and the secret in base64url, separated by spaces.
package struct WebPushSubscription: Sendable, Hashable {
  /// The URL of the push service (RFC 8030): `https`, without a user, a port or a fragment. `WebPushHosts` checks its
  /// host.
  package let endpoint: String
  package let host: String
  /// The browser's public key: an uncompressed point of P-256.
  package let publicKey: [UInt8]
  /// The secret that the browser shares with the sender.
  package let secret: [UInt8]

  package static let publicKeyBytes = 65
  package static let secretBytes = 16

  /// The rule that a subscription breaks.
  package enum Flaw: Error, Hashable {
    case endpoint
    case publicKey
    case secret
  }

  /// - Parameters:
  ///   - p256dh: the public key in base64url, without padding.
  ///   - auth: the secret in base64url, without padding.
  package init(endpoint: String, p256dh: String, auth: String) throws(Flaw) {
    guard let host = Self.host(of: endpoint) else { throw .endpoint }
    guard let publicKey = Self.publicKey(p256dh) else { throw .publicKey }
    guard let secret = Self.secret(auth) else { throw .secret }
    self.endpoint = endpoint
    self.host = host
    self.publicKey = publicKey
    self.secret = secret
  }

  /// All rules that the parts of a subscription break.
  package static func flaws(endpoint: String, p256dh: String, auth: String) -> [Flaw] {
    [
      host(of: endpoint) == nil ? .endpoint : nil, publicKey(p256dh) == nil ? .publicKey : nil,
      secret(auth) == nil ? .secret : nil,
    ].compactMap { $0 }
  }

  /// - Parameter token: the token of a device.
  package init(token: String) throws(Flaw) {
    let parts = token.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw .endpoint }
    try self.init(endpoint: parts[0], p256dh: parts[1], auth: parts[2])
  }

  /// The form in which it is stored as the token of a device. Equal subscriptions have equal tokens.
  package var token: String { "\(endpoint) \(Base64URL.encode(publicKey)) \(Base64URL.encode(secret))" }

  private static func publicKey(_ text: String) -> [UInt8]? {
    guard let key = Base64URL.decode(text, atMost: publicKeyBytes), key.count == publicKeyBytes,
      (try? P256.KeyAgreement.PublicKey(x963Representation: key)) != nil
    else { return nil }
    return key
  }

  private static func secret(_ text: String) -> [UInt8]? {
    guard let secret = Base64URL.decode(text, atMost: secretBytes), secret.count == secretBytes else { return nil }
    return secret
  }

  /// The host in lower case; nil if the URL does not have the form of an endpoint.
  ///
  /// Stricter than RFC 3986, so that no two parsers can disagree on the host: the host has only letters, digits, dots
  /// and hyphens, and the rest only visible ASCII characters.
  private static func host(of endpoint: String) -> String? {
    let scheme = "https://"
    guard endpoint.utf8.count <= Limits.webPushEndpointBytes, endpoint.utf8.starts(with: scheme.utf8) else {
      return nil
    }
    let rest = endpoint.utf8.dropFirst(scheme.utf8.count)
    let host = rest.prefix { $0 != UInt8(ascii: "/") }
    let path = rest.dropFirst(host.count)
    guard !host.isEmpty, host.allSatisfy(isOfHost), path.allSatisfy(isOfPath) else { return nil }
    return String(decoding: host, as: UTF8.self).lowercased()
  }

  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func isOfPath(_ byte: UInt8) -> Bool {
    (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "\\")
  }
}
