import ChatPrimitives
import Testing

@testable import EventLog

@Suite("The index of a sealed segment")
struct BlockIndexTests {
  private static let first = LogPosition(11)

  /// Parses an index of two blocks of two records each, with the given times.
  private static func index(_ times: [(first: Int64, last: Int64)], sealTime: Int64) throws -> BlockIndex {
    var section: [UInt8] = []
    for (number, time) in times.enumerated() {
      var entry = [UInt8](repeating: 0, count: SegmentSeal.indexEntryBytes)
      entry.withUnsafeMutableBytes { target in
        target.put(first.value + 2 * UInt64(number), at: 0)
        target.put(UInt32(LogFormat.segmentHeaderBytes + 1024 * number), at: 8)
        target.put(time.first, at: 16)
        target.put(time.last, at: 24)
      }
      section += entry
    }
    let nothing = SealedSection(offset: LogFormat.segmentHeaderBytes + 2048, storedBytes: 0, rawBytes: 0, checksum: 0)
    let seal = SegmentSeal(
      peaks: [], records: 4, lastTime: Timestamp(milliseconds: sealTime), blocks: 2, chain: 0, activeChain: 0,
      sections: SealedSections(dictionary: nothing, table: nothing, index: nothing, streams: nothing, tree: nothing))
    let header = SegmentHeader(
      identity: LogIdentity(bytes: .zero), first: first, salt: 0, created: Sample.time, previousChecksum: 0,
      segmentBytes: 0, lastTime: .earliest, seal: seal)
    return try BlockIndex(header, seal: seal, section: section)
  }

  @Test("a time finds the first block that holds a record of it or of a later one")
  func findsByTime() throws {
    let index = try Self.index([(5, 5), (5, 9)], sealTime: 9)
    let found = [4, 5, 6, 9, 10].map { index.firstBlock(notBefore: Timestamp(milliseconds: $0)) }
    #expect(found == [0, 0, 1, 1, nil])
  }

  /// The fuzzer found that such an index was accepted.
  @Test("times that are out of order are refused: a search by halves would miss what it should find")
  func refusesDisorder() {
    for (times, sealTime) in [
      ([(5, 4), (5, 9)], 9), ([(5, 7), (6, 9)], 9), ([(5, 5), (9, 8)], 8), ([(5, 5), (6, 9)], 8),
      ([(5, 5), (6, 9)], 10),
    ] as [([(first: Int64, last: Int64)], Int64)] {
      #expect(throws: FormatFlaw.self) { try Self.index(times, sealTime: sealTime) }
    }
  }
}
