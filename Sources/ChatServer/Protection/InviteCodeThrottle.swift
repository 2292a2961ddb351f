import ChatDomain
import ChatPrimitives
import ChatService
import NIOCore
import Synchronization

/// Slows down the guessing of invite codes, as `LoginThrottle` does for passwords and with the same settings: wrong codes
/// of one user count like failed logins to one account, and those of one address like failed logins from it.
package final class InviteCodeThrottle: Sendable {
  private let settings: LoginSettings
  /// The time in nanoseconds; it only moves forward.
  private let clock: @Sendable () -> UInt64
  private let users: Mutex<BoundedTable<UserID, AttemptLedger>>
  private let addresses: Mutex<BoundedTable<NetworkAddress, AttemptLedger>>

  package init(
    _ settings: LoginSettings,
    clock: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanosecondsSinceStart }
  ) {
    self.settings = settings
    self.clock = clock
    users = Mutex(BoundedTable(limit: Limits.loginLedgers))
    addresses = Mutex(BoundedTable(limit: Limits.loginLedgers))
  }

  /// Makes an attempt: `body` uses the code, and throws `inviteNotFound` if no invite has it. Only such an attempt counts. A
  /// right code does not reset the failures, because everybody can create an invite and use its code.
  /// - Parameter address: nil if it is not known, or if a service acts for the user.
  func attempt<Result>(
    by user: UserID, from address: NetworkAddress?, _ body: () async throws -> Result
  ) async throws -> Result {
    guard settings.isOn else { return try await body() }
    let network = address?.network
    try begin(user, network, at: clock())
    do {
      let result = try await body()
      change(user, network) { $0.withdraw() }
      return result
    } catch ServiceError.rejected(.inviteNotFound) {
      let now = clock()
      users.withLock { $0.update(user, default: AttemptLedger()) { $0.fail(at: now, under: settings.account) } }
      if let network {
        addresses.withLock {
          $0.update(network, default: AttemptLedger()) { $0.fail(at: now, under: settings.address) }
        }
      }
      throw ServiceError.rejected(.inviteNotFound)
    } catch {
      change(user, network) { $0.withdraw() }
      throw error
    }
  }

  private func begin(_ user: UserID, _ network: NetworkAddress?, at now: UInt64) throws(Refusal) {
    let wait = users.withLock {
      $0.update(user, default: AttemptLedger()) { $0.begin(at: now, under: settings.account) }
    }
    if let wait { throw Self.refusal(wait) }
    guard let network else { return }
    let waitOfAddress = addresses.withLock {
      $0.update(network, default: AttemptLedger()) { $0.begin(at: now, under: settings.address) }
    }
    guard let waitOfAddress else { return }
    users.withLock { $0.update(user, default: AttemptLedger()) { $0.withdraw() } }
    throw Self.refusal(waitOfAddress)
  }

  private func change(_ user: UserID, _ network: NetworkAddress?, _ change: (inout AttemptLedger) -> Void) {
    users.withLock { $0.update(user, default: AttemptLedger(), change) }
    if let network { addresses.withLock { $0.update(network, default: AttemptLedger(), change) } }
  }

  private static func refusal(_ nanoseconds: UInt64) -> Refusal {
    .tooManyAttempts(retryAfterSeconds: Int(clamping: (nanoseconds + 999_999_999) / 1_000_000_000))
  }
}
