package import ChatPrimitives

/// The blocks in a part of the log that can hold records of a stream.
package struct CandidateBlocks: Sendable, Hashable {
  /// Positions, in order, whose blocks may hold such records. No other block before `next` holds any.
  package var positions: [LogPosition]
  /// The position at which the next lookup begins.
  package var next: LogPosition

  init(positions: [LogPosition], next: LogPosition) {
    self.positions = positions
    self.next = next
  }

  /// The result without an index: the block that holds the position has to be read.
  init(reading position: LogPosition) {
    positions = [position]
    next = position.next
  }
}

/// Iterates over the blocks that can hold records of one stream, in order. It reads no other block of a sealed segment.
package struct StreamBlocks {
  private let source: any BlockSource
  private let stream: UUIDBytes
  private let last: LogPosition
  private var position: LogPosition
  private var pending: ArraySlice<LogPosition> = []

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
      if let candidate = pending.popFirst() {
        guard candidate <= last else { return nil }
        let block = try source.block(containing: candidate)
        position = max(position, block.last.next)
        return block
      }
      guard position <= last else { return nil }
      let candidates = try source.candidateBlocks(of: stream, from: position)
      pending = candidates.positions[...]
      position = candidates.positions.isEmpty ? candidates.next : max(position, candidates.next)
    }
  }
}
