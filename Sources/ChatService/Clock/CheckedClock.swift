package import ChatPrimitives
package import Logging
import Synchronization

/// The time for everything that the service decides: the system clock, checked against the monotonic clock.
package final class CheckedClock: Sendable {
  /// Where the time comes from.
  package enum Source: Sendable {
    case system
    /// For tests: both clocks.
    case readings(@Sendable () -> TrustedTime.Reading)
    /// For tests: a clock that is always trusted.
    case believed(@Sendable () -> Timestamp)
  }

  private let time: Mutex<TrustedTime>
  private let reading: @Sendable () -> TrustedTime.Reading
  private let isBelieved: Bool
  private let keeper: SettledTimeKeeper
  private let logger: Logger

  /// - Parameters:
  ///   - lastRecorded: the log's last time.
  ///   - directory: where the settled time is saved.
  package init(_ source: Source, lastRecorded: Timestamp, directory: String, logger: Logger) {
    self.logger = logger
    keeper = SettledTimeKeeper(directory: directory, logger: logger)
    switch source {
    case .believed(let clock): (reading, isBelieved) = ({ TrustedTime.Reading(wall: clock(), uptime: 0) }, true)
    case .readings(let readings): (reading, isBelieved) = (readings, false)
    case .system: (reading, isBelieved) = (Self.systemReadings(), false)
    }
    let isEmpty = lastRecorded == .earliest
    time = Mutex(
      TrustedTime(reading(), lastRecorded: isEmpty ? nil : lastRecorded, lastSettled: keeper.kept))
    reportStart(lastRecorded)
  }

  /// The monotonic clock also counts while the machine is suspended, so waking up is not a jump.
  private static func systemReadings() -> @Sendable () -> TrustedTime.Reading {
    let start = ContinuousClock.now
    return {
      let uptime = (ContinuousClock.now - start).components
      return TrustedTime.Reading(
        wall: ChatService.now(), uptime: uptime.seconds * 1000 + uptime.attoseconds / 1_000_000_000_000_000)
    }
  }

  package var now: Timestamp { read(\.now) }

  /// The time for what cannot be undone, such as sending scheduled messages: see `TrustedTime.settled`.
  package var settled: Timestamp { read(\.settled) }

  /// Saves the settled time if it has moved since it was saved. Blocks on the disk.
  ///
  /// Call it before anything is recorded: events that are recorded with a wrong clock make the log's last time wrong.
  package func keepSettled() {
    if !isBelieved, let known = read(\.known) { keeper.keep(known) }
  }

  /// How far the system clock is ahead and not trusted, and how long that stays so, in milliseconds; nil when it is
  /// trusted.
  package var heldJump: (ahead: Int64, trustedIn: Int64)? {
    read { time in
      guard let ahead = time.heldAhead, let trustedIn = time.heldFor else { return nil }
      return (ahead, trustedIn)
    }
  }

  /// Called when an operator confirms that the system clock is right.
  package func confirm() {
    let changes = time.withLock { [$0.read(reading()), $0.confirm()] }
    for change in changes { report(change) }
  }

  private func read<Value: Sendable>(_ value: (TrustedTime) -> Value) -> Value {
    if isBelieved { return value(TrustedTime(reading(), lastRecorded: nil)) }
    // Both clocks are read under the lock: a reading taken before waiting for the lock would be too old.
    let (change, result) = time.withLock { ($0.read(reading()), value($0)) }
    report(change)
    return result
  }
}

// MARK: - The server's log

extension CheckedClock {
  private func reportStart(_ lastRecorded: Timestamp) {
    let now = now
    guard now.adding(milliseconds: Limits.clockJumpMilliseconds) < lastRecorded else { return }
    logger.critical(
      """
      the system clock is behind the last time in the log: either the clock is wrong now, or it was ahead when the log \
      was written. If it is wrong, correct it: within a day the server follows at once, otherwise after ten minutes. \
      The server uses the system clock, so the times that clients see are right as soon as the clock is
      """,
      metadata: [
        "clock": "\(now)", "logLastTime": "\(lastRecorded)",
        "behindSeconds": "\((lastRecorded.milliseconds - now.milliseconds) / 1000)",
      ])
  }

  private func report(_ change: TrustedTime.Change?) {
    switch change {
    case nil: break
    case .jumpHeld(let ahead):
      logger.critical(
        """
        the system clock jumped ahead and is not trusted: the server uses the monotonic clock. If the clock is wrong, \
        correct it; if it is right, send POST /v1/admin/clock/confirm. A jump that lasts ten minutes is trusted
        """,
        metadata: [
          "aheadSeconds": "\(ahead / 1000)", "trustedInSeconds": "\(Limits.clockJumpHeldMilliseconds / 1000)",
        ])
    case .jumpOver: logger.warning("the system clock was corrected; the jump was never trusted")
    case .jumpTrusted(let ahead):
      logger.critical(
        "the system clock's jump ahead is trusted now: it has lasted, or an operator confirmed it",
        metadata: ["aheadSeconds": "\(ahead / 1000)"])
    case .steppedBack(let by):
      logger.critical(
        """
        the system clock was set back, and the server follows. Earlier access tokens are rejected until their \
        clients refresh them. If the clock is wrong now, correct it: within a day the server follows at once
        """,
        metadata: ["bySeconds": "\(by / 1000)"])
    case .corrected(let ahead):
      logger.warning(
        "the system clock was behind and has been corrected; the server follows",
        metadata: ["aheadSeconds": "\(ahead / 1000)"])
    }
  }
}
