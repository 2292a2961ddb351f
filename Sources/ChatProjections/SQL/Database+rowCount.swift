import GRDB

extension Database {
  /// The number of rows in a table. Reads all pages of the table or of one of its indexes.
  func rowCount(of table: String) throws -> Int {
    try CachedStatement(self, "SELECT COUNT(*) FROM \(table)").first { try $0.narrow(Int.self) } ?? 0
  }
}
