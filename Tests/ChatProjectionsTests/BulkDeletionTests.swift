import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatProjections

/// The rows of deleted rooms are removed in steps while the runner follows the log.
@Suite struct BulkDeletionTests {
  private typealias Runner = ProjectionRunner<TimelineProjection>

  private let alice: UserID = .numbered(1)
  private let room: RoomID = .numbered(9)
  private let other: RoomID = .numbered(8)
  /// Removing these messages takes four steps. The first also removes the room's one member.
  private let messages = BulkDeletion.rowsAtOnce * 3 + 10

  /// A large room that is deleted by the last event, and another room that stays.
  private func script() -> EventScript {
    var script = EventScript()
    for id in [other, room] { script.create(id, by: alice) }
    script.send(5, to: other, by: alice, firstID: 50)
    script.send(messages, to: room, by: alice, firstID: 1000)
    script.room(room, .lifecycle(.deleted), by: alice)
    return script
  }

  private func open(_ folder: TemporaryFolder, _ feed: MemoryFeed) throws -> Runner {
    try Runner.open(directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
  }

  private func left(_ runner: Runner) throws -> Int {
    let owner = Data(room.uuid.bytes)
    return try runner.readBlocking {
      try Int.fetchOne($0.database, sql: "SELECT COUNT(*) FROM message WHERE roomId = ?", arguments: [owner])
    } ?? -1
  }

  private func deletesRows(_ runner: Runner) throws -> Bool {
    try runner.readBlocking { try Int.fetchOne($0.database, sql: "SELECT COUNT(*) FROM clearing") != 0 }
  }

  private func verify(_ folder: TemporaryFolder, _ feed: MemoryFeed) throws -> VerificationReport {
    try ProjectionRebuild(directory: folder.readModels, feed: feed, logIdentity: testLog).verify(
      TimelineProjection.self)
  }

  @Test("an event during a bulk deletion waits for at most one step, and each event performs one")
  func beside() async throws {
    let folder = try TemporaryFolder()
    var script = script()
    let deletion = script.last.position
    script.send(4, to: other, by: alice, firstID: 60)
    let later = Array(script.events.dropFirst(Int(deletion.value)))
    let feed = MemoryFeed(script.events.prefix(Int(deletion.value)))
    let runner = try open(folder, feed)
    let readings = Mutex<[Int]>([])
    // The next event is appended before the thread continues, so that the thread is never idle.
    runner.start { [self] position in
      guard position >= deletion else { return }
      let left = (try? self.left(runner)) ?? -1
      let count = readings.withLock { readings in
        readings.append(left)
        return readings.count
      }
      if count <= later.count { feed.append([later[count - 1]]) }
    }
    try await runner.wait(for: script.last.position, timeoutMilliseconds: patienceMilliseconds)
    feed.close()
    try runner.stop()
    let steps = BulkDeletion.rowsAtOnce
    #expect(
      readings.withLock { $0 } == [
        messages, messages - steps + 1, messages - 2 * steps + 1, messages - 3 * steps + 1, 0,
      ])
  }

  @Test("after a stop during a bulk deletion, the next start applies waiting events and then continues")
  func resumed() async throws {
    let folder = try TemporaryFolder()
    var script = script()
    let deletion = script.last.position
    script.send(to: other, by: alice, firstID: 60)
    // The event after the deletion cannot be read, so the thread ends after one step. It is appended only after the
    // deletion is applied, because a new file can be read only once it has reached the head that the log had when the
    // file was opened.
    let broken = MemoryFeed(script.events.prefix(Int(deletion.value)), failingFrom: script.last.position)
    let unreadable = Array(script.events.suffix(1))
    let first = try open(folder, broken)
    first.start { position in
      if position >= deletion { broken.append(unreadable) }
    }
    try await first.wait(for: deletion, timeoutMilliseconds: patienceMilliseconds)
    while first.halted == nil { await Task.yield() }
    let rest = messages - BulkDeletion.rowsAtOnce + 1
    #expect(try left(first) == rest && deletesRows(first))
    broken.close()
    try first.stop()

    let middle = try verify(folder, MemoryFeed(script.events.prefix(Int(deletion.value))))
    #expect(middle.isEqual && middle.position == deletion && middle.rowsByTable["message"] == 5)

    let whole = MemoryFeed(script.events)
    let second = try open(folder, whole)
    let reading = Mutex(-1)
    second.start { [self] _ in
      let left = try? self.left(second)
      reading.withLock { $0 = left ?? -1 }
    }
    try await second.wait(for: script.last.position)
    while try deletesRows(second) { await Task.yield() }
    #expect(reading.withLock { $0 } == rest)
    #expect(try left(second) == 0)
    whole.close()
    try second.stop()
    let end = try verify(folder, whole)
    #expect(end.isEqual && end.rowsByTable["message"] == 6)
  }

  @Test("a comparison during a bulk deletion still finds other differences")
  func comparedInTheMiddle() async throws {
    let folder = try TemporaryFolder()
    var script = EventScript()
    for id in [other, room] { script.create(id, by: alice) }
    script.send(5, to: other, by: alice, firstID: 50)
    script.room(room, .lifecycle(.deleted), by: alice)
    try await withModels(folder, MemoryFeed(script.events)) { _ in }
    let queue = try DatabaseQueue(path: folder.file(TimelineProjection.self).path)
    try await queue.write { [room] (database) throws in
      try BulkDeletion.note(room, .room, database)
      for owner in [room, .numbered(8)] as [RoomID] {
        try database.execute(
          sql: "INSERT INTO member VALUES (?, ?)",
          arguments: [Data(owner.uuid.bytes), Data(UserID.numbered(7).uuid.bytes)])
      }
    }
    try queue.close()
    let report = try verify(folder, MemoryFeed(script.events))
    #expect(report.differenceCount == 1 && report.differences.first?.table == "member")
  }
}
