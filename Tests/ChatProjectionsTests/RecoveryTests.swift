import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatProjections

/// Damaged files and temporary faults, with one runner.
@Suite struct RecoveryTests {
  private typealias Runner = ProjectionRunner<TimelineProjection>

  private func open(_ folder: TemporaryFolder, _ feed: MemoryFeed) throws -> Runner {
    try Runner.open(directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
  }

  private func zero(_ file: ProjectionFile, page: Int) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file.path))
    try handle.seek(toOffset: UInt64(page - 1) * 4096)
    try handle.write(contentsOf: Data(count: 4096))
    try handle.close()
  }

  private func built(_ seed: UInt64) async throws -> (TemporaryFolder, RandomHistory) {
    let history = RandomHistory(seed: seed, events: 1500)
    let folder = try TemporaryFolder()
    try await withModels(folder, MemoryFeed(history.events)) { _ in }
    return (folder, history)
  }

  @Test("a page of zeros, wherever it is, is never read as rows: the file is rebuilt and has the same rows again")
  func everyPage() async throws {
    let (folder, history) = try await built(91)
    let file = folder.file(TimelineProjection.self)
    let expected = try dump(build(TimelineProjection.self, history.events))
    let size = try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
    for page in stride(from: 1, through: size / 4096, by: 7) {
      try zero(file, page: page)
      let feed = MemoryFeed(history.events)
      let runner = try open(folder, feed)
      runner.start()
      var rows: [String: [[DatabaseValue]]]?
      while rows == nil {
        do {
          try await runner.wait(for: feed.head)
          rows = try await runner.read { queries in
            let left = try Int.fetchOne(queries.database, sql: "SELECT COUNT(*) FROM clearing")
            return left == 0 ? try dump(queries.database) : nil
          }
        } catch is ProjectionBehind {
          await Task.yield()
        }
      }
      #expect(rows == expected, "page \(page)")
      feed.close()
      try runner.stop()
    }
  }

  @Test("a file that another process holds is tried again, is named while it is, and follows afterwards")
  func held() async throws {
    let (folder, history) = try await built(92)
    var script = history.script
    script.register(.numbered(5000), "late")
    let late = script.events.suffix(1)
    let name = folder.file(TimelineProjection.self).name
    let feed = MemoryFeed(history.events)
    let runner = try open(folder, feed)
    runner.start()
    try await runner.wait(for: feed.head)
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    let holder = try DatabaseQueue(path: folder.file(TimelineProjection.self).path, configuration: configuration)
    try await holder.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      feed.append(late)
      while runner.status.fault == nil { usleep(1000) }
      let fault = try #require(runner.status.fault)
      #expect(fault.kind == .temporary && fault.file == name)
      #expect(fault.advice.contains("Another process"))
      // Events that were applied before can still be read.
      #expect(try runner.readBlocking { try $0.checkpoint().position } == LogPosition(UInt64(history.events.count)))
      try database.execute(sql: "ROLLBACK")
    }
    while runner.position < feed.head { await Task.yield() }
    while runner.status.fault != nil { await Task.yield() }
    #expect(runner.halted == nil)
    feed.close()
    try runner.stop()
  }

  @Test("a temporary fault of a query is reported until a query succeeds, and does not stop the read model")
  func readFault() async throws {
    let (folder, history) = try await built(93)
    let feed = MemoryFeed(history.events)
    let runner = try open(folder, feed)
    runner.start()
    try await runner.wait(for: feed.head)
    #expect(throws: ProjectionBehind.self) {
      try runner.readBlocking { (_) throws -> Void in
        throw DatabaseError(resultCode: .SQLITE_IOERR, message: "unplugged")
      }
    }
    let fault = try #require(runner.status.fault)
    #expect(fault.kind == .temporary && fault.file == folder.file(TimelineProjection.self).name)
    #expect(fault.message.contains("unplugged"))
    #expect(runner.followingFault == nil)
    #expect(try runner.readBlocking { try $0.checkpoint().position } == feed.head)
    #expect(runner.status.fault == nil)
    feed.close()
    try runner.stop()
  }

  @Test("a query that was interrupted because its client left is no fault of the file")
  func interruptedRead() async throws {
    let (folder, history) = try await built(94)
    let feed = MemoryFeed(history.events)
    let runner = try open(folder, feed)
    runner.start()
    try await runner.wait(for: feed.head)
    #expect(throws: CancellationError.self) {
      try runner.readBlocking { (_) throws -> Void in throw DatabaseError(resultCode: .SQLITE_INTERRUPT) }
    }
    #expect(runner.status.fault == nil)
    feed.close()
    try runner.stop()
  }

  @Test("writes wait beyond the limit, beyond a lower one while it fails, and since the damage while it is rebuilt")
  func behind() async throws {
    let folder = try TemporaryFolder()
    let feed = MemoryFeed()
    let runner = try open(folder, feed)
    let head = LogPosition(500)
    func fault(_ kind: ProjectionFault.Kind) -> ProjectionFault {
      ProjectionFault(projection: "", file: "", kind: kind, position: .origin, message: "", advice: "")
    }
    for (limit, isBehind) in [(499, true), (500, false), (501, false)] as [(UInt64, Bool)] {
      #expect(runner.isBehind(head, limit: limit, failingLimit: 0) == isBehind)
    }
    runner.state.withLock { $0.fault = fault(.temporary) }
    for (limit, isBehind) in [(499, true), (500, false), (501, false)] as [(UInt64, Bool)] {
      #expect(runner.isBehind(head, limit: 0, failingLimit: limit) == isBehind)
    }
    runner.state.withLock { state in
      state.fault = fault(.damaged)
      state.readableFrom = LogPosition(400)
    }
    for (limit, isBehind) in [(99, true), (100, false), (101, false)] as [(UInt64, Bool)] {
      #expect(runner.isBehind(head, limit: limit, failingLimit: 0) == isBehind)
    }
    feed.close()
    try runner.stop()
  }
}
