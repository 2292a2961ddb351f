package import ChatPrimitives
import EventLog
import EventStore
import NIOPosix

/// The state of the clock, for operators.
package struct ClockStatus: Sendable, Hashable {
  /// The time that the server uses.
  package let time: Timestamp
  /// How far the system clock is ahead of that without being trusted, in milliseconds; nil if it is trusted.
  package let heldAhead: Int64?
  /// How long until it is trusted without a confirmation, in milliseconds.
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

  /// Called when an operator confirms that the system clock is right. Nothing is recorded, because no state changes.
  package func confirmClock() async throws {
    clock.confirm()
    // Saved at once, so that a crash does not lose the confirmation.
    try await NIOThreadPool.singleton.runIfActive { [clock] in clock.keepSettled() }
  }
}
