/// Chooses the content of a segment's dictionary: the stretches whose short sequences occur most often in the segment.
///
/// After the cover algorithm of Liao, Petri, Moffat and Wirth ("Effective Construction of Relative Lempel-Ziv
/// Dictionaries", WWW 2016): the sample is cut into as many parts as the dictionary has stretches, and of each part the
/// best stretch is taken; a sequence that the dictionary has counts no more.
struct DictionaryTrainer {
  /// What a sequence has, in bytes.
  private static let sequenceBytes = 8
  /// What is taken at one place, in bytes: some sentences.
  private static let stretchBytes = 128
  /// How many of them begin in a stretch and end in it.
  private static let sequences = stretchBytes - sequenceBytes
  /// Counters, addressed by a hash of the sequence.
  private static let counterBits = 20

  private let sample: [UInt8]
  private var counters: [UInt32]

  init(_ sample: [UInt8]) {
    self.sample = sample
    counters = [UInt32](repeating: 0, count: 1 << Self.counterBits)
    for place in 0..<max(sample.count - Self.sequenceBytes, 0) { counters[slot(place)] &+= 1 }
  }

  /// - Parameter bytes: how long the dictionary may become.
  mutating func dictionary(bytes: Int) -> [UInt8] {
    guard sample.count > bytes else { return sample }
    let parts = bytes / Self.stretchBytes
    var chosen: [(start: Int, sum: UInt64)] = []
    for part in 0..<parts {
      let best = best(in: sample.count * part / parts..<sample.count * (part + 1) / parts)
      chosen.append(best)
      for place in best.start..<best.start + Self.sequences { counters[slot(place)] = 0 }
    }
    // LZ4 refers back no further than 64 KiB: the end of the dictionary stays within reach the longest.
    chosen.sort { $0.sum < $1.sum }
    return chosen.flatMap { sample[$0.start..<$0.start + Self.stretchBytes] }
  }

  /// The stretch with the highest sum of counters.
  private func best(in part: Range<Int>) -> (start: Int, sum: UInt64) {
    let last = max(part.lowerBound, part.upperBound - Self.stretchBytes)
    let first = min(part.lowerBound, last)
    var sum = (first..<first + Self.sequences).reduce(UInt64(0)) { $0 + UInt64(counters[slot($1)]) }
    var best = (start: first, sum: sum)
    for start in first + 1..<max(first + 1, last + 1) {
      sum += UInt64(counters[slot(start + Self.sequences - 1)])
      sum -= UInt64(counters[slot(start - 1)])
      if sum > best.sum { best = (start, sum) }
    }
    return best
  }

  private func slot(_ place: Int) -> Int {
    var sequence: UInt64 = 0
    for index in 0..<Self.sequenceBytes { sequence = sequence << 8 | UInt64(sample[place + index]) }
    // Fibonacci hashing: the multiplier is 2^64 over the golden ratio.
    return Int((sequence &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.counterBits))
  }
}
