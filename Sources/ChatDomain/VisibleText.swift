extension Unicode.Scalar {
  /// Neither a mark that needs another character to stand on, nor one that leaves no trace.
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
      // What a later version of Unicode gives a meaning is unassigned in this one.
      true
    @unknown default: true
    }
  }

  /// A pattern of dots without any dot.
  private static let brailleBlank: Unicode.Scalar = "\u{2800}"

  /// U+0000, which many programs take for the end of a text, and the bidirectional controls (the property Bidi_Control of
  /// Unicode), which change the order of the text around a name. The joiners U+200C and U+200D are not among them: emoji
  /// and several scripts need them.
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

  /// The text without what a name must not have, for names that come from elsewhere.
  package static func withoutForbidden(_ text: String) -> String {
    guard hasForbidden(text) else { return text }
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !scalar.isForbiddenInNames { kept.append(scalar) }
    return String(kept)
  }

  static func hasForbidden(_ text: String) -> Bool { text.unicodeScalars.contains(where: \.isForbiddenInNames) }
}
