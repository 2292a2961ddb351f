import ChatDomain
import ChatPrimitives
import EventStore
import Synchronization
import Testing

@testable import ChatPush

/// A log that records whether its head was first read by a task. The first read is part of opening the outbox.
private final class RecordingFeed: EventFeed {
  private let log: MemoryLog
  private let first = Mutex<Bool?>(nil)

  init(_ log: MemoryLog) { self.log = log }

  var wasFirstReadByTask: Bool? { first.withLock { $0 } }

  var head: LogPosition {
    let isTask = withUnsafeCurrentTask { $0 != nil }
    first.withLock { $0 = $0 ?? isTask }
    return log.head
  }

  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    try log.events(after: position, limit: limit)
  }

  func waitForHead(beyond position: LogPosition) -> Bool { log.waitForHead(beyond: position) }
}

@Suite("The outbox is opened on a thread that may block")
struct OpeningThreadTests {
  @Test("and not on one of those that run tasks")
  func thread() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog([]))
    let feed = RecordingFeed(log)
    let push = try await PushService.open(
      directory: folder.path, feed: feed, logIdentity: testLog, recorder: log, sender: ScriptedSender(),
      logger: testLogger, now: { Script.time(.first) })
    #expect(feed.wasFirstReadByTask == false)
    await push.stopSending()
    log.close()
    try push.close()
  }
}
