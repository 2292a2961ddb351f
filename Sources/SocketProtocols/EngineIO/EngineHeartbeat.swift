/// When the server pings and how long it waits for the pong. In protocol 4 only the server pings.
struct EngineHeartbeat: Sendable {
  enum Output: Equatable {
    case nothing
    case ping
    case timeout
  }

  private enum State {
    case idle(pingAt: Duration)
    case waiting(pongBy: Duration)
  }

  private let interval: Duration
  private let timeout: Duration
  private var state: State

  init(interval: Duration, timeout: Duration, now: Duration) {
    self.interval = interval
    self.timeout = timeout
    state = .idle(pingAt: now + interval)
  }

  var deadline: Duration {
    switch state {
    case .idle(let pingAt): pingAt
    case .waiting(let pongBy): pongBy
    }
  }

  /// - Parameter isReachable: whether a ping gets to the client at once. If it does not, the client has no request
  ///   pending, which is not the server's delay: the time for the pong begins when the ping was due.
  mutating func tick(now: Duration, isReachable: Bool) -> Output {
    switch state {
    case .idle(let pingAt):
      guard now >= pingAt else { return .nothing }
      let pongBy = (isReachable ? now : pingAt) + timeout
      guard now < pongBy else { return .timeout }
      state = .waiting(pongBy: pongBy)
      return .ping
    case .waiting(let pongBy): return now >= pongBy ? .timeout : .nothing
    }
  }

  /// A pong that no ping asked for changes nothing, so that it cannot put off the next ping.
  mutating func pong(now: Duration) {
    if case .waiting = state { state = .idle(pingAt: now + interval) }
  }
}
