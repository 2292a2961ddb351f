import ChatPrimitives
import ChatProjections

/// The ledgers of accounts. Strangers share one ledger of an account. Users who have logged in before count apart from
/// them, so that their failures do not keep the owner out: an address, a device and a session each have a ledger of their own.
///
/// Keyed by hashes under a key of this process: what clients send does not fill the memory, whatever its length.
struct LoginLedgers: Sendable {
  private var ledgers: BoundedTable<Int, AttemptLedger>
  /// Networks from which each account has logged in, the latest last. Kept in memory only: the log has no addresses.
  private var known: BoundedTable<Int, [Int]>

  /// - Parameter limit: of ledgers, and of accounts whose networks are remembered.
  init(limit: Int) {
    ledgers = BoundedTable(limit: limit)
    known = BoundedTable(limit: limit)
  }

  private enum Key: Hashable {
    case account(UserID)
    case unknown([UInt8])
    case network(UserID, NetworkAddress)
    case evidence(UserID, LoginAttempt.Evidence)
  }

  /// An attempt that was let through: what it is taken back from, or counted as failed under.
  struct Entry: Sendable {
    fileprivate let keys: [Int]
  }

  /// Whether the attempt may be made. It is counted under each of its ledgers that is open, and one is enough: somebody who
  /// shares an address with the owner can close that one, but not the one of the owner's device.
  mutating func begin(
    _ attempt: LoginAttempt, from network: NetworkAddress?, guesses: Int, at now: UInt64, under policy: AttemptPolicy
  ) -> Result<Entry, Wait> {
    var admitted: [Int] = []
    var shortest: UInt64?
    for key in keys(of: attempt, from: network) {
      let wait = ledgers.update(key, default: AttemptLedger()) { $0.begin(at: now, under: policy, guesses: guesses) }
      if let wait {
        shortest = min(shortest ?? wait, wait)
      } else {
        admitted.append(key)
      }
    }
    return admitted.isEmpty ? .failure(Wait(nanoseconds: shortest ?? 0)) : .success(Entry(keys: admitted))
  }

  struct Wait: Error {
    let nanoseconds: UInt64
  }

  private mutating func keys(of attempt: LoginAttempt, from network: NetworkAddress?) -> [Int] {
    switch attempt {
    case .unknown(let name): return [Key.unknown(Self.compared(name)).hashValue]
    case .account(let user, _), .repeatedRegistration(let user):
      var keys = attempt.evidence.map { [Key.evidence(user, $0).hashValue] } ?? []
      if let network {
        let key = Key.network(user, network).hashValue
        if known.find(Key.account(user).hashValue)?.contains(key) == true { keys.append(key) }
      }
      return keys.isEmpty ? [Key.account(user).hashValue] : keys
    }
  }

  /// A longer name than any address is not composed: it costs much, and nobody has it.
  private static func compared(_ name: String) -> [UInt8] {
    Array((name.utf8.count <= Limits.emailBytes ? EmailForm.compared(name) : name).utf8)
  }

  mutating func fail(_ entry: Entry, at now: UInt64, under policy: AttemptPolicy) {
    for key in entry.keys { ledgers.update(key, default: AttemptLedger()) { $0.fail(at: now, under: policy) } }
  }

  mutating func withdraw(_ entry: Entry, guesses: Int) {
    for key in entry.keys { ledgers.update(key, default: AttemptLedger()) { $0.withdraw(guesses: guesses) } }
  }

  /// Forgets the failures that the attempt was counted with, and remembers the network.
  mutating func succeed(_ entry: Entry, _ attempt: LoginAttempt, from network: NetworkAddress?) {
    for key in entry.keys { ledgers.remove(key) }
    guard case .account(let user, _) = attempt, let network else { return }
    let key = Key.network(user, network).hashValue
    known.update(Key.account(user).hashValue, default: []) { networks in
      networks.removeAll { $0 == key }
      networks.append(key)
      if networks.count > Limits.knownNetworksPerAccount { networks.removeFirst() }
    }
  }
}
