/// The last temporary fault that a query met, such as a disk error. It has no clock of its own, so that tests can pass
/// the time.
struct ReadFault: Sendable {
  /// How long a fault is reported after a query met it, unless another query succeeds first. The report has to end
  /// without a query, because a server that is not ready may get no requests.
  static let reportedFor = Duration.seconds(15)

  private var last: (fault: ProjectionFault, time: ContinuousClock.Instant)?
  /// Whether no query has succeeded since.
  private(set) var isUnresolved = false

  /// - Returns: whether to log it. False while queries keep meeting the same fault, even if some succeed in between.
  mutating func met(_ fault: ProjectionFault, at now: ContinuousClock.Instant) -> Bool {
    let previous = last
    last = (fault: fault, time: now)
    isUnresolved = true
    guard let previous, previous.fault.message == fault.message else { return true }
    return now - previous.time > Self.reportedFor
  }

  mutating func querySucceeded() { isUnresolved = false }

  func current(at now: ContinuousClock.Instant) -> ProjectionFault? {
    guard isUnresolved, let last, now - last.time <= Self.reportedFor else { return nil }
    return last.fault
  }
}
