import GRDB
import Testing

@testable import ChatProjections

@Suite struct CachedStatementTests {
  /// SQLite takes NULL for an unbound parameter, so the result would be wrong.
  @Test("a statement with an unbound parameter ends the process, in a release build too")
  func unbound() async {
    await #expect(processExitsWith: .failure) {
      try await DatabaseQueue().write { database in
        _ = try CachedStatement(database, "SELECT ?, ?").all({ $0.add(1) }, { _ in 0 })
      }
    }
  }

  @Test("a statement whose parameters are all bound runs")
  func bound() throws {
    let sums = try DatabaseQueue().write { database in
      try CachedStatement(database, "SELECT ? + ?").all(
        {
          $0.add(1)
          $0.add(2)
        }, { try $0.number() })
    }
    #expect(sums == [3])
  }
}
