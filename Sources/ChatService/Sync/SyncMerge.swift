import ChatPrimitives
import HeapModule

/// A place in the order of a catch-up: a position, and a key among what changed there.
struct SyncPoint: Sendable, Hashable, Comparable {
  var position: LogPosition
  /// At most `SyncProgress.keyBytes` bytes.
  var key: [UInt8]

  init(_ position: LogPosition, key: [UInt8]) {
    self.position = position
    self.key = key
  }

  static func < (left: SyncPoint, right: SyncPoint) -> Bool {
    left.position == right.position ? left.key.lexicographicallyPrecedes(right.key) : left.position < right.position
  }
}

/// Merges sorted sources into one order, each point once.
///
/// Reads a few points at a time from each source, so the cost depends on how many are taken and on the number of sources,
/// not on how many points these have.
struct SyncMerge {
  /// Returns the first points after a point, in order, at most as many as the number says. Fewer mean that there are no
  /// more.
  typealias Source = (SyncPoint, Int) throws -> [SyncPoint]

  /// The number of points that are read from a source at a time.
  static let readAtOnce = 16

  private struct Head: Comparable {
    let point: SyncPoint
    let source: Int

    static func < (left: Head, right: Head) -> Bool { left.point < right.point }
  }

  private let sources: [Source]
  /// The points that were read from each source and not taken yet, the next one last.
  private var buffers: [[SyncPoint]]
  /// Whether each source may have more than was read.
  private var mayHaveMore: [Bool]
  /// The next point of each source that has one.
  private var heads = Heap<Head>()
  private var last: SyncPoint

  /// - Parameter start: points after this are returned.
  init(_ sources: [Source], after start: SyncPoint) throws {
    self.sources = sources
    buffers = Array(repeating: [], count: sources.count)
    mayHaveMore = Array(repeating: true, count: sources.count)
    last = start
    for source in sources.indices { try advance(source, after: start) }
  }

  /// The next point; nil after the last one.
  mutating func next() throws -> SyncPoint? {
    while let head = heads.popMin() {
      try advance(head.source, after: head.point)
      if head.point > last {
        last = head.point
        return head.point
      }
    }
    return nil
  }

  /// Makes the point after `point` the source's head.
  private mutating func advance(_ source: Int, after point: SyncPoint) throws {
    if buffers[source].isEmpty, mayHaveMore[source] {
      let read = try sources[source](point, Self.readAtOnce)
      buffers[source] = read.reversed()
      mayHaveMore[source] = read.count == Self.readAtOnce
    }
    if let next = buffers[source].popLast() { heads.insert(Head(point: next, source: source)) }
  }
}
