package import ChatDomain
package import ChatPrimitives
import Crypto
import CryptoExtras
package import NIOPosix

/// scrypt (RFC 7914) on a bounded pool of threads. Each hash needs tens of megabytes and a tenth of a second by design.
package struct PasswordHasher: Sendable {
  /// How many passwords are hashed at once.
  package static let threads = 2
  /// How many passwords are hashed or wait for a thread. A request beyond that is refused as overloaded.
  package static let waitingLimit = 32
  /// How many of them may be for uses other than logins. The rest is reserved for logins.
  package static let otherWaitingLimit = 8
  static let hashBytes = 32

  /// scrypt's N (as log2), r and p, after the OWASP Password Storage Cheat Sheet.
  package struct Cost: Sendable, Hashable {
    package var logRounds: UInt8 = 15
    package var blockSize: UInt8 = 8
    package var parallelism: UInt8 = 3

    package init() {}
  }

  /// What a password is hashed for. Anyone may register, change their own password or try a token: that must not use up
  /// the capacity for logins.
  package enum Use: Sendable {
    case login
    case other
  }

  private let keys: ServerKeys
  private let pool: NIOThreadPool
  private let waiting = Counter()
  private let otherWaiting = Counter()
  private let cost: Cost

  /// - Parameter pool: has `threads` threads. Its owner starts and stops it.
  package init(keys: ServerKeys, pool: NIOThreadPool, cost: Cost = Cost()) {
    self.keys = keys
    self.pool = pool
    self.cost = cost
  }

  /// The credential for this password and user. The same password gives the same hash, but not for another user.
  package func credential(
    _ password: String, for user: UserID, version: UInt32 = 1, as use: Use
  ) async throws(ServiceError)
    -> Credential
  {
    try await hash(
      password, for: user,
      like: Credential(
        version: version, hash: [], logRounds: cost.logRounds, blockSize: cost.blockSize,
        parallelism: cost.parallelism), as: use)
  }

  /// Whether the credential was made from this password.
  package func verify(
    _ password: String, for user: UserID, against credential: Credential, as use: Use
  ) async throws(ServiceError)
    -> Bool
  {
    let candidate = try await hash(password, for: user, like: credential, as: use)
    return candidate.hash.elementsEqualInConstantTime(credential.hash)
  }

  /// How many are being hashed or wait.
  var waitingCount: Int { waiting.current }

  private func hash(
    _ password: String, for user: UserID, like model: Credential, as use: Use
  ) async throws(ServiceError)
    -> Credential
  {
    switch use {
    case .login: break
    case .other: guard otherWaiting.enter(limit: Self.otherWaitingLimit) else { throw .overloaded }
    }
    defer {
      switch use {
      case .login: break
      case .other: otherWaiting.leave()
      }
    }
    guard waiting.enter(limit: Self.waitingLimit) else { throw .overloaded }
    defer { waiting.leave() }
    var salt = user.uuid.bytes
    withUnsafeBytes(of: model.version.littleEndian) { salt.append(contentsOf: $0) }
    let peppered = keys.authenticationCode(for: "password-pepper", PasswordRules.prepared(password))
    let keyedSalt = keys.authenticationCode(for: "password-salt", salt)
    do {
      let hash = try await pool.runIfActive {
        try KDF.Scrypt.deriveKey(
          from: peppered, salt: keyedSalt, outputByteCount: Self.hashBytes, rounds: 1 << Int(model.logRounds),
          blockSize: Int(model.blockSize), parallelism: Int(model.parallelism),
          maxMemory: 256 * Int(model.blockSize) << Int(model.logRounds)
        ).withUnsafeBytes { Array($0) }
      }
      var credential = model
      credential.hash = hash
      return credential
    } catch {
      throw .failed("the password could not be hashed: \(error)")
    }
  }
}

extension [UInt8] {
  /// Compares in constant time, so that the duration does not reveal where the difference is.
  package func elementsEqualInConstantTime(_ other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    var difference: UInt8 = 0
    for (left, right) in zip(self, other) { difference |= left ^ right }
    return difference == 0
  }
}
