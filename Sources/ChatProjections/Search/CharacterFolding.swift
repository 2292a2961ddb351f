import Foundation

/// How the search treats a character: as part of a word, in the form in which words are compared; as a character of a
/// script that is searched by pairs; or as a separator.
///
/// Case is folded in all scripts. Diacritics are removed from Latin and Greek letters only, because in other scripts a
/// mark can make another letter.
enum CharacterFolding {
  enum Kind: Equatable {
    /// Ends a word, for example a space, punctuation or an emoji.
    case separator
    /// Belongs to the word but is omitted: a separate diacritic.
    case ignored
    /// Part of a word, in folded form.
    case letter(Unicode.Scalar)
    /// From a script that is written without spaces, or whose words carry endings: Hangul, Han, kana, Thai and others.
    case paired
  }

  /// Scalars below this are looked up in a table, because computing one takes up to 2 µs. Planes 0 and 1 contain all
  /// letters except rare ideographs. The table takes 1 MB.
  private static let tableEnd: UInt32 = 0x2_0000
  /// No scalar from here on decomposes to a Latin or Greek letter. The last ones that do are signs, such as the Kelvin
  /// sign.
  static let decompositionEnd: UInt32 = 0x2200
  private static let table: [Kind] = (0..<tableEnd).map { workOut(Unicode.Scalar($0) ?? " ") }

  /// Builds the table, which takes about 15 ms. That is too long for the event loop on which a query is parsed.
  static func prepare() { _ = table }

  static func kind(of scalar: Unicode.Scalar) -> Kind {
    scalar.value < tableEnd ? table[Int(scalar.value)] : workOut(scalar)
  }

  /// Uses the blocks of <https://www.unicode.org/Public/UCD/latest/ucd/Blocks.txt>.
  private static func isPaired(_ value: UInt32) -> Bool {
    switch value {
    case 0xac00...0xd7a3: true
    // Hangul letters (jamo); Thai and Lao; Myanmar; Khmer.
    case 0x1100...0x11ff, 0x3131...0x318e, 0xa960...0xa97c, 0xd7b0...0xd7fb: true
    case 0x0e01...0x0e3a, 0x0e40...0x0e4e, 0x0e81...0x0ece, 0x1000...0x103f, 0x1780...0x17d3: true
    // Ideographs, the iteration mark, kana with the prolonged sound mark, bopomofo.
    case 0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0x20000...0x323af, 0x3005...0x3007: true
    case 0x3041...0x3096, 0x3099...0x309a, 0x309d...0x309f, 0x30a1...0x30fa, 0x30fc...0x30ff: true
    case 0x31f0...0x31ff, 0xff66...0xff9f, 0x3105...0x312f, 0x31a0...0x31bf: true
    default: false
    }
  }

  private static func workOut(_ scalar: Unicode.Scalar) -> Kind {
    if isPaired(scalar.value) { return .paired }
    if isDiacritic(scalar) { return .ignored }
    // Fullwidth letters and digits.
    if (0xff10...0xff5a).contains(scalar.value), let narrow = Unicode.Scalar(scalar.value - 0xfee0) {
      return workOut(narrow)
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .nonspacingMark, .spacingMark:
      return .letter(folded(scalar))
    case .enclosingMark, .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .surrogate,
      .privateUse, .unassigned, .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol,
      .otherSymbol:
      return .separator
    @unknown default:
      return .separator
    }
  }

  private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    // A final sigma is compared as a sigma.
    if scalar == "\u{3c2}" { return "\u{3c3}" }
    let properties = scalar.properties
    let lower = properties.changesWhenLowercased ? properties.lowercaseMapping.unicodeScalars.first ?? scalar : scalar
    guard scalar.value < decompositionEnd,
      let base = String(lower).decomposedStringWithCanonicalMapping.unicodeScalars.first, losesMarks(base)
    else { return lower }
    return base
  }

  /// Whether users who search expect this letter to match with and without diacritics.
  static func losesMarks(_ base: Unicode.Scalar) -> Bool {
    base.isASCII || (0x80..<0x250).contains(base.value) || (0x370..<0x400).contains(base.value)
  }

  private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
    (0x300...0x36f).contains(scalar.value)
  }
}
