import ChatDomain
import ChatPrimitives

/// Outcomes of notifications that are not in the log yet.
struct GatheredOutcomes {
  /// The maximum number of outcomes in one event of the log: about 50 KB.
  static let perEvent = 1024

  private var outcomes: [PushOutcome] = []
  /// Whether there is something to record. An increase of `settledThrough` alone counts, too.
  private(set) var needsRecording = false

  var count: Int { outcomes.count }
  var isEventFull: Bool { count >= Self.perEvent }

  /// - Parameter response: what the provider responded. It is truncated.
  mutating func add(
    _ key: PushNotificationKey, _ result: PushResult, _ reason: PushAbandonment? = nil, response: String? = nil
  ) {
    let beginning = response.map { $0.beginning(ofBytes: PushOutcome.responseBytes) }
    outcomes.append(
      PushOutcome(
        position: key.position, user: key.user, device: key.device, result: result, reason: reason,
        response: beginning))
    needsRecording = true
  }

  /// Removes and returns the outcomes of the next event. It does not list delivered notifications up to
  /// `settledThrough`.
  ///
  /// - Parameters:
  ///   - oldestPending: the position of the oldest notification that is not settled; nil if there is none.
  ///   - checkpoint: the position up to which the outbox has applied the log.
  mutating func take(oldestPending: LogPosition?, checkpoint: LogPosition) -> PushOutcomes {
    var settledThrough = oldestPending.map(Self.before) ?? checkpoint
    let listed = outcomes.filter { $0.position > settledThrough || $0.result != .delivered }
      .sorted { $0.position < $1.position }
    let batch = listed.prefix(Self.perEvent)
    // This event must not settle outcomes that do not fit into it, so the position stays before the first of them.
    if batch.count < listed.count { settledThrough = min(settledThrough, Self.before(listed[batch.count].position)) }
    let recorded = Set(batch)
    outcomes = outcomes.filter {
      !recorded.contains($0) && ($0.position > settledThrough || $0.result != .delivered)
    }
    needsRecording = !outcomes.isEmpty
    return PushOutcomes(settledThrough: settledThrough, outcomes: Array(batch))
  }

  private static func before(_ position: LogPosition) -> LogPosition {
    LogPosition(position.value - min(position.value, 1))
  }

  /// Adds outcomes again that could not be recorded.
  mutating func restore(_ outcomes: [PushOutcome]) {
    self.outcomes.insert(contentsOf: outcomes, at: 0)
    needsRecording = true
  }
}
