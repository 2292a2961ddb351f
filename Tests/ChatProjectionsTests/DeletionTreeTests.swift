import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct DeletionTreeTests {
  private static let room: RoomID = .numbered(1)
  /// One below, at and one above every width of a bucket.
  private static let edges: [UInt64] = (0...3).flatMap { level in
    let width = DeletionTree.width(ofLevel: level)
    return [width - 1, width, width + 1, 2 * width - 1, 2 * width, 2 * width + 1]
  }

  private func tree(_ deleted: [UInt64], batch: Int) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write(DeletionTree.createTable)
    for start in stride(from: 0, to: deleted.count, by: batch) {
      try queue.write { (database) throws in
        var draft = DeletionDraft()
        for ordinal in deleted[start..<min(deleted.count, start + batch)] {
          let isNew = try draft.delete(ordinal, in: Self.room, database)
          #expect(isNew)
        }
        try draft.write(Self.room, database)
      }
    }
    return queue
  }

  @Test("widths are powers of the fan-out", arguments: [(0, 64), (1, 4096), (2, 262_144), (3, 16_777_216)])
  func widths(level: Int, width: UInt64) { #expect(DeletionTree.width(ofLevel: level) == width) }

  @Test("counts equal a naive count around every edge", arguments: [1, 5, 1000])
  func edges(batch: Int) throws {
    var random = SeededGenerator(seed: 11)
    var deleted = Set(Self.edges)
    for _ in 0..<300 { deleted.insert(UInt64.random(in: 1...40_000_000, using: &random)) }
    for ordinal in 1...200 as ClosedRange<UInt64> where ordinal % 3 == 0 { deleted.insert(ordinal) }
    let queue = try tree(deleted.shuffled(using: &random), batch: batch)
    var probes: [UInt64] = [0, 1, 62, 127, 40_000_000, 50_000_000_000]
    for edge in Self.edges { probes += [edge - 1, edge, edge + 1] }
    try queue.read { (database) throws in
      for probe in probes {
        let count = try DeletionTree.deleted(through: probe, in: Self.room, database)
        #expect(count == UInt64(deleted.count { $0 <= probe }), "through \(probe)")
      }
      #expect(try DeletionTree.deleted(through: 1000, in: .numbered(2), database) == 0)
    }
  }

  @Test("a message is counted as deleted once, within a batch and across batches")
  func twice() throws {
    let queue = try tree([64], batch: 1)
    try queue.write { (database) throws in
      var draft = DeletionDraft()
      var answers: [Bool] = []
      for ordinal in [64, 65, 65] as [UInt64] { answers.append(try draft.delete(ordinal, in: Self.room, database)) }
      #expect(answers == [false, true, false])
      try draft.write(Self.room, database)
      #expect(try DeletionTree.deleted(through: 100, in: Self.room, database) == 2)
    }
  }
}
