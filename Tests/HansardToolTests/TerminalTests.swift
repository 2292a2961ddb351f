import ChatPrimitives
import Foundation
import Testing

@testable import hansard

@Suite("What tools print")
struct TerminalTests {
  @Test(
    "columns of a text",
    arguments: [
      ("", 0), ("tea", 3), ("안녕", 4), ("茶", 2), ("é", 1), ("e\u{301}", 1), ("👍", 2), ("👩‍👩‍👧‍👦", 2), ("❤️", 2), ("🇰🇷", 2),
      ("\u{1112}\u{1161}\u{11ab}", 2), ("ｱ", 1), ("Ａ", 2),
    ])
  func width(text: String, columns: Int) {
    #expect(TextColumns.width(of: text) == columns)
  }

  @Test("a text is cut before the character that does not fit")
  func shortened() {
    #expect(TextColumns.shortened("tea", to: 3) == "tea")
    #expect(TextColumns.shortened("teas", to: 3) == "te…")
    #expect(TextColumns.shortened("안녕하세요", to: 6) == "안녕…")
    #expect(TextColumns.shortened("안녕하세요", to: 5) == "안녕…")
    #expect(TextColumns.shortened("tea", to: 0) == "")
  }

  @Test("control characters of a text do not reach the terminal")
  func visible() {
    #expect(
      TextColumns.visible("a\nb\tc\u{1b}[31m\u{9b}x\u{202e}y\r\n") == "a\\nb\\tc\u{fffd}[31m\u{fffd}x\u{fffd}y\\r\\n")
    #expect(TextColumns.visible("안녕 👩‍👩‍👧‍👦") == "안녕 👩‍👩‍👧‍👦")
  }

  @Test("tables are aligned by columns, wide characters counted as two")
  func table() {
    let lines = TextTable.lines([.left("NAME"), .right("N"), .left("TEXT")], [["안나", "7", "x"], ["b", "10", "y"]])
    #expect(lines == ["NAME   N  TEXT", "안나   7  x", "b     10  y"])
  }

  @Test("JSON is unchanged by a round trip")
  func json() throws {
    let texts = ["", "\"\\/", "\u{0}\u{1f}\u{7f}\u{80}\u{9f}\u{a0}", "안녕 👍\n\r\t", "\u{c2}\u{c2}"]
    let encoded = JSONValue.object([("texts", .list(texts.map { .text($0) })), ("n", .number(.max))]).encoded
    let back = try #require(try JSONSerialization.jsonObject(with: Data(encoded.utf8)) as? [String: Any])
    let found = try #require(back["texts"] as? [String])
    #expect(found.map { Array($0.unicodeScalars) } == texts.map { Array($0.unicodeScalars) })
    #expect(!encoded.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
    #expect(encoded.hasSuffix("\"n\":18446744073709551615}"))
    #expect(
      JSONValue.list([.decimal(1.005), .decimal(.nan), .signed(-3), .null, .bool(true)]).encoded
        == "[1.0,null,-3,null,true]")
  }

  @Test("quantities")
  func quantities() {
    #expect([0, 999, 1_000, 1_234_567].map { Quantity.count($0 as UInt64) } == ["0", "999", "1,000", "1,234,567"])
    #expect([512, 1_536, 67_108_864].map { Quantity.bytes($0) } == ["512 B", "1.5 KiB", "64.0 MiB"])
    #expect(Quantity.decimal(0.05, digits: 2) == "0.05")
    #expect(Quantity.decimal(1.999, digits: 1) == "2.0")
    #expect(Quantity.share(1, of: 3) == "33.3 %")
    #expect(Quantity.share(0, of: 0) == "-")
    #expect(Quantity.seconds(1.5) == "1.50 s")
    #expect(Quantity.seconds(185) == "3 min 05 s")
  }

  @Test("a progress line tells the share, the amount, the pace and the rest")
  func progress() {
    let bar = "reading  [######..................] 25 %  50 of 200 events  "
    for (note, shown) in [(nil, "25/s"), ("well", "well")] {
      let line = ProgressLine(
        label: "reading", done: 50, total: 200, seconds: 2, unit: .items("events"), note: note)
      #expect(line.text == bar + shown + "  6.00 s left")
    }
    let unknown = ProgressLine(label: "reading", done: 2_048, total: nil, seconds: 0, unit: .bytes, note: nil)
    #expect(unknown.text == "reading  2.0 KiB")
  }

  @Test("an error is one line: what, why, what to do next")
  func errors() {
    let error = ToolError("the tea is cold", because: "it stood\u{1b}", next: "make new tea.")
    #expect(error.description == "hansard: the tea is cold. it stood\u{fffd}. make new tea")
  }
}
