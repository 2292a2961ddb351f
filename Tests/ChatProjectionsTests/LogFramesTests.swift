import EventLogSimulation
import Foundation
import GRDB
import Testing

@testable import ChatProjections

@Suite("A frame of a write-ahead log is written with one system call")
struct LogFramesTests {
  private static let header = LogFrames.headerBytes
  private static let page = 4096
  /// The header of the log itself.
  private static let start = 32

  private func offset(ofFrame number: Int) -> Int64 { Int64(Self.start + number * (Self.header + Self.page)) }

  /// The step for each write, given as length and offset, in order.
  private func steps(_ writes: [(Int, Int64)], _ frames: inout LogFrames) -> [LogFrames.Step] {
    writes.map { frames.write($0.0, at: $0.1) }
  }

  @Test("in a new log, each header waits for its page")
  func newLog() {
    var frames = LogFrames()
    var writes: [(Int, Int64)] = [(Self.start, 0)]
    for number in 0..<3 {
      writes.append((Self.header, offset(ofFrame: number)))
      writes.append((Self.page, offset(ofFrame: number) + Int64(Self.header)))
    }
    #expect(steps(writes, &frames) == [.write, .hold, .join, .hold, .join, .hold, .join])
    #expect(!frames.isHolding)
  }

  @Test("where the end is not known, and after a rollback, the first header does not wait, but the next ones do")
  func unknownEnd() {
    var frames = LogFrames()
    for first in [7, 3, 20] {
      let writes = (first..<first + 2).flatMap { number in
        [(Self.header, offset(ofFrame: number)), (Self.page, offset(ofFrame: number) + Int64(Self.header))]
      }
      #expect(steps(writes, &frames) == [.write, .write, .hold, .join])
    }
  }

  @Test("a header that is written again in place does not wait, and neither does a page")
  func inPlace() {
    var frames = LogFrames()
    _ = steps([(Self.start, 0)], &frames)
    for number in 0..<3 {
      _ = steps(
        [(Self.header, offset(ofFrame: number)), (Self.page, offset(ofFrame: number) + Int64(Self.header))], &frames)
    }
    let again = [
      (Self.page, offset(ofFrame: 1) + Int64(Self.header)), (Self.header, offset(ofFrame: 1)),
      (Self.header, offset(ofFrame: 2)),
    ]
    #expect(steps(again, &frames) == [.write, .write, .write])
    #expect(!frames.isHolding)
    // Appending continues behind them.
    #expect(steps([(Self.header, offset(ofFrame: 3))], &frames) == [.hold])
  }

  @Test("a header that is held is written before anything else happens to the log")
  func interrupted() {
    var frames = LogFrames()
    #expect(steps([(Self.start, 0), (Self.header, offset(ofFrame: 0))], &frames) == [.write, .hold])
    #expect(!frames.isHeldPage(Self.page, at: offset(ofFrame: 1) + Int64(Self.header)))
    #expect(frames.isHeldPage(Self.page, at: offset(ofFrame: 0) + Int64(Self.header)))
    let mustWrite = (frames.interrupt(), frames.interrupt())
    #expect(mustWrite == (true, false))
    #expect(steps([(Self.page, offset(ofFrame: 0) + Int64(Self.header))], &frames) == [.write])
  }

  @Test("after a failed write, nothing waits until the end is known again")
  func failed() {
    var frames = LogFrames()
    _ = steps([(Self.start, 0), (Self.header, offset(ofFrame: 0))], &frames)
    frames.writeFailed()
    #expect(steps([(Self.header, offset(ofFrame: 0))], &frames) == [.write])
  }

  @Test("every committed transaction is complete in the files, whatever was spilled, repeated or rolled back before")
  func committedTransactions() throws {
    try PageChecksums.register()
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path + "/log.sqlite"
    let pool = try DatabasePool(path: path)
    try pool.writeWithoutTransaction { (database) throws in
      // With so few pages, a transaction writes pages to the log before it ends, and then again in place.
      try database.execute(sql: "PRAGMA cache_size = 10; PRAGMA wal_autocheckpoint = 0")
      try database.execute(sql: "CREATE TABLE row (id INTEGER PRIMARY KEY, value BLOB) WITHOUT ROWID")
    }
    var random = SeededRandom(seed: 5)
    var expected: [Int64: Int64] = [:]
    for turn in 0..<40 {
      var changed = expected
      try pool.writeWithoutTransaction { (database) throws in
        try database.inTransaction {
          for _ in 0..<(turn % 4 == 0 ? 1 : 300) {
            let (id, length) = (Int64(random.next() % 5000), Int64(random.next() % 200))
            try database.execute(
              sql: "INSERT OR REPLACE INTO row (id, value) VALUES (?, zeroblob(?))", arguments: [id, length])
            changed[id] = length
          }
          return turn % 5 == 3 ? .rollback : .commit
        }
        if turn % 10 == 9 { _ = try database.checkpoint(.restart) }
      }
      if turn % 5 != 3 { expected = changed }
      #expect(try contents(ofCopyOf: path, in: folder) == expected, "transaction \(turn)")
    }
    try pool.close()
  }

  /// What another process would find after a crash.
  private func contents(ofCopyOf path: String, in folder: TemporaryFolder) throws -> [Int64: Int64] {
    let copy = folder.path + "/copy.sqlite"
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
    let queue = try DatabaseQueue(path: copy)
    let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT id, length(value) FROM row") }
    try queue.close()
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as Int64, $0[1] as Int64) })
  }
}
