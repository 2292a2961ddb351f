import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct CachedStatementTests {
  /// SQLite treats an unbound parameter as NULL, so the result would be wrong.
  @Test("a statement with an unbound parameter ends the process, in a release build too")
  func unbound() async {
    await #expect(processExitsWith: .failure) {
      try await DatabaseQueue().write { database in
        _ = try CachedStatement(database, "SELECT ?, ?").all(1) { _ in 0 }
      }
    }
  }

  @Test("a statement whose parameters are all bound runs")
  func bound() throws {
    let sums = try DatabaseQueue().write { database in
      try CachedStatement(database, "SELECT ? + ?").all(1, 2) { try $0.number() }
    }
    #expect(sums == [3])
  }

  @Test("an empty text is a text and empty bytes are a blob; only nil is NULL, in each parameter that the value takes")
  func types() throws {
    let types = try DatabaseQueue().write { database in
      try CachedStatement(
        database, "SELECT typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), typeof(?)"
      )
      .first("", UTF8Text(bytes: []), [UInt8](), true, String?.none, Stamp?.none) { row in
        try (0..<7).map { _ in try row.text() }
      }
    }
    #expect(types == ["text", "text", "blob", "integer", "null", "null", "null"])
  }

  @Test("a value that takes several parameters binds them in order")
  func severalParameters() throws {
    let location = MessageLocation(thread: 3, ordinal: 4)
    let stamp = Stamp(position: LogPosition(5), time: Timestamp(milliseconds: 6))
    let numbers = try DatabaseQueue().write { database in
      try CachedStatement(database, "SELECT ?, ?, ?, ?, ?").first(2, location, stamp) { row in
        try (0..<5).map { _ in try row.number() }
      }
    }
    #expect(numbers == [2, 3, 4, 5, 6])
  }

  @Test("a number that SQLite's integers cannot hold is an error, and the statement can be run again")
  func tooBig() throws {
    try DatabaseQueue().write { database in
      let statement = try CachedStatement(database, "SELECT ?")
      let error = #expect(throws: DatabaseError.self) { try statement.run(UInt64(Int64.max) + 1) }
      #expect(error?.resultCode == .SQLITE_TOOBIG)
      #expect(try statement.first(UInt64(Int64.max)) { try $0.unsigned() } == UInt64(Int64.max))
    }
  }

  @Test("whether there is a row")
  func exists() throws {
    try DatabaseQueue().write { database in
      let statement = try CachedStatement(database, "SELECT 1 WHERE ? > ?")
      #expect(try statement.exists(2, 1))
      #expect(try !statement.exists(1, 2))
    }
  }
}
