import ChatPrimitives

/// The first pass through a segment before it is sealed. It collects the UUIDs for the table, text for the dictionary,
/// and the authors whose registrations have to be looked up.
struct SegmentSurvey {
  /// The maximum size of the sample of payloads from which the dictionary is made, in bytes.
  private static let sampleBytes = 4 * 1024 * 1024
  /// The minimum size of the sample for which a dictionary saves more space than it takes, in bytes.
  private static let sampleForDictionary = 4 * LogFormat.maximumDictionaryBytes

  private(set) var census = UUIDCensus()
  /// The authors whose registration is not known from earlier records, newcomers included.
  private(set) var authors: Set<UUIDBytes> = []
  /// The users whose registration in the segment is the first record of their stream, so that there is no earlier one.
  private(set) var newcomers: Set<UUIDBytes> = []
  private let blocks: Int
  private var sample: [UInt8] = []
  private var blocksSeen = 0

  /// - Parameter blocks: the number of blocks that will be added.
  init(blocks: Int) {
    self.blocks = max(blocks, 1)
  }

  mutating func add(_ records: [LogRecord], unresolved: [UUIDBytes]) {
    for record in records {
      census.count(record.envelope)
      if record.isRegistration, record.envelope.streamVersion == StreamVersion(1) {
        newcomers.insert(record.envelope.stream)
      }
    }
    authors.formUnion(unresolved)
    blocksSeen += 1
    sample(records, until: blocksSeen * Self.sampleBytes / blocks)
  }

  /// The dictionary for the blocks of the segment; empty if the sample is small.
  func dictionary() -> [UInt8] {
    // The dictionary itself takes space, and a short segment gains little from it.
    guard sample.count >= Self.sampleForDictionary else { return [] }
    var trainer = DictionaryTrainer(sample)
    return trainer.dictionary(bytes: LogFormat.maximumDictionaryBytes)
  }

  /// Adds the payloads of consecutive records to the sample. Each block contributes the same share.
  private mutating func sample(_ records: [LogRecord], until end: Int) {
    for record in records {
      guard sample.count < end else { return }
      guard let payload = record.payload.retained else { continue }
      let content = payload[PayloadWrapping.of(payload).contentStart...]
      sample.append(contentsOf: content.prefix(end - sample.count))
    }
  }
}
