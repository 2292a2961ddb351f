import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatProjections

/// Rebuilds beside running read models.
@Suite struct LiveRebuildTests {
  /// Set once, by any task.
  private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }

  /// A feed that gives no events from the first position while it is held, as a slow disk would. Only a rebuild reads from
  /// there.
  private final class HeldFeed: EventFeed {
    let feed: MemoryFeed
    let isHeld = Mutex(false)
    /// From then on, reading from the first position fails.
    let isBroken = Mutex(false)

    init(_ feed: MemoryFeed) { self.feed = feed }

    var head: LogPosition { feed.head }

    func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
      if position == .origin {
        while isHeld.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.005) }
        if isBroken.withLock({ $0 }) { throw DatabaseError(resultCode: .SQLITE_FULL) }
      }
      return try feed.events(after: position, limit: limit)
    }

    func waitForHead(beyond position: LogPosition) -> Bool { feed.waitForHead(beyond: position) }
    func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
      feed.waitForHead(beyond: position, unless: isInterrupted)
    }
    func wakeWaiters() { feed.wakeWaiters() }
  }

  /// Runs `body` with the read models over the feed, applied up to its head.
  private func withHeldModels(
    _ folder: TemporaryFolder, _ feed: HeldFeed, _ body: (ReadModels) async throws -> Void
  ) async throws {
    let models = try ReadModels.open(directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
    models.start()
    let result: Result<Void, any Error>
    do {
      try await models.waitForAll(feed.head, timeoutMilliseconds: patienceMilliseconds)
      result = .success(try await body(models))
    } catch {
      result = .failure(error)
    }
    feed.isHeld.withLock { $0 = false }
    feed.feed.close()
    try models.close()
    try result.get()
  }

  private func status(_ models: ReadModels, _ name: String) -> ViewRebuildStatus? {
    models.overviews.first { $0.status.name == name }?.rebuild
  }

  private func waitUntil(_ condition: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .milliseconds(patienceMilliseconds)
    while try !condition() {
      try #require(ContinuousClock.now < end, "the condition was not met in time")
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  private func rebuild(_ models: ReadModels, _ name: String) async throws {
    try models.startRebuild(of: name)
    try await waitUntil { status(models, name)?.isRunning == false }
  }

  private func files(_ folder: TemporaryFolder, _ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.readModels)
      .filter { $0.hasPrefix("\(name)-v") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
  }

  private func verifyAll(_ folder: TemporaryFolder, _ events: [RecordedEvent]) throws {
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: MemoryFeed(events), logIdentity: testLog)
    for report in try rebuild.verify(Projections.all) {
      #expect(report.isEqual, "\(report.projection): \(report.differences)")
    }
  }

  // MARK: - Switching

  @Test("each read model is rebuilt beside its readers, follows the log afterwards, and has the same rows")
  func everyReadModel() async throws {
    let history = RandomHistory(seed: 91, events: 6000)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(history.events.prefix(4000)))
    try await withModels(folder, feed) { models in
      for projection in Projections.all {
        try await rebuild(models, projection.name)
        let found = try #require(status(models, projection.name))
        #expect(found.state == .complete && found.position >= LogPosition(4000) && found.problem == nil)
      }
      feed.append(history.events[4000..<6000])
      try await models.waitForAll(LogPosition(6000), timeoutMilliseconds: patienceMilliseconds)
    }
    for projection in Projections.all {
      #expect(try files(folder, projection.name) == ["\(projection.name)-v\(projection.schemaVersion)-2.sqlite"])
    }
    try verifyAll(folder, history.events)
    // The next start continues with that file.
    try await withModels(folder, MemoryFeed(history.events)) { models in
      #expect(models.timeline.position == LogPosition(6000))
    }
    #expect(try files(folder, "timeline").allSatisfy { $0.hasSuffix("-2.sqlite") })
  }

  @Test("readers meet no error and never see less than before, while files are replaced and events arrive")
  func readers() async throws {
    let history = RandomHistory(seed: 92, events: 8000)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(history.events.prefix(3000)))
    try await withModels(folder, feed) { models in
      let done = Flag()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for reader in 0..<4 {
          group.addTask {
            var last = LogPosition.origin
            while !done.isSet {
              let wanted = reader.isMultiple(of: 2) ? feed.head : last
              try await models.rooms.wait(for: wanted)
              let seen = try await models.rooms.read { try $0.checkpoint().position }
              #expect(seen >= wanted && seen >= last, "\(seen) after \(last), when \(wanted) was applied")
              last = max(last, seen)
            }
          }
        }
        for round in 0..<10 {
          try models.startRebuild(of: "rooms")
          for part in 0..<5 {
            let start = 3000 + (round * 5 + part) * 100
            feed.append(history.events[start..<start + 100])
            try await Task.sleep(for: .milliseconds(2))
          }
          try await waitUntil { status(models, "rooms")?.isRunning == false }
          #expect(status(models, "rooms")?.state == .complete)
        }
        done.set()
        try await group.waitForAll()
      }
      try await models.waitForAll(feed.head, timeoutMilliseconds: patienceMilliseconds)
    }
    #expect(try files(folder, "rooms").count == 1)
    try verifyAll(folder, history.events)
  }

  @Test("a reader that began in the old file finishes in it, and the file is deleted afterwards")
  func readerOfTheOldFile() async throws {
    let history = RandomHistory(seed: 93, events: 2000)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(history.events))
    try await withModels(folder, feed) { models in
      let begun = Flag()
      let mayEnd = Flag()
      let reading = Task {
        try await models.accounts.read { accounts in
          let first = try Int.fetchOne(accounts.database, sql: "SELECT COUNT(*) FROM user")
          begun.set()
          while !mayEnd.isSet { Thread.sleep(forTimeInterval: 0.005) }
          return try first == Int.fetchOne(accounts.database, sql: "SELECT COUNT(*) FROM user")
        }
      }
      try await waitUntil { begun.isSet }
      try await rebuild(models, "accounts")
      #expect(try files(folder, "accounts").count == 2)
      #expect(try await models.accounts.read { try $0.checkpoint().position } == LogPosition(2000))
      #expect(try await !models.emptyWriteAheadLogs())
      mayEnd.set()
      #expect(try await reading.value)
      try await waitUntil { try files(folder, "accounts").count == 1 }
    }
  }

  // MARK: - Not switching

  @Test("a second request shows the rebuild that runs; a cancelled one leaves nothing, and another may follow")
  func cancellation() async throws {
    let history = RandomHistory(seed: 94, events: 1000)
    let (folder, feed) = (try TemporaryFolder(), HeldFeed(MemoryFeed(history.events)))
    try await withHeldModels(folder, feed) { models in
      feed.isHeld.withLock { $0 = true }
      try models.startRebuild(of: "usage")
      try models.startRebuild(of: "usage")
      #expect(status(models, "usage")?.state == .building)
      models.cancelRebuild(of: "usage")
      feed.isHeld.withLock { $0 = false }
      try await waitUntil { status(models, "usage")?.isRunning == false }
      #expect(status(models, "usage")?.state == .cancelled)
      #expect(try files(folder, "usage") == ["usage-v\(UsageProjection.schemaVersion).sqlite"])
      try await rebuild(models, "usage")
      #expect(status(models, "usage")?.state == .complete)
      models.cancelRebuild(of: "usage")
      #expect(status(models, "usage")?.state == .complete)
    }
  }

  @Test("a rebuild that fails says why, leaves no file, and the old file continues")
  func failure() async throws {
    let history = RandomHistory(seed: 95, events: 1100)
    let (folder, feed) = (try TemporaryFolder(), HeldFeed(MemoryFeed(history.events.prefix(1000))))
    try await withHeldModels(folder, feed) { models in
      feed.isBroken.withLock { $0 = true }
      try await rebuild(models, "rooms")
      let found = try #require(status(models, "rooms"))
      #expect(found.state == .failed && found.problem?.contains("Free some disk space") == true)
      #expect(try files(folder, "rooms") == ["rooms-v\(RoomsProjection.schemaVersion).sqlite"])
      #expect(models.statuses.allSatisfy { $0.isReadable })
      feed.feed.append(history.events[1000...])
      try await models.rooms.wait(for: LogPosition(1100))
    }
  }

  @Test("a rebuild ends when the read models are closed")
  func closing() async throws {
    let history = RandomHistory(seed: 96, events: 1000)
    let (folder, feed) = (try TemporaryFolder(), HeldFeed(MemoryFeed(history.events)))
    try await withHeldModels(folder, feed) { models in
      feed.isHeld.withLock { $0 = true }
      for projection in Projections.all { try models.startRebuild(of: projection.name) }
    }
    for projection in Projections.all { #expect(try files(folder, projection.name).count == 1) }
    try verifyAll(folder, history.events)
  }

  @Test("what waits for all rows to be gone waits for a rebuild, too")
  func erasureWaits() async throws {
    let history = RandomHistory(seed: 97, events: 1000)
    let (folder, feed) = (try TemporaryFolder(), HeldFeed(MemoryFeed(history.events)))
    try await withHeldModels(folder, feed) { models in
      feed.isHeld.withLock { $0 = true }
      try models.startRebuild(of: "timeline")
      await #expect(throws: ProjectionBehind.self) {
        try await models.waitForAll(feed.head, timeoutMilliseconds: 50)
      }
      #expect(try await !models.emptyWriteAheadLogs())
      feed.isHeld.withLock { $0 = false }
      try await models.waitForAll(feed.head, timeoutMilliseconds: patienceMilliseconds)
      #expect(status(models, "timeline")?.state == .complete)
    }
  }

  // MARK: - Starting

  @Test("a start removes what a crash left: unfinished files and older generations")
  func leftovers() async throws {
    let history = RandomHistory(seed: 98, events: 500)
    let folder = try TemporaryFolder()
    try await withModels(folder, MemoryFeed(history.events)) { models in try await rebuild(models, "media") }
    let newest = folder.file(MediaProjection.self)
    #expect(newest.name.hasSuffix("-2.sqlite"))
    let old = ProjectionFile(path: newest.path.replacing("-2.sqlite", with: ".sqlite"))
    try Data("older".utf8).write(to: URL(fileURLWithPath: old.path))
    try Data("half".utf8).write(to: URL(fileURLWithPath: newest.sibling("rebuild").path))
    try Data("half".utf8).write(to: URL(fileURLWithPath: folder.readModels + "/media-v1.sqlite.rebuild"))
    try await withModels(folder, MemoryFeed(history.events)) { models in
      #expect(models.media.position == LogPosition(500))
    }
    #expect(try files(folder, "media") == [newest.name])
  }

  @Test("read models without a file are filled as by a rebuild when the log is long")
  func longLog() async throws {
    var script = EventScript()
    script.register(.numbered(1), "Anna")
    script.create(.numbered(9), by: .numbered(1))
    script.send(Int(ProjectionBuild.worthwhileEvents), to: .numbered(9), by: .numbered(1), firstID: 100)
    let folder = try TemporaryFolder()
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    let built = try rebuild.buildMissing(Projections.ofDecisions, isCancelled: { false }) { names, progress in
      #expect(names.count == Projections.ofDecisions.count && progress.done <= progress.total)
    }
    #expect(built == Projections.ofDecisions.map { $0.name })
    #expect(try rebuild.buildMissing(Projections.ofDecisions, isCancelled: { false }) { _, _ in } == [])
    // The others are filled on their own threads.
    try await withModels(folder, MemoryFeed(script.events)) { models in
      #expect(models.overviews.allSatisfy { $0.status.isReadable && $0.rebuild == nil })
    }
    #expect(try files(folder, "search") == ["search-v\(SearchProjection.schemaVersion)-2.sqlite"])
    try verifyAll(folder, script.events)
  }

  @Test("the rate and the time left follow from the progress")
  func progress() {
    var status = ViewRebuildStatus(
      state: .building, position: LogPosition(2000), target: LogPosition(6000), elapsed: .seconds(2), problem: nil)
    #expect(status.eventsPerSecond == 1000 && status.secondsLeft == 4)
    status.state = .indexing
    #expect(status.secondsLeft == nil)
    status.position = .origin
    #expect(status.eventsPerSecond == nil)
  }
}
