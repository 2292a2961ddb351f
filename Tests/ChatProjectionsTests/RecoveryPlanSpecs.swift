import Testing

@testable import ChatProjections

@Suite struct RecoveryPlanSpecs {
  private func delays(_ plan: inout RecoveryPlan, _ count: Int) -> [RecoveryPlan.Action] {
    (0..<count).map { _ in plan.action(after: .temporary) }
  }

  @Test("after a temporary fault the step is retried without end; the delay doubles up to a limit")
  func backsOff() {
    var plan = RecoveryPlan()
    let actions = delays(&plan, 200)
    let first = [250, 500, 1000, 2000].map { RecoveryPlan.Action.retry(afterMilliseconds: $0) }
    #expect(Array(actions.prefix(4)) == first)
    #expect(actions.dropFirst(6).allSatisfy { $0 == .retry(afterMilliseconds: RecoveryPlan.longestDelayMilliseconds) })
  }

  @Test("after a success the waits begin anew")
  func beginsAnew() {
    var plan = RecoveryPlan()
    _ = delays(&plan, 5)
    plan.succeeded()
    #expect(plan.action(after: .temporary) == .retry(afterMilliseconds: RecoveryPlan.firstDelayMilliseconds))
  }

  @Test("a damaged file is rebuilt at once, and halts only when it is damaged again and again before it is complete")
  func rebuilds() {
    var plan = RecoveryPlan()
    #expect(plan.action(after: .damaged) == .rebuild(afterMilliseconds: 0))
    #expect(plan.action(after: .damaged) == .rebuild(afterMilliseconds: RecoveryPlan.firstDelayMilliseconds))
    plan.succeeded()
    for _ in 2..<RecoveryPlan.rebuildLimit {
      #expect(plan.action(after: .damaged) != .halt)
    }
    #expect(plan.action(after: .damaged) == .halt)
  }

  @Test("a file that was complete in between may be rebuilt as often as it takes")
  func complete() {
    var plan = RecoveryPlan()
    for _ in 0...2 * RecoveryPlan.rebuildLimit {
      #expect(plan.action(after: .damaged) == .rebuild(afterMilliseconds: 0))
      plan.caughtUp()
    }
  }

  @Test("a permanent failure is not retried")
  func halts() {
    var plan = RecoveryPlan()
    #expect(plan.action(after: .permanent) == .halt)
  }
}
