import Foundation
import GRDB
import Testing

@testable import ChatProjections

@Suite struct SearchTokenizerTests {
  /// The tokens of a text for the index.
  private func tokens(_ text: String, labels: String = "#r1") throws -> [String] {
    let queue = try DatabaseQueue()
    return try queue.read { (database) throws in
      let tokenizer = SearchTokenizer(db: database, arguments: [])
      return try tokenizer.tokenize(document: labels + "\n" + text).map(\.token)
    }
  }

  @Test(
    "words are folded, and scripts without spaces cut into pairs",
    arguments: [
      ("Hello, World 42!", ["hello", "world", "42"]),
      ("Crème BRÛLÉE Ångström", ["creme", "brulee", "angstrom"]),
      ("cafe\u{301}", ["cafe"]),
      ("ΛΌΓΟΣ λόγος", ["λογοσ", "λογοσ"]),
      ("МОЙ мои Ёлка", ["мой", "мои", "ёлка"]),
      ("мои\u{306}", ["мой"]),
      ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
      ("회의", ["회의"]),
      ("나 집", ["나", "집"]),
      ("3시에 봐", ["3", "시에", "봐"]),
      ("ㅋㅋㅋ", ["ㅋㅋ", "ㅋㅋ"]),
      ("東京都 カタカナ", ["東京", "京都", "カタ", "タカ", "カナ"]),
      ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
      ("ＡＢＣ１２", ["abc12"]),
      ("wi-fi don't snake_case", ["wi", "fi", "don", "t", "snake", "case"]),
      ("a😀b", ["a", "b"]),
      ("", []), ("!?… 😀", []),
    ] as [(String, [String])])
  func cuts(text: String, expected: [String]) throws {
    #expect(try tokens(text) == ["#r1"] + expected)
  }

  @Test("a decomposed text gives the tokens of the composed one")
  func normalForm() throws {
    for text in ["안녕하세요 회의", "Crème brûlée", "がぎぐ", "Việt Nam"] {
      #expect(try tokens(text.decomposedStringWithCanonicalMapping) == tokens(text))
      #expect(try tokens(text).count > 2)
    }
  }

  @Test("a text is never mistaken for a label, and a label is never cut")
  func labels() throws {
    #expect(try tokens("#r2 #m\n#r3", labels: "#r1 #sab12 #m") == ["#r1", "#sab12", "#m", "r2", "m", "r3"])
  }

  @Test("a word too long is known by its beginning", arguments: [63, 64, 65, 1000])
  func longWords(length: Int) throws {
    let word = String(repeating: "x", count: length)
    let kept = String(repeating: "x", count: min(length, TextScanner.longestWord))
    #expect(try tokens(word + " y") == ["#r1", kept, "y"])
    let wide = String(repeating: "ж", count: length)
    let keptWide = String(repeating: "ж", count: min(length, TextScanner.longestWord / 2))
    #expect(try tokens(wide + " y") == ["#r1", keptWide, "y"])
  }

  @Test("bytes that are no UTF-8 separate words, and nothing is read beyond the end")
  func damaged() {
    for bytes in [[0x61, 0xff, 0x62], [0x61, 0xc3, 0x62], [0x61, 0xed, 0xa0, 0x80, 0x62]] as [[UInt8]] {
      #expect(units(bytes) == ["a", "b"])
    }
    for end in [[0xea], [0xea, 0xb0], [0xf0, 0x9f, 0x98]] as [[UInt8]] { #expect(units([0x61] + end) == ["a"]) }
  }

  private func units(_ bytes: [UInt8]) -> [String] {
    bytes.withUnsafeBufferPointer { buffer in
      let cut = TextUnits(buffer)
      return cut.units.indices.map { String(decoding: cut.bytes(of: $0), as: UTF8.self) }
    }
  }

  @Test("a text that composing changes is never taken for a composed one")
  func composedCheck() {
    for value in 0x80...0x2ffff as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = "a" + String(Character(scalar))
      let composed = text.precomposedStringWithCanonicalMapping
      if Array(composed.utf8) == Array(text.utf8) { continue }
      // Signs such as the angstrom sign are folded to the letter that they represent anyway.
      if value < 0x2000 || value > 0x2bff {
        #expect(!Array(text.utf8).withUnsafeBufferPointer(NormalForm.isSurelyComposed), "U+\(String(value, radix: 16))")
      }
    }
  }
}
