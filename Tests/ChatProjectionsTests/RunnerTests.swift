import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatProjections

@Suite struct RunnerTests {
  private typealias Runner = ProjectionRunner<TimelineProjection>

  private func open(_ folder: TemporaryFolder, _ feed: MemoryFeed, log: UUIDBytes = testLog) throws -> Runner {
    try Runner.open(directory: folder.readModels, feed: feed, logIdentity: log, logger: testLogger)
  }

  /// The number of messages, without those of deleted rooms that are not removed yet.
  private func rows(_ runner: Runner) throws -> Int? {
    try runner.readBlocking {
      try Int.fetchOne(
        $0.database, sql: "SELECT COUNT(*) FROM message WHERE roomId NOT IN (SELECT id FROM clearing)")
    }
  }

  private func deletesRows(_ runner: Runner) throws -> Bool {
    try runner.readBlocking { try Int.fetchOne($0.database, sql: "SELECT COUNT(*) FROM clearing") != 0 }
  }

  // MARK: - Following

  @Test("it applies existing and new events, reports its position, and continues from it when reopened")
  func follows() async throws {
    let history = RandomHistory(seed: 61, events: 6000)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(history.events.prefix(5000)))
    var runner = try open(folder, feed)
    #expect(runner.position == .origin && runner.lag == 5000)
    let applied = Mutex<[LogPosition]>([])
    runner.start { position in applied.withLock { $0.append(position) } }
    try await runner.wait(for: LogPosition(5000))
    feed.append(history.events[5000..<5500])
    try await runner.wait(for: LogPosition(5500))
    #expect(runner.lag == 0 && runner.halted == nil)
    feed.close()
    try runner.stop()
    #expect(applied.withLock { $0.last == LogPosition(5500) && $0 == $0.sorted() })

    let reopened = MemoryFeed(history.events)
    runner = try open(folder, reopened)
    #expect(runner.position == LogPosition(5500))
    runner.start()
    try await runner.wait(for: LogPosition(6000))
    let live = try await runner.read { try Checkpoint.read($0.database) }
    #expect(live.position == LogPosition(6000) && live.time == history.script.last.time)
    while try deletesRows(runner) { await Task.yield() }
    reopened.close()
    try runner.stop()
    let queue = try folder.file(TimelineProjection.self).openReadOnly()
    #expect(try dump(queue) == dump(build(TimelineProjection.self, history.events)))
  }

  @Test("waiting events share a transaction, up to its limit, to what can be read at once, and to the first unreadable event")
  func transactions() async throws {
    let most = Runner.transactionEvents
    var script = EventScript()
    script.create(.numbered(9), by: .numbered(1))
    script.send(most + 100, to: .numbered(9), by: .numbered(1), firstID: 100)
    func turns(_ feed: MemoryFeed) async throws -> ([UInt64], ProjectionFault?) {
      let folder = try TemporaryFolder()
      defer { withExtendedLifetime(folder) {} }
      let runner = try open(folder, feed)
      let applied = Mutex<[UInt64]>([])
      runner.start { position in applied.withLock { $0.append(position.value) } }
      while runner.halted == nil, runner.lag > 0 { await Task.yield() }
      feed.close()
      try runner.stop()
      return (applied.withLock { $0 }, runner.halted)
    }
    let whole = try await turns(MemoryFeed(script.events))
    #expect(whole.0 == [UInt64(most), UInt64(script.events.count)] && whole.1 == nil)
    let batch = Runner.batchEvents
    let together = try await turns(MemoryFeed(script.events.prefix(batch + 100)))
    #expect(together.0 == [UInt64(batch + 100)])
    let smaller = try await turns(MemoryFeed(script.events.prefix(batch + 100), largestRead: batch))
    #expect(smaller.0 == [UInt64(batch), UInt64(batch + 100)] && smaller.1 == nil)
    let cut = try await turns(MemoryFeed(script.events, failingFrom: LogPosition(UInt64(most / 2 + 11))))
    #expect(cut.0 == [UInt64(most / 2 + 10)] && cut.1?.position == LogPosition(UInt64(most / 2 + 10)))
  }

  @Test("files are private to their owner")
  func modes() async throws {
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(RandomHistory(seed: 62, events: 200).events))
    try await withModels(folder, feed) { _ in
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.readModels)
      let rooms = "rooms-v\(RoomsProjection.schemaVersion).sqlite"
      #expect(names.contains(rooms) && names.contains(rooms + "-wal"))
      for name in names {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.readModels + "/" + name)
        #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
      }
      let directory = try FileManager.default.attributesOfItem(atPath: folder.readModels)
      #expect(directory[.posixPermissions] as? Int == 0o700)
    }
  }

  @Test("a new file cannot be read before it has reached the head; over an empty log it can be read at once")
  func newFile() async throws {
    let history = RandomHistory(seed: 66, events: 300)
    let folder = try TemporaryFolder()
    // The second time, the file exists, but no event has been applied to it.
    for _ in 0..<2 {
      let feed = MemoryFeed(history.events)
      let runner = try open(folder, feed)
      #expect(runner.status.target == feed.head && runner.status.fault == nil)
      #expect(throws: ProjectionBehind.self) { _ = try rows(runner) }
      feed.close()
      try runner.stop()
    }
    let feed = MemoryFeed(history.events)
    let runner = try open(folder, feed)
    runner.start()
    try await runner.wait(for: feed.head)
    #expect(runner.status.target == nil)
    #expect(try rows(runner) != nil)
    feed.close()
    try runner.stop()

    let (other, empty) = (try TemporaryFolder(), MemoryFeed())
    let first = try open(other, empty)
    #expect(first.status.target == nil)
    #expect(try rows(first) == 0)
    empty.close()
    try first.stop()
  }

  // MARK: - Halting

  @Test("an unreadable event halts it at that position, fails the waiters, and is not skipped")
  func halts() async throws {
    let history = RandomHistory(seed: 63, events: 300)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(history.events, failingFrom: LogPosition(200)))
    let runner = try open(folder, feed)
    let waiting = Task { try await runner.wait(for: LogPosition(250), timeoutMilliseconds: patienceMilliseconds) }
    while runner.waiting == 0 { await Task.yield() }
    runner.start()
    let error = await #expect(throws: ProjectionBehind.self) { try await waiting.value }
    #expect(error?.reason == .halted && error?.wanted == LogPosition(250) && error?.reached == LogPosition(199))
    #expect(runner.halted?.position == LogPosition(199))
    #expect(runner.halted?.message.contains("Unreadable") == true)
    #expect(runner.position == LogPosition(199) && runner.lag == 101)
    // Waiting for an applied position succeeds, and waiting for a later one fails at once.
    try await runner.wait(for: LogPosition(199))
    let later = await #expect(throws: ProjectionBehind.self) { try await runner.wait(for: LogPosition(200)) }
    #expect(later?.reason == .halted)
    feed.close()
    try runner.stop()
  }

  // MARK: - Waiting

  @Test("a waiter is resumed by its position, by its time, by its cancellation, and by the end")
  func waiters() async throws {
    let events = RandomHistory(seed: 64, events: 400).events
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(events.prefix(100)))
    let runner = try open(folder, feed)
    runner.start()
    try await runner.wait(for: LogPosition(100))

    let satisfied = (101...300).map { position in
      Task { try await runner.wait(for: LogPosition(UInt64(position)), timeoutMilliseconds: patienceMilliseconds) }
    }
    let cancelled = Task { try await runner.wait(for: LogPosition(400), timeoutMilliseconds: patienceMilliseconds) }
    let stopped = Task { try await runner.wait(for: LogPosition(500), timeoutMilliseconds: patienceMilliseconds) }
    let timedOut = await #expect(throws: ProjectionBehind.self) {
      try await runner.wait(for: LogPosition(400), timeoutMilliseconds: 30)
    }
    #expect(timedOut?.reason == .timedOut && timedOut?.wanted == LogPosition(400))

    while runner.waiting < satisfied.count + 2 { await Task.yield() }
    cancelled.cancel()
    let cancellation = await #expect(throws: ProjectionBehind.self) { try await cancelled.value }
    #expect(cancellation?.reason == .cancelled)

    feed.append(events[100..<300])
    for task in satisfied { try await task.value }

    feed.close()
    try runner.stop()
    #expect(runner.waiting == 0)
    let end = await #expect(throws: ProjectionBehind.self) { try await stopped.value }
    #expect(end?.reason == .stopped)
    let after = await #expect(throws: ProjectionBehind.self) { try await runner.wait(for: LogPosition(301)) }
    #expect(after?.reason == .stopped)
  }

  @Test("a task that is cancelled before it waits does not wait")
  func cancelledBefore() async throws {
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed())
    let runner = try open(folder, feed)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await runner.wait(for: LogPosition(1), timeoutMilliseconds: patienceMilliseconds)
    }
    task.cancel()
    let error = await #expect(throws: ProjectionBehind.self) { try await task.value }
    #expect(error?.reason == .cancelled)
    feed.close()
    try runner.stop()
  }

  @Test("the list of waiters hands each back once, in any order of asking")
  func waiterList() {
    var list = WaiterList<Int>()
    var tickets: [WaiterList<Int>.Ticket] = []
    for (number, position) in ([5, 3, 5, 9, 1, 5] as [UInt64]).enumerated() {
      let ticket = list.ticket(for: LogPosition(position))
      list.add(number, ticket)
      tickets.append(ticket)
    }
    #expect(list.remove(tickets[2]) == 2)
    #expect(list.remove(tickets[2]) == nil)
    #expect(list.advance(to: LogPosition(0)) == [])
    #expect(list.advance(to: LogPosition(5)) == [4, 1, 0, 5])
    #expect(list.remove(tickets[0]) == nil)
    #expect(list.count == 1)
    #expect(list.removeAll().map(\.waiter) == [3])
  }

  // MARK: - Foreign and damaged files

  @Test("a file of another log, one ahead of the log, and a damaged one are moved aside and rebuilt")
  func foreignFiles() async throws {
    let history = RandomHistory(seed: 65, events: 300)
    let folder = try TemporaryFolder()
    try await withModels(folder, MemoryFeed(history.events)) { _ in }
    let file = folder.file(TimelineProjection.self)
    let expected = try dump(build(TimelineProjection.self, Array(history.events.prefix(200))))

    // A file that is ahead of the log.
    try await withModels(folder, MemoryFeed(history.events.prefix(200))) { (models) throws in
      let count = try self.rows(models.timeline)
      #expect(count == expected["message"]?.count)
    }
    #expect(file.sibling("aside").exists)

    // A damaged file: first entirely, then empty, which a crash during its creation leaves behind.
    for bytes in [Data(repeating: 0x5a, count: 8192), Data()] {
      try bytes.write(to: URL(fileURLWithPath: file.path))
      try await withModels(folder, MemoryFeed(history.events.prefix(200))) { (models) throws in
        let count = try self.rows(models.timeline)
        #expect(count == expected["message"]?.count)
      }
    }

    // A file of another log.
    let feed = MemoryFeed(history.events.prefix(200))
    let runner = try open(folder, feed, log: UUIDBytes(high: 9, low: 9))
    #expect(runner.position == .origin)
    feed.close()
    try runner.stop()
  }
}
