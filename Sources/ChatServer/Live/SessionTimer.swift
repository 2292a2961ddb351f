import NIOCore

/// The clock and the timer of a session that is a value. It belongs to one event loop.
final class SessionTimer {
  private let eventLoop: any EventLoop
  private let origin = NIODeadline.now()
  private var timer: Scheduled<Void>?
  private var firesAt = NIODeadline.distantFuture

  init(on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  /// The time since the timer was made.
  var now: Duration { .nanoseconds((NIODeadline.now() - origin).nanoseconds) }

  /// Calls `fire` at the deadline or before it; then the caller sets the next deadline. A deadline that moves later, as most
  /// do, leaves the timer in place.
  func set(_ deadline: Duration?, _ fire: @escaping () -> Void) {
    guard let deadline else { return cancel() }
    let time = origin + .nanoseconds(Int64(deadline / .nanoseconds(1)))
    guard timer == nil || time < firesAt else { return }
    timer?.cancel()
    firesAt = time
    timer = eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
      timer = nil
      fire()
    }
  }

  func cancel() {
    timer?.cancel()
    timer = nil
  }
}

@available(*, unavailable)
extension SessionTimer: Sendable {}
