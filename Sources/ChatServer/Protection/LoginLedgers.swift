import ChatPrimitives
import ChatProjections

/// The ledgers of accounts. All strangers share one ledger of an account. Callers from a known address, with a known
/// device or with a session have a ledger of their own for each of these, so that strangers' failures do not lock out
/// the owner.
///
/// Keyed by hashes with a key of this process, so that long texts from clients do not fill the memory.
struct LoginLedgers: Sendable {
  private var ledgers: BoundedTable<Int, AttemptLedger>
  /// The networks from which each account has logged in, the latest last. Kept only in memory, because the log contains
  /// no addresses.
  private var known: BoundedTable<Int, [Int]>

  /// - Parameter limit: the most ledgers, and the most accounts whose networks are remembered.
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

  /// An attempt that was admitted, with the ledgers in which it was counted.
  struct Entry: Sendable {
    fileprivate let keys: [Int]
  }

  /// Decides whether the attempt may be made. It is counted in each of its ledgers that is open, and one open ledger is
  /// enough. Someone who shares an address with the owner can close the ledger of the address, but not that of the
  /// owner's device.
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

  /// A name that is longer than any email address is not normalized, because that is expensive and no account has it.
  private static func compared(_ name: String) -> [UInt8] {
    Array((name.utf8.count <= Limits.emailBytes ? EmailForm.compared(name) : name).utf8)
  }

  mutating func fail(_ entry: Entry, at now: UInt64, under policy: AttemptPolicy) {
    for key in entry.keys { ledgers.update(key, default: AttemptLedger()) { $0.fail(at: now, under: policy) } }
  }

  mutating func withdraw(_ entry: Entry, guesses: Int) {
    for key in entry.keys { ledgers.update(key, default: AttemptLedger()) { $0.withdraw(guesses: guesses) } }
  }

  /// Forgets the failures in the ledgers of the attempt, and remembers the network.
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
