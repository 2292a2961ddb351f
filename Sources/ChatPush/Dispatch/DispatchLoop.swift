import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Logging

/// Whether an event with outcomes was recorded.
enum RecordingResult: Sendable {
  case durable
  case failed([PushOutcome], RecordingFailure)
}

/// The dispatcher's state, which only its loop accesses, and how each event changes it.
struct DispatchLoop {
  /// While this many outcomes wait to be recorded, no more rows are read, because rows can be replaced without an attempt.
  private static let outcomesInMemory = PerDeviceQueues.capacity
  /// How long outcomes are collected before they are recorded together, in milliseconds.
  private static let gatheringMilliseconds = 100
  /// How long the same `Warning` is not logged again, in milliseconds.
  private static let warningMilliseconds = 60_000
  /// The delay after the outbox could not be read or outcomes could not be recorded, in milliseconds.
  private static let pauseMilliseconds = 500

  private typealias Instant = ContinuousClock.Instant

  /// Warnings of which clients can cause many, for example with devices of which each notification is rejected.
  private enum Warning: Hashable {
    case rejection
    case refusal(ProviderName)
    case originPause
  }

  private let dispatcher: PushDispatcher
  private var queues: ProviderQueues
  private var threads: AttemptThreads
  private var outcomes = GatheredOutcomes()
  private var isRecording = false
  /// When the collected outcomes are recorded, unless they fill an event earlier.
  private var recordingDue: Instant?
  /// Nothing is recorded before this time, because the last attempt to record outcomes failed.
  private var recordingPausedUntil = Instant.now
  private var readingDue = Instant.now
  /// No attempt begins before this time, because an attempt found that the outbox is behind or cannot be read.
  private var attemptingDue = Instant.now
  /// When each warning was last logged.
  private var logged: [Warning: Instant] = [:]
  /// Whether the last query of the outbox failed. That failure was logged.
  private var isUnreadable = false
  /// When the alarms that are set wake the loop.
  private var alarms: Set<Instant> = []
  private var isStopping = false
  /// Whether nothing more can be recorded.
  private var isLogClosed = false

  init(_ dispatcher: PushDispatcher) {
    self.dispatcher = dispatcher
    queues = ProviderQueues(dispatcher.sender.queueSettings)
    threads = AttemptThreads(count: dispatcher.threads?.attempts.count ?? 0)
  }

  /// Whether a stop was requested and nothing is left to do.
  var isFinished: Bool {
    isStopping && queues.active == 0 && !isRecording && (!outcomes.needsRecording || isLogClosed)
  }

  /// Takes events together, because what follows costs as much for many as for one.
  mutating func take(_ events: [DispatchEvent], _ group: inout DiscardingTaskGroup) async {
    for event in events { take(event, &group) }
    await refill()
    let isPaused = attemptingDue > .now
    if !isPaused { startAttempts(&group) }
    await record(&group)
    setAlarm(&group, isPaused: isPaused)
  }

  // MARK: - Events

  private mutating func take(_ event: DispatchEvent, _ group: inout DiscardingTaskGroup) {
    switch event {
    case .outboxGrew:
      dispatcher.clearOutboxGrew()
      queues.outboxGrew()
    case .attemptEnded(let attempt, let ticket, let finished, let thread):
      threads.end(thread)
      take(finished, of: attempt, ticket)
    case .recorded(let result): take(result)
    case .woke(let time): alarms.remove(time)
    case .stop: stop(&group)
    case .drainEnded: group.cancelAll()
    }
  }

  private mutating func take(
    _ finished: FinishedAttempt, of attempt: PerDeviceQueues.Attempt, _ ticket: ProviderQueues.Ticket
  ) {
    // This comes first, because `note` publishes the new states.
    let changed = queues.end(ticket, finished.signal, from: finished.provider, at: .now)
    note(changed)
    let (key, number) = (attempt.key, attempt.number)
    let wasSent = finished.provider != nil
    switch finished.result {
    case .settled(let outcome, let reason, let response):
      if reason == .rejected { noteRejection(key, response) }
      queues.complete(key, ticket, wasSent: wasSent, at: .now)
      // A notification that expires was not sent again, so the last failure says why it was not delivered.
      addOutcome(key, outcome, reason, response: reason == .expired ? attempt.lastFailure : response)
    case .alreadySettled: queues.complete(key, ticket, wasSent: false, at: .now)
    case .failed(let reason, let failure, let retryAfter):
      guard number < RetryPolicy.attempts else {
        dispatcher.logger.warning(
          "a notification was abandoned",
          metadata: Self.metadata(key, ["attempts": "\(number)", "reason": "\(reason)"]))
        queues.complete(key, ticket, wasSent: wasSent, at: .now)
        return addOutcome(key, .abandoned, .attemptsUsedUp, response: failure)
      }
      let delay = RetryPolicy.delay(after: number, chance: .random(in: 0...1))
      retry(attempt, ticket, after: max(delay, retryAfter ?? .zero), because: reason, failure: failure)
    // In the following cases nothing was sent or accepted, so they do not count as attempts.
    case .postponed(let reason):
      attemptingDue = .now + .milliseconds(Self.pauseMilliseconds)
      let delay = RetryPolicy.delay(after: number, chance: .random(in: 0...1))
      retry(attempt, ticket, after: delay, because: reason, counts: false, keepsAlerts: true)
    case .refused(let reason, let failure):
      retry(attempt, ticket, after: .zero, because: reason, counts: false, keepsAlerts: true, failure: failure)
    case .held(let reason, let duration):
      retry(attempt, ticket, after: duration, because: reason, counts: false)
    }
  }

  private mutating func retry(
    _ attempt: PerDeviceQueues.Attempt, _ ticket: ProviderQueues.Ticket, after delay: Duration, because reason: String,
    counts: Bool = true, keepsAlerts: Bool = false, failure: String? = nil
  ) {
    dispatcher.logger.debug(
      "a notification was not delivered; the server tries again",
      metadata: Self.metadata(attempt.key, ["attempt": "\(attempt.number)", "reason": "\(reason)"]))
    let now = Instant.now
    let isNeeded = queues.retry(
      attempt.key, ticket, at: now + delay, counts: counts, keepsAlerts: keepsAlerts, failure: failure, now: now)
    if !isNeeded { addOutcome(attempt.key, .abandoned, .replaced) }
  }

  private mutating func addOutcome(
    _ key: PushNotificationKey, _ outcome: PushResult, _ reason: PushAbandonment?, response: String? = nil
  ) {
    if !outcomes.needsRecording, !isRecording { recordingDue = .now + .milliseconds(Self.gatheringMilliseconds) }
    outcomes.add(key, outcome, reason, response: response)
  }

  private mutating func note(_ changed: (provider: ProviderName, change: ProviderGate.Change)?) {
    guard let (provider, change) = changed else { return }
    dispatcher.publish(queues.states)
    switch change {
    case .stopped(let reason):
      dispatcher.logger.error(
        "a push provider is stopped; its notifications wait, and the server tries again",
        metadata: ["provider": "\(provider.name)", "reason": "\(reason)"])
    case .paused(let reason):
      dispatcher.logger.warning(
        "a push provider is paused; its notifications wait",
        metadata: ["provider": "\(provider.name)", "reason": "\(reason)"])
    case .recovered:
      dispatcher.logger.notice("a push provider works again", metadata: ["provider": "\(provider.name)"])
    case .possiblyWrongKey(let reason):
      guard mayLog(.refusal(provider)) else { return }
      dispatcher.logger.warning(
        "a push provider refused a notification, which the server keeps; more are not logged for a minute",
        metadata: ["provider": "\(provider.name)", "reason": "\(reason)"])
    case .originPaused(let reason):
      guard mayLog(.originPause) else { return }
      dispatcher.logger.warning(
        "a push service is paused and its notifications wait; more are not logged for a minute",
        metadata: ["provider": "\(provider.name)", "reason": "\(reason)"])
    case .refusalEnded: break
    }
  }

  private mutating func mayLog(_ warning: Warning) -> Bool {
    let now = Instant.now
    if let last = logged[warning], now < last + .milliseconds(Self.warningMilliseconds) { return false }
    logged[warning] = now
    return true
  }

  private mutating func noteRejection(_ key: PushNotificationKey, _ response: String?) {
    guard mayLog(.rejection) else { return }
    dispatcher.logger.warning(
      "a provider rejected a notification; more are not logged for a minute, but hansard push explain shows them",
      metadata: Self.metadata(key, ["response": "\(response ?? "")"]))
  }

  private mutating func take(_ result: RecordingResult) {
    isRecording = false
    switch result {
    case .durable:
      recordingDue = .now + .milliseconds(Self.gatheringMilliseconds)
    case .failed(let unrecorded, .transient(let reason)):
      outcomes.restore(unrecorded)
      pauseRecording()
      dispatcher.logger.warning(
        "outcomes of notifications could not be recorded yet; the server tries again", metadata: ["reason": "\(reason)"]
      )
      // After a stop there is no further attempt to record: notifications without a recorded outcome are sent again
      // under the same delivery keys.
      if isStopping { isLogClosed = true }
    case .failed(let unrecorded, .permanent(let reason)):
      outcomes.restore(unrecorded)
      isStopping = true
      isLogClosed = true
      dispatcher.logger.critical(
        "no notifications are sent, because outcomes cannot be recorded; fix the cause, then restart the server",
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

  /// Which rows are to be read; nil if none are.
  private var needed: ProviderQueues.Request? { outcomes.count < Self.outcomesInMemory ? queues.needed : nil }

  private mutating func refill() async {
    while !isStopping, readingDue <= .now {
      let alerts = queues.alertsNeeded
      let request = needed
      if alerts.isEmpty, request == nil { return }
      do {
        if !alerts.isEmpty { try await read(alerts) }
        if let request { try await read(request) }
        noteReadable()
      } catch {
        readingDue = .now + .milliseconds(Self.pauseMilliseconds)
        noteUnreadable(error)
      }
    }
  }

  private mutating func read(_ request: ProviderQueues.Request) async throws {
    let limit = min(request.freeCapacity, ProviderQueues.rowsPerRead)
    let (rows, end) = try await dispatcher.outbox.read { outbox in
      (
        try outbox.pending(after: request.cursor, of: request.provider, limit: limit),
        try outbox.checkpoint().position
      )
    }
    let replaced = queues.take(rows, for: request, through: rows.count < limit ? end : nil)
    for key in replaced { addOutcome(key, .abandoned, .replaced) }
  }

  private mutating func read(_ requests: [ProviderQueues.AlertsRequest]) async throws {
    let found = try await dispatcher.outbox.read { outbox in
      try requests.map { request in
        let device = request.device
        return try outbox.alerts(
          of: device.device, of: device.user, after: device.after, of: request.provider, limit: device.limit + 1)
      }
    }
    for (request, alerts) in zip(requests, found) { queues.take(alerts, for: request) }
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
    let (dispatcher, closed) = (dispatcher, queues.closed)
    while !isStopping, let start = queues.next(at: .now) {
      let thread = threads.begin()
      group.addTask(executorPreference: thread.flatMap { dispatcher.threads?.attempts[$0] }) {
        let finished = await dispatcher.attempt(start.attempt.key, queuedFor: start.provider, closed: closed)
        dispatcher.send(.attemptEnded(start.attempt, start.ticket, finished, thread: thread))
      }
    }
  }

  private mutating func record(_ group: inout DiscardingTaskGroup) async {
    guard outcomes.needsRecording, !isRecording, !isLogClosed else { return }
    let isLast = isStopping && queues.active == 0
    let isDue = outcomes.isEventFull || recordingDue.map { $0 <= .now } ?? true
    guard isLast || (isDue && recordingPausedUntil <= .now) else { return }
    let cursors = queues.cursors
    do {
      let (checkpoint, next) = try await dispatcher.outbox.read { outbox in
        (
          try outbox.checkpoint().position,
          try cursors.compactMap { try outbox.pending(after: $0.cursor, of: $0.provider, limit: 1).first?.key.position }
            .min()
        )
      }
      noteReadable()
      let oldest = [queues.oldest, next].compactMap { $0 }.min()
      let event = outcomes.take(oldestPending: oldest, checkpoint: checkpoint)
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
    } else if let due = queues.nextDue(at: .now) {
      times.append(due)
    }
    if outcomes.needsRecording, !isRecording, let recordingDue { times.append(recordingDue) }
    if needed != nil || queues.needsAlerts { times.append(readingDue) }
    // An alarm that is set cannot be cancelled, so a later one is only set when the earlier ones have passed.
    guard let next = times.min(), alarms.min().map({ next < $0 }) ?? true else { return }
    alarms.insert(next)
    let dispatcher = dispatcher
    group.addTask {
      try? await Task.sleep(until: next)
      dispatcher.send(.woke(next))
    }
  }
}

extension PushDispatcher {
  func record(_ outcomes: PushOutcomes) async -> RecordingResult {
    do throws(RecordingFailure) {
      try await recorder.record(outcomes)
      return .durable
    } catch {
      return .failed(outcomes.outcomes, error)
    }
  }
}

extension PushProviderStatus {
  /// - Parameter refusal: what the provider refused, if a key or a topic may be wrong although it is running.
  init(_ provider: ProviderName, _ state: ProviderGate.State, refusal: String? = nil) {
    switch state {
    case .running: self.init(name: provider.name, state: .running, reason: refusal.map { "refused: " + $0 })
    case .paused(let reason): self.init(name: provider.name, state: .paused, reason: reason)
    case .stopped(let reason): self.init(name: provider.name, state: .stopped, reason: reason)
    }
  }
}
