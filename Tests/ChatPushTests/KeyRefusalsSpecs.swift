import Testing

@testable import ChatPush

@Suite("Whether a key is wrong, or only single tokens")
struct KeyRefusalsSpecs {
  private let kept = SendResult.possiblyWrongKey(
    reason: "403; check the key", failure: "403", retryAfter: .seconds(KeyRefusals.retrySeconds))
  private let stopped = SendResult.keyRefused(
    reason: "Tea responded with 403 for 8 devices, and has accepted no notification; check the key", failure: "403",
    retryAfter: .seconds(KeyRefusals.retrySeconds))

  private func refuse(_ refusals: KeyRefusals, _ token: Int) -> SendResult {
    refusals.result(of: "403", from: "Tea", for: "token \(token)", next: "check the key")
  }

  @Test("a key is wrong if it was refused for 8 different tokens and accepted for none; until then nothing is given up")
  func wrong() {
    let refusals = KeyRefusals()
    for token in 1...KeyRefusals.limit + 2 {
      for _ in 1...3 { #expect(refuse(refusals, token) == (token < KeyRefusals.limit ? kept : stopped)) }
    }
    #expect(refuse(refusals, 1) == stopped)
  }

  @Test("once it was accepted, it is right, and what is refused is given up", arguments: [0, 1, 7, 8, 20])
  func right(refusedBefore: Int) {
    let refusals = KeyRefusals()
    for token in 0..<refusedBefore { _ = refuse(refusals, token) }
    refusals.noteAccepted()
    for token in 0..<20 { #expect(refuse(refusals, token) == .rejected(response: "403")) }
  }
}
