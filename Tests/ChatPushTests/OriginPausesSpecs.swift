import Testing

@testable import ChatPush

@Suite("Pauses of push services of browsers")
struct OriginPausesSpecs {
  private let start = ContinuousClock.now
  private let tea = "https://tea.example"
  private let trial = Duration.seconds(OriginPauses.trialSeconds)
  private let hold = Duration.seconds(OriginPauses.trialHoldSeconds)

  @Test("a pause concerns one origin, and ends with a trial that gets another response")
  func pause() {
    let pauses = OriginPauses()
    #expect(pauses.opening(of: tea, at: start) == .open(isTrial: false))
    #expect(pauses.pause(tea, for: .seconds(30), isTrial: false, at: start) == .seconds(30))
    #expect(pauses.opening(of: tea, at: start + .seconds(10)) == .closed(.seconds(20)))
    #expect(pauses.opening(of: "https://cake.example", at: start) == .open(isTrial: false))
    let end = start + .seconds(30)
    #expect(pauses.opening(of: tea, at: end) == .open(isTrial: true))
    #expect(pauses.opening(of: tea, at: end) == .closed(hold), "the others wait for the trial")
    pauses.end(tea)
    #expect(pauses.opening(of: tea, at: end) == .open(isTrial: false) && pauses.count == 0)
  }

  @Test("a trial can begin another pause; one without a response is followed by another trial")
  func trials() {
    let pauses = OriginPauses()
    _ = pauses.pause(tea, for: .zero, isTrial: false, at: start)
    #expect(pauses.opening(of: tea, at: start) == .open(isTrial: true))
    #expect(pauses.opening(of: tea, at: start + trial) == .open(isTrial: true), "there was no response")
    #expect(pauses.pause(tea, for: .seconds(1), isTrial: true, at: start + trial) == .seconds(1))
    #expect(pauses.opening(of: tea, at: start + trial + .seconds(1)) == .open(isTrial: true))
  }

  @Test("during a trial, others ask again after a second, so that they do not wait long after it has succeeded")
  func waitingForTrial() {
    let pauses = OriginPauses()
    _ = pauses.pause(tea, for: .zero, isTrial: false, at: start)
    #expect(pauses.opening(of: tea, at: start) == .open(isTrial: true))
    let rest = hold / 2
    #expect(pauses.opening(of: tea, at: start + hold) == .closed(hold))
    #expect(pauses.opening(of: tea, at: start + trial - rest) == .closed(rest), "the rest of the time for the trial")
    // A response to a message from before the pause asks for less time than the trial has.
    _ = pauses.pause(tea, for: hold, isTrial: false, at: start)
    #expect(pauses.opening(of: tea, at: start + hold) == .closed(hold))
    // Another one asks for more time.
    _ = pauses.pause(tea, for: trial * 2, isTrial: false, at: start)
    #expect(pauses.opening(of: tea, at: start) == .closed(trial * 2))
  }

  @Test("a later response does not shorten a pause, and an hour is the longest")
  func length() {
    let pauses = OriginPauses()
    _ = pauses.pause(tea, for: .seconds(60), isTrial: false, at: start)
    _ = pauses.pause(tea, for: .seconds(1), isTrial: false, at: start)
    #expect(pauses.opening(of: tea, at: start) == .closed(.seconds(60)))
    #expect(pauses.pause(tea, for: .seconds(3601), isTrial: false, at: start) == .seconds(3600))
    #expect(pauses.opening(of: tea, at: start) == .closed(.seconds(3600)))
  }

  @Test("so many origins are in memory at most")
  func limit() {
    let pauses = OriginPauses()
    for number in 1...OriginPauses.capacity {
      _ = pauses.pause("https://\(number).example", for: .seconds(60), isTrial: false, at: start)
    }
    _ = pauses.pause("https://1.example", for: .seconds(60), isTrial: false, at: start)
    #expect(pauses.count == OriginPauses.capacity)
    _ = pauses.pause(tea, for: .seconds(60), isTrial: false, at: start)
    #expect(pauses.count == 1 && pauses.opening(of: tea, at: start) == .closed(.seconds(60)))
  }

  @Test("at the limit, pauses that have ended are dropped, and the others stay")
  func endedAtLimit() {
    let pauses = OriginPauses()
    for number in 1..<OriginPauses.capacity {
      _ = pauses.pause("https://\(number).example", for: .seconds(30), isTrial: false, at: start)
    }
    _ = pauses.pause(tea, for: .seconds(60), isTrial: false, at: start)
    let later = start + .seconds(30)
    _ = pauses.pause("https://cake.example", for: .seconds(60), isTrial: false, at: later)
    #expect(pauses.count == 2 && pauses.opening(of: tea, at: later) == .closed(.seconds(30)))
  }
}
