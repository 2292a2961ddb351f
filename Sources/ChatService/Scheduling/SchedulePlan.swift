package import ChatPrimitives
package import ChatProjections

/// What the scheduler does next. A value without clock or I/O: whoever owns it does what it says, and tells it what came
/// of that.
///
/// The read model knows what waits; here stands only when to look there again, so that a restart loses nothing.
package struct SchedulePlan: Sendable, Equatable {
  /// Messages that are sent at one go.
  package static let portion = BulkStream.chunkCommands
  /// How long nothing is tried after what failed, in milliseconds: the first time, and at most.
  package static let firstPauseMilliseconds: Int64 = 1_000
  package static let longestPauseMilliseconds: Int64 = 60_000

  package enum Action: Sendable, Equatable {
    /// Look what is due, and answer with `found` or `failed`.
    case look
    /// Send these in this order, and answer with `sent` or `failed`.
    case send([DueMessage])
    /// There is nothing to do before then, unless something is `scheduled`.
    case sleep(until: Timestamp)
    /// There is nothing to do, unless something is `scheduled`.
    case rest
  }

  /// Found to be due and not sent yet.
  private var due: [DueMessage] = []
  /// There may be more due than is known here.
  private var mustLook = true
  /// When the next message is due, as far as is known.
  private var next: Timestamp?
  /// Nothing is tried before.
  private var pauseEnd: Timestamp?
  /// What the writer refused since the last pause, though it was found to be due.
  private var refused: Set<DueMessage> = []
  /// How often in a row it did not go well.
  private var failures = 0

  package init() {}

  package func action(at now: Timestamp) -> Action {
    // No pause is longer than the longest: the clock was set back since.
    if let pauseEnd, pauseEnd > now, pauseEnd <= now.adding(milliseconds: Self.longestPauseMilliseconds) {
      return .sleep(until: pauseEnd)
    }
    if !due.isEmpty { return .send(due) }
    if mustLook { return .look }
    guard let next else { return .rest }
    return next <= now ? .look : .sleep(until: next)
  }

  /// A message was scheduled, or its time changed.
  package mutating func scheduled(for time: Timestamp) {
    next = min(next ?? time, time)
  }

  /// Where all that is due was refused just now, the clock is ahead of the log's: only then is there a pause. What is no
  /// more due had been cancelled or put off in the last moment, which holds nobody up.
  package mutating func found(_ found: DueMessages, at now: Timestamp) {
    due = found.due.filter { !refused.contains($0) }
    mustLook = false
    next = found.next
    if found.due.isEmpty {
      failures = 0
      refused = []
    } else if due.isEmpty {
      mustLook = true
      refused = []
      pause(at: now)
    }
  }

  /// What was to be sent was decided. Another look tells what is to be thought of what was refused.
  package mutating func sent(refused: Set<DueMessage>) {
    if refused.count < due.count { failures = 0 }
    self.refused.formUnion(refused)
    due = []
    mustLook = true
  }

  /// The server could not look or could not send. Whether some of it was sent the next look tells.
  package mutating func failed(at now: Timestamp) {
    due = []
    mustLook = true
    pause(at: now)
  }

  private mutating func pause(at now: Timestamp) {
    var milliseconds = Self.firstPauseMilliseconds
    for _ in 0..<failures where milliseconds < Self.longestPauseMilliseconds { milliseconds *= 2 }
    failures += 1
    pauseEnd = now.adding(milliseconds: min(milliseconds, Self.longestPauseMilliseconds))
  }
}
