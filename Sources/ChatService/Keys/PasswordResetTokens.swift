import ChatPrimitives
import Crypto

/// The content of a token that resets a password.
struct PasswordReset: Hashable {
  let user: UserID
  /// The version of the credential that it may replace; zero if there is none.
  let version: UInt32
  let expiresAt: Timestamp
}

/// Tokens that reset passwords. A token contains the user, the version of the password and an expiry, with an HMAC
/// under the server's key. Nothing is stored, and using a token creates a version for which it is no longer valid.
struct PasswordResetTokens {
  /// Distinguishes these tokens from others in logs and for secret scanners.
  static let prefix = "hsp_"
  private static let bodyBytes = UUIDBytes.byteCount + MemoryLayout<UInt32>.size + MemoryLayout<Int64>.size

  private let key: SymmetricKey

  init(_ keys: ServerKeys) {
    key = keys.key(for: "password-reset-token")
  }

  func token(for reset: PasswordReset) -> String {
    var body = reset.user.uuid.bytes
    withUnsafeBytes(of: reset.version.bigEndian) { body.append(contentsOf: $0) }
    withUnsafeBytes(of: reset.expiresAt.milliseconds.bigEndian) { body.append(contentsOf: $0) }
    return Self.prefix + Base64URL.encode(body + HMAC<SHA256>.authenticationCode(for: body, using: key))
  }

  /// - Returns: nil if this server did not make the token.
  func reset(in token: String) -> PasswordReset? {
    let byteCount = Self.bodyBytes + SHA256.byteCount
    guard token.hasPrefix(Self.prefix),
      let bytes = Base64URL.decode(token.dropFirst(Self.prefix.count), atMost: byteCount), bytes.count == byteCount
    else { return nil }
    let body = bytes.prefix(Self.bodyBytes)
    guard
      HMAC<SHA256>.isValidAuthenticationCode(bytes.dropFirst(Self.bodyBytes), authenticating: body, using: key),
      let user = UUIDBytes(bytes: bytes[0..<16])
    else { return nil }
    let version = bytes[16..<20].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let expiry = bytes[20..<28].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return PasswordReset(
      user: UserID(user), version: version, expiresAt: Timestamp(milliseconds: Int64(bitPattern: expiry)))
  }
}
