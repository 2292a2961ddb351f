import ChatPrimitives
import Testing

@testable import ChatService

@Suite("sources of a catch-up are merged into one order")
struct SyncMergeSpecs {
  private static let origin = SyncPoint(.origin, key: [])

  /// A source of these points that counts its reads.
  private final class Reads {
    var count = 0

    func source(_ points: [SyncPoint]) -> SyncMerge.Source {
      { [self] start, limit in
        count += 1
        return Array(points.filter { $0 > start }.prefix(limit))
      }
    }
  }

  private func randomSources(_ generator: inout SystemRandomNumberGenerator) -> [[SyncPoint]] {
    (0..<Int.random(in: 0...9, using: &generator)).map { _ in
      let points = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        SyncPoint(
          LogPosition(UInt64.random(in: 1...30, using: &generator)),
          key: (0..<Int.random(in: 0...2, using: &generator)).map { _ in UInt8.random(in: 0...3, using: &generator) })
      }
      return Set(points).sorted()
    }
  }

  private func all(_ merge: SyncMerge) throws -> [SyncPoint] {
    var (merge, found): (SyncMerge, [SyncPoint]) = (merge, [])
    while let point = try merge.next() { found.append(point) }
    return found
  }

  @Test("each point comes once and in order, from any start")
  func order() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let sources = randomSources(&generator)
      let expected = Set(sources.joined()).sorted().filter { $0 > Self.origin }
      let merged = try all(SyncMerge(sources.map { Reads().source($0) }, after: Self.origin))
      #expect(merged == expected, "\(sources)")
      for (index, start) in expected.enumerated() {
        let rest = try all(SyncMerge(sources.map { Reads().source($0) }, after: start))
        #expect(rest == Array(expected.dropFirst(index + 1)), "\(sources)")
      }
    }
  }

  @Test("points are ordered by position, then by key, and a key comes after its own beginning")
  func points() {
    let ordered = [
      SyncPoint(LogPosition(1), key: [9]), SyncPoint(LogPosition(2), key: []), SyncPoint(LogPosition(2), key: [0]),
      SyncPoint(LogPosition(2), key: [0, 0]), SyncPoint(LogPosition(2), key: [1]), SyncPoint(LogPosition(10), key: []),
    ]
    #expect(ordered.shuffled().sorted() == ordered)
  }

  @Test("a source is read 16 points at a time, only as far as points are taken")
  func reads() throws {
    let long = (1...10_000).map { SyncPoint(LogPosition(UInt64($0)), key: []) }
    let late = [SyncPoint(LogPosition(20_000), key: [])]
    let (first, second) = (Reads(), Reads())
    var merge = try SyncMerge([first.source(long), second.source(late)], after: Self.origin)
    #expect(first.count == 1 && second.count == 1)
    for _ in 0..<15 { _ = try merge.next() }
    #expect(first.count == 1)
    for _ in 0..<2 { _ = try merge.next() }
    #expect(first.count == 2 && second.count == 1)
    while try merge.next() != nil {}
    // A source that returned fewer than it was asked for is not asked again.
    #expect(first.count == 10_000 / 16 + 1 && second.count == 1)
  }
}
