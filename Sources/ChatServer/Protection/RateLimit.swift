import ChatPrimitives
import NIOCore
import Synchronization

/// The state of one limit for a caller after a request.
struct RateStatus: Sendable, Hashable {
  /// What is counted: `user`, `device`, `address`, `passwords`, `search` or `people`.
  let name: String
  let policy: RatePolicy
  /// The requests that can be made at once.
  let left: Int
  /// The seconds until all requests are available again, or, if none is left, until one is.
  let reset: Int

  /// Whether the caller gets header fields about the limit. With at least half of the requests left, they are not
  /// needed.
  var isLow: Bool { left * 2 < policy.requests }
}

/// One limit, with a token bucket for each key. The number of stored buckets is bounded.
final class RateLimit<Key: Hashable & Sendable>: Sendable {
  private let name: String
  private let policy: RatePolicy
  private let rate: TokenBucket.Rate
  private let buckets: Mutex<BoundedTable<Key, TokenBucket>>

  /// - Returns: nil if the policy has no requests, which means no limit.
  init?(_ name: String, _ policy: RatePolicy, buckets: Int = Limits.rateLimitBuckets) {
    guard let rate = TokenBucket.Rate(policy) else { return nil }
    self.name = name
    self.policy = policy
    self.rate = rate
    self.buckets = Mutex(BoundedTable(limit: buckets))
  }

  /// How many buckets are stored.
  var bucketCount: Int { buckets.withLock { $0.count } }

  /// Takes a token, or several at once.
  /// - Parameter now: in nanoseconds of a clock that only moves forward.
  func take(_ key: Key, tokens: UInt64 = 1, at now: UInt64) throws(Refusal) -> RateStatus {
    let decision = buckets.withLock { buckets in
      // A bucket that was not used for the whole window is full, like a new one.
      buckets.dropUnused(at: now, after: rate.window)
      return buckets.update(key, default: TokenBucket()) { $0.take(tokens, at: now, under: rate) }
    }
    switch decision {
    case .admitted(let left, let fullIn):
      return RateStatus(name: name, policy: policy, left: left, reset: Self.seconds(fullIn))
    case .refused(let retryIn):
      throw .rateLimited(RateStatus(name: name, policy: policy, left: 0, reset: Self.seconds(retryIn)))
    }
  }

  /// Puts back tokens that were taken but not used.
  func refund(_ key: Key, tokens: UInt64) {
    buckets.withLock { $0.update(key, default: TokenBucket()) { $0.refund(tokens, under: rate) } }
  }

  private static func seconds(_ nanoseconds: UInt64) -> Int {
    Int(clamping: (nanoseconds + 999_999_999) / 1_000_000_000)
  }
}
