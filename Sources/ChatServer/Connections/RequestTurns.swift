import DequeModule
import NIOCore
import Synchronization

/// Limits how many pipelined requests (RFC 9112, section 9.3.2) an event loop handles before it looks at its connections again.
///
/// An event loop runs all tasks that are ready first. Thousands of requests that a client sent at once would follow each other
/// without a gap, and all others would wait. So such requests begin in groups, those of all connections together, and when the last
/// of a group was answered, the loop pauses.
///
/// Must be used on the event loop.
final class RequestTurns {
  /// The requests of a group.
  static let atOnce = 16
  static let pause = TimeAmount.milliseconds(1)
  /// How long the next group waits for requests that are not answered, such as one that waits for changes.
  static let longest = TimeAmount.milliseconds(20)

  /// The number of the group that a request began with.
  struct Turn {
    fileprivate let group: Int
  }

  private let eventLoop: any EventLoop
  private var group = 0
  /// The requests that the group can still have.
  private var left = atOnce
  /// The requests of the group that were not answered.
  private var open = 0
  private var waiting = Deque<(Turn) -> Bool>()
  private var timer: Scheduled<Void>?

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// - Parameter body: called when the request may begin, perhaps at once. Returns whether it still wants to: its connection may
  ///   have been closed.
  func take(_ body: @escaping (Turn) -> Bool) {
    if left > 0 { begin(body) } else { waiting.append(body) }
  }

  /// Call this once for each request that has begun, when it was answered or its connection was closed.
  func finish(_ turn: Turn) {
    guard turn.group == group else { return }
    open -= 1
    if open == 0, left == 0 { schedule(in: Self.pause) }
  }

  private func begin(_ body: (Turn) -> Bool) {
    // Counted first, because the request can be answered before `body` returns.
    left -= 1
    open += 1
    if left == 0 { schedule(in: Self.longest) }
    guard !body(Turn(group: group)) else { return }
    left += 1
    open -= 1
  }

  private func schedule(in time: TimeAmount) {
    timer?.cancel()
    timer = eventLoop.assumeIsolated().scheduleTask(in: time) { self.beginGroup() }
  }

  private func beginGroup() {
    group += 1
    (left, open) = (Self.atOnce, 0)
    while left > 0, let next = waiting.popFirst() { begin(next) }
  }
}

@available(*, unavailable)
extension RequestTurns: Sendable {}

/// The turns of all event loops.
final class LoopTurns: Sendable {
  private let turns = Mutex<[ObjectIdentifier: NIOLoopBound<RequestTurns>]>([:])

  /// Must be called on the event loop.
  func turns(of eventLoop: any EventLoop) -> RequestTurns {
    turns.withLock { turns in
      let key = ObjectIdentifier(eventLoop)
      if let found = turns[key] { return found }
      let new = NIOLoopBound(RequestTurns(eventLoop), eventLoop: eventLoop)
      turns[key] = new
      return new
    }.value
  }
}

/// Sent down a connection before a request is handled. The `RequestGuard` fulfils its promise when a pipelined request may begin,
/// and at once for others.
struct TurnWanted: Sendable {}

extension Channel {
  /// Waits until a request may be handled that has arrived on this connection.
  func waitForTurn() async {
    if eventLoop.inEventLoop, let requests = try? pipeline.syncOperations.handler(type: RequestGuard.self),
      !requests.hasPipelined
    {
      return
    }
    let turn = eventLoop.makePromise(of: Void.self)
    triggerUserOutboundEvent(TurnWanted(), promise: turn)
    // Fails if the connection is closed. Then the response cannot be written.
    try? await turn.futureResult.get()
  }
}
