import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatProjections

@Suite struct SharedScanTests {
  private struct Failure: Error {}

  /// Counts how often events are read.
  private final class CountingFeed: EventFeed {
    let events: [RecordedEvent]
    let reads = Mutex(0)

    init(_ events: [RecordedEvent]) { self.events = events }

    var head: LogPosition { LogPosition(UInt64(events.count)) }

    func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
      reads.withLock { $0 += 1 }
      return Array(events.dropFirst(Int(position.value)).prefix(limit))
    }

    func waitForHead(beyond position: LogPosition) -> Bool { head > position }
  }

  private static let count = 10 * SharedScan.batchEvents + 1

  private func feed() -> CountingFeed {
    var script = EventScript()
    for number in 0..<Self.count { script.register(.numbered(UInt64(number)), "user") }
    return CountingFeed(script.events)
  }

  @Test("each reader gets all events up to its end, and the log is read once")
  func once() throws {
    let feed = feed()
    let ends = [0, 1, SharedScan.batchEvents, SharedScan.batchEvents + 1, Self.count].map { LogPosition(UInt64($0)) }
    let found = Mutex<[Int: [LogPosition]]>([:])
    let works = ends.enumerated().map { index, end in
      SharedScan.Work(thread: "test-\(index)") { reader in
        try reader.begin(through: end)
        while let batch = try reader.next() { found.withLock { $0[index, default: []] += batch.map(\.position) } }
      }
    }
    var progress: [(LogPosition, LogPosition)] = []
    try SharedScan.run(works, over: feed) { progress.append(($0, $1)) }
    for (index, end) in ends.enumerated() {
      let expected = (0..<end.value).map { LogPosition($0 + 1) }
      #expect(found.withLock { $0[index] ?? [] } == expected)
    }
    #expect(feed.reads.withLock { $0 } == 11)
    #expect(progress.last?.0 == feed.head && progress.last?.1 == feed.head)
    #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.0.0 <= $0.1.0 })
  }

  @Test("a reader that joins batches gets as many as one, and the rest at the end; the others get theirs one by one")
  func joined() throws {
    let feed = feed()
    let found = Mutex<[Int: [[LogPosition]]]>([:])
    let works = [1, 4, 100].enumerated().map { index, joinedBatches in
      SharedScan.Work(thread: "test-\(index)", joinedBatches: joinedBatches) { reader in
        try reader.begin(through: feed.head)
        while let batch = try reader.next() { found.withLock { $0[index, default: []].append(batch.map(\.position)) } }
        #expect(try reader.next() == nil)
      }
    }
    try SharedScan.run(works, over: feed) { _, _ in }
    let batch = SharedScan.batchEvents
    for (index, counts) in [
      Array(repeating: batch, count: 10) + [1], [4 * batch, 4 * batch, 2 * batch + 1], [10 * batch + 1],
    ].enumerated() {
      let batches = found.withLock { $0[index] ?? [] }
      #expect(batches.map(\.count) == counts)
      #expect(batches.flatMap { $0 } == (0..<Self.count).map { LogPosition(UInt64($0 + 1)) })
    }
    #expect(feed.reads.withLock { $0 } == 11)
  }

  @Test("batches of a feed are joined, and the last has the rest")
  func joinedFeed() throws {
    let feed = feed()
    for (joined, counts) in [(3, [3, 3, 3, 1]), (11, [10]), (100, [10])] {
      var batches = FeedBatches(feed, through: LogPosition(UInt64(10 * SharedScan.batchEvents)), joined: joined)
      var found: [Int] = []
      while let batch = try batches.next() { found.append(batch.count / SharedScan.batchEvents) }
      #expect(found == counts)
    }
  }

  @Test("a rebuild of rooms writes the row of a member once for many batches")
  func rowsOfRooms() throws {
    let (rooms, members) = (20, 5)
    var script = EventScript()
    for room in 1...rooms {
      script.create(.numbered(UInt64(room)), by: .numbered(1))
      for member in 2...members {
        let user = UserID.numbered(UInt64(member))
        script.room(.numbered(UInt64(room)), .members(.joined(user, role: .member, invite: nil)), by: user)
      }
    }
    for number in 0..<2 * SharedScan.batchEvents {
      let (room, member) = (number % rooms + 1, number % members + 1)
      script.send(to: .numbered(UInt64(room)), by: .numbered(UInt64(member)), firstID: UInt64(1_000 + number))
    }
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try ProjectionFile.makeDirectory(folder.readModels)
    let feed = MemoryFeed(script.events)
    func changes(joined: Int) throws -> Int {
      let file = try folder.file(RoomsProjection.self).sibling("test-\(joined)")
      let queue = try file.openForRebuild(RoomsProjection.self, cacheKiB: 4_096)
      defer { try? queue.close() }
      var projection = RoomsProjection()
      let batches = FeedBatches(feed, through: feed.head, joined: joined)
      try ProjectionBuild(logIdentity: testLog).fill(&projection, queue, from: batches)
      return try queue.read { $0.totalChangesCount }
    }
    let (one, all) = try (changes(joined: 1), changes(joined: RoomsProjection.joinedBatches))
    // Each batch writes each member at least once.
    #expect(one - all >= rooms * members)
  }

  @Test("a slow reader makes the others wait, so that few batches are in memory")
  func backPressure() throws {
    let feed = feed()
    let ahead = Mutex(0)
    let slow = SharedScan.Work(thread: "slow") { reader in
      try reader.begin(through: feed.head)
      var taken = 0
      while try reader.next() != nil {
        taken += 1
        Thread.sleep(forTimeInterval: 0.01)
        let read = feed.reads.withLock { $0 }
        ahead.withLock { $0 = max($0, read - taken) }
      }
    }
    let fast = SharedScan.Work(thread: "fast") { reader in
      try reader.begin(through: feed.head)
      while try reader.next() != nil {}
    }
    try SharedScan.run([slow, fast], over: feed) { _, _ in }
    #expect(ahead.withLock { $0 } <= SharedScan.queueCapacity + 1)
  }

  @Test("the first failure of a reader ends all of them and is thrown")
  func failure() throws {
    let feed = feed()
    let ended = Mutex(0)
    let works = (0..<3).map { index in
      SharedScan.Work(thread: "test-\(index)") { reader in
        defer { ended.withLock { $0 += 1 } }
        try reader.begin(through: feed.head)
        while try reader.next() != nil { if index == 1 { throw Failure() } }
      }
    }
    #expect(throws: Failure.self) { try SharedScan.run(works, over: feed) { _, _ in } }
    #expect(ended.withLock { $0 } == 3)
  }

  @Test("a failure before the scan begins ends the readers that wait for it")
  func failureAtTheStart() throws {
    let feed = feed()
    let works = (0..<3).map { index in
      SharedScan.Work(thread: "test-\(index)") { reader in
        if index == 1 { throw Failure() }
        try reader.begin(through: feed.head)
        while try reader.next() != nil {}
      }
    }
    #expect(throws: Failure.self) { try SharedScan.run(works, over: feed) { _, _ in } }
  }

  @Test("a cancelled scan ends all readers")
  func cancellation() throws {
    let feed = feed()
    let isCancelled = Mutex(false)
    let work = SharedScan.Work(thread: "test") { reader in
      try reader.begin(through: feed.head)
      while try reader.next() != nil { isCancelled.withLock { $0 = true } }
    }
    #expect(throws: CancellationError.self) {
      try SharedScan.run([work], over: feed, isCancelled: { isCancelled.withLock { $0 } }) { _, _ in }
    }
  }
}
