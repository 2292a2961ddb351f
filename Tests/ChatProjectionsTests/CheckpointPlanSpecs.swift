import Testing

@testable import ChatProjections

@Suite("When the write-ahead log is written into the file")
struct CheckpointPlanSpecs {
  private let limit = CheckpointPlan.pages

  @Test("one pass is enough if nothing is committed meanwhile, and the next one waits until the log is long again")
  func onePass() {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit - 1) == .none)
    #expect(plan.committed(pages: limit) == .begin)
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: 3) == .none)
    #expect(plan.committed(pages: limit - 1) == .none)
    #expect(plan.committed(pages: limit) == .begin)
  }

  @Test("passes go on while transactions are committed")
  func goesOn() {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit) == .begin)
    #expect(plan.committed(pages: limit + 5) == .none)
    #expect(plan.passed() == true)
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: limit + 6) == .none)
  }

  @Test("a log that began anew during a pass needs no other one")
  func beganAnew() {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit) == .begin)
    #expect(plan.committed(pages: limit + 1) == .none)
    #expect(plan.passed() == true)
    #expect(plan.committed(pages: 4) == .none)
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: 8) == .none)
    #expect(plan.committed(pages: limit) == .begin)
  }

  @Test("the writer makes the last pass of a log that grows faster than it is copied")
  func writerFinishes() {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit) == .begin)
    #expect(plan.committed(pages: 2 * limit) == .none)
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: 2 * limit + 1) == .finish)
    #expect(plan.committed(pages: 2 * limit + 2) == .none)
  }

  @Test("the writer makes the last pass after several by the other thread")
  func writerFinishesAfterMany() {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit) == .begin)
    for pass in 1..<CheckpointPlan.passes {
      #expect(plan.committed(pages: limit + pass) == .none)
      #expect(plan.passed() == true)
    }
    #expect(plan.committed(pages: limit + 100) == .none)
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: limit + 101) == .finish)
  }

  @Test("a log that a reader holds is tried again after as many pages, and not with every transaction")
  func waitsForAReader() {
    var plan = CheckpointPlan()
    #expect(plan.committed(pages: limit) == .begin)
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: limit + 1) == .none)
    #expect(plan.committed(pages: 2 * limit - 1) == .none)
    #expect(plan.committed(pages: 2 * limit) == .begin)
  }

  @Test("a pass that was not asked for changes nothing")
  func ignoresAStrayPass() {
    var plan = CheckpointPlan()
    #expect(plan.passed() == false)
    #expect(plan.committed(pages: 1) == .none)
  }
}
