/// Wall-clock time that is checked against the monotonic clock. A value that reads no clock itself: its owner tells
/// it what both clocks show.
///
/// - A drift, a small step ahead and every step back are followed.
/// - A jump ahead beyond `Limits.clockJumpMilliseconds` is held: time goes on by the monotonic clock from the last time
///   that was trusted. The jump is trusted when it has lasted `Limits.clockJumpHeldMilliseconds`, or when an operator
///   confirms it.
/// - A clock that is behind and is corrected within `Limits.clockGapMilliseconds` is followed. A jump ahead to where it
///   was before it was set back is not held. After a start with a clock that is behind the last known time, a jump to
///   at most `Limits.clockGapMilliseconds` after that time is not held either: a start would trust the clock there.
/// - At the start there is no earlier reading. The system clock is trusted, because a server may have been off for
///   long. `settled` is for what cannot be undone: it waits to see whether the clock stays. The owner of this value
///   keeps `settled` over restarts.
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
    /// The system clock is back where it was before it was behind.
    case corrected(ahead: Int64)
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

  /// Where the clock was before it was behind.
  private struct Earlier: Sendable, Equatable {
    var offset: Int64
    /// The base from which a jump ahead to `offset` is measured.
    var baseMicroseconds: Int64
    var since: Int64
  }

  private var offset: Int64
  private var uptime: Int64
  /// The offset that jumps are measured from, in microseconds. It rises at most as fast as a drift, so that many small
  /// steps ahead count as one jump.
  private var baseMicroseconds: Int64
  private var held: Jump?
  private var settling: Settling?
  private var earlier: Earlier?
  /// When the clock was last trusted only because it had lasted.
  private var lastedAt: Int64?

  /// - Parameters:
  ///   - lastRecorded: the log's last time; nil for an empty log.
  ///   - lastSettled: `settled` as it was last kept; nil if it never was. It takes precedence over the log's last time,
  ///     which a wrong clock may have written. If the log's last time is at most `Limits.clockGapMilliseconds` later,
  ///     that counts instead, because it is newer.
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

  // MARK: What it says

  /// As of the last reading.
  package var now: Timestamp { Timestamp(milliseconds: uptime &+ offset) }

  /// The same, for what cannot be undone. After a start long after the last known time, it goes on from that time until
  /// the clock has lasted.
  package var settled: Timestamp {
    guard let settling else { return now }
    return min(now, settling.from.adding(milliseconds: uptime - settling.since))
  }

  /// What to keep over a restart: `settled`, but nil while the clock is trusted only because it lasted, and not for
  /// `Limits.clockGapMilliseconds` yet. A restart with such a clock waits to see whether it stays, once more.
  package var known: Timestamp? { hasOnlyLasted ? nil : settled }

  private var hasOnlyLasted: Bool { lastedAt.map { uptime - $0 < Limits.clockGapMilliseconds } ?? false }

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

  /// An operator says that the system clock is right.
  /// - Returns: nil when no jump was held.
  package mutating func confirm() -> Change? {
    settling = nil
    lastedAt = nil
    return held.map { trust($0.offset) }
  }

  /// Called when the clock was set back. A clock that was trusted only because it lasted, and not for long yet, is not
  /// remembered: the step back probably corrects it.
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

  /// Within what an `Int64` holds: wall clocks show years up to 9999 at most here.
  private static func microseconds(_ milliseconds: Int64) -> Int64 {
    min(max(milliseconds, -Timestamp.latest.milliseconds), Timestamp.latest.milliseconds) * 1000
  }
}
