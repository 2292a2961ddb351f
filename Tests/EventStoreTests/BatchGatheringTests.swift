import Testing

@testable import EventStore

@Suite("Gathering a batch")
struct BatchGatheringTests {
  @Test("a batch with fewer commands than the one before waits, one with as many does not")
  func waitsForAsMany() {
    var gathering = BatchGathering()
    #expect(!gathering.isWorthwhile(for: 1))
    gathering.note(count: 64, waited: false, gained: false)
    #expect(gathering.isWorthwhile(for: 63))
    #expect(!gathering.isWorthwhile(for: 64))
  }

  @Test("when no commands arrive, waiting is tried less and less often, but never abandoned")
  func pausesGrow() {
    var gathering = BatchGathering()
    var attempts: [Int] = []
    for number in 0..<1_000 {
      // Alternates between ten and five commands, so that every second batch expects more.
      let count = number % 2 == 0 ? 10 : 5
      let waits = gathering.isWorthwhile(for: count)
      if waits { attempts.append(number) }
      gathering.note(count: count, waited: waits, gained: false)
    }
    #expect(attempts.count > 10)
    #expect(attempts.count < 40)
    let gaps = zip(attempts.dropFirst(), attempts).map { $0 - $1 }
    #expect((gaps.max() ?? 0) <= BatchGathering.longestPause + 2 * BatchGathering.growthInterval)
  }

  @Test("after a wait that gained commands, the next small batch waits again")
  func gainEndsThePause() {
    var gathering = BatchGathering()
    gathering.note(count: 10, waited: false, gained: false)
    gathering.note(count: 5, waited: true, gained: false)
    #expect(!gathering.isWorthwhile(for: 1))
    gathering.note(count: 5, waited: false, gained: false)
    #expect(gathering.isWorthwhile(for: 1))
    gathering.note(count: 8, waited: true, gained: true)
    #expect(gathering.isWorthwhile(for: 7))
  }

  @Test("now and then it waits for twice as many commands, so that two half batches can merge")
  func halvesFindTogether() {
    var gathering = BatchGathering()
    var hopes = 0
    for _ in 0..<BatchGathering.growthInterval * 4 {
      if gathering.isWorthwhile(for: 32) { hopes += 1 }
      gathering.note(count: 32, waited: false, gained: false)
    }
    #expect(hopes == 3)
  }
}
