import HTTPTypes
import Testing

@testable import ChatServer

private let second: UInt64 = 1_000_000_000

@Suite("A token bucket")
struct TokenBucketSpecs {
  private func rate(_ requests: Int, _ seconds: Int) throws -> TokenBucket.Rate {
    try #require(TokenBucket.Rate(RatePolicy(requests: requests, seconds: seconds)))
  }

  @Test("gives several tokens at once while it holds as many, and takes back what was not used")
  func several() throws {
    let rate = try rate(10, 60)
    var bucket = TokenBucket()
    guard case .admitted(3, _) = bucket.take(7, at: second, under: rate),
      case .refused(let wait) = bucket.take(4, at: second, under: rate)
    else {
      Issue.record("seven of ten leave three")
      return
    }
    #expect(wait == rate.interval)
    bucket.refund(1, under: rate)
    #expect(bucket.take(4, at: second, under: rate) == .admitted(left: 0, fullIn: 10 * rate.interval))
    bucket.refund(100, under: rate)
    #expect(bucket.take(10, at: second, under: rate) == .admitted(left: 0, fullIn: 10 * rate.interval))
    guard case .refused = bucket.take(11, at: 1_000 * second, under: rate) else {
      Issue.record("a bucket of ten never gives eleven")
      return
    }
  }

  @Test("lets as many through at once as it holds, and no more", arguments: [1, 2, 3, 7, 1_000])
  func burst(size: Int) throws {
    let rate = try rate(size, 60)
    var bucket = TokenBucket()
    for left in (0..<size).reversed() {
      guard case .admitted(left, _) = bucket.take(at: 5 * second, under: rate) else {
        Issue.record("refused with \(left + 1) left")
        return
      }
    }
    guard case .refused(let wait) = bucket.take(at: 5 * second, under: rate) else {
      Issue.record("the bucket is empty, and lets one through")
      return
    }
    #expect(wait == rate.interval)
  }

  @Test("lets one through again exactly when it has come back, and a refusal costs nothing")
  func refill() throws {
    let rate = try rate(2, 10)
    var bucket = TokenBucket()
    _ = bucket.take(at: 0, under: rate)
    _ = bucket.take(at: 0, under: rate)
    #expect(bucket.take(at: 5 * second - 1, under: rate) == .refused(retryIn: 1))
    #expect(bucket.take(at: 5 * second - 1, under: rate) == .refused(retryIn: 1))
    #expect(bucket.take(at: 5 * second, under: rate) == .admitted(left: 0, fullIn: 10 * second))
    #expect(bucket.take(at: 5 * second, under: rate) == .refused(retryIn: 5 * second))
    #expect(bucket.take(at: 15 * second, under: rate) == .admitted(left: 1, fullIn: 5 * second))
  }

  @Test("is never fuller than full, however long it rests")
  func rests() throws {
    let rate = try rate(3, 3)
    var bucket = TokenBucket()
    #expect(bucket.take(at: 1_000_000 * second, under: rate) == .admitted(left: 2, fullIn: second))
    #expect(bucket.take(at: 2_000_000 * second, under: rate) == .admitted(left: 2, fullIn: second))
  }

  @Test("holds over a long time to its rate")
  func longRun() throws {
    let rate = try rate(100, 10)
    var bucket = TokenBucket()
    var admitted = 0
    for millisecond in 0..<100_000 {
      if case .admitted = bucket.take(at: UInt64(millisecond) * 1_000_000, under: rate) { admitted += 1 }
    }
    // A full bucket, and ten per second for a hundred seconds.
    #expect((1_098...1_100).contains(admitted))
  }

  @Test("with 0 requests has no limit")
  func off() {
    #expect(TokenBucket.Rate(RatePolicy(requests: 0, seconds: 60)) == nil)
    #expect(RateLimit<Int>("user", RatePolicy(requests: 0, seconds: 60)) == nil)
  }
}

@Suite("A bounded table")
struct BoundedTableSpecs {
  @Test("an entry that is looked up is kept, and a failed lookup adds nothing")
  func find() {
    var table = BoundedTable<Int, Int>(limit: 4)
    table.update(0, default: 7) { _ in }
    for key in 1..<20 {
      #expect(table.find(0) == 7)
      #expect(table.find(-key) == nil)
      table.update(key, default: 0) { _ in }
    }
    #expect(table.count <= 4)
  }

  @Test("never holds more than its limit", arguments: [2, 10, 1_000])
  func bounded(limit: Int) {
    var table = BoundedTable<Int, Int>(limit: limit)
    for key in 0..<(5 * limit) {
      table.update(key, default: 0) { $0 += 1 }
      #expect(table.count <= limit)
    }
  }

  @Test("keeps the newest keys, up to half its limit, and every key that is used again")
  func remembers() {
    var table = BoundedTable<Int, Int>(limit: 100)
    for key in 0..<1_000 {
      table.update(key, default: 0) { $0 = key }
      table.update(-1, default: 0) { $0 += 1 }
    }
    for key in 951..<1_000 { #expect(table.update(key, default: 0) { $0 } == key) }
    #expect(table.update(-1, default: 0) { $0 } == 1_000)
    #expect(table.update(3, default: -7) { $0 } == -7)
  }

  @Test("drops what was not looked up for a lifetime, at the latest after two")
  func drops() {
    var table = BoundedTable<Int, Int>(limit: 100)
    table.dropUnused(at: 1_000, after: 10)
    for key in 1...2 { table.update(key, default: 0) { $0 = key } }
    table.dropUnused(at: 1_009, after: 10)
    #expect(table.count == 2)
    table.dropUnused(at: 1_010, after: 10)
    let (known, unknown) = (table.find(1), table.find(3))
    #expect(known == 1 && unknown == nil)
    table.dropUnused(at: 1_020, after: 10)
    let (used, unused) = (table.find(1), table.find(2))
    #expect(used == 1 && unused == nil && table.count == 1)
    table.dropUnused(at: 1_040, after: 10)
    #expect(table.count == 0)
  }

  @Test("forgets what is removed, in either half")
  func removes() {
    var table = BoundedTable<Int, Int>(limit: 4)
    for key in 1...3 { table.update(key, default: 0) { $0 = key } }
    for key in 1...3 {
      table.remove(key)
      #expect(table.update(key, default: 9) { $0 } == 9)
    }
  }
}

@Suite("A rate limit")
struct RateLimitSpecs {
  @Test("counts each key separately, and reports its state")
  func keys() throws {
    let limit = try #require(RateLimit<String>("user", RatePolicy(requests: 4, seconds: 60)))
    for key in ["a", "b"] {
      let rateStatuses = try (0..<4).map { _ in try limit.take(key, at: 0) }
      #expect(rateStatuses.map(\.left) == [3, 2, 1, 0])
      #expect(rateStatuses.map(\.reset) == [15, 30, 45, 60])
      #expect(rateStatuses.map(\.isLow) == [false, false, true, true])
    }
    let refusal = #expect(throws: Refusal.self) { try limit.take("a", at: 1) }
    #expect(
      refusal
        == .rateLimited(RateStatus(name: "user", policy: RatePolicy(requests: 4, seconds: 60), left: 0, reset: 15)))
    #expect(try limit.take("c", at: 1).left == 3)
  }

  @Test("remembers 131,072 buckets at most, and only those that were used in the last two windows")
  func bounded() throws {
    let limit = try #require(RateLimit<Int>("user", RatePolicy(requests: 4, seconds: 60)))
    for key in 0..<140_000 { _ = try limit.take(key, at: second) }
    #expect(limit.bucketCount <= 131_072)
    _ = try limit.take(-1, at: 121 * second)
    #expect(limit.bucketCount == 1)
  }

  @Test("is reported in the header fields of the draft, with Retry-After")
  func fields() {
    let mapping = ProblemMapping(
      Refusal.rateLimited(
        RateStatus(name: "address", policy: RatePolicy(requests: 4, seconds: 60), left: 0, reset: 15)))
    #expect(mapping.status == .tooManyRequests)
    #expect(mapping.headers[.retryAfter] == "15")
    #expect(mapping.headers[.rateLimitPolicy] == #""address";q=4;w=60"#)
    #expect(mapping.headers[.rateLimit] == #""address";r=0;t=15"#)
  }
}
