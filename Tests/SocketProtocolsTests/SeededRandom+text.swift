import EventLogSimulation

extension SeededRandom {
  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &self) } }

  /// Text with characters of one to four bytes. It contains what the protocols give a meaning to, except U+001E.
  mutating func text(_ count: Int) -> String {
    let alphabet = Array("ab,-/0123456789[]{}\"\\ :é߿ࠀ€\u{ffff}😀\u{10ffff}\n\u{7f}")
    return String((0..<count).map { _ in alphabet[.random(in: 0..<alphabet.count, using: &self)] })
  }
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
