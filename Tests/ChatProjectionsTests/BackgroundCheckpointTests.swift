import Foundation
import GRDB
import Testing

@testable import ChatProjections

private let pageBytes = 4096
/// Of one row, which has pages of its own.
private let rowBytes = 16 * pageBytes
private let rows = 64

@Suite struct BackgroundCheckpointTests {
  private final class Fixture {
    let folder: TemporaryFolder
    let file: ProjectionFile
    let pool: DatabasePool
    let checkpoints: BackgroundCheckpoints
    private(set) var written = 0

    init() throws {
      folder = try TemporaryFolder()
      file = folder.file(TimelineProjection.self)
      try ProjectionFile.makeDirectory(folder.readModels)
      pool = try file.openPool(TimelineProjection.self)
      try pool.write { try $0.execute(sql: "CREATE TABLE large (id INTEGER PRIMARY KEY, bytes BLOB)") }
      checkpoints = try file.backgroundCheckpoints(TimelineProjection.self, of: pool)
    }

    /// Writes rows, each in a transaction of its own, as long as the condition holds.
    func write(while condition: () -> Bool) throws {
      while condition() {
        let number = written
        try pool.write { database in
          try database.execute(
            sql: "INSERT OR REPLACE INTO large (id, bytes) VALUES (?, ?)",
            arguments: [number % rows, Data(repeating: UInt8(truncatingIfNeeded: number), count: rowBytes)])
        }
        written += 1
      }
    }

    var logPages: Int {
      get throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")
        return try #require(attributes[.size] as? Int) / pageBytes
      }
    }

    /// Closes the file, and expects that it has what was written last.
    func finish() throws {
      checkpoints.close()
      try pool.close()
      #expect(!FileManager.default.fileExists(atPath: file.path + "-wal"))
      let found = try file.openReadOnly().read { try Data.fetchAll($0, sql: "SELECT bytes FROM large ORDER BY id") }
      let expected = (0..<rows).map { id in
        let last = (written - 1 - id) / rows * rows + id
        return Data(repeating: UInt8(truncatingIfNeeded: last), count: rowBytes)
      }
      #expect(found == expected)
    }
  }

  @Test("the writer makes no pass, and the log begins anew each time")
  func besideTheWriter() throws {
    let fixture = try Fixture()
    let times = 5
    for time in 1...times {
      try fixture.write {
        // A pass ends before the next transaction, as when the writer waits for events.
        fixture.checkpoints.waitForPasses()
        return fixture.checkpoints.counts.beside < time
      }
    }
    #expect(fixture.checkpoints.counts == BackgroundCheckpoints.Counts(beside: times, byWriter: 0))
    #expect(try fixture.logPages < 2 * CheckpointPlan.pages)
    try fixture.finish()
  }

  @Test("a log that a reader holds begins anew soon after the reader has let go")
  func afterAReader() throws {
    let fixture = try Fixture()
    try fixture.write { fixture.checkpoints.counts == BackgroundCheckpoints.Counts() }
    let snapshot = try fixture.pool.makeSnapshot()
    let held = try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM large") }
    try fixture.write { fixture.checkpoints.counts.byWriter < 3 }
    #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM large") } == held)
    try snapshot.close()
    let (passes, written) = (fixture.checkpoints.counts.beside, fixture.written)
    try fixture.write {
      fixture.checkpoints.waitForPasses()
      return fixture.checkpoints.counts.beside < passes + 4
    }
    // Had the log not begun anew, there would have been a pass for each `retryPages`.
    #expect((fixture.written - written) * rowBytes / pageBytes > CheckpointPlan.pages)
    try fixture.finish()
  }
}
