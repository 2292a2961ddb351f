/// Access tokens that were verified. They are cached because verifying a signature costs more than the rest of a small
/// request.
struct VerifiedTokenCache: Sendable {
  /// The most tokens that are kept; each takes about 700 bytes.
  private static let limit = 32_768
  /// A token is forgotten after one to two times this period without use. In nanoseconds.
  private static let unusedNanoseconds: UInt64 = 60_000_000_000

  private var tokens = BoundedTable<String, VerifiedToken>(limit: limit)

  var count: Int { tokens.count }

  /// The cached result for a token; nil if there is none.
  /// - Parameter now: in nanoseconds of a clock that only moves forward.
  mutating func find(_ token: String, at now: UInt64) -> VerifiedToken? {
    tokens.dropUnused(at: now, after: Self.unusedNanoseconds)
    return tokens.find(token)
  }

  mutating func remember(_ token: String, _ verified: VerifiedToken) {
    tokens.update(token, default: verified) { $0 = verified }
  }
}
