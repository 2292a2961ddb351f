import ChatService
import Crypto
import Foundation
import JWTKit
import Synchronization

/// Signs requests to push services with the application server's key (RFC 8292).
///
/// It is not an actor, because almost every request finds a token and then should not change its executor.
final class VAPIDTokens: Sendable {
  /// How long a token is valid, in seconds: at most a day.
  static let validSeconds = 12 * 3600
  /// How long a token is used, in seconds.
  static let usedSeconds: Int64 = 6 * 3600
  /// The maximum number of origins that have a token in memory.
  static let origins = 256

  private let keys: JWTKeyCollection
  private let publicKey: String
  private let subject: String
  /// The headers of the origins.
  private let schedules = Mutex<[String: TokenSchedule]>([:])

  private struct Claims: JWTPayload {
    let aud: String
    let exp: Int
    let sub: String

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  /// - Parameters:
  ///   - subject: how the operator of a push service can contact the operator of this server: `mailto:` or `https:`.
  init(_ key: P256.Signing.PrivateKey, subject: String) async throws {
    keys = await JWTKeyCollection().add(ecdsa: try ES256PrivateKey(pem: key.pemRepresentation))
    publicKey = Base64URL.encode(Array(key.publicKey.x963Representation))
    self.subject = subject
  }

  /// The value of `Authorization` for requests to this origin.
  func authorization(for origin: String, at now: ContinuousClock.Instant = .now) async throws -> String {
    if let header = schedules.withLock({ $0[origin]?.usable(at: now) }) { return header }
    let claims = Claims(aud: origin, exp: Int(Date().timeIntervalSince1970) + Self.validSeconds, sub: subject)
    let header = "vapid t=\(try await keys.sign(claims)), k=\(publicKey)"
    schedules.withLock { schedules in
      if schedules.count >= Self.origins { schedules.removeAll() }
      schedules[origin, default: TokenSchedule()].set(header, for: .seconds(Self.usedSeconds), at: now)
    }
    return header
  }

  /// How many tokens are in memory.
  var count: Int { schedules.withLock(\.count) }
}
