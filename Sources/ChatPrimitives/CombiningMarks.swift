/// Counts the combining marks that follow each other in a text. UAX #15 calls a text with at most 30 in a row
/// "stream-safe": <https://unicode.org/reports/tr15/#Stream_Safe_Text_Format>. No language needs more.
///
/// Normalising a text sorts each run of marks. The libraries that do this, also when two strings are compared or
/// hashed, take time that grows with the square of the run's length. Therefore the marks are counted before anything
/// else processes a text from a client.
public struct CombiningMarks: Sendable {
  private var run = 0

  public init() {}

  /// - Returns: false if the run is too long.
  @inline(__always)
  public mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    // No combining mark is below U+0300.
    guard scalar.value >= 0x300 else {
      run = 0
      return true
    }
    return takeWide(scalar)
  }

  /// Call it for characters that are certainly not marks, such as ASCII.
  @inline(__always)
  public mutating func reset() { run = 0 }

  private mutating func takeWide(_ scalar: Unicode.Scalar) -> Bool {
    let marks = Self.marks(in: scalar)
    run = marks == 0 ? 0 : run + marks
    return run <= Limits.combiningMarks
  }

  /// Marks of the scalars of all alphabets. Looking a scalar up in Unicode's tables takes ten times as long as reading
  /// it, so these are looked up only once.
  private static let table: [UInt8] = (0..<tableEnd).map { value in
    Unicode.Scalar(value).map { UInt8(lookUp($0)) } ?? 0
  }
  private static let tableEnd: UInt32 = 0x3100

  /// The number of marks at the start of a scalar's decomposition; zero if the scalar begins with a letter.
  private static func marks(in scalar: Unicode.Scalar) -> Int {
    scalar.value < tableEnd ? Int(table[Int(scalar.value)]) : lookUp(scalar)
  }

  private static func lookUp(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    // Ideographs, Hangul syllables and emoji: the most frequent scalars without marks.
    case 0x3100...0xa66e, 0xac00...0xd7ff, 0x1f000...0x1faff, 0x20000...0x3ffff: 0
    // The compatibility decompositions of these are marks, although the scalars themselves are not.
    case 0xff9e, 0xff9f: 1
    // These decompose to two marks each.
    case 0x344, 0xf73, 0xf75, 0xf81: 2
    default: scalar.properties.canonicalCombiningClass == .notReordered ? 0 : 1
    }
  }
}

extension CombiningMarks {
  /// Whether a text can be compared and normalised in time proportional to its length.
  ///
  /// Takes a `String`: a generic version would not be specialised in other modules, and cost 5 % of the processor time of
  /// sending a message, because it runs for every header field.
  public static func areFew(in text: String) -> Bool {
    if text.utf8.allSatisfy({ $0 < 0xcc }) { return true }
    var marks = CombiningMarks()
    return text.unicodeScalars.allSatisfy { marks.take($0) }
  }

  /// The text without excess marks.
  public static func limited(_ text: String) -> String {
    if areFew(in: text) { return text }
    var marks = CombiningMarks()
    var limited = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where marks.take(scalar) { limited.append(scalar) }
    return String(limited)
  }
}
