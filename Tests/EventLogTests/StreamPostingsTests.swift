import ChatPrimitives
import Testing

@testable import EventLog

@Suite("The index of streams, and the table of UUIDs")
struct StreamPostingsTests {
  @Test("lists come back, and what is not canonical is refused")
  func lists() throws {
    let expected = [[0], [], [0, 1, 2], [3, 200, 299]]
    var postings = StreamPostings(tableCount: 4)
    for block in 0..<300 {
      for (stream, blocks) in expected.enumerated() where blocks.contains(block) {
        postings.note(stream: stream, block: UInt32(block))
        postings.note(stream: stream, block: UInt32(block))
      }
    }
    let bytes = postings.encoded()
    var found: [[Int]] = []
    try StreamPostings.forEach(in: bytes, entries: 4, blockCount: 300) { entry, blocks in
      #expect(entry == found.count)
      found.append(blocks)
    }
    #expect(found == expected)
    for (entries, blocks, bytes) in [(3, 300, bytes), (5, 300, bytes), (4, 299, bytes), (4, 300, bytes + [0])] {
      #expect(throws: FormatFlaw.self) {
        try StreamPostings.forEach(in: bytes, entries: entries, blockCount: blocks) { _, _ in }
      }
    }
  }

  @Test("the table holds every stream and what occurs twice, the most frequent first")
  func table() throws {
    func envelope(_ stream: UInt64, actor: UInt64? = nil, subject: UInt64? = nil) -> RecordEnvelope {
      func uuid(_ low: UInt64) -> UUIDBytes { UUIDBytes(high: 9, low: low) }
      return RecordEnvelope(
        kind: 1, payloadVersion: 1, streamKind: 1, stream: uuid(stream), streamVersion: StreamVersion(1),
        time: Sample.time, actor: actor.map(uuid), subject: subject.map(uuid))
    }
    var census = UUIDCensus()
    for envelope in [
      envelope(1, actor: 50, subject: 90), envelope(2, actor: 50, subject: 91), envelope(1, actor: 50), envelope(3),
      envelope(3), envelope(4, actor: 51),
    ] { census.count(envelope) }
    let (bytes, numbers) = census.table()
    let table = try UUIDTable(parsing: bytes)
    #expect((0..<table.count).map { table[$0]?.low } == [50, 1, 3, 2, 4])
    #expect(table[5] == nil && table[-1] == nil)
    #expect(numbers == table.distinctNumbers)
    #expect(table.numbers(of: [UUIDBytes(high: 9, low: 3), UUIDBytes(high: 9, low: 90)]).keys.sorted() == [2])
    #expect(try UUIDTable(parsing: bytes + bytes[..<16]).distinctNumbers == nil)
    #expect(throws: FormatFlaw.self) { try UUIDTable(parsing: Array(bytes.dropLast())) }
  }

  @Test("the dictionary takes what occurs most often, and never more than it may hold")
  func dictionary() throws {
    let frequent = Array("the quick brown fox jumps over the lazy dog, ".utf8)
    var sample: [UInt8] = []
    for number in 0..<2_000 {
      sample += Sample.payload(UInt64(number), count: 100, compressible: false)
      if number % 4 == 0 { sample += frequent }
    }
    var trainer = DictionaryTrainer(sample)
    let dictionary = trainer.dictionary(bytes: 4096)
    #expect(dictionary.count == 4096)
    #expect(dictionary.suffix(128).contains { frequent.contains($0) })
    let compressor = DenseCompressor(dictionary: dictionary)
    #expect(compressor.compress(frequent).count < DenseCompressor().compress(frequent).count / 2)
    var short = DictionaryTrainer(frequent)
    #expect(short.dictionary(bytes: 4096) == frequent)
  }
}
