import ChatDomain
package import ChatPrimitives
import ChatProtocol
package import ChatService
import Crypto
import Foundation
import JWTKit
import Synchronization

/// Issues and verifies the tokens of users.
///
/// An access token is a JWT (RFC 7519) signed with EdDSA; a refresh token contains the session and generation with an
/// HMAC. Both are derived from a `SessionGrant` alone, so the same pair can be issued again and the log contains no
/// secret.
package actor TokenIssuer {
  /// The lifetime of an access token in seconds, unless the operator sets another.
  package static let defaultAccessTokenLifetimeSeconds = 900
  private static let keyIDPrefix = "hansard-"
  private static let refreshCodeBytes = 32
  /// The longest access token that is verified, in bytes; longer ones are rejected. Those that this server signs have
  /// less than 600.
  private static let accessTokenBytes = 1024
  private static let latestSeconds = Int(Timestamp.latest.milliseconds / 1000)

  private let signingKeys: SigningKeys
  /// By generation. Each is made when it is first needed.
  private var signers: [UInt32: Signer] = [:]
  private let refreshKey: SymmetricKey
  private let lifetimeSeconds: Int

  /// The key of one generation, in a collection of its own: a token's header selects only the generation, never how a
  /// key is used.
  private struct Signer {
    let collection: JWTKeyCollection
    let publicKey: [UInt8]
  }

  /// - Parameter signingKeys: the keys of the log; if nil, only the first generation exists.
  package init(keys: ServerKeys, signingKeys: SigningKeys? = nil, accessTokenLifetimeSeconds: Int) {
    lifetimeSeconds = accessTokenLifetimeSeconds
    self.signingKeys = signingKeys ?? SigningKeys(keys: keys)
    refreshKey = keys.key(for: "refresh-token")
  }

  // MARK: Signing keys

  /// The `kid` of tokens that this generation signed.
  static func keyID(of generation: UInt32) -> String { keyIDPrefix + String(generation) }

  /// The keys that can have signed a valid token: the newest, and each older one that was retired less than a token's
  /// lifetime ago. The newest comes first.
  func publicKeys(at now: Timestamp) async throws -> [SigningKey] {
    let history = signingKeys.history
    let oldest = now.adding(milliseconds: -Int64(lifetimeSeconds) * 1000)
    let generations = [SigningKeyHistory.first] + history.rotations.map(\.generation)
    var keys: [SigningKey] = []
    for generation in generations.reversed() {
      if let retired = history.retirement(of: generation), retired < oldest { break }
      let signer = try await signer(of: generation)
      keys.append(SigningKey(kid: Self.keyID(of: generation), x: Base64URL.encode(signer.publicKey)))
    }
    return keys
  }

  private func signer(of generation: UInt32) async throws -> Signer {
    if let signer = signers[generation] { return signer }
    let seed = signingKeys.seed(of: generation).withUnsafeBytes { Data($0) }
    let key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed)
    // Sorted keys make equal claims produce equal tokens.
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let collection = JWTKeyCollection()
    await collection.add(
      eddsa: EdDSA.PrivateKey(backing: key), kid: JWKIdentifier(string: Self.keyID(of: generation)),
      serializer: DefaultJWTSerializer(jsonEncoder: encoder))
    let signer = Signer(collection: collection, publicKey: Array(key.publicKey.rawRepresentation))
    signers[generation] = signer
    return signer
  }

  // MARK: Access tokens

  package func accessToken(for grant: SessionGrant) async throws -> String {
    let issued = Int(grant.stamp.time.milliseconds / 1000)
    let claims = AccessClaims(
      sub: grant.user.description, sid: grant.session.description, did: grant.device?.description,
      gen: grant.generation, iat: issued, exp: issued + lifetimeSeconds)
    // The generation at the grant's position, because the same pair can be requested again after a rotation.
    let generation = signingKeys.history.generation(at: grant.stamp.position)
    return try await signer(of: generation).collection.sign(
      claims, kid: JWKIdentifier(string: Self.keyID(of: generation)))
  }

  /// - Throws: `Refusal.accessTokenInvalid` for every token that this server did not sign, or that was issued after its
  ///   key was retired. The caller must check the expiry each time.
  func verify(accessToken: String) async throws -> VerifiedToken {
    guard let generation = generation(of: accessToken),
      let claims = try? await signer(of: generation).collection.verify(accessToken, as: AccessClaims.self),
      let user = UserID(claims.sub), let session = SessionID(claims.sid), (0...Self.latestSeconds).contains(claims.iat)
    else { throw Refusal.accessTokenInvalid }
    // Rejects tokens issued after their key was retired, so that an old key cannot sign new tokens.
    if let retired = signingKeys.history.retirement(of: generation), Int64(claims.iat) > retired.milliseconds / 1000 {
      throw Refusal.accessTokenInvalid
    }
    // The token can come from a time when the server had a longer lifetime. Ended sessions are remembered only for the
    // current lifetime.
    let expiry = min(claims.exp, claims.iat + lifetimeSeconds)
    return VerifiedToken(
      principal: Principal(user: user, session: session, device: claims.did.flatMap { DeviceID($0) }),
      issuedAt: Timestamp(milliseconds: Int64(claims.iat) * 1000),
      expiresAt: Timestamp(milliseconds: Int64(expiry) * 1000), check: .once)
  }

  private func generation(of accessToken: String) -> UInt32? {
    guard accessToken.utf8.count <= Self.accessTokenBytes,
      let keyID = UnverifiedToken(accessToken)?.keyID, keyID.hasPrefix(Self.keyIDPrefix),
      let generation = UInt32(keyID.dropFirst(Self.keyIDPrefix.count)), signingKeys.history.contains(generation),
      keyID == Self.keyID(of: generation)
    else { return nil }
    return generation
  }

  /// The seconds until the pair's access token expires. 0 if it was issued while the clock was ahead, because such a
  /// token is rejected.
  package func secondsLeft(of grant: SessionGrant, at now: Timestamp) -> Int {
    guard grant.stamp.time <= now.adding(milliseconds: Limits.clockJumpMilliseconds) else { return 0 }
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
    let byteCount = bodyBytes + Self.refreshCodeBytes
    guard let bytes = Base64URL.decode(refreshToken, atMost: byteCount), bytes.count == byteCount,
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

/// The contents of a verified access token.
struct VerifiedToken: Sendable {
  /// How long the token's signature counts as verified.
  enum Check: Sendable {
    /// As long as the server runs.
    case once
    case until(ContinuousClock.Instant)
  }

  let principal: Principal
  let issuedAt: Timestamp
  let expiresAt: Timestamp
  let check: Check

  var isChecked: Bool {
    switch check {
    case .once: true
    case .until(let end): ContinuousClock.now < end
    }
  }

  /// A token from the future was issued while the clock was ahead and would be valid for too long, so it is invalid. A
  /// small difference is allowed, for a clock that was set back a little.
  func isValid(at now: Timestamp) -> Bool {
    now < expiresAt && issuedAt <= now.adding(milliseconds: Limits.clockJumpMilliseconds)
  }
}

/// The claims of an access token. Times are in seconds since 1970, as in JWT.
private struct AccessClaims: JWTPayload {
  var sub: String
  var sid: String
  var did: String?
  var gen: UInt32
  var iat: Int
  var exp: Int

  /// `Authenticator` checks the expiry instead, because it also accepts tokens that it has verified before.
  func verify(using algorithm: some JWTAlgorithm) throws {}
}
