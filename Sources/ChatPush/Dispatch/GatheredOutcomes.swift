import ChatDomain
import ChatPrimitives

/// What became of notices and does not stand in the log yet.
struct GatheredOutcomes {
  /// Outcomes of one event in the log at most: some 50 KB.
  static let perEvent = 1024

  private var outcomes: [PushOutcome] = []
  /// Whether there is something to record. A mere advance of `settledThrough` is something, too.
  private(set) var isOwed = false

  var isEventFull: Bool { outcomes.count >= Self.perEvent }

  mutating func add(_ key: NoticeKey, _ result: PushResult, _ reason: PushAbandonment? = nil) {
    outcomes.append(
      PushOutcome(position: key.position, user: key.user, device: key.device, result: result, reason: reason))
    isOwed = true
  }

  /// What is to be recorded now. What is delivered and not later than `settledThrough` need not be named.
  ///
  /// - Parameters:
  ///   - oldestPending: of the notices that are not settled; nil when there is none.
  ///   - enumerated: the position up to which notices have been enumerated.
  mutating func take(oldestPending: LogPosition?, enumerated: LogPosition) -> PushOutcomes {
    let settledThrough = oldestPending.map { LogPosition($0.value - min($0.value, 1)) } ?? enumerated
    let named = outcomes.filter { $0.position > settledThrough || $0.result != .delivered }
    let now = named.prefix(Self.perEvent)
    outcomes = Array(named.dropFirst(now.count))
    isOwed = !outcomes.isEmpty
    return PushOutcomes(settledThrough: settledThrough, outcomes: Array(now))
  }

  /// Takes back what could not be recorded.
  mutating func restore(_ outcomes: [PushOutcome]) {
    self.outcomes.insert(contentsOf: outcomes, at: 0)
    isOwed = true
  }
}
