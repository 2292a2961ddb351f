import ChatDomain
package import ChatPrimitives
import ChatProtocol
package import ChatService
import Crypto
import Foundation
import JWTKit
import Synchronization

/// Makes and checks the tokens of users.
///
/// An access token is a JWT (RFC 7519) under EdDSA; a refresh token is an HMAC of session and generation. Both are made
/// of a `SessionGrant` alone, so that the same pair can be issued again and the log need keep no secret.
package actor TokenIssuer {
  /// How long an access token is good for when the operator does not say, in seconds.
  package static let defaultAccessTokenLifetimeSeconds = 900
  private static let keyID = JWKIdentifier(string: "hansard-1")
  private static let refreshCodeBytes = 32

  private let signingKeys = JWTKeyCollection()
  private let refreshKey: SymmetricKey
  private let lifetimeSeconds: Int

  package init(keys: ServerKeys, accessTokenLifetimeSeconds: Int) async throws {
    lifetimeSeconds = accessTokenLifetimeSeconds
    refreshKey = keys.key(for: "refresh-token")
    let seed = keys.key(for: "access-token-signing").withUnsafeBytes { Data($0) }
    // Sorted keys make the same claims the same token.
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    await signingKeys.add(
      eddsa: EdDSA.PrivateKey(backing: try Curve25519.Signing.PrivateKey(rawRepresentation: seed)), kid: Self.keyID,
      serializer: DefaultJWTSerializer(jsonEncoder: encoder))
  }

  // MARK: Access tokens

  package func accessToken(for grant: SessionGrant) async throws -> String {
    let issued = Int(grant.stamp.time.milliseconds / 1000)
    let claims = AccessClaims(
      sub: grant.user.description, sid: grant.session.description, did: grant.device?.description,
      gen: grant.generation, iat: issued, exp: issued + lifetimeSeconds)
    return try await signingKeys.sign(claims, kid: Self.keyID)
  }

  /// - Throws: `Refusal.accessTokenInvalid` for anything that this server did not sign. The expiry is for the caller to
  ///   check, each time anew.
  func verify(accessToken: String) async throws -> VerifiedToken {
    guard let claims = try? await signingKeys.verify(accessToken, as: AccessClaims.self),
      let user = UserID(claims.sub), let session = SessionID(claims.sid)
    else { throw Refusal.accessTokenInvalid }
    // A token of a server with a longer lifetime: ended sessions are remembered for today's.
    let expiry = min(claims.exp, claims.iat + lifetimeSeconds)
    return VerifiedToken(
      principal: Principal(user: user, session: session, device: claims.did.flatMap { DeviceID($0) }),
      expiresAt: Timestamp(milliseconds: Int64(expiry) * 1000))
  }

  /// Seconds that the pair's access token has left.
  package func secondsLeft(of grant: SessionGrant, at now: Timestamp) -> Int {
    let expiry = (grant.stamp.time.milliseconds / 1000 + Int64(lifetimeSeconds)) * 1000
    return Int(max(0, (expiry - now.milliseconds + 999) / 1000))
  }

  // MARK: Refresh tokens

  package func refreshToken(for grant: SessionGrant) -> String {
    let body = Self.body(user: grant.user, session: grant.session, generation: grant.generation)
    return Base64URL.encode(body + HMAC<SHA256>.authenticationCode(for: body, using: refreshKey))
  }

  func verify(refreshToken: String) throws -> (user: UserID, session: SessionID, generation: UInt32) {
    let bodyBytes = 2 * UUIDBytes.byteCount + MemoryLayout<UInt32>.size
    guard let bytes = Base64URL.decode(refreshToken), bytes.count == bodyBytes + Self.refreshCodeBytes,
      HMAC<SHA256>.isValidAuthenticationCode(
        bytes.suffix(Self.refreshCodeBytes), authenticating: bytes.prefix(bodyBytes), using: refreshKey),
      let user = UUIDBytes(bytes: bytes[0..<16]), let session = UUIDBytes(bytes: bytes[16..<32])
    else { throw Refusal.refreshTokenInvalid }
    let generation = bytes[32..<36].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return (UserID(user), SessionID(session), generation)
  }

  private static func body(user: UserID, session: SessionID, generation: UInt32) -> [UInt8] {
    user.uuid.bytes + session.uuid.bytes + withUnsafeBytes(of: generation.bigEndian) { Array($0) }
  }
}

/// What a checked access token says.
struct VerifiedToken: Sendable {
  let principal: Principal
  let expiresAt: Timestamp
}

/// The claims of an access token. Times in seconds since 1970, as JWT has them.
private struct AccessClaims: JWTPayload {
  var sub: String
  var sid: String
  var did: String?
  var gen: UInt32
  var iat: Int
  var exp: Int

  /// The expiry is checked by `Authenticator`, which also serves tokens that it has checked before.
  func verify(using algorithm: some JWTAlgorithm) throws {}
}
