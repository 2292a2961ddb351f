import ChatDomain
import GRDB
import GRDBSQLite

/// Truncates a file's write-ahead log after content was removed from the rows. Until then, the log still contains
/// earlier versions of the pages, although the file itself has zeros in place of a deleted text.
///
/// Limited to once per `pause`, because each time costs two syncs of the disk.
struct WALTruncation {
  private static let pause: Duration = .seconds(2)
  /// How long the truncation waits for readers, in milliseconds.
  private static let readerWaitMilliseconds: Int32 = 100

  private var last: ContinuousClock.Instant?
  /// False at first, because the log of a file that was just opened may still contain removed content.
  private var isClean = false

  mutating func note(_ event: RoomEvent) {
    if event.takesTextAway { isClean = false }
  }

  /// Call this outside a transaction.
  mutating func step(_ database: Database) throws -> UpkeepOutcome {
    if isClean { return .done }
    if let last, last.duration(to: .now) < Self.pause { return .blocked }
    last = .now
    guard try Self.empty(database) else { return .blocked }
    isClean = true
    return .done
  }

  /// - Returns: false if a reader, or a pass of `BackgroundCheckpoints`, prevented it.
  static func empty(_ database: Database) throws -> Bool {
    guard let connection = database.sqliteConnection else { return false }
    sqlite3_busy_timeout(connection, readerWaitMilliseconds)
    defer { sqlite3_busy_timeout(connection, ProjectionFile.busyMilliseconds) }
    let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the write-ahead log could not be truncated")
    }
    return code == SQLITE_OK
  }
}

extension RoomEvent {
  /// Whether the event removes a text from a read model.
  fileprivate var takesTextAway: Bool {
    switch self {
    case .lifecycle(.deleted), .messages(.edited), .messages(.deleted), .scheduling(.changed), .scheduling(.cancelled):
      true
    case .lifecycle(.created), .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing, .members,
      .messages(.sent), .annotations, .reading, .threads, .scheduling(.scheduled), .scheduling(.failed), .reports,
      .erased:
      false
    }
  }
}
