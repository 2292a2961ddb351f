import ChatPrimitives
import Synchronization

/// The deleted users whose last attempt at an erasure failed.
final class DelayedErasures: Sendable {
  private let users = Mutex<Set<UserID>>([])

  func contains(_ user: UserID) -> Bool { users.withLock { $0.contains(user) } }

  func insert(_ user: UserID) { users.withLock { _ = $0.insert(user) } }

  func remove(_ user: UserID) { users.withLock { _ = $0.remove(user) } }
}
