package import ChatPrimitives
package import ChatProjections

/// What the scheduler does next. A value without a clock or I/O: its owner performs each action and reports the
/// result.
///
/// The read model has the waiting messages. The plan has only the time to look there again, so a restart loses nothing.
package struct SchedulePlan: Sendable, Equatable {
  /// How many messages are sent at once.
  package static let portion = BulkStream.chunkCommands
  /// How long nothing is tried after a failure, in milliseconds: after the first failure, and at most.
  package static let firstPauseMilliseconds: Int64 = 1_000
  package static let longestPauseMilliseconds: Int64 = 60_000

  package enum Action: Sendable, Equatable {
    /// Look up what is due, then call `found` or `failed`.
    case lookUp
    /// Send these in this order, then call `sent` or `failed`.
    case send([DueMessage])
    /// Nothing to do before then, unless `scheduled` is called.
    case sleep(until: Timestamp)
    /// Nothing to do, unless `scheduled` is called.
    case idle
  }

  /// Messages that are due and not sent yet.
  private var due: [DueMessage] = []
  /// Whether more messages may be due.
  private var mustLookUp = true
  /// When the next message is due, if that is known.
  private var next: Timestamp?
  /// Nothing is tried before this time.
  private var pauseEnd: Timestamp?
  /// Due messages that the writer has refused since the last pause.
  private var refused: Set<DueMessage> = []
  /// How many attempts in a row have failed.
  private var failures = 0

  package init() {}

  package func action(at now: Timestamp) -> Action {
    // A pause longer than the longest one means that the clock was set back, so it is ignored.
    if let pauseEnd, pauseEnd > now, pauseEnd <= now.adding(milliseconds: Self.longestPauseMilliseconds) {
      return .sleep(until: pauseEnd)
    }
    if !due.isEmpty { return .send(due) }
    if mustLookUp { return .lookUp }
    guard let next else { return .idle }
    return next <= now ? .lookUp : .sleep(until: next)
  }

  /// A message was scheduled, or its time changed.
  package mutating func scheduled(for time: Timestamp) {
    next = min(next ?? time, time)
  }

  /// Pauses only if everything that is due was just refused: then this clock is ahead of the writer's. A message that
  /// is no longer due was cancelled or postponed at the last moment, and delays no others.
  package mutating func found(_ found: DueMessages, at now: Timestamp) {
    due = found.due.filter { !refused.contains($0) }
    mustLookUp = false
    next = found.next
    if found.due.isEmpty {
      failures = 0
      refused = []
    } else if due.isEmpty {
      mustLookUp = true
      refused = []
      pause(at: now)
    }
  }

  /// The messages were decided. The next lookup shows which of the refused ones are still due.
  package mutating func sent(refused: Set<DueMessage>) {
    if refused.count < due.count { failures = 0 }
    self.refused.formUnion(refused)
    due = []
    mustLookUp = true
  }

  /// The lookup or the sending failed. The next lookup shows what was sent.
  package mutating func failed(at now: Timestamp) {
    due = []
    mustLookUp = true
    pause(at: now)
  }

  private mutating func pause(at now: Timestamp) {
    var milliseconds = Self.firstPauseMilliseconds
    for _ in 0..<failures where milliseconds < Self.longestPauseMilliseconds { milliseconds *= 2 }
    failures += 1
    pauseEnd = now.adding(milliseconds: min(milliseconds, Self.longestPauseMilliseconds))
  }
}
