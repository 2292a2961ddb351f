import ChatDomain
import ChatPrimitives
import EventLogSimulation
import GRDB
import Testing

@testable import ChatProjections

@Suite struct OrdinalSetTests {
  private static let owner = OrdinalOwner.deletions(in: .numbered(1))
  /// The numbers just below, at and just above one and two widths of the buckets of levels 0 to 3.
  private static let edges: [UInt64] = (0...3).flatMap { level in
    let width = OrdinalSet.width(ofLevel: level)
    return [width - 1, width, width + 1, 2 * width - 1, 2 * width, 2 * width + 1]
  }

  private func set(_ ordinals: [UInt64], batch: Int) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write(OrdinalSet.createTable)
    for start in stride(from: 0, to: ordinals.count, by: batch) {
      try queue.write { (database) throws in
        var buffered = BufferedOrdinalSet(Self.owner)
        for ordinal in ordinals[start..<min(ordinals.count, start + batch)] {
          let isNew = try buffered.insert(ordinal, database)
          #expect(isNew)
        }
        try buffered.write(database)
      }
    }
    return queue
  }

  @Test("widths are powers of the fan-out", arguments: [(0, 64), (1, 4096), (2, 262_144), (3, 16_777_216)])
  func widths(level: Int, width: UInt64) { #expect(OrdinalSet.width(ofLevel: level) == width) }

  @Test("counts equal a naive count around every edge", arguments: [1, 5, 1000])
  func edges(batch: Int) throws {
    var random = SeededRandom(seed: 11)
    var members = Set(Self.edges)
    for _ in 0..<300 { members.insert(UInt64.random(in: 1...40_000_000, using: &random)) }
    for ordinal in 1...200 as ClosedRange<UInt64> where ordinal % 3 == 0 { members.insert(ordinal) }
    let queue = try set(members.shuffled(using: &random), batch: batch)
    var probes: [UInt64] = [0, 1, 62, 127, 40_000_000, 50_000_000_000]
    for edge in Self.edges { probes += [edge - 1, edge, edge + 1] }
    try queue.read { (database) throws in
      for probe in probes {
        let through = UInt64(members.count { $0 <= probe })
        #expect(try OrdinalSet.count(through: probe, of: Self.owner, database) == through, "through \(probe)")
        let after = try OrdinalSet.count(after: probe, of: Self.owner, database)
        #expect(after == UInt64(members.count) - through, "after \(probe)")
      }
      let others: [OrdinalOwner] = [
        .deletions(in: .numbered(2)), .deletions(in: .numbered(1), thread: 1), .everyone(in: .numbered(1)),
        .mentions(of: .numbered(3), in: .numbered(1)),
      ]
      for other in others { #expect(try OrdinalSet.count(after: 0, of: other, database) == 0) }
    }
  }

  @Test("an ordinal is counted once, within a batch and across batches")
  func twice() throws {
    let queue = try set([64], batch: 1)
    try queue.write { (database) throws in
      var buffered = BufferedOrdinalSet(Self.owner)
      var inserted: [Bool] = []
      for ordinal in [64, 65, 65] as [UInt64] { inserted.append(try buffered.insert(ordinal, database)) }
      #expect(inserted == [false, true, false])
      try buffered.write(database)
      #expect(try OrdinalSet.count(through: 100, of: Self.owner, database) == 2)
    }
  }

  @Test("ordinals that are added and removed leave the same rows, in one batch or in many", arguments: [1, 7, 400])
  func comesAndGoes(batch: Int) throws {
    var random = SeededRandom(seed: 12)
    let steps = (0..<400).map { _ in UInt64.random(in: 1...300, using: &random) * 50 }
    let queue = try DatabaseQueue()
    try queue.write(OrdinalSet.createTable)
    var members: Set<UInt64> = []
    for start in stride(from: 0, to: steps.count, by: batch) {
      try queue.write { (database) throws in
        var buffered = BufferedOrdinalSet(Self.owner)
        for ordinal in steps[start..<min(steps.count, start + batch)] {
          if members.remove(ordinal) != nil {
            try buffered.remove(ordinal, database)
          } else {
            members.insert(ordinal)
            _ = try buffered.insert(ordinal, database)
          }
        }
        try buffered.write(database)
      }
    }
    let fresh = try set(members.sorted(), batch: 1000)
    #expect(try rows(queue) == rows(fresh))
    try queue.write { database in
      var buffered = BufferedOrdinalSet(Self.owner)
      for ordinal in members { try buffered.remove(ordinal, database) }
      try buffered.write(database)
    }
    #expect(try rows(queue) == [])
  }

  private func rows(_ queue: DatabaseQueue) throws -> [Row] {
    try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM ordinalSet ORDER BY owner, level, bucket") }
  }

  @Test("the sets of one room go together, and no other's")
  func removedWithTheRoom() throws {
    let queue = try DatabaseQueue()
    try queue.write { (database) throws in
      try OrdinalSet.createTable(database)
      try BulkDeletion.createTable(database)
    }
    let places = RoomsProjection.bulkDeletedRows.filter { $0.table == "ordinalSet" }
    let (gone, kept): (RoomID, RoomID) = (.numbered(1), .numbered(2))
    try queue.write { database in
      for owner in [
        OrdinalOwner.deletions(in: gone), .everyone(in: gone, thread: 5),
        .mentions(of: .numbered(9), in: gone, thread: .max), .deletions(in: kept),
      ] {
        var buffered = BufferedOrdinalSet(owner)
        _ = try buffered.insert(3, database)
        try buffered.write(database)
      }
      try BulkDeletion.note(gone, .room, database)
      while try BulkDeletion.step(places, database) {}
      let left = try Int.fetchOne(database, sql: "SELECT COUNT(DISTINCT owner) FROM ordinalSet")
      #expect(left == 1)
      #expect(try OrdinalSet.count(after: 0, of: .deletions(in: kept), database) == 1)
    }
  }
}
