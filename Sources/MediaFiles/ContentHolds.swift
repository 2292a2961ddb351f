/// Coordinates tasks that make a reference to a content with the collector, which removes contents that have none. It
/// is a value without a lock, so that the argument below can be read and tested in isolation.
///
/// A content may be removed only if nothing refers to it. A task that makes a reference holds the content: the hold
/// begins before the task checks that the file exists, and ends when the reference is durable. The collector starts a
/// watch on the content, waits until the read model includes everything that is durable, and looks for references
/// there. It removes the file only if no task has held the content since the watch began. For every reference, one of
/// these cases applies:
/// - The reference was durable, and its hold released, before the watch: the read model shows it.
/// - The hold was active when the watch was about to begin: the watch does not start.
/// - The hold began during the watch: the watch is broken, and nothing is removed.
/// - The hold began after the removal: the task finds that the file is missing, and makes no reference.
struct ContentHolds {
  private enum Watch {
    case undisturbed
    case broken
  }

  private var holders: [ContentHash: Int] = [:]
  private var watches: [ContentHash: Watch] = [:]

  mutating func hold(_ hash: ContentHash) {
    holders[hash, default: 0] += 1
    if watches[hash] != nil { watches[hash] = .broken }
  }

  mutating func release(_ hash: ContentHash) {
    guard let count = holders[hash] else { return }
    holders[hash] = count > 1 ? count - 1 : nil
  }

  /// - Returns: false if a task holds the content; the watch then does not start.
  mutating func watch(_ hash: ContentHash) -> Bool {
    guard holders[hash] == nil else { return false }
    watches[hash] = .undisturbed
    return true
  }

  /// Ends a watch.
  /// - Returns: whether no task has held the content since the watch began.
  mutating func endWatch(_ hash: ContentHash) -> Bool {
    switch watches.removeValue(forKey: hash) {
    case .undisturbed: true
    case .broken, nil: false
    }
  }
}
