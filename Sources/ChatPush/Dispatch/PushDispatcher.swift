package import ChatPrimitives
package import ChatProjections
package import Logging
import Synchronization

/// Takes notifications out of the outbox, has them sent, and records what became of them.
///
/// Attempts are kept in memory only: after a crash, what was not recorded is sent again under the same delivery key.
package final class PushDispatcher: Sendable {
  /// Notifications that are being sent at once.
  package static let concurrency = 32
  /// How long the notifications in flight may take after a stop was requested, in milliseconds.
  package static let drainMilliseconds = 3000
  /// How long an attempt waits for the outbox to know what is durable, in milliseconds.
  package static let patienceMilliseconds = 5000

  let outbox: ProjectionRunner<PushProjection>
  /// The last durable event.
  let head: @Sendable () -> LogPosition
  let patienceMilliseconds: Int
  let recorder: any OutcomeRecorder
  let sender: any PushNotificationSender
  let logIdentity: UUIDBytes
  let logger: Logger
  /// Decides whether a notification is too old to be sent. Giving it up cannot be undone, so this is the settled time.
  let now: @Sendable () -> Timestamp

  private let mailbox: AsyncStream<DispatchEvent>
  private let post: AsyncStream<DispatchEvent>.Continuation
  private let hasNews = Mutex(false)

  package init(
    outbox: ProjectionRunner<PushProjection>, head: @escaping @Sendable () -> LogPosition,
    recorder: any OutcomeRecorder, sender: any PushNotificationSender, logIdentity: UUIDBytes, logger: Logger,
    now: @escaping @Sendable () -> Timestamp, patienceMilliseconds: Int = PushDispatcher.patienceMilliseconds
  ) {
    self.outbox = outbox
    self.head = head
    self.patienceMilliseconds = patienceMilliseconds
    self.recorder = recorder
    self.sender = sender
    self.logIdentity = logIdentity
    self.logger = logger
    self.now = now
    (mailbox, post) = AsyncStream.makeStream()
  }

  /// Sends until `stop`, or until the log takes no more outcomes. To be called once, when the outbox has applied all
  /// that was in the log at the start.
  package func run() async {
    outboxGrew()
    await withDiscardingTaskGroup { group in
      var loop = DispatchLoop(self)
      for await event in mailbox {
        await loop.take(event, &group)
        if loop.isFinished { break }
      }
      group.cancelAll()
    }
  }

  /// Tells that the outbox may have new rows. Cheap, and may be called from any thread.
  package func outboxGrew() {
    let isFirst = hasNews.withLock { hasNews in
      defer { hasNews = true }
      return !hasNews
    }
    if isFirst { post.yield(.outboxGrew) }
  }

  /// Sends nothing more. `run` returns when the notifications in flight have ended or have reached the limit, and the
  /// outcomes are recorded.
  package func stop() { post.yield(.stop) }

  // MARK: - For the loop

  func send(_ event: DispatchEvent) { post.yield(event) }
  func noticedNews() { hasNews.withLock { $0 = false } }
}

/// What the dispatcher's loop is told.
enum DispatchEvent: Sendable {
  case outboxGrew
  case attempted(PushNotificationKey, number: Int, AttemptResult)
  case recorded(PushOutcomesFate)
  /// A time that the loop wanted to be woken at.
  case woke(ContinuousClock.Instant)
  case stop
  /// The time after `stop` is over.
  case drainEnded
}
