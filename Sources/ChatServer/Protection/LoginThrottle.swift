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

  /// Makes an attempt: `body` checks the password, and throws `credentialsRejected` when it is wrong.
  /// - Parameter address: nil when it is not known.
  func attempt<Result>(
    _ email: String, from address: NetworkAddress?, _ body: () async throws -> Result
  ) async throws -> Result {
    guard settings.isOn else { return try await body() }
    let account = email.lowercased().hashValue
    let network = address?.network
    try begin(account, network, at: clock())
    do {
      let result = try await body()
      succeed(account, network)
      return result
    } catch ServiceError.rejected(.credentialsRejected) {
      fail(account, network, at: clock())
      throw ServiceError.rejected(.credentialsRejected)
    } catch ServiceError.rejected(let rejection) {
      // The password was right, and something else was not.
      succeed(account, network)
      throw ServiceError.rejected(rejection)
    } catch {
      withdraw(account, network)
      throw error
    }
  }

  private func begin(_ account: Int, _ address: NetworkAddress?, at now: UInt64) throws(Refusal) {
    if let wait = accounts.withLock({
      $0.update(account, usual: AttemptLedger()) { $0.begin(at: now, under: settings.account) }
    }) {
      throw .tooManyAttempts(retryAfterSeconds: Self.seconds(wait))
    }
    guard let address else { return }
    if let wait = addresses.withLock({
      $0.update(address, usual: AttemptLedger()) { $0.begin(at: now, under: settings.address) }
    }) {
      accounts.withLock { $0.update(account, usual: AttemptLedger()) { $0.withdraw() } }
      throw .tooManyAttempts(retryAfterSeconds: Self.seconds(wait))
    }
  }

  private func fail(_ account: Int, _ address: NetworkAddress?, at now: UInt64) {
    accounts.withLock { $0.update(account, usual: AttemptLedger()) { $0.fail(at: now, under: settings.account) } }
    guard let address else { return }
    addresses.withLock { $0.update(address, usual: AttemptLedger()) { $0.fail(at: now, under: settings.address) } }
  }

  /// The account is forgotten; the address is not, or else one own account would clear the way to all others.
  private func succeed(_ account: Int, _ address: NetworkAddress?) {
    accounts.withLock { $0.remove(account) }
    if let address { addresses.withLock { $0.update(address, usual: AttemptLedger()) { $0.withdraw() } } }
  }

  private func withdraw(_ account: Int, _ address: NetworkAddress?) {
    accounts.withLock { $0.update(account, usual: AttemptLedger()) { $0.withdraw() } }
    if let address { addresses.withLock { $0.update(address, usual: AttemptLedger()) { $0.withdraw() } } }
  }

  private static func seconds(_ nanoseconds: UInt64) -> Int {
    Int(clamping: (nanoseconds + 999_999_999) / 1_000_000_000)
  }
}
