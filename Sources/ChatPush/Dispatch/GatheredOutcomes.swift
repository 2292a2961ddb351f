import ChatDomain
import ChatPrimitives

/// Outcomes of notifications that are not in the log yet.
struct GatheredOutcomes {
  /// Outcomes of one event in the log at most: some 50 KB.
  static let perEvent = 1024

  private var outcomes: [PushOutcome] = []
  /// Whether there is something to record. A mere advance of `settledThrough` is something, too.
  private(set) var isOwed = false

  var isEventFull: Bool { outcomes.count >= Self.perEvent }

  mutating func add(_ key: PushNotificationKey, _ result: PushResult, _ reason: PushAbandonment? = nil) {
    outcomes.append(
      PushOutcome(position: key.position, user: key.user, device: key.device, result: result, reason: reason))
    isOwed = true
  }

  /// What is to be recorded now. What is delivered and not later than `settledThrough` need not be named.
  ///
  /// - Parameters:
  ///   - oldestPending: of the notifications that are not settled; nil when there is none.
  ///   - enumerated: the position up to which notifications have been enumerated.
  mutating func take(oldestPending: LogPosition?, enumerated: LogPosition) -> PushOutcomes {
    var settledThrough = oldestPending.map(Self.before) ?? enumerated
    let named = outcomes.filter { $0.position > settledThrough || $0.result != .delivered }
      .sorted { $0.position < $1.position }
    let now = named.prefix(Self.perEvent)
    // What does not fit into this event is not settled by it: the position stays below the first outcome that is left.
    if now.count < named.count { settledThrough = min(settledThrough, Self.before(named[now.count].position)) }
    let recorded = Set(now)
    outcomes = outcomes.filter {
      !recorded.contains($0) && ($0.position > settledThrough || $0.result != .delivered)
    }
    isOwed = !outcomes.isEmpty
    return PushOutcomes(settledThrough: settledThrough, outcomes: Array(now))
  }

  private static func before(_ position: LogPosition) -> LogPosition {
    LogPosition(position.value - min(position.value, 1))
  }

  /// Takes back what could not be recorded.
  mutating func restore(_ outcomes: [PushOutcome]) {
    self.outcomes.insert(contentsOf: outcomes, at: 0)
    isOwed = true
  }
}
