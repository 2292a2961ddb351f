import Synchronization

/// Counts the current users of something, with a limit.
final class Counter: Sendable {
  private let count = Atomic(0)

  var current: Int { count.load(ordering: .relaxed) }

  /// - Returns: false, without counting, if the count has reached `limit`.
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
