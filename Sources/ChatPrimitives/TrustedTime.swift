/// Wall-clock time that is checked against the monotonic clock. This value does not read clocks itself; its owner
/// passes the readings of both.
///
/// - Drift, small steps ahead and all steps back are followed.
/// - A jump ahead beyond `Limits.clockJumpMilliseconds` is held: time continues with the monotonic clock from the last
///   time that was trusted. The jump is trusted when it has lasted `Limits.clockJumpHeldMilliseconds`, or when an
///   operator confirms it.
/// - A clock that is behind and is corrected within `Limits.clockGapMilliseconds` is followed. A jump ahead to where
///   the clock was before it was set back is not held. If the clock at the start is behind the last known time, a jump
///   to at most `Limits.clockGapMilliseconds` after that time is not held either, because a restart would trust the
///   clock there.
/// - At the start there is no earlier reading. The system clock is trusted, because the server may have been off for a
///   long time. `settled` is for actions that cannot be undone: it waits to see whether the clock stays. The owner of
///   this value saves `settled` across restarts.
package struct TrustedTime: Sendable, Equatable {
  /// The readings of the two clocks at one moment.
  package struct Reading: Sendable, Equatable {
    package var wall: Timestamp
    /// The reading of the monotonic clock, from any starting point, in milliseconds.
    package var uptime: Int64

    package init(wall: Timestamp, uptime: Int64) {
      self.wall = wall
      self.uptime = uptime
    }

    /// The difference between the wall clock and the monotonic clock.
    fileprivate var offset: Int64 { wall.milliseconds &- uptime }
  }

  /// What a reading changed, for the server's log. All values are in milliseconds.
  package enum Change: Sendable, Hashable {
    case jumpHeld(ahead: Int64)
    /// The system clock returned before its jump was trusted.
    case jumpOver
    case jumpTrusted(ahead: Int64)
    case steppedBack(by: Int64)
    /// The system clock returned to where it was before it fell behind.
    case corrected(ahead: Int64)
  }

  private struct Jump: Sendable, Equatable {
    var offset: Int64
    var since: Int64
  }

  /// The state after a start, until the clock has lasted.
  private struct Settling: Sendable, Equatable {
    var from: Timestamp
    var since: Int64
  }

  /// The state of the clock before it fell behind.
  private struct Earlier: Sendable, Equatable {
    var offset: Int64
    /// The base offset from which a jump ahead to `offset` is measured, in microseconds.
    var baseMicroseconds: Int64
    var since: Int64
  }

  private var offset: Int64
  private var uptime: Int64
  /// The offset from which jumps are measured, in microseconds. It rises at most as fast as a drift, so that many small
  /// steps ahead count as one jump.
  private var baseMicroseconds: Int64
  private var held: Jump?
  private var settling: Settling?
  private var earlier: Earlier?
  /// The uptime at which the clock was last trusted only because it had lasted long enough.
  private var lastedAt: Int64?

  /// - Parameters:
  ///   - lastRecorded: the log's last time; nil for an empty log.
  ///   - lastSettled: the last saved value of `settled`; nil if there is none. It takes precedence over the log's last
  ///     time, which a wrong clock may have written. But if the log's last time is later by at most
  ///     `Limits.clockGapMilliseconds`, it is used instead, because it is newer.
  package init(_ reading: Reading, lastRecorded: Timestamp?, lastSettled: Timestamp? = nil) {
    offset = reading.offset
    uptime = reading.uptime
    baseMicroseconds = Self.microseconds(reading.offset)
    guard let last = Self.last(recorded: lastRecorded, settled: lastSettled) else { return }
    if last.adding(milliseconds: Limits.clockGapMilliseconds) < reading.wall {
      settling = Settling(from: last, since: reading.uptime)
    } else if reading.wall.adding(milliseconds: Limits.clockJumpMilliseconds) < last {
      let earlier = last.milliseconds &- uptime
      let latest = earlier &+ Limits.clockGapMilliseconds &- Limits.clockJumpMilliseconds
      self.earlier = Earlier(offset: earlier, baseMicroseconds: Self.microseconds(latest), since: uptime)
    }
  }

  private static func last(recorded: Timestamp?, settled: Timestamp?) -> Timestamp? {
    guard let settled, let recorded else { return settled ?? recorded }
    let isNearby = recorded <= settled.adding(milliseconds: Limits.clockGapMilliseconds)
    return isNearby ? max(recorded, settled) : settled
  }

  // MARK: Results

  /// The time at the last reading.
  package var now: Timestamp { Timestamp(milliseconds: uptime &+ offset) }

  /// The time for actions that cannot be undone. After a start long after the last known time, it continues from that
  /// time until the clock has lasted.
  package var settled: Timestamp {
    guard let settling else { return now }
    return min(now, settling.from.adding(milliseconds: uptime - settling.since))
  }

  /// The value to save for a restart: `settled`, or nil while the clock is trusted only because it lasted, until that
  /// was `Limits.clockGapMilliseconds` ago. A restart with such a clock waits once more to see whether it stays.
  package var known: Timestamp? { hasOnlyLasted ? nil : settled }

  private var hasOnlyLasted: Bool { lastedAt.map { uptime - $0 < Limits.clockGapMilliseconds } ?? false }

  /// How far the system clock is ahead without being trusted, in milliseconds; nil if it is trusted.
  package var heldAhead: Int64? { held.map { $0.offset &- offset } }

  /// The time until the jump is trusted without an operator, in milliseconds; nil if no jump is held.
  package var heldFor: Int64? { held.map { max(0, Limits.clockJumpHeldMilliseconds - (uptime - $0.since)) } }

  // MARK: Input

  package mutating func read(_ reading: Reading) -> Change? {
    let elapsed = max(0, reading.uptime &- uptime)
    uptime = max(uptime, reading.uptime)
    let new = reading.wall.milliseconds &- uptime
    let drift = elapsed * 1000 / Limits.clockDriftDivisor
    let base = baseMicroseconds
    baseMicroseconds = min(Self.microseconds(new), baseMicroseconds &+ drift)
    if let start = settling, uptime - start.since >= Limits.clockJumpHeldMilliseconds {
      settling = nil
      lastedAt = uptime
    }
    if Self.isJump(new, from: baseMicroseconds) { return correct(new) ?? hold(new) }
    let wasHeld = held != nil
    let step = new - offset
    if step < -Limits.clockJumpMilliseconds { remember(base) }
    held = nil
    offset = new
    if step < -Limits.clockJumpMilliseconds { return .steppedBack(by: -step) }
    return wasHeld ? .jumpOver : nil
  }

  /// Trusts the system clock, because an operator says that it is right.
  /// - Returns: nil if no jump was held.
  package mutating func confirm() -> Change? {
    settling = nil
    lastedAt = nil
    return held.map { trust($0.offset) }
  }

  /// Remembers the state of the clock before it was set back. A clock that was recently trusted only because it lasted
  /// is not remembered, because the step back probably corrects it.
  private mutating func remember(_ base: Int64) {
    let hasOnlyLasted = hasOnlyLasted
    lastedAt = nil
    if settling == nil, !hasOnlyLasted, offset > earlier?.offset ?? .min {
      earlier = Earlier(offset: offset, baseMicroseconds: base, since: uptime)
    }
  }

  /// Follows a jump that corrects a clock that was behind.
  /// - Returns: nil for any other jump.
  private mutating func correct(_ new: Int64) -> Change? {
    guard let earlier, uptime - earlier.since <= Limits.clockGapMilliseconds,
      !Self.isJump(new, from: earlier.baseMicroseconds)
    else { return nil }
    let ahead = new - offset
    held = nil
    offset = new
    baseMicroseconds = min(Self.microseconds(new), earlier.baseMicroseconds)
    if new >= earlier.offset - Limits.clockJumpMilliseconds { self.earlier = nil }
    return .corrected(ahead: ahead)
  }

  private static func isJump(_ offset: Int64, from baseMicroseconds: Int64) -> Bool {
    microseconds(offset) - baseMicroseconds > microseconds(Limits.clockJumpMilliseconds)
  }

  private mutating func hold(_ new: Int64) -> Change? {
    guard let jump = held, abs(new - jump.offset) <= Limits.clockJumpMilliseconds else {
      held = Jump(offset: new, since: uptime)
      return .jumpHeld(ahead: new - offset)
    }
    guard uptime - jump.since >= Limits.clockJumpHeldMilliseconds else { return nil }
    lastedAt = uptime
    return trust(new)
  }

  private mutating func trust(_ new: Int64) -> Change {
    let ahead = new - offset
    held = nil
    offset = new
    baseMicroseconds = Self.microseconds(new)
    return .jumpTrusted(ahead: ahead)
  }

  /// Converts to microseconds. Values beyond the year 9999 are clamped, so that the result fits an `Int64`.
  private static func microseconds(_ milliseconds: Int64) -> Int64 {
    min(max(milliseconds, -Timestamp.latest.milliseconds), Timestamp.latest.milliseconds) * 1000
  }
}
