import ChatDomain
import ChatPrimitives
import ChatProjections
import Logging

/// Whether an event with outcomes was recorded.
enum PushOutcomesFate: Sendable {
  case durable
  case failed([PushOutcome], RecordingFailure)
}

/// The dispatcher's state, which only its loop accesses, and how each event changes it.
struct DispatchLoop {
  /// The maximum number of rows that one query of the outbox takes.
  private static let rowsPerRead = 1024
  /// How long outcomes are collected before they are recorded together, in milliseconds.
  private static let gatheringMilliseconds = 100
  /// The delay after the outbox could not be read or outcomes could not be recorded, in milliseconds.
  private static let pauseMilliseconds = 500

  private typealias Instant = ContinuousClock.Instant

  private let dispatcher: PushDispatcher
  private var queues = PerDeviceQueues()
  private var outcomes = GatheredOutcomes()
  /// Whether the outbox may have rows that were not taken yet.
  private var mayHaveMore = true
  private var isRecording = false
  /// When the collected outcomes are recorded, unless they fill an event earlier.
  private var recordingDue: Instant?
  /// Nothing is recorded before this time, because the last attempt to record outcomes failed.
  private var recordingPausedUntil = Instant.now
  private var readingDue = Instant.now
  /// No attempt begins before this time, because one found the outbox failing or behind, and every attempt needs the
  /// outbox.
  private var attemptingDue = Instant.now
  /// Whether the last query of the outbox failed. That failure was logged.
  private var isUnreadable = false
  private var wakeUp: Instant?
  private var isStopping = false
  /// Whether nothing more can be recorded.
  private var isLogClosed = false

  init(_ dispatcher: PushDispatcher) {
    self.dispatcher = dispatcher
  }

  /// Whether a stop was requested and nothing is left to do.
  var isFinished: Bool {
    isStopping && queues.active == 0 && !isRecording && (!outcomes.isOwed || isLogClosed)
  }

  mutating func take(_ event: DispatchEvent, _ group: inout DiscardingTaskGroup) async {
    switch event {
    case .outboxGrew:
      dispatcher.noticedNews()
      mayHaveMore = true
    case .attempted(let key, let number, let result): take(result, of: key, number)
    case .recorded(let fate): take(fate)
    case .woke(let time): if wakeUp == time { wakeUp = nil }
    case .stop: stop(&group)
    case .drainEnded: group.cancelAll()
    }
    await refill()
    let isPaused = attemptingDue > .now
    if !isPaused { startAttempts(&group) }
    await record(&group)
    setAlarm(&group, isPaused: isPaused)
  }

  // MARK: - Events

  private mutating func take(_ result: AttemptResult, of key: PushNotificationKey, _ number: Int) {
    switch result {
    case .settled(let outcome, let reason): complete(key, outcome, reason)
    case .vanished: queues.complete(key)
    case .failed(let reason):
      guard number < RetryPolicy.attempts else {
        dispatcher.logger.warning(
          "a notification was abandoned",
          metadata: Self.metadata(key, ["attempts": "\(number)", "reason": "\(reason)"]))
        return complete(key, .abandoned, .attemptsUsedUp)
      }
      retry(key, after: number, because: reason)
    // Nothing was sent, so this does not count as an attempt.
    case .postponed(let reason):
      attemptingDue = .now + .milliseconds(Self.pauseMilliseconds)
      retry(key, after: number, because: reason, counts: false)
    }
  }

  private mutating func retry(
    _ key: PushNotificationKey, after number: Int, because reason: String, counts: Bool = true
  ) {
    dispatcher.logger.debug(
      "a notification was not delivered; the server tries again",
      metadata: Self.metadata(key, ["attempt": "\(number)", "reason": "\(reason)"]))
    queues.retry(key, at: .now + RetryPolicy.delay(after: number, chance: .random(in: 0...1)), counts: counts)
  }

  private mutating func complete(_ key: PushNotificationKey, _ outcome: PushResult, _ reason: PushAbandonment?) {
    queues.complete(key)
    if !outcomes.isOwed, !isRecording { recordingDue = .now + .milliseconds(Self.gatheringMilliseconds) }
    outcomes.add(key, outcome, reason)
  }

  private mutating func take(_ fate: PushOutcomesFate) {
    isRecording = false
    switch fate {
    case .durable:
      recordingDue = .now + .milliseconds(Self.gatheringMilliseconds)
    case .failed(let unrecorded, .passing(let reason)):
      outcomes.restore(unrecorded)
      pauseRecording()
      dispatcher.logger.warning(
        "outcomes of notifications could not be recorded yet; the server tries again", metadata: ["reason": "\(reason)"]
      )
      // After a stop there is no further attempt to record: notifications without a recorded outcome are sent again
      // under the same delivery keys.
      if isStopping { isLogClosed = true }
    case .failed(let unrecorded, .lasting(let reason)):
      outcomes.restore(unrecorded)
      isStopping = true
      isLogClosed = true
      dispatcher.logger.critical(
        "no more notifications are sent, because their outcomes cannot be recorded; fix the cause, then restart the server",
        metadata: ["reason": "\(reason)"])
    }
  }

  private mutating func stop(_ group: inout DiscardingTaskGroup) {
    isStopping = true
    let dispatcher = dispatcher
    group.addTask {
      try? await Task.sleep(for: .milliseconds(PushDispatcher.drainMilliseconds))
      dispatcher.send(.drainEnded)
    }
  }

  private static func metadata(_ key: PushNotificationKey, _ more: Logger.Metadata) -> Logger.Metadata {
    more.merging(["position": "\(key.position)", "user": "\(key.user)", "device": "\(key.device)"]) { first, _ in first
    }
  }

  // MARK: - Actions

  private mutating func refill() async {
    while mayHaveMore, !isStopping, queues.freeCapacity > 0, readingDue <= .now {
      let cursor = queues.cursor
      let limit = min(queues.freeCapacity, Self.rowsPerRead)
      do {
        let keys = try await dispatcher.outbox.read { try $0.pending(after: cursor, limit: limit) }
        noteReadable()
        queues.take(keys)
        mayHaveMore = keys.count == limit
      } catch {
        readingDue = .now + .milliseconds(Self.pauseMilliseconds)
        noteUnreadable(error)
      }
    }
  }

  private mutating func noteReadable() {
    guard isUnreadable else { return }
    isUnreadable = false
    dispatcher.logger.notice("the outbox can be read again")
  }

  /// Logs only the first of consecutive failures, because a rebuild of the outbox may take minutes.
  private mutating func noteUnreadable(_ error: any Error) {
    guard !isUnreadable else { return }
    isUnreadable = true
    dispatcher.logger.error(
      "the outbox cannot be read; no new notifications are sent until it can, and the server tries again",
      metadata: ["error": "\(error)"])
  }

  private mutating func startAttempts(_ group: inout DiscardingTaskGroup) {
    while !isStopping, queues.active < PushDispatcher.concurrency, let attempt = queues.next(at: .now) {
      let dispatcher = dispatcher
      group.addTask {
        dispatcher.send(.attempted(attempt.key, number: attempt.number, await dispatcher.attempt(attempt.key)))
      }
    }
  }

  private mutating func record(_ group: inout DiscardingTaskGroup) async {
    guard outcomes.isOwed, !isRecording, !isLogClosed else { return }
    let isLast = isStopping && queues.active == 0
    let isDue = outcomes.isEventFull || recordingDue.map { $0 <= .now } ?? true
    guard isLast || (isDue && recordingPausedUntil <= .now) else { return }
    let cursor = queues.cursor
    do {
      let (enumerated, next) = try await dispatcher.outbox.read { outbox in
        (try outbox.checkpoint().position, try outbox.pending(after: cursor, limit: 1).first?.position)
      }
      noteReadable()
      let oldest = [queues.oldest, next].compactMap { $0 }.min()
      let event = outcomes.take(oldestPending: oldest, enumerated: enumerated)
      isRecording = true
      let dispatcher = dispatcher
      group.addTask { dispatcher.send(.recorded(await dispatcher.record(event))) }
    } catch {
      pauseRecording()
      if isLast { isLogClosed = true }
      noteUnreadable(error)
    }
  }

  private mutating func pauseRecording() {
    recordingPausedUntil = .now + .milliseconds(Self.pauseMilliseconds)
    recordingDue = recordingPausedUntil
  }

  /// Wakes the loop when the next attempt, record or query of the outbox is due.
  /// - Parameter isPaused: whether no attempt begins before `attemptingDue`.
  private mutating func setAlarm(_ group: inout DiscardingTaskGroup, isPaused: Bool) {
    guard !isStopping else { return }
    var times: [Instant] = []
    if isPaused {
      times.append(attemptingDue)
    } else if queues.active < PushDispatcher.concurrency, let due = queues.nextDue {
      times.append(due)
    }
    if outcomes.isOwed, !isRecording, let recordingDue { times.append(recordingDue) }
    if mayHaveMore, queues.freeCapacity > 0 { times.append(readingDue) }
    guard let next = times.min(), wakeUp.map({ next < $0 }) ?? true else { return }
    wakeUp = next
    let dispatcher = dispatcher
    group.addTask {
      try? await Task.sleep(until: next)
      dispatcher.send(.woke(next))
    }
  }
}

extension PushDispatcher {
  func record(_ outcomes: PushOutcomes) async -> PushOutcomesFate {
    do throws(RecordingFailure) {
      try await recorder.record(outcomes)
      return .durable
    } catch {
      return .failed(outcomes.outcomes, error)
    }
  }
}
