import ChatPrimitives
import Testing

private let second: Int64 = 1_000
private let minute = 60 * second
private let day = 24 * 60 * minute
private let jump = Limits.clockJumpMilliseconds
private let held = Limits.clockJumpHeldMilliseconds

/// Both clocks, which a test moves.
private struct Clocks {
  static let start = Timestamp(milliseconds: 1_800_000_000_000)

  var wall = start
  var uptime: Int64 = 5_000
  private(set) var time: TrustedTime

  init(lastRecorded: Timestamp? = nil, lastSettled: Timestamp? = nil) {
    time = TrustedTime(
      TrustedTime.Reading(wall: wall, uptime: uptime), lastRecorded: lastRecorded, lastSettled: lastSettled)
  }

  /// Advances both clocks, and the wall clock by an additional amount.
  mutating func pass(_ milliseconds: Int64, wallAhead: Int64 = 0) -> TrustedTime.Change? {
    uptime += milliseconds
    wall = wall.adding(milliseconds: milliseconds + wallAhead)
    return time.read(TrustedTime.Reading(wall: wall, uptime: uptime))
  }

  mutating func confirm() -> TrustedTime.Change? { time.confirm() }

  /// The time after the start, in milliseconds.
  var now: Int64 { time.now.milliseconds - Self.start.milliseconds }
  var settled: Int64 { time.settled.milliseconds - Self.start.milliseconds }
}

@Suite("Trusted time")
struct TrustedTimeSpecs {
  @Test("a step ahead up to the limit is followed, one beyond it is held", arguments: [jump - 1, jump, jump + 1])
  func stepAhead(step: Int64) {
    var clocks = Clocks()
    let change = clocks.pass(0, wallAhead: step)
    #expect(change == (step > jump ? .jumpHeld(ahead: step) : nil))
    #expect(clocks.now == (step > jump ? 0 : step))
  }

  @Test("while a jump is held, time goes on by the monotonic clock")
  func goesOn() {
    var clocks = Clocks()
    #expect(clocks.pass(0, wallAhead: 400 * day) == .jumpHeld(ahead: 400 * day))
    for _ in 0..<5 { #expect(clocks.pass(minute) == nil) }
    #expect(clocks.now == 5 * minute)
    #expect(clocks.time.heldAhead == 400 * day)
    #expect(clocks.time.heldFor == held - 5 * minute)
  }

  @Test("a jump that is reverted has no effect")
  func comesBack() {
    var clocks = Clocks()
    _ = clocks.pass(second, wallAhead: 400 * day)
    #expect(clocks.pass(second, wallAhead: -400 * day) == .jumpOver)
    #expect(clocks.now == 2 * second)
    #expect(clocks.time.heldAhead == nil && clocks.time.heldFor == nil)
  }

  @Test("a jump is trusted when it has lasted, and not before", arguments: [held - 1, held, held + 1])
  func lasts(passed: Int64) {
    var clocks = Clocks()
    _ = clocks.pass(0, wallAhead: day)
    let change = clocks.pass(passed)
    #expect(change == (passed >= held ? .jumpTrusted(ahead: day) : nil))
    #expect(clocks.now == (passed >= held ? day + passed : passed))
  }

  @Test("another jump while one is held restarts the wait")
  func anotherJump() {
    var clocks = Clocks()
    _ = clocks.pass(0, wallAhead: day)
    _ = clocks.pass(held - second)
    #expect(clocks.pass(0, wallAhead: day) == .jumpHeld(ahead: 2 * day))
    #expect(clocks.pass(held - second) == nil)
    #expect(clocks.pass(second) == .jumpTrusted(ahead: 2 * day))
  }

  @Test("an operator's confirmation makes a held jump trusted, and otherwise changes nothing")
  func confirmed() {
    var clocks = Clocks()
    #expect(clocks.confirm() == nil)
    _ = clocks.pass(0, wallAhead: day)
    #expect(clocks.confirm() == .jumpTrusted(ahead: day))
    #expect(clocks.now == day)
    #expect(clocks.pass(second) == nil)
    #expect(clocks.now == day + second)
  }

  @Test(
    "every step back is followed, and one beyond the limit is reported", arguments: [second, jump, jump + 1, 400 * day])
  func stepBack(step: Int64) {
    var clocks = Clocks()
    #expect(clocks.pass(0, wallAhead: -step) == (step > jump ? .steppedBack(by: step) : nil))
    #expect(clocks.now == -step)
  }

  @Test("a clock that was set back is followed when it is corrected", arguments: [jump, jump + 1])
  func corrected(beyond: Int64) {
    var clocks = Clocks()
    #expect(clocks.pass(minute, wallAhead: -3 * day) == .steppedBack(by: 3 * day))
    #expect(clocks.pass(minute) == nil)
    // The limit is the time to which a clock that was never set back could go.
    let ahead = 3 * day + beyond
    #expect(clocks.pass(0, wallAhead: ahead) == (beyond > jump ? .jumpHeld(ahead: ahead) : .corrected(ahead: ahead)))
    #expect(clocks.now == 2 * minute + (beyond > jump ? -3 * day : beyond))
    #expect(clocks.settled == clocks.now)
  }

  @Test("a correction in two steps is followed, and a jump after it is held")
  func correctedInSteps() {
    var clocks = Clocks()
    _ = clocks.pass(minute, wallAhead: -3 * day)
    #expect(clocks.pass(minute, wallAhead: 2 * day) == .corrected(ahead: 2 * day))
    #expect(clocks.pass(minute, wallAhead: day) == .corrected(ahead: day))
    #expect(clocks.now == 3 * minute)
    #expect(clocks.pass(minute, wallAhead: day) == .jumpHeld(ahead: day))
  }

  @Test("steps back and corrections do not add up to a jump")
  func correctedAgainAndAgain() {
    var clocks = Clocks()
    for _ in 0..<10 {
      _ = clocks.pass(second, wallAhead: -2 * jump)
      _ = clocks.pass(second, wallAhead: 3 * jump)
    }
    #expect(clocks.now <= jump + 20 * second * 2)
  }

  @Test("a clock that was behind for more than a day is held when it jumps ahead", arguments: [day - minute, day])
  func correctedLate(passed: Int64) {
    var clocks = Clocks()
    _ = clocks.pass(0, wallAhead: -3 * day)
    _ = clocks.pass(passed)
    let change = clocks.pass(1, wallAhead: 3 * day)
    #expect(change == (passed < day ? .corrected(ahead: 3 * day) : .jumpHeld(ahead: 3 * day)))
  }

  @Test("a jump that was trusted only because it lasted is held when it is repeated")
  func comesAgain() {
    var clocks = Clocks()
    _ = clocks.pass(0, wallAhead: 400 * day)
    #expect(clocks.pass(held) == .jumpTrusted(ahead: 400 * day))
    #expect(clocks.pass(0, wallAhead: -400 * day) == .steppedBack(by: 400 * day))
    #expect(clocks.pass(0, wallAhead: 400 * day) == .jumpHeld(ahead: 400 * day))
    // A clock that an operator confirmed is remembered.
    _ = clocks.confirm()
    _ = clocks.pass(0, wallAhead: -400 * day)
    #expect(clocks.pass(0, wallAhead: 400 * day) == .corrected(ahead: 400 * day))
  }

  @Test("a start with a clock that is behind follows its correction as a start would", arguments: [day, day + 1])
  func correctedAfterStart(beyond: Int64) {
    var clocks = Clocks(lastRecorded: Clocks.start.adding(milliseconds: 400 * day))
    let ahead = 400 * day + beyond
    let change = clocks.pass(0, wallAhead: ahead)
    #expect(change == (beyond > day ? .jumpHeld(ahead: ahead) : .corrected(ahead: ahead)))
    #expect(clocks.now == (beyond > day ? 0 : ahead))
  }

  @Test("a start after a wrong clock was set back holds a jump to where it was")
  func startsBehindAWrongTime() {
    var clocks = Clocks(lastRecorded: Clocks.start.adding(milliseconds: 400 * day), lastSettled: Clocks.start)
    #expect(clocks.pass(minute, wallAhead: 400 * day) == .jumpHeld(ahead: 400 * day))
    // The clock of a start that is still settling is not remembered either.
    var settling = Clocks(lastSettled: Clocks.start.adding(milliseconds: -400 * day))
    _ = settling.pass(minute, wallAhead: -400 * day)
    #expect(settling.pass(minute, wallAhead: 400 * day) == .jumpHeld(ahead: 400 * day))
  }

  @Test("many small steps count as one jump")
  func creeps() {
    var clocks = Clocks()
    var changes: [TrustedTime.Change?] = []
    for _ in 0..<10 { changes.append(clocks.pass(second, wallAhead: jump / 2)) }
    #expect(changes.contains { if case .jumpHeld = $0 { true } else { false } })
    #expect(clocks.now <= jump + 10 * second * 2)
  }

  @Test("a clock that drifts is followed, however often it is read")
  func drifts() {
    var (slow, fast) = (Clocks(), Clocks())
    for _ in 0..<100_000 {
      #expect(slow.pass(20, wallAhead: 1) == nil)
      #expect(fast.pass(20, wallAhead: -1) == nil)
    }
    #expect(slow.now == 2_100_000 && fast.now == 1_900_000)
  }

  @Test("readings that are a millisecond off do not add up")
  func jitters() {
    var clocks = Clocks()
    for _ in 0..<1_000_000 {
      _ = clocks.pass(0, wallAhead: 1)
      _ = clocks.pass(0, wallAhead: -1)
    }
    #expect(clocks.now == 0)
    #expect(clocks.pass(0, wallAhead: jump) == nil)
  }

  @Test("a suspended machine, whose monotonic clock goes on, makes no jump")
  func suspended() {
    var clocks = Clocks()
    #expect(clocks.pass(30 * day) == nil)
    #expect(clocks.now == 30 * day)
  }

  @Test("a start long after the log's last time settles first", arguments: [held - 1, held])
  func settles(passed: Int64) {
    let last = Clocks.start.adding(milliseconds: -400 * day)
    var clocks = Clocks(lastRecorded: last)
    #expect(clocks.now == 0 && clocks.settled == -400 * day)
    _ = clocks.pass(passed)
    #expect(clocks.now == passed)
    #expect(clocks.settled == (passed >= held ? passed : -400 * day + passed))
  }

  @Test("a start within a day, behind the log, or with an empty log has nothing to settle")
  func needsNoSettling() {
    for last in [-Limits.clockGapMilliseconds, 0, 400 * day] {
      #expect(Clocks(lastRecorded: Clocks.start.adding(milliseconds: last)).settled == 0)
    }
    #expect(Clocks().settled == 0)
    #expect(Clocks(lastRecorded: Clocks.start.adding(milliseconds: -Limits.clockGapMilliseconds - 1)).settled < 0)
  }

  @Test("a log's last time that is more than a day after the settled time was a wrong clock's")
  func settlesFromWhatWasKept() {
    let gap = Limits.clockGapMilliseconds
    let kept = Clocks.start.adding(milliseconds: -400 * day)
    #expect(Clocks(lastRecorded: Clocks.start, lastSettled: kept).settled == -400 * day)
    #expect(Clocks(lastRecorded: kept.adding(milliseconds: gap + 1), lastSettled: kept).settled == -400 * day)
    // The log was written after the time was saved.
    #expect(Clocks(lastRecorded: kept.adding(milliseconds: gap), lastSettled: kept).settled == -400 * day + gap)
    // An idle log does not override a time that was saved recently.
    #expect(Clocks(lastRecorded: kept, lastSettled: Clocks.start.adding(milliseconds: -minute)).settled == 0)
    #expect(Clocks(lastSettled: kept).settled == -400 * day)
  }

  @Test("while it settles, a reverted clock has no effect, and an operator's confirmation ends it")
  func settlesEarly() {
    let last = Clocks.start.adding(milliseconds: -400 * day)
    var back = Clocks(lastRecorded: last)
    _ = back.pass(second, wallAhead: -400 * day)
    #expect(back.now == -400 * day + second && back.settled == back.now)
    var confirmed = Clocks(lastRecorded: last)
    _ = confirmed.confirm()
    #expect(confirmed.settled == 0)
  }
}
