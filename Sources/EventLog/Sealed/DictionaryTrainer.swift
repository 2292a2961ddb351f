/// Chooses what stands in the dictionary of a segment: the stretches whose short sequences occur most often in it.
///
/// After the cover algorithm of Liao, Petri, Moffat and Wirth ("Effective Construction of Relative Lempel-Ziv
/// Dictionaries", WWW 2016): the sample is cut into as many parts as the dictionary has stretches, and of each part the
/// best stretch is taken; a sequence that the dictionary has counts no more.
struct DictionaryTrainer {
  /// What a sequence has, in bytes.
  private static let sequenceBytes = 6
  /// What is taken at one place, in bytes: some sentences.
  private static let stretchBytes = 256
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
    var dictionary: [UInt8] = []
    let parts = bytes / Self.stretchBytes
    for part in 0..<parts {
      let start = best(in: sample.count * part / parts..<sample.count * (part + 1) / parts)
      let end = start + Self.stretchBytes
      dictionary.append(contentsOf: sample[start..<end])
      for place in start..<end - Self.sequenceBytes { counters[slot(place)] = 0 }
    }
    return dictionary
  }

  /// Where the stretch with the highest sum of counters begins.
  private func best(in part: Range<Int>) -> Int {
    let sequences = Self.stretchBytes - Self.sequenceBytes
    let last = min(part.upperBound, sample.count) - Self.stretchBytes
    guard last > part.lowerBound else { return max(0, min(part.lowerBound, sample.count - Self.stretchBytes)) }
    var sum = (part.lowerBound..<part.lowerBound + sequences).reduce(UInt64(0)) { $0 + UInt64(counters[slot($1)]) }
    var best = (start: part.lowerBound, sum: sum)
    for start in part.lowerBound + 1...last {
      sum += UInt64(counters[slot(start + sequences - 1)])
      sum -= UInt64(counters[slot(start - 1)])
      if sum > best.sum { best = (start, sum) }
    }
    return best.start
  }

  private func slot(_ place: Int) -> Int {
    var sequence: UInt64 = 0
    for index in 0..<Self.sequenceBytes { sequence = sequence << 8 | UInt64(sample[place + index]) }
    // Fibonacci hashing: the multiplier is 2^64 over the golden ratio.
    return Int((sequence &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - Self.counterBits))
  }
}
