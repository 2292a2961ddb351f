package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import Logging

/// Sends scheduled messages when they are due. At the start of the server it sends what became due before.
///
/// It need not prevent sending one twice: the writer sends only messages that still wait, and then they no longer do.
package final class MessageScheduler: Sendable {
  /// The longest sleep in milliseconds, so that a change of the clock is noticed.
  private static let longestSleepMilliseconds: Int64 = 60_000

  private enum Event: Sendable {
    case started
    case scheduled(Timestamp)
    /// The alarm with this number went off.
    case woke(Int)
    case stop
  }

  private let post: AsyncStream<Event>.Continuation
  private let running: Task<Void, Never>

  /// Starts at once.
  /// - Parameters:
  ///   - now: replaces the service's clock.
  ///   - sleep: returns after that many milliseconds, or throws if its task is cancelled.
  package init(
    _ chat: ChatService, logger: Logger, now: (@Sendable () -> Timestamp)? = nil,
    sleep: @escaping @Sendable (Int64) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }
  ) {
    let (mailbox, post) = AsyncStream<Event>.makeStream()
    self.post = post
    chat.scheduleObserver.connect { post.yield(.scheduled($0)) }
    post.yield(.started)
    running = Task {
      await Loop(chat: chat, logger: logger, now: now ?? { chat.clock.settled }, sleep: sleep, post: post).run(mailbox)
    }
  }

  /// Stops sending, and returns when requests in flight are done. Call it before the log is closed for new events.
  package func stop() async {
    post.yield(.stop)
    await running.value
  }

  // MARK: - The loop

  private struct Loop {
    let chat: ChatService
    let logger: Logger
    let now: @Sendable () -> Timestamp
    let sleep: @Sendable (Int64) async throws -> Void
    let post: AsyncStream<Event>.Continuation
    private var plan = SchedulePlan()
    private var alarm: Alarm?
    private var alarmsSet = 0

    /// Wakes the loop. There is at most one.
    private struct Alarm {
      let number: Int
      let time: Timestamp
      let sleeper: Task<Void, Never>
    }

    init(
      chat: ChatService, logger: Logger, now: @escaping @Sendable () -> Timestamp,
      sleep: @escaping @Sendable (Int64) async throws -> Void, post: AsyncStream<Event>.Continuation
    ) {
      self.chat = chat
      self.logger = logger
      self.now = now
      self.sleep = sleep
      self.post = post
    }

    consuming func run(_ mailbox: AsyncStream<Event>) async {
      var loop = self
      for await event in mailbox {
        switch event {
        case .started: break
        case .scheduled(let time): loop.plan.scheduled(for: time)
        // An alarm may have gone off even though another has replaced it.
        case .woke(let number): if loop.alarm?.number == number { loop.alarm = nil }
        case .stop:
          loop.alarm?.sleeper.cancel()
          await loop.alarm?.sleeper.value
          return
        }
        await loop.perform()
      }
    }

    /// Does everything that is due now, and sets an alarm for the rest.
    private mutating func perform() async {
      while true {
        switch plan.action(at: now()) {
        case .lookUp: await lookUpDue()
        case .send(let due): await send(due)
        case .sleep(let time): return setAlarm(time)
        case .idle: return
        }
      }
    }

    private mutating func lookUpDue() async {
      let time = now()
      do throws(ServiceError) {
        let found = try await chat.rooms {
          try $0.dueMessages(at: time, limit: SchedulePlan.portion, bytes: Limits.scheduledSendingBytes)
        }
        plan.found(found, at: now())
      } catch {
        logger.warning("the schedule could not be read yet; the server tries again", metadata: ["error": "\(error)"])
        plan.failed(at: now())
      }
    }

    /// Everything is queued in order and becomes durable together.
    private mutating func send(_ due: [DueMessage]) async {
      let found: [ScheduledRow]
      do throws(ServiceError) {
        found = try await waiting(due)
      } catch {
        logger.warning(
          "scheduled messages could not be read yet; the server tries again", metadata: ["error": "\(error)"])
        return plan.failed(at: now())
      }
      let chunk = await BulkStream(chat: chat).enqueue(found.map { chat.sendScheduled($0) })
      var refused: Set<DueMessage> = []
      for (row, result) in zip(found, await chunk.results()) {
        let message = DueMessage(room: row.room, id: row.id)
        switch result {
        case .success: break
        case .failure(.rejected(let rejection)):
          refused.insert(message)
          logger.debug(
            "a scheduled message was not sent now; the server checks it again",
            metadata: Self.metadata(message, because: "\(rejection.rawValue)"))
        case .failure(let error):
          logger.warning(
            "scheduled messages could not be sent yet; the server tries again",
            metadata: Self.metadata(message, because: "\(error)"))
          return plan.failed(at: now())
        }
      }
      plan.sent(refused: refused)
    }

    /// Those that still wait, with their content.
    private func waiting(_ due: [DueMessage]) async throws(ServiceError) -> [ScheduledRow] {
      try await chat.rooms { rooms in
        try due.compactMap { try rooms.scheduledMessage($0.id, of: $0.room) }.filter { $0.failure == nil }
      }
    }

    private static func metadata(_ message: DueMessage, because reason: String) -> Logger.Metadata {
      ["room": "\(message.room)", "message": "\(message.id)", "reason": "\(reason)"]
    }

    /// An earlier alarm replaces a later one.
    private mutating func setAlarm(_ time: Timestamp) {
      let now = now()
      let wake = min(time, now.adding(milliseconds: longestSleepMilliseconds))
      guard alarm.map({ wake < $0.time }) ?? true else { return }
      alarm?.sleeper.cancel()
      alarmsSet += 1
      let (number, post, sleep) = (alarmsSet, post, sleep)
      let milliseconds = max(wake.milliseconds - now.milliseconds, 1)
      let sleeper = Task {
        do { try await sleep(milliseconds) } catch { return }
        post.yield(.woke(number))
      }
      alarm = Alarm(number: number, time: wake, sleeper: sleeper)
    }
  }
}
