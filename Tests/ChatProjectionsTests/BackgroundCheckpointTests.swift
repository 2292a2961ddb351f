import Foundation
import GRDB
import Testing

@testable import ChatProjections

@Suite struct BackgroundCheckpointTests {
  private static let pageBytes = 4096
  /// Of one row, which has pages of its own.
  private static let rowBytes = 16 * pageBytes

  private func write(rows: Range<Int>, to pool: DatabasePool) throws {
    for row in rows {
      try pool.write { database in
        try database.execute(
          sql: "INSERT OR REPLACE INTO large (id, bytes) VALUES (?, ?)",
          arguments: [row % 64, Data(repeating: UInt8(truncatingIfNeeded: row), count: Self.rowBytes)])
      }
    }
  }

  private func logBytes(of file: ProjectionFile) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")
    return try #require(attributes[.size] as? Int)
  }

  @Test("the write-ahead log stays short while the writer never pauses, and nothing is lost")
  func staysShort() throws {
    let folder = try TemporaryFolder()
    let file = folder.file(TimelineProjection.self)
    try ProjectionFile.makeDirectory(folder.readModels)
    let pool = try file.openPool(TimelineProjection.self)
    try pool.write { try $0.execute(sql: "CREATE TABLE large (id INTEGER PRIMARY KEY, bytes BLOB)") }
    let checkpoints = try file.backgroundCheckpoints(TimelineProjection.self, of: pool)
    // About 20 pages each: ten times as many as the log may have before it is written into the file.
    let rows = 10 * CheckpointPlan.pages / 20
    try write(rows: 0..<rows, to: pool)
    #expect(try logBytes(of: file) < 4 * CheckpointPlan.pages * Self.pageBytes)
    checkpoints.close()
    try pool.close()
    #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
    let reopened = try file.openReadOnly()
    let found = try reopened.read { try Data.fetchAll($0, sql: "SELECT bytes FROM large ORDER BY id") }
    let expected = (0..<64).map { id in
      let last = (rows - 1 - id) / 64 * 64 + id
      return Data(repeating: UInt8(truncatingIfNeeded: last), count: Self.rowBytes)
    }
    #expect(found == expected)
  }
}
