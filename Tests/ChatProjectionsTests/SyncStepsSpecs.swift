import Testing

@testable import ChatProjections

@Suite("When a file that is being written is synced")
struct SyncStepsSpecs {
  private func answers(_ writes: [Int]) -> [Bool] {
    var steps = SyncSteps()
    return writes.map { steps.wrote($0) }
  }

  @Test("it is synced once so much was written, and then counts anew")
  func steps() {
    let step = SyncSteps.bytes
    #expect(answers([step - 1, 1, step - 1, 1]) == [false, true, false, true])
    #expect(answers([5 * step, step - 1]) == [true, false])
  }
}
