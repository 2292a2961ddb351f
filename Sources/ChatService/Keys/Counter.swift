import Synchronization

/// How many are inside, with a limit.
final class Counter: Sendable {
  private let count = Atomic(0)

  var current: Int { count.load(ordering: .relaxed) }

  /// - Returns: false, and counts nothing, when `limit` are inside already.
  func enter(limit: Int) -> Bool {
    let before = count.wrappingAdd(1, ordering: .relaxed).oldValue
    if before < limit { return true }
    leave()
    return false
  }

  func leave() {
    count.wrappingSubtract(1, ordering: .relaxed)
  }
}
