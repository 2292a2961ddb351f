import ChatDomain
import GRDB
import GRDBSQLite

/// Empties a file's write-ahead log once something was taken out of the rows: earlier versions of the pages stay in it
/// until then, although the file itself holds zeros where a deleted text was.
///
/// At most once in a while, for each time costs two syncs of the disk.
struct WALTruncation {
  private static let pause: Duration = .seconds(2)
  /// How long the emptying waits for readers, in milliseconds.
  private static let readerWaitMilliseconds: Int32 = 100

  private var last: ContinuousClock.Instant?
  /// Not known of a file that was just opened: its log may still hold what was taken out earlier.
  private var isClean = false

  mutating func note(_ event: RoomEvent) {
    if event.takesTextAway { isClean = false }
  }

  /// Called outside a transaction.
  mutating func step(_ database: Database) throws -> UpkeepOutcome {
    if isClean { return .done }
    if let last, last.duration(to: .now) < Self.pause { return .blocked }
    last = .now
    guard try Self.empty(database) else { return .blocked }
    isClean = true
    return .done
  }

  /// - Returns: false when a reader was in the way.
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
      .messages(.sent), .annotations, .reading, .threads, .scheduling(.scheduled), .scheduling(.failed), .erased:
      false
    }
  }
}
