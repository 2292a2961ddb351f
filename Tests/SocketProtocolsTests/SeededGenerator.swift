/// SplitMix64, which gives the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

extension SeededGenerator {
  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &self) } }

  /// Text with characters of one to four bytes. It contains what the protocols give a meaning to, except U+001E.
  mutating func text(_ count: Int) -> String {
    let alphabet = Array("ab,-/0123456789[]{}\"\\ :é߿ࠀ€\u{ffff}😀\u{10ffff}\n\u{7f}")
    return String((0..<count).map { _ in alphabet[.random(in: 0..<alphabet.count, using: &self)] })
  }
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
