import Crypto
import Foundation

/// Encrypts messages for one browser (RFC 8291), as one record of `aes128gcm` (RFC 8188).
enum WebPushEncryption {
  /// The maximum size of an encrypted message, in bytes (RFC 8030, section 7.2), and the record size in its header.
  static let messageBytes = 4096
  static let saltBytes = 16
  /// The length of the key from which the others are derived.
  private static let inputBytes = 32
  private static let keyBytes = 16
  private static let nonceBytes = 12
  private static let tagBytes = 16
  /// Salt, record size, length of the key ID, and the server's public key as the key ID.
  private static let headerBytes = saltBytes + 4 + 1 + WebPushTarget.publicKeyBytes
  /// The byte that ends the content of the last record.
  private static let lastRecord: UInt8 = 2
  /// The maximum size of the content, in bytes.
  static let contentBytes = messageBytes - headerBytes - 1 - tagBytes

  private static let keyInfo = Array("WebPush: info\0".utf8)
  private static let contentKeyInfo = Array("Content-Encoding: aes128gcm\0".utf8)
  private static let nonceInfo = Array("Content-Encoding: nonce\0".utf8)

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
    let input = shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: target.auth, sharedInfo: keyInfo + target.point + publicKey,
      outputByteCount: inputBytes)
    let pseudoRandomKey = HKDF<SHA256>.extract(inputKeyMaterial: input, salt: salt)
    let contentKey = HKDF<SHA256>.expand(
      pseudoRandomKey: pseudoRandomKey, info: contentKeyInfo, outputByteCount: keyBytes)
    let nonce = HKDF<SHA256>.expand(pseudoRandomKey: pseudoRandomKey, info: nonceInfo, outputByteCount: nonceBytes)
    let sealed = try AES.GCM.seal(
      content + [lastRecord], using: contentKey, nonce: try nonce.withUnsafeBytes { try AES.GCM.Nonce(data: $0) })
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
}
