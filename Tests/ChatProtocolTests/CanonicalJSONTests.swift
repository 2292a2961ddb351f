import EventLogSimulation
import Foundation
import Testing

@testable import ChatProtocol

@Suite struct CanonicalJSONTests {
  private func canonical(_ text: String) throws -> String {
    try JSONDocument(Array(text.utf8)).decode(CanonicalJSON.self).canonicalText
  }

  /// The form that the first versions wrote. Logs contain these texts, and retries are compared with them.
  @Test(
    arguments: [
      ("-0", "0"), ("0.0", "0"), ("1.0", "1"), ("1e2", "100"), ("1.50", "1.5"), ("-1.50e-3", "-0.0015"),
      ("9223372036854775808", "9223372036854775808"), ("1.0000000000000001", "1"),
      ("9007199254740993.5", "9007199254740993"), ("1e20", "100000000000000000000"), ("1e128", "1e+128"),
      ("1e300", "1e+300"), ("1e-400", "0"), ("0.30000000000000004", "0.30000000000000004"), ("5e-324", "5e-324"),
      ("1.5e-7", "0.00000015"),
      ("123456789012345678901234567890123456789012", "123456789012345678901234567890123456789000"),
      (#""\u0041\ud83d\ude00\n\/\u0000\u007f""#, "\"A😀\\n/\\u0000\u{7f}\""),
      (#"{"b":1,"a":{"d":[1, [2]],"c":""}}"#, #"{"a":{"c":"","d":[1,[2]]},"b":1}"#),
      ("{\"é\":1,\"e\":2,\"z\":3,\"\\u00c9\":4}", "{\"e\":2,\"z\":3,\"É\":4,\"é\":1}"),
      ("{\"\u{10000}\":1,\"\u{ffff}\":2}", "{\"\u{ffff}\":2,\"\u{10000}\":1}"), ("[ ]", "[]"), ("null", "null"),
    ])
  func hasOneForm(text: String, expected: String) throws {
    #expect(try canonical(text) == expected)
    #expect(try canonical(expected) == expected)
  }

  @Test(
    "an exponent of any size is read or refused, and crashes nothing",
    arguments: ["1", "0", "-1", "1.5"],
    [
      "e1000", "e1001", "e-1000", "e-1001", "e9223372036854775807", "e-9223372036854775807", "e9223372036854775808",
      "e-9223372036854775808", "e-9223372036854775809", "E+99999999999999999999",
    ])
  func extremeExponents(mantissa: String, exponent: String) {
    if let text = try? canonical(mantissa + exponent) { #expect((try? canonical(text)) == text) }
  }

  /// Compares numbers of every length with Foundation's parsing, which the first versions used.
  @Test func numbersMatchFoundation() throws {
    var generator = SeededRandom(seed: 10)
    for _ in 0..<3_000 {
      let number = Self.number(&generator)
      let expected = try Self.foundation(number)
      #expect(try canonical(number) == expected, "\(number)")
    }
  }

  private static func number(_ generator: inout SeededRandom) -> String {
    func digits(_ count: ClosedRange<Int>) -> String {
      let zeros = Bool.random(using: &generator)
      return (0..<Int.random(in: count, using: &generator)).map { _ in
        zeros && Bool.random(using: &generator) ? "0" : String(Int.random(in: 0...9, using: &generator))
      }.joined()
    }
    var number = Bool.random(using: &generator) ? "-" : ""
    let first = Int.random(in: 1...9, using: &generator)
    number += Int.random(in: 0...4, using: &generator) == 0 ? "0" : "\(first)" + digits(0...22)
    if Bool.random(using: &generator) { number += "." + digits(1...24) }
    if Bool.random(using: &generator) { number += "e" + String(Int.random(in: -170...170, using: &generator)) }
    return number
  }

  private static func foundation(_ number: String) throws -> String {
    let data = Data(number.utf8)
    let encoder = JSONEncoder()
    let encoded: Data
    if let value = try? JSONDecoder().decode(Int64.self, from: data) {
      encoded = try encoder.encode(value)
    } else if let value = try? JSONDecoder().decode(Decimal.self, from: data), value.isFinite {
      encoded = try encoder.encode(value)
    } else {
      encoded = try encoder.encode(try JSONDecoder().decode(Double.self, from: data))
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  @Test func aNumberBeyondADoubleIsRefused() {
    #expect(throws: DecodingError.self) { try canonical("[1e400]") }
  }

  /// An old log may contain values that are nested deeper than any limit. They are written unchanged.
  @Test func isWrittenUnchanged() throws {
    let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
    let bytes = try JSONWriter.bytes(of: ["data": CanonicalJSON(unchecked: deep)])
    #expect(String(decoding: bytes, as: UTF8.self) == "{\"data\":\(deep)}")
  }

  @Test func otherCodersAreRefused() {
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([CanonicalJSON.null]) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([CanonicalJSON].self, from: Data("[1]".utf8)) }
  }
}
