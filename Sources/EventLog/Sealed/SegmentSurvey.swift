import ChatPrimitives

/// The first look through a segment that is to be sealed: what is worth a number, a place in the dictionary, or a look
/// into the log before it.
struct SegmentSurvey {
  /// What is taken at one place for the dictionary, in bytes: some sentences.
  private static let sampleBytes = 256
  private static let samples = LogFormat.maximumDictionaryBytes / sampleBytes

  private(set) var census = UUIDCensus()
  private(set) var authors: Set<UUIDBytes> = []
  private(set) var dictionary: [UInt8] = []

  private let blocks: Int
  private var blocksSeen = 0

  /// - Parameter blocks: how many blocks will be added.
  init(blocks: Int) {
    self.blocks = max(blocks, 1)
  }

  mutating func add(_ records: [LogRecord], unresolved: [UUIDBytes]) {
    for record in records { census.count(record.envelope) }
    authors.formUnion(unresolved)
    // So many samples fall to this block that all blocks together give as many as the dictionary holds.
    let wanted = (blocksSeen + 1) * Self.samples / blocks - blocksSeen * Self.samples / blocks
    for number in 0..<wanted { sample(records[(records.count * number / wanted)...]) }
    blocksSeen += 1
  }

  /// Takes what is said in consecutive records.
  private mutating func sample(_ records: ArraySlice<LogRecord>) {
    let end = min(dictionary.count + Self.sampleBytes, LogFormat.maximumDictionaryBytes)
    for record in records {
      guard dictionary.count < end else { return }
      guard let payload = record.payload.retained else { continue }
      let content = payload[PayloadWrapping.of(payload).contentStart...]
      dictionary.append(contentsOf: content.prefix(end - dictionary.count))
    }
  }
}
