/// Chooses the content of a segment's dictionary: the stretches whose short sequences are most frequent in the segment.
///
/// The method follows the cover algorithm of Liao, Petri, Moffat and Wirth ("Effective Construction of Relative
/// Lempel-Ziv Dictionaries", WWW 2016): the sample is divided into as many parts as the dictionary has stretches, and
/// the best stretch of each part is chosen. A sequence that is already in the dictionary no longer counts.
struct DictionaryTrainer {
  /// The length of a sequence, in bytes.
  private static let sequenceBytes = 8
  /// The length of a stretch, in bytes: a few sentences.
  private static let stretchBytes = 128
  /// The number of sequences that count for a stretch: all that lie within it, except the last.
  private static let sequences = stretchBytes - sequenceBytes
  /// The number of bits in the hash of a sequence, which selects its counter.
  private static let counterBits = 20

  private let sample: [UInt8]
  private var counters: [UInt32]

  init(_ sample: [UInt8]) {
    self.sample = sample
    counters = [UInt32](repeating: 0, count: 1 << Self.counterBits)
    for offset in 0..<max(sample.count - Self.sequenceBytes, 0) { counters[slot(offset)] &+= 1 }
  }

  /// - Parameter bytes: the maximum length of the dictionary.
  mutating func dictionary(bytes: Int) -> [UInt8] {
    guard sample.count > bytes else { return sample }
    let parts = bytes / Self.stretchBytes
    var chosen: [(start: Int, sum: UInt64)] = []
    for part in 0..<parts {
      let best = best(in: sample.count * part / parts..<sample.count * (part + 1) / parts)
      chosen.append(best)
      for offset in best.start..<best.start + Self.sequences { counters[slot(offset)] = 0 }
    }
    // LZ4 refers back at most 64 KiB, so the end of the dictionary stays within reach the longest.
    chosen.sort { $0.sum < $1.sum }
    return chosen.flatMap { sample[$0.start..<$0.start + Self.stretchBytes] }
  }

  /// The stretch of the part with the highest sum of counters.
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

  private func slot(_ offset: Int) -> Int {
    var sequence: UInt64 = 0
    for index in 0..<Self.sequenceBytes { sequence = sequence << 8 | UInt64(sample[offset + index]) }
    // Fibonacci hashing: the multiplier is 2^64 over the golden ratio.
    return Int((sequence &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.counterBits))
  }
}
