/// Decides which writes to a write-ahead log become one system call.
///
/// SQLite writes each frame of the log in two calls: a header of 24 bytes, and the page behind it. A header that is
/// appended can wait for its page, which is always the next write. A header that is written again in place has no page
/// behind it, so it must not wait. (`walWriteOneFrame` and `walRewriteChecksums` in SQLite's `wal.c`.)
struct LogFrames: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    /// A header: keep it, and write nothing.
    case hold
    /// The page of the header that is held: write both at once.
    case join
    case write
  }

  /// <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
  static let headerBytes = 24

  /// Where the next header is appended. Nil if this is not known.
  private var end: Int64?
  /// Where the page of the last header begins, unless something else has happened since.
  private var page: Int64?
  private(set) var isHolding = false

  /// Another operation on the log is about to begin.
  /// - Returns: whether the header that is held must be written first.
  mutating func interrupt() -> Bool {
    defer { (page, isHolding) = (nil, false) }
    return isHolding
  }

  /// Something is about to be written. If a header is held, and this is not its page, call `interrupt` first.
  mutating func write(_ count: Int, at offset: Int64) -> Step {
    let isPage = offset == page && count > Self.headerBytes
    let wasHolding = isHolding
    (page, isHolding) = (nil, false)
    if isPage {
      end = offset + Int64(count)
      return wasHolding ? .join : .write
    }
    if offset == 0 {
      // The header of the log: SQLite begins it again.
      end = Int64(count)
    } else if count == Self.headerBytes {
      page = offset + Int64(count)
      isHolding = offset == end
    }
    return isHolding ? .hold : .write
  }

  /// Whether a write is the page of the header that is held.
  func isHeldPage(_ count: Int, at offset: Int64) -> Bool {
    isHolding && offset == page && count > Self.headerBytes
  }

  /// A write has failed, so it is not known what the log has at its end.
  mutating func writeFailed() { end = nil }
}
