import ChatPrimitives
import ChatProjections
import ChatService
import Testing

/// Tests what the scheduler does next, without a clock.
@Suite("The scheduler's plan")
struct SchedulePlanTests {
  private let message = DueMessage(room: fixed(1), id: fixed(2))

  private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

  /// A plan that looked and found nothing due, with the next message at `next`.
  private func rested(next: Timestamp? = nil) -> SchedulePlan {
    var plan = SchedulePlan()
    plan.found(DueMessages(due: [], next: next), at: time(0))
    return plan
  }

  @Test("it looks up due messages, sends them, looks again, and sleeps until the next")
  func wholeRound() {
    var plan = SchedulePlan()
    #expect(plan.action(at: time(0)) == .lookUp)
    plan.found(DueMessages(due: [message], next: time(5_000)), at: time(0))
    #expect(plan.action(at: time(0)) == .send([message]))
    plan.sent(refused: [])
    #expect(plan.action(at: time(10)) == .lookUp)
    plan.found(DueMessages(due: [], next: time(5_000)), at: time(10))
    #expect(plan.action(at: time(10)) == .sleep(until: time(5_000)))
    #expect(plan.action(at: time(4_999)) == .sleep(until: time(5_000)))
    #expect(plan.action(at: time(5_000)) == .lookUp)
  }

  @Test("with nothing scheduled it sleeps")
  func rests() {
    #expect(rested().action(at: time(1_000_000)) == .idle)
  }

  @Test("what is scheduled wakes it at its time, the earliest first")
  func scheduled() {
    var plan = rested()
    plan.scheduled(for: time(900))
    plan.scheduled(for: time(700))
    plan.scheduled(for: time(800))
    #expect(plan.action(at: time(0)) == .sleep(until: time(700)))
    #expect(plan.action(at: time(700)) == .lookUp)
    var later = rested(next: time(500))
    later.scheduled(for: time(600))
    #expect(later.action(at: time(0)) == .sleep(until: time(500)))
  }

  @Test("after a failure it pauses, longer each time up to a minute, and begins anew after a success")
  func backsOff() {
    var plan = SchedulePlan()
    var now = time(0)
    for expected: Int64 in [1, 2, 4, 8, 16, 32, 60, 60] {
      plan.failed(at: now)
      let end = now.adding(milliseconds: expected * 1000)
      #expect(plan.action(at: now) == .sleep(until: end))
      #expect(plan.action(at: end.adding(milliseconds: -1)) == .sleep(until: end))
      #expect(plan.action(at: end) == .lookUp)
      now = end
    }
    plan.found(DueMessages(due: [message], next: nil), at: now)
    #expect(plan.action(at: now) == .send([message]))
    plan.sent(refused: [])
    plan.failed(at: now)
    #expect(plan.action(at: now) == .sleep(until: now.adding(milliseconds: 1000)))
  }

  @Test("that nothing is due is a success too")
  func nothingDue() {
    var plan = SchedulePlan()
    for milliseconds: Int64 in [0, 1_000, 3_000] { plan.failed(at: time(milliseconds)) }
    plan.found(DueMessages(due: [], next: nil), at: time(7_000))
    plan.failed(at: time(8_000))
    #expect(plan.action(at: time(8_000)) == .sleep(until: time(9_000)))
  }

  @Test("a pause does not outlast a clock that was set back")
  func clockSetBack() {
    var plan = SchedulePlan()
    for _ in 0..<7 { plan.failed(at: time(10_000_000)) }
    #expect(plan.action(at: time(10_000_000)) == .sleep(until: time(10_060_000)))
    // The plan sleeps if the rest of the pause is at most the longest pause. If it is longer, the clock was set back.
    #expect(plan.action(at: time(10_000_001)) == .sleep(until: time(10_060_000)))
    #expect(plan.action(at: time(9_999_999)) == .lookUp)
    #expect(plan.action(at: time(0)) == .lookUp)
  }

  @Test("a message that is cancelled at the last moment delays no other")
  func refusedOnce() {
    let other = DueMessage(room: fixed(1), id: fixed(4))
    var plan = SchedulePlan()
    for _ in 0..<10 {
      plan.found(DueMessages(due: [message], next: nil), at: time(50))
      #expect(plan.action(at: time(50)) == .send([message]))
      plan.sent(refused: [message])
      #expect(plan.action(at: time(50)) == .lookUp)
      plan.found(DueMessages(due: [other], next: nil), at: time(50))
      #expect(plan.action(at: time(50)) == .send([other]))
      plan.sent(refused: [])
      plan.found(DueMessages(due: [], next: nil), at: time(50))
    }
    plan.failed(at: time(50))
    #expect(plan.action(at: time(50)) == .sleep(until: time(1_050)))
  }

  @Test("a refused message that stays due causes no tight loop, and others are sent before it")
  func refusedAlways() {
    let other = DueMessage(room: fixed(1), id: fixed(4))
    var plan = SchedulePlan()
    var now = time(50)
    for expected: Int64 in [1, 2, 4, 8, 16, 32, 60, 60] {
      plan.found(DueMessages(due: [message], next: nil), at: now)
      #expect(plan.action(at: now) == .send([message]))
      plan.sent(refused: [message])
      #expect(plan.action(at: now) == .lookUp)
      plan.found(DueMessages(due: [message], next: nil), at: now)
      let end = now.adding(milliseconds: expected * 1000)
      #expect(plan.action(at: now) == .sleep(until: end))
      plan.scheduled(for: now)
      #expect(plan.action(at: now) == .sleep(until: end))
      #expect(plan.action(at: end) == .lookUp)
      now = end
    }
    plan.found(DueMessages(due: [message, other], next: nil), at: now)
    plan.sent(refused: [message])
    plan.found(DueMessages(due: [message, other], next: nil), at: now)
    #expect(plan.action(at: now) == .send([other]))
    plan.sent(refused: [])
    plan.found(DueMessages(due: [message], next: nil), at: now)
    #expect(plan.action(at: now) == .sleep(until: now.adding(milliseconds: 1000)))
  }
}
