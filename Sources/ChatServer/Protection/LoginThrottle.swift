import ChatDomain
import ChatPrimitives
import ChatService
import NIOCore
import Synchronization

/// How guessing passwords is slowed.
package struct LoginSettings: Sendable, Hashable {
  package var isOn = true
  /// Of one account: whoever guesses it, from wherever.
  package var account = AttemptPolicy(free: 5, longestDelay: 900, memory: 3_600)
  /// From one address: whichever accounts. Many people may share one.
  package var address = AttemptPolicy(free: 100, longestDelay: 900, memory: 3_600)

  package init() {}
}

/// Slows attempts to log in by password, before any password is hashed. An account that does not exist is treated as
/// one that does, so that the answer tells nothing.
package final class LoginThrottle: Sendable {
  private let settings: LoginSettings
  /// In nanoseconds; only moves forward.
  private let clock: @Sendable () -> UInt64
  /// Keyed by a hash under a key of this process: what clients send does not fill the memory, whatever its length.
  private let accounts: Mutex<BoundedTable<Int, AttemptLedger>>
  private let addresses: Mutex<BoundedTable<NetworkAddress, AttemptLedger>>

  package init(
    _ settings: LoginSettings,
    clock: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanosecondsSinceStart }
  ) {
    self.settings = settings
    self.clock = clock
    accounts = Mutex(BoundedTable(limit: Limits.loginLedgers))
    addresses = Mutex(BoundedTable(limit: Limits.loginLedgers))
  }

  /// What attempts are counted under.
  enum Target: Sendable, Hashable {
    /// However it is called: by its e-mail address, by its ID or by its own token.
    case account(UserID)
    /// An e-mail address, in any case, that no account has.
    case unknown(String)
  }

  /// An attempt under way.
  private struct Attempt {
    let account: Int
    let address: NetworkAddress?
    let guesses: Int
  }

  /// Makes an attempt: `body` checks the password, and throws `credentialsRejected` or `passwordWrong` when it is wrong.
  /// - Parameters:
  ///   - address: nil when it is not known.
  ///   - guesses: passwords that the attempt tries.
  func attempt<Result>(
    _ target: Target, from address: NetworkAddress?, guesses: Int = 1, _ body: () async throws -> Result
  ) async throws -> Result {
    guard settings.isOn else { return try await body() }
    let attempt = Attempt(account: Self.key(target), address: address?.network, guesses: guesses)
    try begin(attempt, at: clock())
    do {
      let result = try await body()
      succeed(attempt)
      return result
    } catch ServiceError.rejected(let rejection)
      where rejection == .credentialsRejected || rejection == .passwordWrong
    {
      fail(attempt, at: clock())
      throw ServiceError.rejected(rejection)
    } catch ServiceError.rejected(let rejection) {
      // The password was right, and something else was not.
      succeed(attempt)
      throw ServiceError.rejected(rejection)
    } catch {
      withdraw(attempt)
      throw error
    }
  }

  private static func key(_ target: Target) -> Int {
    switch target {
    case .account: target.hashValue
    case .unknown(let name): Target.unknown(name.lowercased()).hashValue
    }
  }

  private func begin(_ attempt: Attempt, at now: UInt64) throws(Refusal) {
    if let wait = changeAccount(attempt, { $0.begin(at: now, under: settings.account, guesses: attempt.guesses) }) {
      throw .tooManyAttempts(retryAfterSeconds: Self.seconds(wait))
    }
    let wait = changeAddress(attempt) { $0.begin(at: now, under: settings.address, guesses: attempt.guesses) }
    if let wait = wait ?? nil {
      changeAccount(attempt) { $0.withdraw(guesses: attempt.guesses) }
      throw .tooManyAttempts(retryAfterSeconds: Self.seconds(wait))
    }
  }

  private func fail(_ attempt: Attempt, at now: UInt64) {
    changeAccount(attempt) { $0.fail(at: now, under: settings.account) }
    changeAddress(attempt) { $0.fail(at: now, under: settings.address) }
  }

  /// The account is forgotten; the address is not, or else one own account would clear the way to all others.
  private func succeed(_ attempt: Attempt) {
    accounts.withLock { $0.remove(attempt.account) }
    changeAddress(attempt) { $0.withdraw(guesses: attempt.guesses) }
  }

  private func withdraw(_ attempt: Attempt) {
    changeAccount(attempt) { $0.withdraw(guesses: attempt.guesses) }
    changeAddress(attempt) { $0.withdraw(guesses: attempt.guesses) }
  }

  @discardableResult
  private func changeAccount<Result: Sendable>(_ attempt: Attempt, _ change: (inout AttemptLedger) -> Result) -> Result
  {
    accounts.withLock { $0.update(attempt.account, usual: AttemptLedger(), change) }
  }

  /// - Returns: nil when the address is not known.
  @discardableResult
  private func changeAddress<Result: Sendable>(
    _ attempt: Attempt, _ change: (inout AttemptLedger) -> Result
  ) -> Result? {
    guard let address = attempt.address else { return nil }
    return addresses.withLock { $0.update(address, usual: AttemptLedger(), change) }
  }

  private static func seconds(_ nanoseconds: UInt64) -> Int {
    Int(clamping: (nanoseconds + 999_999_999) / 1_000_000_000)
  }
}
