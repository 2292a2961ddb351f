package import ChatPrimitives

/// Counts and sizes of the contents of a log.
package struct LogStatistics: Sendable, Hashable {
  /// The records of one kind.
  package struct Share: Sendable, Hashable {
    package var records: UInt64 = 0
    /// The size before compression, envelopes included.
    package var rawBytes: UInt64 = 0
  }

  package var identity: LogIdentity
  package var head: LogPosition
  package var segments: Int
  /// The number of sealed segments among them.
  package var sealedSegments: Int
  package var blocks = 0
  package var records: UInt64 = 0
  /// The size in the files: headers, bodies and padding of blocks; for sealed segments, the whole file.
  package var storedBytes: UInt64 = 0
  /// The size of the records before compression.
  package var rawBytes: UInt64 = 0
  /// The share of each kind, by the kind's number.
  package var kinds: [UInt16: Share] = [:]

  /// Reads the whole log once.
  /// - Parameter progress: called with the number of records counted so far and the total number.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package static func gather(
    from reader: LogReader, progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  ) throws(LogError) -> LogStatistics {
    let head = reader.head
    let sealed = try reader.catalog.sealedCount()
    var statistics = LogStatistics(
      identity: reader.identity, head: head, segments: reader.segments.count, sealedSegments: sealed)
    for segment in reader.segments[..<sealed] {
      let header = try segment.header(segment.open()).header
      if let seal = header.seal {
        // The blocks themselves are added as they are read.
        let blocks = seal.sections.dictionary.offset - LogFormat.segmentHeaderBytes
        statistics.storedBytes += header.segmentBytes - UInt64(blocks)
      }
    }
    var position = LogPosition.first
    while position <= head {
      let block = try reader.block(containing: position)
      statistics.add(block)
      position = block.last.next
      progress(block.last.value, head.value)
    }
    return statistics
  }

  /// Does the same for the log in a data directory.
  package static func gather(
    directory: String, disk: any Disk = PosixDisk(), progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  ) throws(LogError) -> LogStatistics {
    try gather(from: LogReader.open(directory: directory, disk: disk), progress: progress)
  }

  private mutating func add(_ block: Block) {
    blocks += 1
    records += UInt64(block.records.count)
    storedBytes += UInt64(block.storedBytes)
    rawBytes += UInt64(block.rawBytes)
    for record in block.records {
      kinds[record.envelope.kind, default: Share()].records += 1
      kinds[record.envelope.kind, default: Share()].rawBytes += UInt64(record.rawBytes)
    }
  }
}
