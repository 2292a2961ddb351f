/// Decides when the write-ahead log of a read model is written into its file.
///
/// Each pass costs two syncs, so another thread makes it while the writer continues. SQLite restarts the log from its
/// beginning only if all of it is in the file when the next transaction begins. So the thread repeats its passes, each
/// shorter than the one before, until nothing was committed during one of them. If that does not happen soon, or a reader
/// keeps pages from being copied, the writer makes a pass itself.
///
/// **A pass of the other thread begins only while the log has pages that are not in the file.** Otherwise the writer could
/// restart the log while the pass begins. Versions of SQLite before 3.51.3 then lose pages ("The WAL-Reset Bug",
/// https://www.sqlite.org/wal.html), because they remember how much of the old log was copied.
struct CheckpointPlan: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case none
    /// Another thread begins its passes.
    case begin
    /// The writer makes a pass.
    case finish
  }

  /// What a pass found, in pages.
  struct Pass: Sendable, Hashable {
    /// The length of the log.
    var log: Int
    /// How much of it is in the file now. A reader of an older snapshot keeps the rest from being copied.
    var copied: Int
  }

  private enum State: Sendable, Hashable {
    /// The next passes begin when the log has this many pages.
    case waiting(until: Int)
    case copying(passes: Int)
    case left
  }

  /// The pages of the log at which the passes begin: 16 MiB.
  static let pages = 4096
  /// With twice as many pages, or after so many passes, the writer makes one.
  static let passes = 8
  /// After how many more pages another pass is tried, if a reader kept SQLite from restarting the log: 1 MiB.
  static let retryPages = 256
  /// From this length on, the writer makes a pass after each transaction, as SQLite does by itself: 64 MiB.
  static let mostPages = 4 * pages

  private var state = State.waiting(until: pages)
  /// The pages of the log after the last transaction.
  private var size = 0

  /// The writer has committed a transaction, so the log has a page that is not in the file.
  /// - Parameter pages: of the log now.
  mutating func committed(pages: Int) -> Step {
    size = pages
    switch state {
    case .waiting(let until):
      // SQLite has restarted the log.
      if size < Self.pages { state = .waiting(until: Self.pages) }
      guard size >= max(until, Self.pages) else { return .none }
      if size >= Self.mostPages { return .finish }
      state = .copying(passes: 1)
      return .begin
    case .copying: return .none
    case .left:
      tryAgainLater()
      return .finish
    }
  }

  /// The other thread has made a pass.
  /// - Parameter pass: nil if it failed.
  /// - Returns: whether it makes another one.
  mutating func passed(_ pass: Pass?) -> Bool {
    guard case .copying(let passes) = state else { return false }
    guard let pass, pass.copied == pass.log else {
      state = .left
      return false
    }
    if size <= pass.log {
      // All of the log is in the file, or SQLite has already restarted it.
      tryAgainLater()
    } else if passes == Self.passes || size >= 2 * Self.pages {
      state = .left
    } else {
      state = .copying(passes: passes + 1)
      return true
    }
    return false
  }

  private mutating func tryAgainLater() { state = .waiting(until: size + Self.retryPages) }
}
