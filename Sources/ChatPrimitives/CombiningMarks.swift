/// How many combining marks follow each other in a text. UAX #15 calls a text with at most 30 in a row "stream-safe":
/// <https://unicode.org/reports/tr15/#Stream_Safe_Text_Format>. No language needs more.
///
/// Bringing a text into a normal form sorts each run of marks, and the libraries that do so (also whenever two strings are
/// compared or hashed) take a time that grows with the square of the run's length. So a run is counted before anything
/// else looks at a text that a client has sent.
public struct CombiningMarks: Sendable {
  private var run = 0

  public init() {}

  /// - Returns: false when the run is too long.
  @inline(__always)
  public mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    // No mark comes before U+0300.
    guard scalar.value >= 0x300 else {
      run = 0
      return true
    }
    return takeWide(scalar)
  }

  /// For what is no mark for certain, such as ASCII.
  @inline(__always)
  public mutating func reset() { run = 0 }

  private mutating func takeWide(_ scalar: Unicode.Scalar) -> Bool {
    let marks = Self.marks(in: scalar)
    run = marks == 0 ? 0 : run + marks
    return run <= Limits.combiningMarks
  }

  /// Looking a scalar up in Unicode's tables takes ten times as long as reading it, so the scripts of all alphabets are
  /// looked up once.
  private static let table: [UInt8] = (0..<tableEnd).map { value in
    Unicode.Scalar(value).map { UInt8(lookUp($0)) } ?? 0
  }
  private static let tableEnd: UInt32 = 0x3100

  /// How many marks a scalar stands for; zero where it begins with a letter.
  private static func marks(in scalar: Unicode.Scalar) -> Int {
    scalar.value < tableEnd ? Int(table[Int(scalar.value)]) : lookUp(scalar)
  }

  private static func lookUp(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    // Ideographs, Hangul syllables, emoji: the most frequent without marks.
    case 0x3100...0xa66e, 0xac00...0xd7ff, 0x1f000...0x1faff, 0x20000...0x3ffff: 0
    // Their compatible decompositions are marks, although they are none by themselves.
    case 0xff9e, 0xff9f: 1
    // Two marks each.
    case 0x344, 0xf73, 0xf75, 0xf81: 2
    default: scalar.properties.canonicalCombiningClass == .notReordered ? 0 : 1
    }
  }
}

extension CombiningMarks {
  /// Whether a text can be compared and normalised at a cost in proportion to its length.
  public static func areFew(in text: some StringProtocol) -> Bool {
    if text.utf8.allSatisfy({ $0 < 0xcc }) { return true }
    var marks = CombiningMarks()
    return text.unicodeScalars.allSatisfy { marks.take($0) }
  }

  /// The text without the marks that are too many.
  public static func limited(_ text: String) -> String {
    if areFew(in: text) { return text }
    var marks = CombiningMarks()
    var limited = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where marks.take(scalar) { limited.append(scalar) }
    return String(limited)
  }
}
