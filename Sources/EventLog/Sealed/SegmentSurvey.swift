import ChatPrimitives

/// The first look through a segment that is to be sealed: what is worth a number, a place in the dictionary, or a look
/// into the log before it.
struct SegmentSurvey {
  /// What is kept of what is said, to choose the dictionary from, in bytes.
  private static let sampleBytes = 4 * 1024 * 1024
  /// How much must have been said for a dictionary to be worth its room, in bytes.
  private static let sampleForDictionary = 4 * LogFormat.maximumDictionaryBytes

  private(set) var census = UUIDCensus()
  /// Whose registration lies before the segment, if anywhere.
  private(set) var authors: Set<UUIDBytes> = []
  /// Who is registered in it, by the first record of the user's stream: nothing lies before.
  private(set) var newcomers: Set<UUIDBytes> = []
  private let blocks: Int
  private var sample: [UInt8] = []
  private var blocksSeen = 0

  /// - Parameter blocks: how many blocks will be added.
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
    sample(records[(records.count / 2)...], until: blocksSeen * Self.sampleBytes / blocks)
  }

  /// What blocks may refer back to.
  func dictionary() -> [UInt8] {
    // The dictionary takes room itself, and a short segment has little for it to help with.
    guard sample.count >= Self.sampleForDictionary else { return [] }
    var trainer = DictionaryTrainer(sample)
    return trainer.dictionary(bytes: LogFormat.maximumDictionaryBytes)
  }

  /// Takes what is said in consecutive records; each block gives as much.
  private mutating func sample(_ records: ArraySlice<LogRecord>, until end: Int) {
    for record in records {
      guard sample.count < end else { return }
      guard let payload = record.payload.retained else { continue }
      let content = payload[PayloadWrapping.of(payload).contentStart...]
      sample.append(contentsOf: content.prefix(end - sample.count))
    }
  }
}
