package import ChatPrimitives
package import ChatProjections
package import ChatService
package import Logging
import Synchronization

/// Whether a device shows a room on a live stream at this moment. It then needs no notification of the room's messages.
package typealias OpenRoomCheck = @Sendable (_ room: RoomID, _ device: DeviceID, _ user: UserID) -> Bool

/// Takes notifications from the outbox, sends them, and records the outcomes.
///
/// The numbers of attempts are only in memory. After a crash, notifications without a recorded outcome are sent again
/// under the same delivery keys.
package final class PushDispatcher: Sendable {
  /// The maximum number of notifications that are sent concurrently.
  package static let concurrency = 32
  /// How long notifications in flight may take after a stop, in milliseconds.
  package static let drainMilliseconds = 3000
  /// How long an attempt waits for the outbox to apply all durable events, in milliseconds.
  package static let outboxTimeoutMilliseconds = 5000

  let outbox: ProjectionRunner<PushProjection>
  let notifications: NotificationReader
  let recorder: any OutcomeRecorder
  let sender: any PushNotificationSender
  let logIdentity: UUIDBytes
  let logger: Logger
  /// The time that decides whether a notification is too old to be sent. It is the time that the clock has confirmed
  /// (decision 0022), because a notification that was given up cannot be sent any more.
  let now: @Sendable () -> Timestamp
  let isOpen: OpenRoomCheck
  /// Nil for the threads that run all tasks.
  let threads: PushThreads?

  private let mailbox = Mutex<[DispatchEvent]>([])
  /// Signals that the mailbox has events.
  private let mails: AsyncStream<Void>
  private let mailed: AsyncStream<Void>.Continuation
  private let outboxHasGrown = Mutex(false)
  private let providerStates: Mutex<[PushProviderStatus]>

  package init(
    outbox: ProjectionRunner<PushProjection>, head: @escaping @Sendable () -> LogPosition,
    recorder: any OutcomeRecorder, sender: any PushNotificationSender, logIdentity: UUIDBytes, logger: Logger,
    now: @escaping @Sendable () -> Timestamp, isOpen: @escaping OpenRoomCheck = { _, _, _ in false },
    outboxTimeoutMilliseconds: Int = PushDispatcher.outboxTimeoutMilliseconds, threads: PushThreads? = nil
  ) {
    self.outbox = outbox
    notifications = NotificationReader(
      outbox, head: head, outboxTimeoutMilliseconds: outboxTimeoutMilliseconds, now: now,
      executor: threads?.dispatching)
    self.recorder = recorder
    self.sender = sender
    self.logIdentity = logIdentity
    self.logger = logger
    self.now = now
    self.isOpen = isOpen
    self.threads = threads
    providerStates = Mutex(sender.queueSettings.compactMap(\.provider).map { PushProviderStatus($0, .running) })
    (mails, mailed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Sends notifications until `stop`, or until the log accepts no more outcomes. Call it once, after the outbox has
  /// applied all events that the log had at startup.
  package func run() async {
    outboxGrew()
    await withTaskExecutorPreference(threads?.dispatching) {
      await withDiscardingTaskGroup { group in
        var loop = DispatchLoop(self)
        for await _ in mails {
          await loop.take(takeEvents(), &group)
          if loop.isFinished { break }
        }
        group.cancelAll()
      }
    }
  }

  /// Signals that the outbox may have new rows. Cheap, and may be called from any thread.
  package func outboxGrew() {
    let isFirst = outboxHasGrown.withLock { outboxHasGrown in
      defer { outboxHasGrown = true }
      return !outboxHasGrown
    }
    if isFirst { send(.outboxGrew) }
  }

  /// Stops sending. `run` returns after the notifications in flight have ended or reached the time limit, and their
  /// outcomes are recorded.
  package func stop() { send(.stop) }

  /// The states of the providers; empty for a webhook or a file.
  package var providers: [PushProviderStatus] { providerStates.withLock { $0 } }

  // MARK: - Used by the loop

  func publish(_ states: [PushProviderStatus]) { providerStates.withLock { $0 = states } }

  func send(_ event: DispatchEvent) {
    let isFirst = mailbox.withLock { events in
      defer { events.append(event) }
      return events.isEmpty
    }
    if isFirst { mailed.yield() }
  }

  private func takeEvents() -> [DispatchEvent] {
    mailbox.withLock { events in
      defer { events = [] }
      return events
    }
  }

  func clearOutboxGrew() { outboxHasGrown.withLock { $0 = false } }
}

/// The events of the dispatcher's loop.
enum DispatchEvent: Sendable {
  case outboxGrew
  /// - Parameter thread: where the attempt ran (`AttemptThreads`).
  case attemptEnded(PerDeviceQueues.Attempt, ProviderQueues.Ticket, FinishedAttempt, thread: Int?)
  case recorded(RecordingResult)
  /// A time at which the loop asked to be woken.
  case woke(ContinuousClock.Instant)
  case stop
  /// The time limit after `stop` has passed.
  case drainEnded
}
