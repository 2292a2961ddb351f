import ChatPrimitives
import Foundation

/// Converts texts to Unicode's composed form (NFC), in which the search compares them, because a phone's keyboard, a
/// file name and a web page can encode the same word differently.
enum NormalForm {
  /// Passes the text in composed form to `body`. Most texts already are in that form, which a check of their bytes
  /// shows.
  static func withComposed<Result>(
    _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    if isSurelyComposed(text) { return try body(text) }
    // A log of the first versions can contain more consecutive marks than are accepted now.
    var composed = CombiningMarks.limited(String(decoding: text, as: UTF8.self)).precomposedStringWithCanonicalMapping
    return try composed.withUTF8(body)
  }

  /// A quick check of the bytes. False does not mean that the text is not composed, only that it has to be converted.
  static func isSurelyComposed(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    while index < text.count {
      let lead = text[index]
      if lead < 0xcc {
        // ASCII, continuation bytes, and Latin up to U+02FF.
        index += 1
        continue
      }
      let second = index + 1 < text.count ? text[index + 1] : 0
      let third = index + 2 < text.count ? text[index + 2] : 0
      guard isStable(lead, second, third) else { return false }
      index += lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    }
    return true
  }

  /// Whether composition does not change a character that begins with these bytes, whatever its neighbours. This
  /// ignores two cases: signs such as the Kelvin sign, which `CharacterFolding` folds to the letter anyway, and Thai
  /// and Lao marks in a non-canonical order.
  private static func isStable(_ lead: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
    switch lead {
    // Greek, except U+0387, which is replaced by U+00B7; Cyrillic; a part of Armenian.
    case 0xce: second != 0x87
    case 0xcf...0xd5: true
    // Thai and Lao; not the Indic scripts.
    case 0xe0: second >= 0xb8 && second <= 0xbb
    // Latin with diacritics; not the Hangul jamo, nor polytonic Greek.
    case 0xe1: second >= 0xb8 && second <= 0xbb
    // Punctuation and symbols; kana, except the marks that combine with the kana before them; ideographs; Hangul
    // syllables.
    case 0xe2: true
    case 0xe3: !(second == 0x82 && (third == 0x99 || third == 0x9a))
    case 0xe4...0xec: true
    case 0xed: second < 0x9e || (second == 0x9e && third <= 0xa3)
    // Variation selectors and halfwidth and fullwidth forms; not the compatibility ideographs.
    case 0xef: second >= 0xb8
    // Emoji, and rare ideographs.
    case 0xf0: second >= 0x9f && second < 0xaf
    default: false
    }
  }
}
