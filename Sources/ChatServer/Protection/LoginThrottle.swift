import ChatDomain
import ChatPrimitives
import ChatService
import NIOCore
import Synchronization

/// How the guessing of passwords is slowed down.
package struct LoginSettings: Sendable, Hashable {
  package var isOn = true
  /// For one account, wherever its attempts come from.
  package var account = AttemptPolicy(free: 5, longestDelay: 900, memory: 3_600)
  /// For one address, whichever accounts it tries. Many people may share one address.
  package var address = AttemptPolicy(free: 100, longestDelay: 900, memory: 3_600)

  package init() {}
}

/// Slows down logins with a password, before any password is hashed. An account that does not exist is treated like one
/// that does, so that the response does not show whether it exists.
package final class LoginThrottle: Sendable {
  private let settings: LoginSettings
  /// The time in nanoseconds; it only moves forward.
  private let clock: @Sendable () -> UInt64
  private let accounts: Mutex<LoginLedgers>
  private let addresses: Mutex<BoundedTable<NetworkAddress, AttemptLedger>>

  package init(
    _ settings: LoginSettings,
    clock: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanosecondsSinceStart }
  ) {
    self.settings = settings
    self.clock = clock
    accounts = Mutex(LoginLedgers(limit: Limits.loginLedgers))
    addresses = Mutex(BoundedTable(limit: Limits.loginLedgers))
  }

  /// An attempt in progress.
  private struct Pending {
    let attempt: LoginAttempt
    let entry: LoginLedgers.Entry
    let network: NetworkAddress?
    let guesses: Int

    /// The network that the attempt counts against. A caller with evidence is counted by that evidence instead, so that
    /// others behind the same address do not lock out the owner.
    var countedNetwork: NetworkAddress? { attempt.evidence == nil ? network : nil }
  }

  /// Makes an attempt: `body` checks the password. If it is wrong, `body` must throw `credentialsRejected` or
  /// `passwordWrong`, or `idInUse` for a repeated registration.
  /// - Parameters:
  ///   - address: nil if it is not known.
  ///   - guesses: the number of passwords that the attempt tries.
  func attempt<Result>(
    _ attempt: LoginAttempt, from address: NetworkAddress?, guesses: Int = 1, _ body: () async throws -> Result
  ) async throws -> Result {
    guard settings.isOn else { return try await body() }
    let pending = try begin(attempt, address?.network, guesses, at: clock())
    do {
      let result = try await body()
      succeed(pending)
      return result
    } catch ServiceError.rejected(let rejection) {
      let isWrong = rejection == .credentialsRejected || rejection == .passwordWrong
      if isWrong || (rejection == .idInUse && !attempt.provesHolder) {
        fail(pending, at: clock())
      } else {
        // The password was correct, but the request failed for another reason.
        succeed(pending)
      }
      throw ServiceError.rejected(rejection)
    } catch {
      withdraw(pending)
      throw error
    }
  }

  private func begin(
    _ attempt: LoginAttempt, _ network: NetworkAddress?, _ guesses: Int, at now: UInt64
  ) throws(Refusal) -> Pending {
    let begun = accounts.withLock {
      $0.begin(attempt, from: network, guesses: guesses, at: now, under: settings.account)
    }
    let pending: Pending
    switch begun {
    case .success(let entry): pending = Pending(attempt: attempt, entry: entry, network: network, guesses: guesses)
    case .failure(let wait): throw .tooManyAttempts(retryAfterSeconds: Self.seconds(wait.nanoseconds))
    }
    let wait = changeAddress(pending) { $0.begin(at: now, under: settings.address, guesses: guesses) }
    if let wait = wait ?? nil {
      accounts.withLock { $0.withdraw(pending.entry, guesses: guesses) }
      throw .tooManyAttempts(retryAfterSeconds: Self.seconds(wait))
    }
    return pending
  }

  private func fail(_ pending: Pending, at now: UInt64) {
    accounts.withLock { $0.fail(pending.entry, at: now, under: settings.account) }
    changeAddress(pending) { $0.fail(at: now, under: settings.address) }
  }

  /// Forgets the failures of the account. The address only takes back this attempt: otherwise, anyone could reset its
  /// failures by logging in to an account of their own.
  private func succeed(_ pending: Pending) {
    guard pending.attempt.provesHolder else { return withdraw(pending) }
    accounts.withLock { $0.succeed(pending.entry, pending.attempt, from: pending.network) }
    changeAddress(pending) { $0.withdraw(guesses: pending.guesses) }
  }

  private func withdraw(_ pending: Pending) {
    accounts.withLock { $0.withdraw(pending.entry, guesses: pending.guesses) }
    changeAddress(pending) { $0.withdraw(guesses: pending.guesses) }
  }

  /// - Returns: nil if no address counts.
  @discardableResult
  private func changeAddress<Result: Sendable>(
    _ pending: Pending, _ change: (inout AttemptLedger) -> Result
  ) -> Result? {
    guard let network = pending.countedNetwork else { return nil }
    return addresses.withLock { $0.update(network, default: AttemptLedger(), change) }
  }

  private static func seconds(_ nanoseconds: UInt64) -> Int {
    Int(clamping: (nanoseconds + 999_999_999) / 1_000_000_000)
  }
}
