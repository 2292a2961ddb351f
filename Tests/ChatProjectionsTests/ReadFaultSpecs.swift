import ChatPrimitives
import Testing

@testable import ChatProjections

@Suite struct ReadFaultSpecs {
  private let start = ContinuousClock.now

  /// The start plus this many times the limit, plus some milliseconds.
  private func after(_ limits: Int, milliseconds: Int = 0) -> ContinuousClock.Instant {
    start.advanced(by: ReadFault.reportedFor * limits).advanced(by: .milliseconds(milliseconds))
  }

  private func fault(_ message: String) -> ProjectionFault {
    ProjectionFault(projection: "", file: "", kind: .temporary, position: .origin, message: message, advice: "")
  }

  @Test("the same fault is logged once while queries keep meeting it, and a different one is logged again")
  func logging() {
    var state = ReadFault()
    var isLogged = state.met(fault("a"), at: start)
    #expect(isLogged)
    isLogged = state.met(fault("a"), at: after(1))
    #expect(!isLogged)
    state.querySucceeded()
    isLogged = state.met(fault("a"), at: after(2))
    #expect(!isLogged)
    isLogged = state.met(fault("b"), at: after(2))
    #expect(isLogged)
    isLogged = state.met(fault("b"), at: after(3, milliseconds: 1))
    #expect(isLogged)
  }

  @Test("a fault is reported until a query succeeds, or until no query has met it for a while")
  func reporting() {
    var state = ReadFault()
    #expect(state.current(at: start) == nil)
    _ = state.met(fault("a"), at: start)
    #expect(state.current(at: after(1)) == fault("a"))
    #expect(state.current(at: after(1, milliseconds: 1)) == nil)
    _ = state.met(fault("a"), at: after(1))
    #expect(state.current(at: after(2)) == fault("a"))
    state.querySucceeded()
    #expect(state.current(at: after(1)) == nil && !state.isUnresolved)
  }
}
