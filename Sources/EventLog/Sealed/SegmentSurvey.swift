import ChatPrimitives

/// The first look through a segment that is to be sealed: what is worth a number, a place in the dictionary, or a look
/// into the log before it.
struct SegmentSurvey {
  private(set) var census = UUIDCensus()
  private(set) var authors: Set<UUIDBytes> = []
  private(set) var dictionary: [UInt8] = []

  private let sampleBytes: Int

  /// - Parameter blocks: how many blocks will be added.
  init(blocks: Int) {
    sampleBytes = (LogFormat.maximumDictionaryBytes + blocks - 1) / max(blocks, 1)
  }

  mutating func add(_ records: [LogRecord], unresolved: [UUIDBytes]) {
    for record in records { census.count(record.envelope) }
    authors.formUnion(unresolved)
    sample(records)
  }

  /// Takes a stretch of what is said in the middle of each block, the same number of bytes from each.
  private mutating func sample(_ records: [LogRecord]) {
    let end = min(dictionary.count + sampleBytes, LogFormat.maximumDictionaryBytes)
    for record in records[(records.count / 2)...] {
      guard dictionary.count < end else { return }
      guard let payload = record.payload.retained else { continue }
      let content = payload[PayloadWrapping.of(payload).contentStart...]
      dictionary.append(contentsOf: content.prefix(end - dictionary.count))
    }
  }
}
