import ChatPrimitives
import ChatProjections
import ChatService
import NIOCore

/// Limits how much the searches of one user may read over time. A search is charged for what it reads: each message
/// that it examines, the bytes of long messages, and the pages of the index.
struct SearchBudget: Sendable {
  private static let bytesPerToken = 1024
  /// The most that one page reads. A window that is shown again may be twice as large as before.
  private static let mostPageTokens = tokens(2 * SearchQueries.pageCost)

  private let pageTokens: UInt64
  private let users: RateLimit<UserID>?
  private let countsServices: Bool

  init(_ settings: RateLimitSettings) {
    users = settings.isOn ? RateLimit("search", settings.search) : nil
    // A bucket that is smaller than a page admits one page at a time.
    pageTokens = min(Self.mostPageTokens, UInt64(clamping: settings.search.requests))
    countsServices = settings.countsServices
  }

  /// Takes the most that a page can cost, and puts back what it did not cost. Simultaneous searches therefore cannot
  /// spend the same tokens.
  /// - Parameter search: counts its cost with the meter. Only that is charged, even if the search fails or is
  ///   cancelled.
  /// - Throws: `Refusal.rateLimited`, and what the search throws.
  func spend<Found>(
    on context: HansardRequestContext, _ search: (SearchMeter) async throws -> Found
  ) async throws -> Found {
    guard context.principal?.service == nil || countsServices else { return try await search(SearchMeter()) }
    return try await spend(of: context.user, search)
  }

  func spend<Found>(of user: UserID, _ search: (SearchMeter) async throws -> Found) async throws -> Found {
    let meter = SearchMeter()
    guard let users else { return try await search(meter) }
    _ = try users.take(user, tokens: pageTokens, at: NIODeadline.now().uptimeNanosecondsSinceStart)
    defer { users.refund(user, tokens: pageTokens - min(pageTokens, Self.tokens(meter.spent))) }
    return try await search(meter)
  }

  /// Converts a cost to tokens; at least one.
  private static func tokens(_ cost: Int) -> UInt64 {
    UInt64(clamping: cost * SearchQueries.bytesPerCost / bytesPerToken + 1)
  }
}
