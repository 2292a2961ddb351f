import Crypto
import Foundation

/// Encrypts messages for one browser (RFC 8291), as one record of `aes128gcm` (RFC 8188).
enum WebPushEncryption {
  /// The maximum size of an encrypted message, in bytes (RFC 8030, section 7.2), and the record size in its header.
  static let messageBytes = 4096
  static let saltBytes = 16
  private static let keyBytes = 16
  private static let nonceBytes = 12
  private static let tagBytes = 16
  /// Salt, record size, length of the key ID, and the server's public key as the key ID.
  private static let headerBytes = saltBytes + 4 + 1 + WebPushTarget.publicKeyBytes
  /// The byte that ends the content of the last record.
  private static let lastRecord: UInt8 = 2
  /// The maximum size of the content, in bytes.
  static let contentBytes = messageBytes - headerBytes - 1 - tagBytes

  // Each ends with the number of the block that HKDF makes: the first one.
  private static let keyInfo = Array("WebPush: info\0".utf8)
  private static let contentKeyInfo = Array("Content-Encoding: aes128gcm\0\u{1}".utf8)
  private static let nonceInfo = Array("Content-Encoding: nonce\0\u{1}".utf8)

  /// A random key for one message.
  ///
  /// It is not made by `PrivateKey()`, which also signs with each new key and verifies the signature. That is meant for keys
  /// that sign, and takes ten times as long as the key.
  static func newKey() -> P256.KeyAgreement.PrivateKey {
    while true {
      // Fails once in 2^32 times, because a key must be less than the order of the curve.
      if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: SymmetricKey(size: .bits256)) { return key }
    }
  }

  /// - Parameters:
  ///   - key: used for this message only.
  ///   - salt: random, used for this message only.
  static func encrypt(
    _ content: [UInt8], for target: WebPushTarget, key: P256.KeyAgreement.PrivateKey = newKey(),
    salt: [UInt8] = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
  ) throws -> [UInt8] {
    precondition(content.count <= contentBytes && salt.count == saltBytes)
    let publicKey = Array(key.publicKey.x963Representation)
    let shared = try key.sharedSecretFromKeyAgreement(with: target.publicKey)
    let keys = Keys(shared, for: target, publicKey, salt: salt)
    let sealed = try AES.GCM.seal(content + [lastRecord], using: keys.content, nonce: try keys.nonce)
    let sizeBytes = withUnsafeBytes(of: UInt32(messageBytes).bigEndian) { Array($0) }
    var message: [UInt8] = []
    message.reserveCapacity(headerBytes + content.count + 1 + tagBytes)
    message += salt
    message += sizeBytes
    message.append(UInt8(WebPushTarget.publicKeyBytes))
    message += publicKey
    message += sealed.ciphertext
    message += sealed.tag
    return message
  }

  /// The key and the nonce of one message (RFC 8291, section 3.4).
  ///
  /// Each is one block of HKDF, which is one HMAC. swift-crypto's HKDF takes twice as long, because it sets up each key
  /// again: that of the browser, and the one from which both values are made.
  private struct Keys {
    let content: SymmetricKey
    private let nonceCode: HashedAuthenticationCode<SHA256>

    init(_ shared: SharedSecret, for target: WebPushTarget, _ publicKey: [UInt8], salt: [UInt8]) {
      let extracted = shared.withUnsafeBytes { code(target.auth, $0) }
      let input = code(HMAC(key: SymmetricKey(data: extracted)), keyInfo + target.point + publicKey + [1])
      let pseudoRandomKey = input.withUnsafeBytes { code(HMAC(key: SymmetricKey(data: salt)), $0) }
      let derived = HMAC<SHA256>(key: SymmetricKey(data: pseudoRandomKey))
      content = code(derived, contentKeyInfo).withUnsafeBytes { SymmetricKey(data: $0.prefix(keyBytes)) }
      nonceCode = code(derived, nonceInfo)
    }

    var nonce: AES.GCM.Nonce {
      get throws { try nonceCode.withUnsafeBytes { try AES.GCM.Nonce(data: $0.prefix(nonceBytes)) } }
    }
  }

  private static func code(
    _ authenticator: HMAC<SHA256>, _ input: some DataProtocol
  ) -> HashedAuthenticationCode<SHA256> {
    var authenticator = authenticator
    authenticator.update(data: input)
    return authenticator.finalize()
  }
}
