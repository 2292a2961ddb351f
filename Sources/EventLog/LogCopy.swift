package import ChatPrimitives

/// Copies a log up to its last durable record into another data directory, also while a server writes to it. The copy is
/// a log that is closed properly, so every tool can read it and a server can continue it.
///
/// A copy that an error or a crash interrupts has no superblock, and counts as damaged.
package struct LogCopy {
  package struct Report: Sendable, Hashable {
    package var identity: LogIdentity
    package var head: LogPosition
    package var segments: Int
    /// The segments that an earlier copy already had.
    package var linkedSegments = 0
    package var bytesCopied: UInt64 = 0
  }

  /// The number of bytes to copy at a time.
  private static let pieceBytes: UInt64 = 1024 * 1024

  private let reader: LogReader
  private let folder: LogFolder
  private let previous: LogFolder?
  private let counts = ReadCounts()

  /// - Parameters:
  ///   - target: the data directory of the copy, which has no log yet.
  ///   - previous: the data directory of an earlier copy on the same file system. Sealed segments that it has are
  ///     linked and not copied.
  package init(of reader: LogReader, to target: String, linkingTo previous: String? = nil, disk: any Disk = PosixDisk())
  {
    self.reader = reader
    folder = LogFolder(data: target, disk: disk)
    self.previous = previous.map { LogFolder(data: $0, disk: disk) }
  }

  /// - Parameter progress: called with the number of segments that are done.
  package func run(progress: (_ done: UInt64) -> Void = { _ in }) throws(LogError) -> Report {
    try folder.create()
    let segments = reader.segments
    var report = Report(identity: reader.identity, head: reader.head, segments: segments.count)
    // From the last to the first: a server seals segments from the first on, and no sealed one may follow an active one.
    for (number, segment) in segments.enumerated().reversed() {
      if number == segments.count - 1 {
        // Its index ends with the last durable block.
        report.bytesCopied += try copy(segment, bytes: segment.knownIndex?.endOffset)
      } else if try link(segment) {
        report.linkedSegments += 1
      } else {
        report.bytesCopied += try copy(segment, bytes: nil)
      }
      progress(UInt64(segments.count - number))
    }
    // A server may have erased payloads meanwhile. It does so from the last segment to the first. When a whole round finds
    // nothing new, no copy of a segment needs a key that is erased in the copy of an earlier one.
    while try renew(segments, &report) {}
    // Listed last: every sealed segment that was copied, except the last of them, has its tree head by now.
    for (name, bytes) in try reader.storedHeads()
    where CheckpointName.size(name).map({ $0 <= report.head.value }) == true {
      try write(bytes, to: name)
    }
    try write(Superblock.newFile(identity: report.identity, durable: report.head), to: Superblock.fileName)
    try folder.sync()
    return report
  }

  /// Copies the sealed segments again that the server has replaced since they were copied.
  /// - Returns: whether there were any.
  private func renew(_ segments: [Segment], _ report: inout Report) throws(LogError) -> Bool {
    var isRenewed = false
    for segment in segments.dropLast().reversed() {
      let copy = Segment(first: segment.first, in: folder, identity: reader.identity, counts: counts)
      guard try segment.isSealed(), try !segment.isSealedLike(copy) else { continue }
      try folder.remove(segment.name)
      report.bytesCopied += try self.copy(segment, bytes: nil)
      isRenewed = true
    }
    return isRenewed
  }

  /// - Returns: false if the earlier copy does not have the segment in this form, or if the file system has no links.
  private func link(_ segment: Segment) throws(LogError) -> Bool {
    guard let previous else { return false }
    let earlier = Segment(first: segment.first, in: previous, identity: reader.identity, counts: counts)
    // A segment of the earlier copy that is missing or damaged is copied again.
    guard (try? segment.isSealedLike(earlier)) == true else { return false }
    do {
      try folder.disk.link(previous.path(of: segment.name), to: folder.path(of: segment.name))
      return true
    } catch {
      return false
    }
  }

  /// - Parameter bytes: how much of the file is copied; nil for all of it.
  /// - Returns: the number of bytes copied.
  private func copy(_ segment: Segment, bytes: UInt64?) throws(LogError) -> UInt64 {
    // An open file stays as it is when the server replaces it by a sealed one.
    let source = try segment.open()
    let end = if let bytes { bytes } else { try source.size() }
    let target = try folder.open(segment.name, .createNew, counts: counts)
    var offset: UInt64 = 0
    while offset < end {
      let piece = try source.read(at: offset, count: Int(min(Self.pieceBytes, end - offset)))
      guard !piece.isEmpty else {
        throw LogError(
          FormatFlaw("the segment ends before its last block"), at: .init(file: segment.name, offset: offset))
      }
      try target.write(piece, at: offset)
      offset += UInt64(piece.count)
    }
    try target.sync()
    return end
  }

  private func write(_ bytes: [UInt8], to name: String) throws(LogError) {
    let file = try folder.open(name, .createNew, counts: counts)
    try file.write(bytes, at: 0)
    try file.sync()
  }
}
