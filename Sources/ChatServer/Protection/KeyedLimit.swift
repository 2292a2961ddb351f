import Synchronization

/// Limits how much each key, such as a user or an address, holds at once. A request that exceeds the limit is rejected.
/// To let it wait instead, use `AsyncSemaphore`.
final class KeyedLimit<Key: Hashable & Sendable>: Sendable {
  let limit: Int
  /// Contains only keys that hold something, so there are never more entries than reservations.
  private let held = Mutex<[Key: Int]>([:])

  init(_ limit: Int) {
    self.limit = limit
  }

  /// How many keys hold something.
  var keyCount: Int { held.withLock { $0.count } }

  /// - Returns: nil, and holds nothing, if the key would exceed its limit.
  func reserve(_ amount: Int = 1, for key: Key) -> Reservation? {
    let reservation = Reservation(for: key, in: self)
    return reservation.add(amount) ? reservation : nil
  }

  private func take(_ amount: Int, for key: Key) -> Bool {
    precondition(amount >= 0, "a negative amount would raise the limit")
    return held.withLock { held in
      let before = held[key, default: 0]
      guard amount <= limit - before else { return false }
      held[key] = before + amount
      return true
    }
  }

  private func release(_ amount: Int, for key: Key) {
    held.withLock { held in
      guard let before = held[key] else { return }
      held[key] = before > amount ? before - amount : nil
    }
  }

  /// The part of a key's limit that one request or connection holds. It is released with its last reference.
  final class Reservation: Sendable {
    private let key: Key
    private let owner: KeyedLimit
    private let held = Mutex(0)

    /// Holds nothing until `add`.
    init(for key: Key, in owner: KeyedLimit) {
      self.key = key
      self.owner = owner
    }

    deinit { release() }

    /// - Returns: false, and adds nothing, if the key would exceed its limit.
    func add(_ amount: Int) -> Bool {
      if amount == 0 { return true }
      return held.withLock { held in
        guard owner.take(amount, for: key) else { return false }
        held += amount
        return true
      }
    }

    /// Holds this amount instead of what it held.
    /// - Returns: false, and changes nothing, if the key would exceed its limit.
    func hold(_ amount: Int) -> Bool {
      held.withLock { held in
        if amount > held {
          guard owner.take(amount - held, for: key) else { return false }
        } else if amount < held {
          owner.release(held - amount, for: key)
        }
        held = amount
        return true
      }
    }

    /// Releases everything now. Calling it again has no effect.
    func release() {
      held.withLock { held in
        // A reservation that holds nothing must not take the lock that all keys share.
        guard held > 0 else { return }
        owner.release(held, for: key)
        held = 0
      }
    }
  }
}
