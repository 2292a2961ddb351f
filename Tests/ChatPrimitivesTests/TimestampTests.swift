import ChatPrimitives
import Foundation
import Testing

@Suite("Times")
struct TimestampTests {
  @Test(
    "are read and written in RFC 3339",
    arguments: [
      ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.999Z", -1),
      ("2026-01-31T08:00:00.000Z", 1_769_846_400_000),
      ("2000-02-29T12:34:56.789Z", 951_827_696_789), ("1900-02-28T23:59:59.999Z", -2_203_891_200_001),
      ("0000-01-01T00:00:00.000Z", -62_167_219_200_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
      ("0000-02-29T00:00:00.000Z", -62_162_121_600_000), ("2038-01-19T03:14:08.000Z", 2_147_483_648_000),
    ] as [(String, Int64)])
  func roundTrip(text: String, milliseconds: Int64) {
    #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
    #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
    #expect(Timestamp(milliseconds: milliseconds).description == text)
  }

  @Test(
    "are one moment in many forms",
    arguments: [
      "2026-01-31T08:00:00Z", "2026-01-31t08:00:00z", "2026-01-31 08:00:00Z", "2026-01-31T08:00:00.0Z",
      "2026-01-31T08:00:00.000999999Z", "2026-01-31T08:00:00+00:00", "2026-01-31T08:00:00-00:00",
      "2026-01-31T17:00:00+09:00", "2026-01-31T13:30:00.00+05:30", "2026-01-30T22:15:00-09:45",
      "2026-02-01T07:59:00+23:59", "2026-01-30T08:01:00-23:59",
    ])
  func manyForms(text: String) {
    #expect(Timestamp(rfc3339: text)?.rfc3339 == "2026-01-31T08:00:00.000Z")
  }

  @Test(
    "cut off what is finer than a millisecond",
    arguments: [
      ("1", 100), ("12", 120), ("123", 123), ("1239", 123), ("999999999", 999), ("000000001", 0), ("0019", 1),
    ])
  func fractions(digits: String, milliseconds: Int64) {
    #expect(Timestamp(rfc3339: "1970-01-01T00:00:00.\(digits)Z")?.milliseconds == milliseconds)
    // Before 1970, too, digits are cut towards the past.
    #expect(Timestamp(rfc3339: "1969-12-31T23:59:59.\(digits)Z")?.milliseconds == milliseconds - 1000)
  }

  @Test(
    "have leap days where the calendar has them",
    arguments: [
      ("2024", true), ("2023", false), ("2000", true), ("1900", false), ("2100", false), ("2400", true), ("0000", true),
      ("0004", true), ("0100", false), ("9996", true),
    ])
  func leapDays(year: String, isLeap: Bool) {
    let text = "\(year)-02-29T00:00:00.000Z"
    #expect(Timestamp(rfc3339: text)?.rfc3339 == (isLeap ? text : nil))
    #expect(Timestamp(rfc3339: "\(year)-02-30T00:00:00.000Z") == nil)
  }

  @Test(
    "have one form only",
    arguments: [
      "", "2026", "2026-01-31", "2026-01-31T08:00:00", "2026-01-31T08:00Z", "2026-1-31T08:00:00Z",
      "26-01-31T08:00:00Z", "02026-01-31T08:00:00Z", "+2026-01-31T08:00:00Z", "-001-01-31T08:00:00Z",
      "2026/01/31T08:00:00Z", "2026-01-31_08:00:00Z", "2026-01-31T08.00.00Z", "2026-01-31T08:00:00,5Z",
      "2026-00-31T08:00:00Z", "2026-13-31T08:00:00Z", "2026-01-00T08:00:00Z", "2026-01-32T08:00:00Z",
      "2026-04-31T08:00:00Z", "2026-06-31T08:00:00Z", "2026-09-31T08:00:00Z", "2026-11-31T08:00:00Z",
      "2026-01-31T24:00:00Z", "2026-01-31T08:60:00Z", "2026-01-31T08:00:60Z", "2026-01-31T08:00:00.Z",
      "2026-01-31T08:00:00.1234567890Z", "2026-01-31T08:00:00.1", "2026-01-31T08:00:00+9", "2026-01-31T08:00:00+09",
      "2026-01-31T08:00:00+0900", "2026-01-31T08:00:00+24:00", "2026-01-31T08:00:00+09:60", "2026-01-31T08:00:00±09:00",
      "2026-01-31T08:00:00ZZ", "2026-01-31T08:00:00Z ", " 2026-01-31T08:00:00Z", "2026-01-31T0a:00:00Z",
      "2026-01-31T08:00:00.-1Z", "٢٠٢٦-01-31T08:00:00Z", "2026-01-31T08:00:00.１Z", "0000-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59.999-00:01",
    ])
  func badForms(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test("every day of 800 years, and both ends, survive the way out and back")
  func everyDay() {
    let day: Int64 = 86_400_000
    var expected = Timestamp.earliest
    for _ in 0..<(2 * 146_097) {
      let noon = expected.adding(milliseconds: day / 2 + 1)
      for time in [expected, noon] where Timestamp(rfc3339: time.rfc3339) != time {
        Issue.record("\(time.milliseconds) became \(time.rfc3339)")
        return
      }
      expected = expected.adding(milliseconds: day)
    }
    #expect(expected.rfc3339 == "0800-01-01T00:00:00.000Z")
    #expect(Timestamp(rfc3339: Timestamp.earliest.rfc3339) == .earliest)
    #expect(Timestamp(rfc3339: Timestamp.latest.rfc3339) == .latest)
  }

  @Test("times outside of RFC 3339 are written as the nearest limit, and nothing overflows")
  func beyondTheEnds() {
    for beyond in [Int64.min, -62_167_219_200_001, -9_223_372_036_854_775_807] {
      #expect(Timestamp(milliseconds: beyond).rfc3339 == "0000-01-01T00:00:00.000Z")
    }
    for beyond in [Int64.max, 253_402_300_800_000] {
      #expect(Timestamp(milliseconds: beyond).rfc3339 == "9999-12-31T23:59:59.999Z")
    }
    #expect(Timestamp(milliseconds: .max).adding(milliseconds: 1).milliseconds == .max)
    #expect(Timestamp(milliseconds: .min).adding(milliseconds: -1).milliseconds == .min)
    #expect(Timestamp(milliseconds: 1).adding(milliseconds: -2).milliseconds == -1)
  }

  @Test("are strings in JSON, and a bad one is refused")
  func json() throws {
    let time = try #require(Timestamp(rfc3339: "2026-01-31T08:00:00.123Z"))
    let encoded = try JSONEncoder().encode([time])
    #expect(String(decoding: encoded, as: UTF8.self) == "[\"2026-01-31T08:00:00.123Z\"]")
    #expect(try JSONDecoder().decode([Timestamp].self, from: encoded) == [time])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Timestamp].self, from: Data("[1]".utf8)) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Timestamp].self, from: Data("[\"now\"]".utf8)) }
  }
}
