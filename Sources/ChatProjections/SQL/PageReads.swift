import GRDB
import GRDBSQLite

extension Database {
  /// The number of pages of its file that this connection has read since the last call. Pages in its cache and pages on
  /// disk count the same, so that the same work always gives the same number.
  func takePageReads() -> Int {
    [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, status in
      var (count, highest): (Int32, Int32) = (0, 0)
      let code = sqlite3_db_status(sqliteConnection, status, &count, &highest, 1)
      return code == SQLITE_OK ? sum + Int(count) : sum
    }
  }
}
