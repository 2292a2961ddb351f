import ChatDomain
import ChatPrimitives
import EventLog
import EventStore
import Foundation
import Synchronization
import Testing

/// Renames one room. Rejects empty names, and reports a name that the room already has as already done.
private struct NamingMachine: DecisionMachine {
  enum Reply: Sendable, Equatable {
    case recorded(LogPosition)
    case already
    case refused
  }

  let room: RoomID
  var name = ""
  var version = StreamVersion.none

  mutating func decide(_ command: String, next: LogPosition, now: Timestamp) -> CommitDecision<Reply> {
    if command.isEmpty { return CommitDecision(events: [], reply: .refused) }
    if command == name { return CommitDecision(events: [], reply: .already) }
    name = command
    version = version.next
    let event = RecordedEvent(
      stamp: Stamp(position: next, time: now), version: version, actor: nil, service: nil, device: nil, command: nil,
      originalTime: nil, event: .room(room, .lifecycle(.edited(RoomEdit(name: command)))))
    return CommitDecision(events: [event], reply: .recorded(next))
  }
}

/// A pipeline over a real log in a separate directory, on a disk that can be held. Its clock does not move.
private final class PipelineHarness: Sendable {
  static let now = Timestamp(milliseconds: 1_000)
  /// The recorded time of the record before the first. It is later than the clock.
  static let lastTime = Timestamp(milliseconds: 5_000)

  let disk = HeldDisk()
  let directory = TemporaryDirectory()
  let log: EmbeddedLog
  let store: EventStore
  let pipeline: CommitPipeline<NamingMachine>

  /// - Parameter lastTime: the recorded time of the record before the first.
  init(lastTime: Timestamp = lastTime, clock: @escaping @Sendable () -> Timestamp = { now }) throws {
    log = try EmbeddedLog.open(
      directory: directory.path, disk: disk, options: LogOptions(segmentBytes: 8 << 20, preparesAhead: false))
    store = EventStore(log: log)
    pipeline = CommitPipeline(
      store: store, machine: NamingMachine(room: RoomID(UUIDBytes(high: 1, low: 1))), lastTime: lastTime,
      clock: clock)
  }

  func close() throws {
    pipeline.close()
    store.close()
    try log.close()
  }
}

/// The results in the order in which they arrived.
private final class Replies: Sendable {
  private let received = Mutex<[String]>([])

  func note(_ name: String) -> @Sendable (Result<NamingMachine.Reply, CommitError>) -> Void {
    { result in
      let text: String
      switch result {
      case .success(let reply): text = "\(name): \(reply)"
      case .failure(let error): text = "\(name): \(error)"
      }
      self.received.withLock { $0.append(text) }
    }
  }

  var all: [String] { received.withLock { $0 } }
}

@Suite("The commit pipeline")
struct CommitPipelineTests {
  @Test("no reply is sent before its sync has returned: no event, no rejection, no 'already done'")
  func repliesAfterSync() throws {
    let harness = try PipelineHarness()
    let replies = Replies()
    harness.disk.hold()
    try harness.pipeline.submit("water", completion: replies.note("earlier"))
    harness.disk.waitForHeldSync()
    // These form one batch while the disk is held. The repeat and the rejection depend on the event before them.
    try harness.pipeline.submit("tea", completion: replies.note("first"))
    try harness.pipeline.submit("tea", completion: replies.note("repeat"))
    try harness.pipeline.submit("", completion: replies.note("refusal"))
    Thread.sleep(forTimeInterval: 0.1)
    #expect(replies.all.isEmpty)
    #expect(harness.store.head == .origin)
    #expect(try harness.store.events(after: .origin, limit: 10).isEmpty)
    // One sync passes. The batch is decided and is held at the next sync.
    harness.disk.passOne()
    harness.disk.waitForHeldSync()
    Thread.sleep(forTimeInterval: 0.1)
    #expect(replies.all == ["earlier: recorded(1)"])
    #expect(harness.store.head == LogPosition(1))
    harness.disk.release()
    harness.pipeline.close()
    #expect(replies.all.dropFirst() == ["first: recorded(2)", "repeat: already", "refusal: refused"])
    #expect(harness.store.head == LogPosition(2))
    try harness.close()
  }

  @Test("after the replies of each batch, the observer is called once")
  func repliedOnce() throws {
    let harness = try PipelineHarness()
    let replies = Replies()
    harness.pipeline.whenReplied { replies.note("observer")(.success(.already)) }
    harness.disk.hold()
    try harness.pipeline.submit("water", completion: replies.note("earlier"))
    harness.disk.waitForHeldSync()
    // These form one batch while the disk is held.
    try harness.pipeline.submit("tea", completion: replies.note("first"))
    try harness.pipeline.submit("", completion: replies.note("refusal"))
    harness.disk.release()
    harness.pipeline.close()
    let observer = "observer: already"
    #expect(
      replies.all == ["earlier: recorded(1)", observer, "first: recorded(2)", "refusal: refused", observer])
    try harness.close()
  }

  @Test("when a sync fails, no command that depends on it gets a reply, and nothing more is written")
  func poisons() throws {
    let harness = try PipelineHarness()
    let replies = Replies()
    harness.disk.hold()
    try harness.pipeline.submit("tea", completion: replies.note("first"))
    harness.disk.waitForHeldSync()
    try harness.pipeline.submit("tea", completion: replies.note("repeat"))
    harness.disk.failSyncs()
    harness.disk.release()
    while replies.all.count < 2 { Thread.sleep(forTimeInterval: 0.01) }
    #expect(replies.all.allSatisfy { $0.contains("poisoned") })
    #expect(harness.pipeline.poison != nil)
    #expect(harness.store.head == .origin)
    #expect(throws: CommitError.self) { try harness.pipeline.submit("milk", completion: replies.note("late")) }
    harness.pipeline.close()
    harness.store.close()
  }

  @Test("positions are dense, replies are in order, times never decrease, and the log has every event")
  func denseAndOrdered() async throws {
    let harness = try PipelineHarness()
    let count = 5_000
    let replies = await withTaskGroup(of: [NamingMachine.Reply].self) { group in
      for writer in 0..<10 {
        group.addTask {
          var replies: [NamingMachine.Reply] = []
          for index in 0..<count / 10 {
            guard let reply = try? await harness.pipeline.submit("\(writer)-\(index)") else { continue }
            replies.append(reply)
          }
          return replies
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    let positions = replies.compactMap { reply -> UInt64? in
      guard case .recorded(let position) = reply else { return nil }
      return position.value
    }
    #expect(positions.sorted() == Array(1...UInt64(count)))
    try harness.close()

    let reader = StoredEvents(try LogReader.open(directory: harness.directory.path))
    #expect(reader.head == LogPosition(UInt64(count)))
    var position = LogPosition.origin
    var seen = 0
    while position < reader.head {
      for event in try reader.events(after: position, limit: 1_000) {
        #expect(event.position == position.next)
        #expect(event.stamp.time == PipelineHarness.lastTime)
        position = event.position
        seen += 1
      }
    }
    #expect(seen == count)
  }

  @Test(
    "a clock a little behind the log waits for it; one that is far behind is followed, and recorded time stays",
    arguments: [-1, 0, 1])
  func clockBehind(beyond: Int64) async throws {
    let last = PipelineHarness.now.adding(milliseconds: Limits.clockStepMilliseconds + beyond)
    let harness = try PipelineHarness(lastTime: last)
    for name in ["tea", "milk"] { _ = try await harness.pipeline.submit(name) }
    try harness.close()
    let reader = try LogReader.open(directory: harness.directory.path)
    let events = try StoredEvents(reader).events(after: .origin, limit: 10)
    #expect(events.map(\.stamp.time) == Array(repeating: beyond > 0 ? PipelineHarness.now : last, count: 2))
    for position in [LogPosition(1), LogPosition(2)] {
      let record = try reader.block(containing: position).records.first { $0.position == position }
      #expect(record?.envelope.time == last)
    }
  }

  @Test("a follower sees each durable event once, from memory and from disk")
  func follows() async throws {
    let harness = try PipelineHarness()
    for index in 0..<300 { _ = try await harness.pipeline.submit("name \(index)") }
    var position = LogPosition.origin
    var names: [String] = []
    while position < harness.store.head {
      #expect(harness.store.waitForHead(beyond: position))
      for recorded in try harness.store.events(after: position, limit: 7) {
        guard case .room(_, .lifecycle(.edited(let edit))) = recorded.event else { continue }
        names.append(try #require(edit.name))
        position = recorded.position
      }
    }
    #expect(names == (0..<300).map { "name \($0)" })
    let reopened = EventStore(log: harness.log)
    #expect(try reopened.events(after: .origin, limit: 1_000) == harness.store.events(after: .origin, limit: 1_000))
    harness.store.close()
    #expect(!harness.store.waitForHead(beyond: harness.store.head))
    try harness.close()
  }

  @Test("a full queue refuses immediately, and queued commands get their replies later")
  func refusesWhenFull() throws {
    let harness = try PipelineHarness()
    let replies = Replies()
    harness.disk.hold()
    try harness.pipeline.submit("tea", completion: replies.note("first"))
    harness.disk.waitForHeldSync()
    var accepted = 1
    var refused = 0
    let text = String(repeating: "x", count: 16_000)
    for index in 0..<CommitPipeline<NamingMachine>.queueLimit * 2 {
      do throws(CommitError) {
        try harness.pipeline.submit("\(index)\(text)") { _ in }
        accepted += 1
      } catch {
        refused += 1
      }
    }
    #expect(accepted >= CommitPipeline<NamingMachine>.queueLimit)
    #expect(refused > 0)
    harness.disk.release()
    try harness.close()
    #expect(harness.store.head == LogPosition(UInt64(accepted)))
  }
}
