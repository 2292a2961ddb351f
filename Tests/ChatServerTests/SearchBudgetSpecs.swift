import ChatPrimitives
import ChatProjections
import ChatService
import Testing

@testable import ChatServer

@Suite("a search is charged for what it read, whatever its outcome")
struct SearchBudgetSpecs {
  private let anna = UserID(UUIDBytes(high: 1, low: 1))

  /// A budget for one page at a time, which hardly refills during a test.
  private func budget() -> SearchBudget {
    var settings = RateLimitSettings()
    settings.search = RatePolicy(requests: 16 * 1024, seconds: 86_400)
    return SearchBudget(settings)
  }

  @Test("searches that fail before they read anything do not use up the budget")
  func failing() async throws {
    let budget = budget()
    for _ in 0..<100 {
      await #expect(throws: ServiceError.self) {
        try await budget.spend(of: anna) { (_) -> Void in throw ServiceError.overloaded }
      }
    }
    try await budget.spend(of: anna) { _ in }
  }

  @Test("a search that fails is charged for what it read until then")
  func failingLate() async throws {
    let budget = budget()
    var refused = 0
    for _ in 0..<100 {
      do {
        try await budget.spend(of: anna) { (meter) -> Void in
          meter.charge(SearchQueries.pageCost)
          throw ServiceError.cancelled
        }
      } catch is Refusal { refused += 1 } catch is ServiceError {}
    }
    #expect(refused > 90)
  }
}
