/// Wall-clock time that is checked against the monotonic clock. A value that reads no clock itself: its owner tells
/// it what both clocks show.
///
/// - A drift, a small step ahead and every step back are followed.
/// - A jump ahead beyond `Limits.clockJumpMilliseconds` is held: time goes on by the monotonic clock from the last time
///   that was trusted. The jump is trusted when it has lasted `Limits.clockJumpHeldMilliseconds`, or when an operator
///   confirms it.
/// - At the start there is no earlier reading. The system clock is trusted, because a server may have been off for long.
///   `settled` is for what cannot be undone: it waits to see whether the clock stays. Its owner keeps it over restarts.
package struct TrustedTime: Sendable, Equatable {
  /// What the two clocks show at one moment.
  package struct Reading: Sendable, Equatable {
    package var wall: Timestamp
    /// By the monotonic clock, from any start, in milliseconds.
    package var uptime: Int64

    package init(wall: Timestamp, uptime: Int64) {
      self.wall = wall
      self.uptime = uptime
    }

    /// What the wall clock shows beyond the monotonic one.
    fileprivate var offset: Int64 { wall.milliseconds &- uptime }
  }

  /// What a reading changed, for the server's log. All in milliseconds.
  package enum Change: Sendable, Hashable {
    case jumpHeld(ahead: Int64)
    /// The system clock came back before its jump was trusted.
    case jumpOver
    case jumpTrusted(ahead: Int64)
    case steppedBack(by: Int64)
  }

  private struct Jump: Sendable, Equatable {
    var offset: Int64
    var since: Int64
  }

  /// At the start.
  private struct Settling: Sendable, Equatable {
    var from: Timestamp
    var since: Int64
  }

  private var offset: Int64
  private var uptime: Int64
  /// The offset that jumps are measured from, in microseconds. It rises at most as fast as a drift, so that many small
  /// steps ahead count as one jump.
  private var baseMicroseconds: Int64
  private var held: Jump?
  private var settling: Settling?

  /// - Parameters:
  ///   - lastRecorded: the log's last time; nil for an empty log.
  ///   - lastSettled: what was `settled` when it was last kept; nil if it never was. The log's last time may be one that
  ///     a wrong clock showed. Within `Limits.clockGapMilliseconds` it counts nonetheless, because it is newer.
  package init(_ reading: Reading, lastRecorded: Timestamp?, lastSettled: Timestamp? = nil) {
    offset = reading.offset
    uptime = reading.uptime
    baseMicroseconds = Self.microseconds(reading.offset)
    guard let last = Self.last(recorded: lastRecorded, settled: lastSettled) else { return }
    if last.adding(milliseconds: Limits.clockGapMilliseconds) < reading.wall {
      settling = Settling(from: last, since: reading.uptime)
    }
  }

  private static func last(recorded: Timestamp?, settled: Timestamp?) -> Timestamp? {
    guard let settled, let recorded else { return settled ?? recorded }
    let isNearby = recorded <= settled.adding(milliseconds: Limits.clockGapMilliseconds)
    return isNearby ? max(recorded, settled) : settled
  }

  // MARK: What it says

  /// As of the last reading.
  package var now: Timestamp { Timestamp(milliseconds: uptime &+ offset) }

  /// The same, for what cannot be undone. After a start long after the log's last time it goes on from that time until
  /// the clock has proved to stay.
  package var settled: Timestamp {
    guard let settling else { return now }
    return min(now, settling.from.adding(milliseconds: uptime - settling.since))
  }

  /// How far the system clock is ahead and not trusted, in milliseconds; nil when it is trusted.
  package var heldAhead: Int64? { held.map { $0.offset &- offset } }

  /// How long until the jump is trusted without an operator, in milliseconds; nil when none is held.
  package var heldFor: Int64? { held.map { max(0, Limits.clockJumpHeldMilliseconds - (uptime - $0.since)) } }

  // MARK: What it is told

  package mutating func read(_ reading: Reading) -> Change? {
    let elapsed = max(0, reading.uptime &- uptime)
    uptime = max(uptime, reading.uptime)
    let new = reading.wall.milliseconds &- uptime
    let drift = elapsed * 1000 / Limits.clockDriftDivisor
    baseMicroseconds = min(Self.microseconds(new), baseMicroseconds &+ drift)
    if let start = settling, uptime - start.since >= Limits.clockJumpHeldMilliseconds { settling = nil }
    if Self.microseconds(new) - baseMicroseconds > Self.microseconds(Limits.clockJumpMilliseconds) { return hold(new) }
    let wasHeld = held != nil
    let step = new - offset
    held = nil
    offset = new
    if step < -Limits.clockJumpMilliseconds { return .steppedBack(by: -step) }
    return wasHeld ? .jumpOver : nil
  }

  /// An operator says that the system clock is right.
  /// - Returns: nil when no jump was held.
  package mutating func confirm() -> Change? {
    settling = nil
    return held.map { trust($0.offset) }
  }

  private mutating func hold(_ new: Int64) -> Change? {
    guard let jump = held, abs(new - jump.offset) <= Limits.clockJumpMilliseconds else {
      held = Jump(offset: new, since: uptime)
      return .jumpHeld(ahead: new - offset)
    }
    guard uptime - jump.since >= Limits.clockJumpHeldMilliseconds else { return nil }
    return trust(new)
  }

  private mutating func trust(_ new: Int64) -> Change {
    let ahead = new - offset
    held = nil
    offset = new
    baseMicroseconds = Self.microseconds(new)
    return .jumpTrusted(ahead: ahead)
  }

  /// Within what an `Int64` holds: wall clocks show years up to 9999 at most here.
  private static func microseconds(_ milliseconds: Int64) -> Int64 {
    min(max(milliseconds, -Timestamp.latest.milliseconds), Timestamp.latest.milliseconds) * 1000
  }
}
