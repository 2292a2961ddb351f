/// The form in which nicknames are compared when users look for others: composed, in lower case, and without the
/// diacritics of Latin and Greek letters, as in a search.
enum NicknameForm {
  /// - Parameter nickname: at most `Limits.nicknameBytes` long.
  static func compared(_ nickname: String) -> String {
    var copy = nickname
    let composed = copy.withUTF8 { bytes in NormalForm.withComposed(bytes) { String(decoding: $0, as: UTF8.self) } }
    var folded = String.UnicodeScalarView()
    for scalar in composed.unicodeScalars {
      switch CharacterFolding.kind(of: scalar) {
      case .letter(let letter): folded.append(letter)
      case .separator, .paired: folded.append(scalar)
      case .ignored: break
      }
    }
    return String(folded)
  }
}

/// The beginning of a nickname.
package struct NicknamePrefix: Sendable, Hashable {
  let compared: String

  /// - Parameter text: at most `Limits.nicknameBytes` long.
  /// - Returns: nil if nothing is left of the text to compare.
  package init?(_ text: String) {
    compared = NicknameForm.compared(text)
    if compared.isEmpty { return nil }
  }

  /// Greater than everything that begins with the prefix, in the order of SQLite, which compares bytes of UTF-8.
  var end: String { compared + "\u{10FFFF}" }

  func matches(_ folded: String) -> Bool { folded.utf8.starts(with: compared.utf8) }
}
