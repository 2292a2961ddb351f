extension Unicode.Scalar {
  /// Whether the character is visible by itself: not a combining mark, not a space, and not invisible.
  var shows: Bool {
    guard !properties.isDefaultIgnorableCodePoint, self != Self.brailleBlank else { return false }
    return switch properties.generalCategory {
    case .control, .format, .surrogate, .nonspacingMark, .spacingMark, .enclosingMark, .spaceSeparator,
      .lineSeparator, .paragraphSeparator:
      false
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol,
      .otherSymbol, .privateUse, .unassigned:
      // A later version of Unicode may assign a character that is unassigned in this one.
      true
    @unknown default: true
    }
  }

  /// A braille pattern without any dot.
  private static let brailleBlank: Unicode.Scalar = "\u{2800}"

  /// U+0000, which many programs treat as the end of a text, and the bidirectional controls (Unicode's property
  /// Bidi_Control), which change the order of the text around a name. The joiners U+200C and U+200D are allowed,
  /// because emoji and several scripts need them.
  var isForbiddenInNames: Bool {
    switch value {
    case 0, 0x061c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}

extension TextRules {
  /// Whether a reader sees anything.
  package static func shows(_ text: String) -> Bool { text.unicodeScalars.contains(where: \.shows) }

  /// The text without characters that a name must not have, for names from other systems.
  package static func withoutForbidden(_ text: String) -> String {
    guard hasForbidden(text) else { return text }
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !scalar.isForbiddenInNames { kept.append(scalar) }
    return String(kept)
  }

  static func hasForbidden(_ text: String) -> Bool { text.unicodeScalars.contains(where: \.isForbiddenInNames) }
}
