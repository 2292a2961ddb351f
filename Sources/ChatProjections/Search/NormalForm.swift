import ChatPrimitives
import Foundation

/// Texts in Unicode's composed form (NFC), in which the search compares them: a phone's keyboard, a file name and a web page
/// write the same word in different ways.
enum NormalForm {
  /// Hands `body` the text in its composed form. Most texts are in it, which a look at their bytes tells.
  static func withComposed<Result>(
    _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    if isSurelyComposed(text) { return try body(text) }
    // A log of the first versions may hold more marks in a row than are accepted now.
    var composed = CombiningMarks.limited(String(decoding: text, as: UTF8.self)).precomposedStringWithCanonicalMapping
    return try composed.withUTF8(body)
  }

  /// Looks for what composing could change; finds more than that: then the text is composed for nothing.
  static func isSurelyComposed(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    while index < text.count {
      let lead = text[index]
      if lead < 0xcc {
        // ASCII, what continues a character, and Latin up to U+02FF.
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

  /// Whether a character that begins with these bytes is the same composed, whatever stands beside it.
  private static func isStable(_ lead: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
    switch lead {
    // Greek, save a point that stands for another, and Cyrillic.
    case 0xce: second != 0x87
    case 0xcf...0xd5: true
    // Thai; not the Indic scripts.
    case 0xe0: second >= 0xb8 && second <= 0xbb
    // Latin with diacritics; not the letters of Hangul, nor the signs of old Greek.
    case 0xe1: second >= 0xb8 && second <= 0xbb
    // Punctuation and symbols; kana, save the marks that change what they follow; ideographs; Hangul syllables.
    case 0xe2: true
    case 0xe3: !(second == 0x82 && (third == 0x99 || third == 0x9a))
    case 0xe4...0xec: true
    case 0xed: second < 0x9e || (second == 0x9e && third <= 0xa3)
    // Forms of variation and of width; not the ideographs that stand for others.
    case 0xef: second >= 0xb8
    // Emoji, and rare ideographs.
    case 0xf0: second >= 0x9f && second < 0xaf
    default: false
    }
  }
}
