/// Decides when the write-ahead log of a read model is written into its file.
///
/// Each pass costs two syncs, so another thread does it while the writer goes on. SQLite begins the log anew only if all of
/// it is in the file when the next transaction begins. So the passes go on, each shorter than the one before, until nothing
/// was committed during one of them. If that does not happen soon, the writer itself makes the last pass.
struct CheckpointPlan: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case none
    /// Another thread begins its passes.
    case begin
    /// The writer makes a pass.
    case finish
  }

  private enum State: Sendable, Hashable {
    /// The next passes begin when the log has this many pages.
    case waiting(until: Int)
    /// - Parameter size: the pages of the log when the pass began.
    case copying(passes: Int, size: Int)
    case left
  }

  /// The pages of the log at which the passes begin: 16 MiB.
  static let pages = 4096
  /// With twice as many pages, or after so many passes, the writer makes the last one.
  static let passes = 8

  private var state = State.waiting(until: pages)
  /// The pages of the log after the last transaction.
  private var size = 0

  /// The writer has committed a transaction.
  /// - Parameter pages: of the log now.
  mutating func committed(pages: Int) -> Step {
    size = pages
    switch state {
    case .waiting(let until):
      if size >= until {
        state = .copying(passes: 1, size: size)
        return .begin
      }
      // The log began anew.
      if size < Self.pages { state = .waiting(until: Self.pages) }
      return .none
    case .copying: return .none
    case .left:
      waitForMore()
      return .finish
    }
  }

  /// The other thread has made a pass.
  /// - Returns: whether it makes another one.
  mutating func passed() -> Bool {
    guard case .copying(let passes, let before) = state else { return false }
    if size == before || size < Self.pages {
      waitForMore()
    } else if passes == Self.passes || size >= 2 * Self.pages {
      state = .left
    } else {
      state = .copying(passes: passes + 1, size: size)
      return true
    }
    return false
  }

  /// If a reader keeps the log from beginning anew, it is not tried again with every transaction.
  private mutating func waitForMore() {
    state = .waiting(until: size + Self.pages)
  }
}
