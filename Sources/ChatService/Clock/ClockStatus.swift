package import ChatPrimitives
import EventLog
import EventStore
import NIOPosix

/// How the clock is, for operators.
package struct ClockStatus: Sendable, Hashable {
  /// The time that the server goes by.
  package let time: Timestamp
  /// How far the system clock is ahead of that and not trusted, in milliseconds; nil when it is trusted.
  package let heldAhead: Int64?
  /// How long until it is trusted without an operator, in milliseconds.
  package let trustedIn: Int64?
  /// How far the log's last time is ahead of `time`, in milliseconds; zero within `Limits.clockJumpMilliseconds`.
  package let logAhead: Int64
}

extension ChatService {
  package var clockStatus: ClockStatus {
    let (time, held) = (clock.now, clock.heldJump)
    let ahead = store.log.lastTime.milliseconds - time.milliseconds
    return ClockStatus(
      time: time, heldAhead: held?.ahead, trustedIn: held?.trustedIn,
      logAhead: ahead > Limits.clockJumpMilliseconds ? ahead : 0)
  }

  /// An operator says that the system clock is right. Nothing is recorded: it changes what time it is, and no state.
  package func confirmClock() async throws {
    clock.confirm()
    // At once, so that a crash does not forget it.
    try await NIOThreadPool.singleton.runIfActive { [clock] in clock.keepSettled() }
  }
}
