import ChatPrimitives
import Synchronization

/// The segments of a log in order. The last is the tail.
final class SegmentCatalog: Sendable {
  private let segments: Mutex<[Segment]>
  /// The file that was read last, so that a scan opens each segment once.
  private let recent = Mutex<LogFile?>(nil)

  init(_ segments: [Segment]) {
    self.segments = Mutex(segments)
  }

  var all: [Segment] { segments.withLock { $0 } }

  func replaceAll(_ newSegments: [Segment]) {
    segments.withLock { $0 = newSegments }
    forgetFile()
  }

  /// Puts a new tail behind the old, which nobody writes to any more; one that holds nothing is replaced.
  func add(_ tail: Segment) {
    segments.withLock { segments in
      if let old = segments.popLast(), old.first < tail.first { segments.append(old.released()) }
      segments.append(tail)
    }
    forgetFile()
  }

  /// A file may have been replaced by another of its name.
  private func forgetFile() {
    recent.withLock { $0 = nil }
  }

  /// The block that holds a position.
  /// - Parameter head: the last position that may be read.
  func block(containing position: LogPosition, head: LogPosition) throws(LogError) -> Block {
    guard position >= .first, position <= head else {
      throw LogError(
        .outOfRange, "The log holds the positions 1 to \(head).", location: .init(file: "log", position: position))
    }
    let (segment, successor) = try find(position)
    let index = try segment.index(before: successor)
    guard let place = index.place(of: position) else {
      throw LogError(
        FormatFlaw("no block of the segment holds the position"), at: .init(file: segment.name, position: position))
    }
    return try segment.read(place, salt: index.salt, from: file(of: segment))
  }

  private func file(of segment: Segment) throws(LogError) -> LogFile {
    if let file = recent.withLock({ $0 }), file.name == segment.name { return file }
    let file = try segment.open()
    recent.withLock { $0 = file }
    return file
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
        FormatFlaw("the segment that holds the position is missing"), at: .init(file: "log", position: position))
    }
    return found
  }
}
