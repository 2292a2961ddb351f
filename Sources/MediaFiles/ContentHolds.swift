/// Keeps those who are about to refer to a content and the one who collects contents out of each other's way. A value
/// without a lock, so that its argument can be read and tested alone.
///
/// A content may be removed if nothing refers to it. Whoever makes a reference holds the content from before it looks
/// whether the file is there until the reference is durable. The collector watches a content, then waits until the read
/// model knows everything that is durable, looks for references there, and removes the file only if nobody has held the
/// content since the watch began. So for every reference that is made, one of these is true:
/// - it was durable, and its hold released, before the watch: the read model shows it;
/// - its hold was on when the watch was to begin: there is no watch;
/// - its hold began during the watch: the watch is broken, and nothing is removed;
/// - its hold began after the removal: the file is seen to be gone, and no reference is made.
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

  /// - Returns: false, and there is no watch, when somebody holds the content.
  mutating func watch(_ hash: ContentHash) -> Bool {
    guard holders[hash] == nil else { return false }
    watches[hash] = .undisturbed
    return true
  }

  /// Ends a watch.
  /// - Returns: whether nobody has held the content since it began.
  mutating func endWatch(_ hash: ContentHash) -> Bool {
    switch watches.removeValue(forKey: hash) {
    case .undisturbed: true
    case .broken, nil: false
    }
  }
}
