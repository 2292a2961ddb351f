/// Measures how many terminal columns a text takes.
enum TextColumns {
  /// Marks where a text was cut.
  static let ellipsis: Character = "…"

  static func width(of text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width(of: $1) }
  }

  /// Two for East Asian wide characters and emoji, zero for combining marks without a base character, one for all
  /// others.
  static func width(of character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
      if isWide(scalar) { return 2 }
      if !hasNoWidth(scalar) { width = 1 }
    }
    return width
  }

  /// The beginning of the text, with an ellipsis if the whole text does not fit.
  static func shortened(_ text: String, to columns: Int) -> String {
    if width(of: text) <= columns { return text }
    var result = ""
    var used = 0
    for character in text {
      let next = width(of: character)
      if used + next > columns - 1 { break }
      result.append(character)
      used += next
    }
    if columns > 0 { result.append(ellipsis) }
    return result
  }

  /// The text on one line. Line feeds, carriage returns and tabs become escapes. Other control characters and
  /// characters that change the text direction become U+FFFD. Texts come from anyone and must not control the terminal.
  static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\r": result.append(contentsOf: "\\r".unicodeScalars)
      case "\t": result.append(contentsOf: "\\t".unicodeScalars)
      case _ where isControl(scalar): result.append("\u{fffd}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00..<0x20, 0x7f..<0xa0, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  private static func hasNoWidth(_ scalar: Unicode.Scalar) -> Bool {
    // Hangul vowels and final consonants combine with the consonant before them.
    if (0x1160...0x11ff).contains(scalar.value) { return true }
    let category = scalar.properties.generalCategory
    return category == .nonspacingMark || category == .enclosingMark || category == .format || category == .control
  }

  /// Whether the scalar is wide: classes W and F of East Asian Width (UAX 11), and emoji by their own property.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    guard value >= 0x1100 else { return false }
    if scalar == "\u{fe0f}" || scalar.properties.isEmojiPresentation { return true }
    return wideRanges.contains { $0.contains(value) }
  }

  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf, 0xa960...0xa97f,
    0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60, 0xffe0...0xffe6,
    0x16fe0...0x18aff, 0x1aff0...0x1b2ff, 0x1f200...0x1f265, 0x20000...0x2fffd, 0x30000...0x3fffd,
  ]
}
