import Testing

@testable import ChatProjections

@Suite("When the write-ahead log is written into the file")
struct CheckpointPlanSpecs {
  private let limit = CheckpointPlan.pages
  private let retry = CheckpointPlan.retryPages

  /// A pass that copied all of the log.
  private func whole(_ pages: Int) -> CheckpointPlan.Pass { CheckpointPlan.Pass(log: pages, copied: pages) }

  /// A plan whose first pass has begun.
  private func copying() -> CheckpointPlan {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit - 1) == .none)
    #expect(plan.committed(pages: limit) == .begin)
    return plan
  }

  @Test("one pass is enough if nothing is committed meanwhile, and the next one waits until the log is long again")
  func onePass() {
    var plan = copying()
    #expect(plan.passed(whole(limit)) == false)
    #expect(plan.committed(pages: 3) == .none)
    #expect(plan.committed(pages: limit - 1) == .none)
    #expect(plan.committed(pages: limit) == .begin)
  }

  @Test("passes go on while the log has pages that are not in the file")
  func goesOn() {
    var plan = copying()
    #expect(plan.committed(pages: limit + 5) == .none)
    #expect(plan.passed(whole(limit)) == true)
    #expect(plan.passed(whole(limit + 5)) == false)
    #expect(plan.committed(pages: 2) == .none)
  }

  @Test("a pass that also copied what was committed before it began is the last one, because the log can begin anew")
  func copiedMore() {
    var plan = copying()
    #expect(plan.committed(pages: limit + 5) == .none)
    #expect(plan.passed(whole(limit + 5)) == false)
  }

  @Test("a log that began anew during a pass needs no other one")
  func beganAnew() {
    var plan = copying()
    #expect(plan.committed(pages: 4) == .none)
    #expect(plan.passed(whole(limit)) == false)
    #expect(plan.committed(pages: 8) == .none)
    #expect(plan.committed(pages: limit) == .begin)
  }

  @Test("the writer makes a pass if the log grows faster than it is copied")
  func writerFinishes() {
    var plan = copying()
    #expect(plan.committed(pages: 2 * limit) == .none)
    #expect(plan.passed(whole(limit)) == false)
    #expect(plan.committed(pages: 2 * limit + 1) == .finish)
    #expect(plan.committed(pages: 2 * limit + 2) == .none)
  }

  @Test("the writer makes a pass after many by the other thread")
  func writerFinishesAfterMany() {
    var plan = copying()
    for pass in 1..<CheckpointPlan.passes {
      #expect(plan.committed(pages: limit + pass) == .none)
      #expect(plan.passed(whole(limit + pass - 1)) == true)
    }
    #expect(plan.committed(pages: limit + 100) == .none)
    #expect(plan.passed(whole(limit + 99)) == false)
    #expect(plan.committed(pages: limit + 101) == .finish)
  }

  @Test("the writer makes a pass if the other one failed, or a reader kept pages from being copied")
  func writerTriesToo() {
    for pass in [nil, CheckpointPlan.Pass(log: limit, copied: limit - 1)] {
      var plan = copying()
      #expect(plan.passed(pass) == false)
      #expect(plan.committed(pages: limit + 1) == .finish)
      #expect(plan.committed(pages: limit + retry) == .none)
      #expect(plan.committed(pages: limit + 1 + retry) == .begin)
    }
  }

  @Test("a log that a reader keeps from beginning anew is tried again soon, and after each transaction once it is too long")
  func waitsForAReader() {
    var plan = copying()
    #expect(plan.passed(whole(limit)) == false)
    #expect(plan.committed(pages: limit + retry - 1) == .none)
    #expect(plan.committed(pages: limit + retry) == .begin)
    #expect(plan.passed(whole(limit + retry)) == false)
    #expect(plan.committed(pages: CheckpointPlan.mostPages) == .finish)
    #expect(plan.committed(pages: CheckpointPlan.mostPages + 1) == .finish)
    #expect(plan.committed(pages: 1) == .none)
    #expect(plan.committed(pages: limit) == .begin)
  }

  @Test("a pass that was not asked for changes nothing")
  func ignoresAStrayPass() {
    var plan = CheckpointPlan()
    #expect(plan.passed(whole(1)) == false)
    #expect(plan.committed(pages: 1) == .none)
  }
}
