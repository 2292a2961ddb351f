import ChatDomain
import ChatPrimitives
import EventStore
import Synchronization
import Testing

@testable import ChatProjections

/// Rebuilds that cannot catch up, because the log grows as fast as they follow it.
@Suite struct GrowingLogRebuildTests {
  private typealias Runner = ProjectionRunner<UsageProjection>

  /// How many events the log has when the rebuild begins.
  private static let first: UInt64 = 1000
  /// By how many events a read that follows the log advances, and by how many the log grows meanwhile.
  private static let step = 8
  /// More reads than a rebuild makes before it accepts that many events are missing.
  private static let manyReads = 200

  /// A feed that grows by `missing` events while a rebuild reads the first ones. Then it grows as fast as the rebuild reads, for
  /// `slowReads` reads. Only a rebuild reads with its limit.
  private final class GrowingFeed: EventFeed {
    private struct State {
      var waiting: ArraySlice<RecordedEvent>
      var reads = 0
      var beforeRead: (@Sendable (LogPosition) -> Void)?
    }

    private let feed: MemoryFeed
    private let missing: Int
    private let slowReads: Int
    private let state: Mutex<State>

    init(_ events: [RecordedEvent], missing: Int, slowReads: Int) {
      feed = MemoryFeed(events.prefix(Int(first)))
      self.missing = missing
      self.slowReads = slowReads
      state = Mutex(State(waiting: events.dropFirst(Int(first))))
    }

    /// How many times a rebuild has read after it had all events that were in the log at its beginning.
    var reads: Int { state.withLock { $0.reads } }

    /// Called on the thread of the rebuild before it reads, with the new head.
    func beforeRead(_ body: (@Sendable (LogPosition) -> Void)?) { state.withLock { $0.beforeRead = body } }

    private func grow(by count: Int) {
      let events = state.withLock { state in
        defer { state.waiting = state.waiting.dropFirst(count) }
        return state.waiting.prefix(count)
      }
      feed.append(events)
      state.withLock { $0.beforeRead }?(feed.head)
    }

    var head: LogPosition { feed.head }

    func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
      guard limit == SharedScan.batchEvents else { return try feed.events(after: position, limit: limit) }
      if position == .origin { grow(by: missing) }
      guard position >= LogPosition(first) else { return try feed.events(after: position, limit: limit) }
      let reads = state.withLock { state in
        state.reads += 1
        return state.reads
      }
      guard reads <= slowReads else { return try feed.events(after: position, limit: limit) }
      grow(by: step)
      return try feed.events(after: position, limit: step)
    }

    func waitForHead(beyond position: LogPosition) -> Bool { feed.waitForHead(beyond: position) }
    func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
      feed.waitForHead(beyond: position, unless: isInterrupted)
    }
    func wakeWaiters() { feed.wakeWaiters() }
    func close() { feed.close() }
  }

  /// Set once, by any task.
  private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }

  private func script(missing: Int) -> EventScript {
    var script = EventScript()
    script.register(.numbered(1), "Anna")
    script.create(.numbered(9), by: .numbered(1))
    script.send(
      Int(Self.first) + missing + Self.manyReads * Self.step, to: .numbered(9), by: .numbered(1), firstID: 100)
    return script
  }

  /// Rebuilds while four readers read again and again: two wait for the head, two only for what they have already seen.
  private func rebuildBesideReaders(_ runner: Runner, _ feed: GrowingFeed) async throws -> ViewRebuildStatus {
    let done = Flag()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<4 {
        group.addTask {
          var last = LogPosition.origin
          while !done.isSet {
            let wanted = reader.isMultiple(of: 2) ? feed.head : last
            try await runner.wait(for: wanted)
            let seen = try await runner.read { try $0.checkpoint().position }
            #expect(seen >= wanted && seen >= last, "\(seen) after \(last), when \(wanted) was applied")
            last = max(last, seen)
          }
        }
      }
      try runner.startRebuild()
      let end = ContinuousClock.now + .milliseconds(patienceMilliseconds)
      while runner.rebuildStatus?.isRunning != false, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(5))
      }
      done.set()
      try await group.waitForAll()
      return try #require(runner.rebuildStatus)
    }
  }

  /// - Returns: how the rebuild ended, and how many reads it made while it followed the log.
  private func rebuild(missing: Int, slowReads: Int) async throws -> (status: ViewRebuildStatus, reads: Int) {
    let script = script(missing: missing)
    let feed = GrowingFeed(script.events, missing: missing, slowReads: slowReads)
    let folder = try TemporaryFolder()
    let runner = try Runner.open(directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
    runner.start()
    let result: Result<ViewRebuildStatus, any Error>
    do {
      try await runner.wait(for: feed.head)
      // So that readers have always seen the head when the file is handed over, and the new file lacks everything else.
      feed.beforeRead { head in
        do {
          try runner.waitBlocking(for: head, timeoutMilliseconds: patienceMilliseconds)
        } catch {
          Issue.record(error)
        }
      }
      result = .success(try await rebuildBesideReaders(runner, feed))
    } catch {
      result = .failure(error)
    }
    feed.beforeRead(nil)
    feed.close()
    try runner.stop()
    let status = try result.get()
    let position = feed.head
    #expect(runner.position == position)
    let report = try ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(script.events.prefix(Int(position.value))), logIdentity: testLog
    ).verify(UsageProjection.self)
    #expect(report.isEqual, "\(report.differences)")
    return (status, feed.reads)
  }

  @Test("a rebuild that cannot keep up hands its file over after some batches, and readers of the head meet no error")
  func neverCloser() async throws {
    let missing = Runner.batchEvents + 1
    let (status, reads) = try await rebuild(missing: missing, slowReads: .max)
    #expect(status.state == .complete)
    #expect(reads > 1 && reads < Self.manyReads)
    // The thread that serves the readers has applied the rest.
    #expect(status.target.distance(from: status.position) == UInt64(missing))
  }

  @Test("a file that lacks very many events is not handed over until fewer are missing")
  func tooFar() async throws {
    let missing = Int(Runner.impatientEvents) + 1
    let slowReads = Self.manyReads - 1
    let (status, reads) = try await rebuild(missing: missing, slowReads: slowReads)
    #expect(status.state == .complete)
    // The first read that the log does not outgrow is enough.
    #expect(reads == slowReads + 1)
    #expect(status.target.distance(from: status.position) == UInt64(missing - SharedScan.batchEvents))
  }
}
