import DequeModule
import NIOCore
import Synchronization

/// The turns of the requests of one event loop that have waited behind another request of their connection. Some can begin at
/// once, and then one in each pause, whatever the number of connections.
///
/// An event loop runs all tasks that are ready before it looks at its connections again. Without turns, thousands of requests that
/// a client sent in one piece would follow each other without a gap, and the other clients would wait for the last of them.
///
/// Must be used on the event loop.
final class RequestTurns {
  /// The requests that can begin without a pause.
  static let atOnce = 16
  static let pause = TimeAmount.milliseconds(2)

  private let eventLoop: any EventLoop
  private var left = atOnce
  /// One for each connection that waits for its turn.
  private var waiting = Deque<() -> Void>()
  private var isScheduled = false

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// Calls `body` when the request may begin, perhaps at once.
  func take(_ body: @escaping () -> Void) {
    if left > 0 {
      left -= 1
      body()
    } else {
      waiting.append(body)
    }
    schedule()
  }

  private func schedule() {
    guard !isScheduled, left < Self.atOnce else { return }
    isScheduled = true
    eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.isScheduled = false
      if let next = self.waiting.popFirst() { next() } else { self.left += 1 }
      self.schedule()
    }
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
