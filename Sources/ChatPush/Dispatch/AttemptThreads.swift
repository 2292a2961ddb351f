/// How many attempts each thread has. A new one begins on the thread with the fewest, which is the first one if all are
/// idle: so a few notifications need only one connection.
struct AttemptThreads {
  private var active: [Int]

  init(count: Int) { active = Array(repeating: 0, count: count) }

  /// - Returns: the number of the thread, from 0; nil if there are no threads for attempts.
  mutating func begin() -> Int? {
    guard let thread = active.indices.min(by: { active[$0] < active[$1] }) else { return nil }
    active[thread] += 1
    return thread
  }

  /// Call this when the attempt has ended.
  mutating func end(_ thread: Int?) {
    if let thread { active[thread] -= 1 }
  }
}
