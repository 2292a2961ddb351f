package import ChatPrimitives

/// Checks everything that a log holds up to its last durable position: every segment header, the chain of block
/// headers, every body, every record, that positions are dense and that recorded time never decreases.
package struct LogVerifier: Sendable {
  package struct Report: Sendable, Hashable {
    package var identity: LogIdentity
    package var head: LogPosition
    package var segments: Int
    package var blocks: Int
    package var records: UInt64
    /// Of all segment files, headers and unused ends included.
    package var bytes: UInt64
    /// Written behind the last durable block: a write under way, or what a crash left, judged at the next start.
    package var bytesBehindHead: UInt64
  }

  private let directory: String
  private let disk: any Disk

  /// - Parameter directory: the data directory.
  package init(directory: String, disk: any Disk = PosixDisk()) {
    self.directory = directory
    self.disk = disk
  }

  /// - Parameter progress: called with the bytes checked and the bytes in all.
  /// - Throws: the first damage, with file, offset and position.
  package func run(progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }) throws(LogError) -> Report {
    let reader = try LogReader.open(directory: directory, disk: disk)
    let segments = reader.segments
    var report = Report(
      identity: reader.identity, head: reader.head, segments: segments.count, blocks: 0, records: 0, bytes: 0,
      bytesBehindHead: 0)
    var total: UInt64 = 0
    for segment in segments { total += try segment.open().size() }
    var previous: (next: LogPosition, time: Timestamp) = (.first, .earliest)
    for (number, segment) in segments.enumerated() {
      let isTail = number == segments.count - 1
      let file = try segment.open()
      let (header, checksum) = try segment.header(file)
      guard header.first == previous.next, header.lastTime == previous.time, number > 0 || header.previousChecksum == 0
      else {
        throw LogError(
          FormatFlaw("the segment does not follow from position \(previous.next.value - 1)"),
          at: .init(file: segment.name, offset: 0, position: header.first))
      }
      let index =
        isTail
        ? segment.knownIndex ?? BlockIndex(header, checksum: checksum)
        : try segment.walkWhole(before: segments[number + 1])
      for place in (0..<index.count).map(index.place) {
        let block = try segment.read(place, salt: index.salt, from: file)
        previous.time = try checkTimes(block, after: previous.time)
        previous.next = block.last.next
        report.blocks += 1
        report.records += UInt64(block.records.count)
        progress(report.bytes + place.offset, total)
      }
      if isTail {
        let rest = try SegmentRemainder(file, range: index.endOffset..<header.segmentBytes, salt: header.salt)
        report.bytesBehindHead = (rest.writtenEnd ?? index.endOffset) - index.endOffset
      }
      report.bytes += try file.size()
      progress(report.bytes, total)
    }
    return report
  }

  private func checkTimes(_ block: Block, after time: Timestamp) throws(LogError) -> Timestamp {
    var last = time
    for record in block.records {
      guard record.envelope.time >= last else {
        throw LogError(
          FormatFlaw("the recorded time lies before the record before it"),
          at: .init(file: block.segment, offset: block.offset, position: record.position))
      }
      last = record.envelope.time
    }
    return last
  }
}
