import Testing

@testable import ChatPush

@Suite("The gate of a provider")
struct ProviderGateSpecs {
  private let start = ContinuousClock.now

  private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("is open while the provider runs, even if single notifications fail")
  func running() {
    var gate = ProviderGate()
    for signal: ProviderGate.Signal in [.accepted, .reached, .failed, .none] {
      #expect(gate.opening(at: start) == .open)
      let isTrial = gate.begin()
      #expect(!isTrial)
      #expect(gate.end(isTrial: false, signal, at: start) == nil && gate.state == .running)
    }
  }

  @Test("closes for as long as the provider says, then allows one trial, and opens when that succeeds")
  func paused() {
    var gate = ProviderGate()
    #expect(gate.end(isTrial: false, .paused(reason: "429", for: .seconds(30)), at: start) == .paused(reason: "429"))
    #expect(gate.opening(at: at(29.9)) == .at(at(30)))
    #expect(gate.end(isTrial: false, .accepted, at: at(1)) == nil, "an attempt from before the pause does not end it")
    #expect(gate.opening(at: at(30)) == .open)
    let isTrial = gate.begin()
    #expect(isTrial)
    #expect(gate.opening(at: at(30)) == .trying)
    #expect(gate.end(isTrial: true, .reached, at: at(31)) == .recovered)
    #expect(gate.state == .running && gate.opening(at: at(31)) == .open)
  }

  @Test("closes for twice as long with each trial that fails, up to a minute")
  func pausesGrow() {
    var gate = ProviderGate()
    #expect(gate.end(isTrial: false, .paused(reason: "no connection", for: .zero), at: start) != nil)
    var now = start
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
      // Other attempts that were in flight do not prolong it.
      #expect(gate.end(isTrial: false, .paused(reason: "no connection", for: .zero), at: now) == nil)
      #expect(gate.opening(at: now) == .at(now + .seconds(seconds)))
      now += .seconds(seconds)
      #expect(gate.opening(at: now) == .open)
      _ = gate.begin()
      #expect(gate.end(isTrial: true, .paused(reason: "no connection", for: .zero), at: now) == nil)
    }
    #expect(gate.state == .paused(reason: "no connection"))
  }

  @Test("obeys a longer Retry-After of a later response, up to an hour")
  func longerPause() {
    var gate = ProviderGate()
    _ = gate.end(isTrial: false, .paused(reason: "429", for: .seconds(10)), at: start)
    _ = gate.end(isTrial: false, .paused(reason: "429", for: .seconds(20)), at: at(1))
    #expect(gate.opening(at: at(1)) == .at(at(21)))
    _ = gate.end(isTrial: false, .paused(reason: "429", for: .seconds(5000)), at: at(1))
    #expect(gate.opening(at: at(1)) == .at(at(3601)))
  }

  @Test("reports a stop once, allows a trial each minute, and opens when one succeeds")
  func stopped() {
    var gate = ProviderGate()
    #expect(gate.end(isTrial: false, .stopped(reason: "key"), at: start) == .stopped(reason: "key"))
    #expect(gate.end(isTrial: false, .stopped(reason: "key"), at: start) == nil, "reported once")
    for minute in 1...3 {
      let now = at(60 * Double(minute))
      #expect(gate.opening(at: now - .milliseconds(1)) == .at(now))
      #expect(gate.opening(at: now) == .open)
      _ = gate.begin()
      #expect(gate.opening(at: now) == .trying)
      let signal: ProviderGate.Signal =
        switch minute {
        case 1: .stopped(reason: "topic")
        case 2: .failed
        default: .paused(reason: "429", for: .seconds(5))
        }
      #expect(gate.end(isTrial: true, signal, at: now) == nil && gate.state == .stopped(reason: "topic"))
    }
    #expect(gate.opening(at: at(240)) == .open)
    _ = gate.begin()
    #expect(gate.end(isTrial: true, .reached, at: at(240)) == .recovered)
  }

  @Test("a refused key is reported once, delays no other device, and is right when a notification is accepted")
  func keyRefused() {
    var gate = ProviderGate()
    #expect(gate.end(isTrial: false, .keyRefused(reason: "403"), at: start) == .stopped(reason: "403"))
    for signal: ProviderGate.Signal in [.keyRefused(reason: "401"), .reached, .failed, .none] {
      #expect(gate.opening(at: start) == .open && !gate.isClosed)
      let isTrial = gate.begin()
      #expect(!isTrial)
      #expect(gate.end(isTrial: false, signal, at: start) == nil && gate.state == .stopped(reason: "403"))
    }
    #expect(gate.end(isTrial: false, .accepted, at: start) == .recovered && gate.state == .running)
    #expect(gate.end(isTrial: false, .keyRefused(reason: "403"), at: start) == nil, "it is from before")
    #expect(gate.state == .running)
  }

  @Test("a refusal that can mean a wrong key is shown until a notification is accepted, and closes nothing")
  func possiblyWrongKey() {
    var gate = ProviderGate()
    for reason in ["400", "401"] {
      #expect(gate.end(isTrial: false, .possiblyWrongKey(reason: reason), at: start) == .possiblyWrongKey(reason: reason))
      #expect(gate.refusal == reason && gate.state == .running && gate.opening(at: start) == .open)
    }
    for signal: ProviderGate.Signal in [.reached, .failed, .none] {
      #expect(gate.end(isTrial: false, signal, at: start) == nil && gate.refusal == "401")
    }
    #expect(gate.end(isTrial: false, .accepted, at: start) == .refusalEnded && gate.refusal == nil)
    #expect(gate.end(isTrial: false, .accepted, at: start) == nil, "reported once")
  }

  @Test("results from before an acceptance can arrive after it; only what can follow it is shown")
  func refusalAfterAcceptance() {
    var gate = ProviderGate()
    #expect(gate.end(isTrial: false, .accepted, at: start) == nil)
    #expect(gate.end(isTrial: false, .possiblyWrongKey(reason: "400"), at: start) == nil && gate.refusal == nil)
    #expect(
      gate.end(isTrial: false, .possiblyWrongKey(reason: "401", canFollowAcceptance: true), at: start)
        == .possiblyWrongKey(reason: "401"))
    #expect(gate.end(isTrial: false, .possiblyWrongKey(reason: "400"), at: start) == nil && gate.refusal == "401")
    #expect(gate.end(isTrial: false, .accepted, at: start) == .refusalEnded && gate.refusal == nil)
  }

  @Test("a pause of one of its services is reported and closes nothing")
  func originPaused() {
    var gate = ProviderGate()
    #expect(gate.end(isTrial: false, .originPaused(reason: "503"), at: start) == .originPaused(reason: "503"))
    #expect(gate.state == .running && gate.refusal == nil && gate.opening(at: start) == .open)
  }

  @Test("a trial that is refused like that does not end a pause")
  func refusedTrial() {
    var gate = ProviderGate()
    _ = gate.end(isTrial: false, .paused(reason: "429", for: .seconds(1)), at: start)
    #expect(gate.opening(at: at(1)) == .open)
    _ = gate.begin()
    #expect(gate.end(isTrial: true, .possiblyWrongKey(reason: "400"), at: at(1)) == .possiblyWrongKey(reason: "400"))
    #expect(gate.state == .paused(reason: "429") && gate.opening(at: at(1)) == .at(at(3)))
    #expect(gate.opening(at: at(3)) == .open)
    _ = gate.begin()
    #expect(gate.end(isTrial: true, .accepted, at: at(3)) == .recovered && gate.refusal == nil)
  }

  @Test("a trial for which the key is refused postpones the next one")
  func keyRefusedTrial() {
    var gate = ProviderGate()
    _ = gate.end(isTrial: false, .paused(reason: "429", for: .seconds(1)), at: start)
    #expect(gate.opening(at: at(1)) == .open)
    _ = gate.begin()
    #expect(gate.end(isTrial: true, .keyRefused(reason: "403"), at: at(1)) == nil)
    #expect(gate.state == .paused(reason: "429") && gate.opening(at: at(1)) == .at(at(3)))
  }

  @Test("a trial that sent nothing is followed by another at once, so that expired notifications do not wait")
  func nothingSent() {
    var gate = ProviderGate()
    _ = gate.end(isTrial: false, .stopped(reason: "key"), at: start)
    #expect(gate.opening(at: at(60)) == .open)
    _ = gate.begin()
    #expect(gate.end(isTrial: true, .none, at: at(60)) == nil)
    #expect(gate.opening(at: at(60)) == .open && gate.state == .stopped(reason: "key"))
  }

  @Test("a pause becomes a stop if the provider says so")
  func pauseBecomesStop() {
    var gate = ProviderGate()
    _ = gate.end(isTrial: false, .paused(reason: "429", for: .seconds(1)), at: start)
    #expect(gate.end(isTrial: false, .stopped(reason: "key"), at: start) == .stopped(reason: "key"))
    #expect(gate.opening(at: at(59)) == .at(at(60)))
  }

  @Test("allows as many requests as the rate, and keeps unused ones for a tenth of a second")
  func rate() {
    var gate = ProviderGate(requestsPerSecond: 100)
    var begun = 0
    func begin(at now: ContinuousClock.Instant) {
      while gate.opening(at: now) == .open {
        _ = gate.begin()
        begun += 1
      }
    }
    begin(at: start)
    #expect(begun == 10)
    guard case .at(let next) = gate.opening(at: start) else {
      Issue.record("the gate must name a time")
      return
    }
    #expect(next > start && next <= at(0.02))
    for step in 1...100 { begin(at: at(Double(step) / 100)) }
    #expect((109...110).contains(begun))
    begin(at: at(100))
    #expect((119...120).contains(begun))
    #expect(gate.end(isTrial: false, .none, at: at(100)) == nil)
    #expect(gate.opening(at: at(100)) == .open, "an attempt that sent nothing does not count")
  }

  @Test("a rate of one request per second lets one begin each second")
  func slowRate() {
    var gate = ProviderGate(requestsPerSecond: 1)
    #expect(gate.opening(at: start) == .open)
    _ = gate.begin()
    #expect(gate.opening(at: start) == .at(at(1)) && gate.opening(at: at(1)) == .open)
  }
}
