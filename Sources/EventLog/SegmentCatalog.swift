import ChatPrimitives
import Synchronization

/// The segments of a log in order. The last is the tail.
final class SegmentCatalog: Sendable {
  private let segments: Mutex<[Segment]>
  /// The segments that were read last, newest first, so that a scan opens each segment only once.
  private let recent = Mutex<[OpenSegment]>([])
  /// The number of segments that stay open: enough for a few readers at different positions.
  private static let openLimit = 4

  init(_ segments: [Segment]) {
    self.segments = Mutex(segments)
  }

  var all: [Segment] { segments.withLock { $0 } }

  func replaceAll(_ newSegments: [Segment]) {
    segments.withLock { $0 = newSegments }
    closeCachedFiles()
  }

  /// Adds a new tail after the old one, which gets no more writes. An old tail without blocks is replaced.
  func add(_ tail: Segment) {
    segments.withLock { segments in
      if let old = segments.popLast(), old.first < tail.first { segments.append(old.released()) }
      segments.append(tail)
    }
    closeCachedFiles()
  }

  /// Replaces a segment by another form of it. Readers of the old one continue with the file that they have open.
  func replace(_ old: Segment, by new: Segment) {
    segments.withLock { segments in
      if let number = segments.firstIndex(where: { $0 === old }) { segments[number] = new }
    }
    closeCachedFiles()
  }

  /// Closes the cached files, because another file may have replaced one under its name.
  private func closeCachedFiles() {
    recent.withLock { $0 = [] }
  }

  // MARK: Reading

  /// Reads the block that holds a position.
  /// - Parameter head: the last position that may be read.
  func block(containing position: LogPosition, head: LogPosition) throws(LogError) -> Block {
    try check(position, head: head)
    let segment = try opened(position)
    return try segment.block(location(of: position, in: segment))
  }

  /// Reads the body of that block, without parsing its records.
  func body(containing position: LogPosition, head: LogPosition) throws(LogError) -> (body: [UInt8], last: LogPosition)
  {
    try check(position, head: head)
    let segment = try opened(position)
    let location = try location(of: position, in: segment)
    return (try segment.body(location), location.last)
  }

  /// Finds where records of a stream can be, from `position` to the end of the segment that holds it.
  func candidateBlocks(
    of stream: UUIDBytes, from position: LogPosition, head: LogPosition
  ) throws(LogError) -> CandidateBlocks {
    try check(position, head: head)
    let segment = try opened(position)
    guard let found = try segment.blocks(ofStreams: [stream]) else { return CandidateBlocks(reading: position) }
    return CandidateBlocks(
      ranges: (found[stream] ?? []).filter { $0.last >= position }.map { max($0.first, position)...$0.last },
      next: segment.index.next)
  }

  /// A position at or before the first record of this time or later. All records before the position are earlier.
  func start(notBefore time: Timestamp, head: LogPosition) throws(LogError) -> LogPosition {
    let all = all
    var low = 0
    var high = all.count
    while high - low > 1 {
      let middle = low + (high - low) / 2
      let (header, _) = try all[middle].header(all[middle].open())
      if header.lastTime < time { low = middle } else { high = middle }
    }
    guard low < all.count, all[low].first <= head else { return head.next }
    let segment = try opened(all[low].first)
    let index = segment.index
    if index.isSealed { return index.firstBlock(notBefore: time).map { index.location(at: $0).first } ?? index.next }
    var first = 0
    var end = index.count
    while first < end {
      let middle = first + (end - first) / 2
      let last = try segment.block(index.location(at: middle)).records.last
      if let last, last.envelope.time < time { first = middle + 1 } else { end = middle }
    }
    return first < index.count ? index.location(at: first).first : index.next
  }

  /// Opens the segment that holds a position, or returns it if it is still open.
  /// - Parameter keepingOpen: whether the segment is likely to be read again soon.
  func opened(_ position: LogPosition, keepingOpen: Bool = true) throws(LogError) -> OpenSegment {
    let (segment, successor) = try find(position)
    let known: OpenSegment? = recent.withLock { recent in
      guard let number = recent.firstIndex(where: { $0.segment === segment }) else { return nil }
      let found = recent.remove(at: number)
      recent.insert(found, at: 0)
      return found
    }
    if let known { return known }
    let opened = try segment.opened(before: successor)
    guard keepingOpen else { return opened }
    recent.withLock { recent in
      // A segment that was replaced meanwhile would never be requested again.
      guard all.contains(where: { $0 === segment }) else { return }
      recent.insert(opened, at: 0)
      if recent.count > Self.openLimit { recent.removeLast() }
    }
    return opened
  }

  private func check(_ position: LogPosition, head: LogPosition) throws(LogError) {
    guard position >= .first, position <= head else {
      throw LogError(
        .outOfRange, "The log has positions 1 to \(head).", location: .init(file: "log", position: position))
    }
  }

  private func location(of position: LogPosition, in segment: OpenSegment) throws(LogError) -> BlockLocation {
    if let location = segment.index.location(of: position) { return location }
    throw LogError(
      FormatFlaw("no block of the segment contains the position"),
      at: .init(file: segment.file.name, position: position))
  }

  private func find(_ position: LogPosition) throws(LogError) -> (segment: Segment, successor: Segment?) {
    let found: (Segment, Segment?)? = segments.withLock { segments in
      var low = 0
      var high = segments.count
      while low < high {
        let middle = low + (high - low) / 2
        if segments[middle].first <= position { low = middle + 1 } else { high = middle }
      }
      guard low > 0 else { return nil }
      return (segments[low - 1], low < segments.count ? segments[low] : nil)
    }
    guard let found else {
      throw LogError(
        FormatFlaw("the segment that contains the position is missing"), at: .init(file: "log", position: position))
    }
    return found
  }
}
