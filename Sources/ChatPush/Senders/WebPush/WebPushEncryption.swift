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

  /// - Parameters:
  ///   - key: used for this message only.
  ///   - salt: random, used for this message only.
  static func encrypt(
    _ content: [UInt8], for target: WebPushTarget, key: P256.KeyAgreement.PrivateKey = P256.KeyAgreement.PrivateKey(),
    salt: [UInt8] = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
  ) throws -> [UInt8] {
    precondition(content.count <= contentBytes && salt.count == saltBytes)
    let publicKey = Array(key.publicKey.x963Representation)
    let shared = try key.sharedSecretFromKeyAgreement(with: target.publicKey)
    let keyInfo = Array("WebPush: info\0".utf8) + Array(target.publicKey.x963Representation) + publicKey
    let input = shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: target.auth, sharedInfo: keyInfo, outputByteCount: inputBytes)
    let contentKey = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8),
      outputByteCount: keyBytes)
    let nonce = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), outputByteCount: nonceBytes)
    let sealed = try AES.GCM.seal(
      content + [lastRecord], using: contentKey, nonce: try nonce.withUnsafeBytes { try AES.GCM.Nonce(data: $0) })
    let sizeBytes = withUnsafeBytes(of: UInt32(messageBytes).bigEndian) { Array($0) }
    var message = salt
    message += sizeBytes
    message.append(UInt8(WebPushTarget.publicKeyBytes))
    message += publicKey
    message += sealed.ciphertext
    message += sealed.tag
    return message
  }
}
