package import ChatPrimitives

/// The blocks in a part of the log that can hold records of a stream.
package struct CandidateBlocks: Sendable, Hashable {
  /// The blocks, in order, that may hold such records, as ranges of positions. No other position before `next` holds any.
  /// When a server erases payloads, it rewrites the segment, and its blocks then begin at other positions.
  package var ranges: [ClosedRange<LogPosition>]
  /// The position at which the next lookup begins.
  package var next: LogPosition

  init(ranges: [ClosedRange<LogPosition>], next: LogPosition) {
    self.ranges = ranges
    self.next = next
  }

  /// The result without an index: the block that holds the position has to be read.
  init(reading position: LogPosition) {
    ranges = [position...position]
    next = position.next
  }
}

/// Iterates over the blocks that can hold records of one stream, in order. It reads no other block of a sealed segment.
package struct StreamBlocks {
  private let source: any BlockSource
  private let stream: UUIDBytes
  private let last: LogPosition
  /// Where the next lookup begins.
  private var position: LogPosition
  private var pending: ArraySlice<ClosedRange<LogPosition>> = []
  /// The position after the last block that was returned.
  private var unread: LogPosition = .first

  /// - Parameters:
  ///   - first: the position to begin at.
  ///   - last: the last position; at most the head of the source.
  package init(_ source: any BlockSource, stream: UUIDBytes, from first: LogPosition, through last: LogPosition) {
    self.source = source
    self.stream = stream
    self.last = last
    position = max(first, .first)
  }

  /// Returns the next block; nil if there are no more.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package mutating func next() throws(LogError) -> Block? {
    while true {
      if let range = pending.first {
        let start = max(range.lowerBound, unread)
        guard start <= range.upperBound else {
          pending.removeFirst()
          continue
        }
        guard start <= last else { return nil }
        return try block(containing: start)
      }
      guard position <= last else { return nil }
      let candidates = try source.candidateBlocks(of: stream, from: position)
      pending = candidates.ranges[...]
      position = candidates.ranges.isEmpty ? candidates.next : max(position, candidates.next)
    }
  }

  /// Leaves out records that were returned with the block before, if the blocks have changed since.
  private mutating func block(containing start: LogPosition) throws(LogError) -> Block {
    var block = try source.block(containing: start)
    let end = block.last.next
    if block.first < unread {
      block.records.removeAll { $0.position < unread }
      block.first = unread
    }
    unread = end
    position = max(position, end)
    return block
  }
}
