import ChatPrimitives
import Foundation
import Testing

@testable import ChatProtocol

@Suite struct JSONDocumentTests {
  private func flaw(_ text: String) -> JSONFlaw? { flaw(Array(text.utf8)) }

  private func flaw(_ bytes: [UInt8]) -> JSONFlaw? {
    do throws(JSONFlaw) {
      _ = try JSONDocument(bytes)
      return nil
    } catch {
      return error
    }
  }

  private func isMalformed(_ text: String) -> Bool {
    if case .malformed = flaw(text) { return true }
    return false
  }

  @Test(
    arguments: [
      "null", " true ", "-0", "1e5", "0.5E-3", "\"\"", "[]", "{}", "[1, [2], {\"a\": null}]", "\u{feff}{}",
      "\"\\ud83d\\ude00\"", "\"\\/\\b\"", "\"\u{7f}\u{2028}\u{10ffff}\"",
    ])
  func acceptsWhatRFC8259Allows(text: String) {
    #expect(flaw(text) == nil)
  }

  @Test(
    arguments: [
      "[1,]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "01", "-", "+1", ".5", "1.", "1e", "1e+", "nul", "nulls", "[",
      "[1",
      "{\"a\":", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\n\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
      "\"a\u{1}\"", "1 2",
      "[1]]", "/**/1", "NaN", "'a'",
    ])
  func refusesWhatItDoesNot(text: String) {
    #expect(isMalformed(text), "\(text)")
  }

  @Test(
    arguments: [
      [0x80], [0xc0, 0xaf], [0xc1, 0xbf], [0xed, 0xa0, 0x80], [0xe3, 0x81], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe],
      [0xe0, 0x9f, 0xbf], [0xf0, 0x8f, 0xbf, 0xbf], [0xf5, 0x80, 0x80, 0x80], [0xe1, 0x80], [0xf1, 0x80, 0x80],
    ] as [[UInt8]])
  func refusesWhatIsNotUTF8(bytes: [UInt8]) {
    #expect(flaw([0x22] + bytes + [0x22]) == .invalidUTF8)
    #expect(flaw([0x5b, 0x22] + bytes) == .invalidUTF8)
    // Invalid UTF-8 is reported even if there is another error before it.
    #expect(flaw([0x7d, 0x22] + bytes + [0x22]) == .invalidUTF8)
  }

  @Test(arguments: ["", " ", " \t\r\n", "\u{feff}", "\u{feff} "])
  func reportsAnEmptyText(text: String) {
    #expect(flaw(text) == .empty)
  }

  // MARK: - Limits

  @Test func limitsDepth() {
    for depth in [Limits.jsonDepth - 1, Limits.jsonDepth, Limits.jsonDepth + 1, 5 * Limits.jsonDepth] {
      let expected: JSONFlaw? = depth > Limits.jsonDepth ? .tooDeep : nil
      #expect(flaw(String(repeating: "[", count: depth) + String(repeating: "]", count: depth)) == expected)
      #expect(
        flaw(String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)) == expected)
    }
  }

  @Test func limitsMembersAndElements() {
    for count in Limits.jsonValues - 1...Limits.jsonValues + 1 {
      let expected: JSONFlaw? = count > Limits.jsonValues ? .tooManyValues : nil
      #expect(flaw("[" + Array(repeating: "1", count: count).joined(separator: ",") + "]") == expected)
      let members = (0..<count - 1).map { "\"\($0)\":1" }.joined(separator: ",")
      #expect(flaw("{" + members + ",\"z\":1}") == expected)
    }
  }

  @Test func limitsNamesAndNumbers() {
    for length in Limits.jsonKeyBytes - 1...Limits.jsonKeyBytes + 1 {
      let name = String(repeating: "k", count: length)
      #expect(flaw("{\"\(name)\":1}") == (length > Limits.jsonKeyBytes ? .keyTooLong : nil))
      #expect(flaw("\"\(name)\"") == nil)
    }
    for length in Limits.jsonNumberBytes - 1...Limits.jsonNumberBytes + 1 {
      let number = String(repeating: "1", count: length)
      #expect(flaw(number) == (length > Limits.jsonNumberBytes ? .numberTooLong : nil))
    }
  }

  @Test(
    arguments: ["\u{301}", "\\u0301", "\u{1d165}", "\\ud834\\udd65", "\u{5b0}"])
  func limitsMarksInARow(mark: String) {
    for count in Limits.combiningMarks - 1...Limits.combiningMarks + 1 {
      let run = String(repeating: mark, count: count)
      let expected: JSONFlaw? = count > Limits.combiningMarks ? .tooManyMarks : nil
      #expect(flaw("\"a\(run)\"") == expected)
      #expect(flaw("\"\(run)b\(run)\"") == expected)
      #expect(flaw("{\"a\(run)\":1}") == expected)
    }
  }

  @Test(
    arguments: [
      #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"\u0061":3}"#, #"{"":1,"":2}"#,
      "{\"\u{e9}\":1,\"e\u{301}\":2}", #"{"é":1,"e\u0301":2}"#,
      "{\"\u{212b}\":1,\"\u{c5}\":2}", "[{\"x\":{\"b\":1,\"b\":2}}]",
      "{" + (0..<50).map { "\"\($0)\":1" }.joined(separator: ",") + ",\"7\":1}",
    ])
  func refusesAMemberThatIsThereTwice(text: String) {
    guard case .duplicateMember = flaw(text) else {
      Issue.record("\(text) is accepted")
      return
    }
  }

  @Test func membersOfDifferentObjectsMayHaveTheSameName() {
    #expect(flaw(#"{"a":{"a":1},"b":{"a":1},"A":1}"#) == nil)
  }
}
