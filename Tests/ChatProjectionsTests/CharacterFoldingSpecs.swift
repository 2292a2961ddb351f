import Foundation
import Testing

@testable import ChatProjections

@Suite("The folding of characters")
struct CharacterFoldingSpecs {
  /// All assigned characters except those that are searched by pairs.
  private let characters = (0...0x10ffff as ClosedRange<UInt32>).compactMap { Unicode.Scalar($0) }.filter {
    switch $0.properties.generalCategory {
    case .unassigned, .privateUse, .surrogate: false
    default: CharacterFolding.kind(of: $0) != .paired
    }
  }

  @Test("no character from `decompositionEnd` on decomposes to a Latin or Greek letter")
  func decompositions() {
    let missed = characters.filter { scalar in
      guard scalar.value >= CharacterFolding.decompositionEnd, case .letter = CharacterFolding.kind(of: scalar),
        let base = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first
      else { return false }
      return base != scalar && CharacterFolding.losesMarks(base)
    }
    #expect(missed.isEmpty)
  }

  @Test("a character that does not change when lowercased is its own lower case")
  func lowerCase() {
    let missed = characters.filter { scalar in
      !scalar.properties.changesWhenLowercased && scalar.properties.lowercaseMapping != String(scalar)
    }
    #expect(missed.isEmpty)
  }

  @Test(
    "folds case everywhere, and marks on Latin and Greek letters",
    arguments: [
      ("É", "e"), ("Ώ", "ω"), ("Й", "й"), ("\u{212a}", "k"), ("\u{212b}", "a"), ("\u{2126}", "ω"), ("\u{1ec7}", "e"),
      ("\u{2c00}", "\u{2c30}"), ("\u{1d400}", "\u{1d400}"), ("\u{10400}", "\u{10428}"), ("\u{ff21}", "a"),
      ("\u{fb2c}", "\u{fb2c}"),
    ] as [(Unicode.Scalar, Unicode.Scalar)])
  func examples(character: Unicode.Scalar, folded: Unicode.Scalar) {
    #expect(CharacterFolding.kind(of: character) == .letter(folded))
  }
}
