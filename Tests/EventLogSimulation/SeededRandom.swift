/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and the same on every machine, so that a seed determines a run.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

extension SeededRandom {
  /// A number from 0 to `bound` - 1; 0 if the bound is 0. It is fast but not perfectly uniform.
  package mutating func below(_ bound: Int) -> Int {
    // The high word of the product is less than the bound, which is an Int.
    bound <= 0 ? 0 : Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number within a closed range.
  package mutating func within(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.upperBound - range.lowerBound + 1)
  }

  /// Returns true with a probability of one in `count`.
  package mutating func isOne(in count: Int) -> Bool { below(count) == 0 }
}
