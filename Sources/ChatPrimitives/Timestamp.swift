/// A point in time in UTC, in whole milliseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Hashable, Sendable, Comparable {
  public let milliseconds: Int64

  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

  /// The time that is this much later, or earlier if negative. Saturates at the limits of `Int64`.
  public func adding(milliseconds: Int64) -> Timestamp {
    let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
    guard overflow else { return Timestamp(milliseconds: sum) }
    return Timestamp(milliseconds: milliseconds < 0 ? .min : .max)
  }

  /// The range of RFC 3339: years 0000 to 9999.
  public static let earliest = Timestamp(milliseconds: -62_167_219_200_000)
  public static let latest = Timestamp(milliseconds: 253_402_300_799_999)
}

// MARK: - RFC 3339

extension Timestamp {
  /// Parses RFC 3339 with any offset. Digits beyond the millisecond are dropped.
  /// - Returns: nil for any other format and for dates that do not exist.
  public init?(rfc3339 text: some StringProtocol) {
    var reader = DigitReader(Array(text.utf8))
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
      let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
      let second = reader.number(2)
    else { return nil }
    guard (1...12).contains(month), day >= 1, day <= Self.daysIn(month: month, year: year),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var millisecond = 0
    if reader.skip(".") {
      guard let fraction = reader.fraction() else { return nil }
      millisecond = fraction
    }
    guard let offset = reader.offsetMinutes(), reader.isAtEnd else { return nil }
    let days = Self.daysFromEpoch(year: year, month: month, day: day)
    let seconds = Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60 + second) - Int64(offset) * 60
    self.init(milliseconds: seconds * 1_000 + Int64(millisecond))
    guard self >= .earliest, self <= .latest else { return nil }
  }

  /// The time in the format `2026-01-31T08:00:00.000Z`: always UTC, always three decimal places. A time before
  /// `earliest` or after `latest` is written as that limit.
  public var rfc3339: String {
    let writable = Int(Swift.min(Swift.max(self, .earliest), .latest).milliseconds)
    let millisecondsSinceYearZero = writable - Int(Self.earliest.milliseconds)
    let days = millisecondsSinceYearZero / 86_400_000 + Int(Self.earliest.milliseconds / 86_400_000)
    let rest = millisecondsSinceYearZero % 86_400_000
    let (year, month, day) = Self.civil(fromDays: days)
    return String(unsafeUninitializedCapacity: 24) { buffer in
      var index = 0
      func put(_ value: Int, _ width: Int, _ after: UInt8) {
        var rest = value
        for place in stride(from: width - 1, through: 0, by: -1) {
          buffer[index + place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        buffer[index + width] = after
        index += width + 1
      }
      put(year, 4, UInt8(ascii: "-"))
      put(month, 2, UInt8(ascii: "-"))
      put(day, 2, UInt8(ascii: "T"))
      put(rest / 3_600_000, 2, UInt8(ascii: ":"))
      put(rest / 60_000 % 60, 2, UInt8(ascii: ":"))
      put(rest / 1_000 % 60, 2, UInt8(ascii: "."))
      put(rest % 1_000, 3, UInt8(ascii: "Z"))
      return index
    }
  }

  private static func daysIn(month: Int, year: Int) -> Int {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days since 1970-01-01 in the proleptic Gregorian calendar. The algorithm is `days_from_civil` of H. Hinnant,
  /// "chrono-compatible low-level date algorithms".
  private static func daysFromEpoch(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The inverse of `daysFromEpoch`: `civil_from_days` from the same source.
  private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

/// Parses a date and time from left to right.
private struct DigitReader {
  private let bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { index == bytes.count }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
    index += 1
    return true
  }

  mutating func number(_ width: Int) -> Int? {
    guard index + width <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[index..<index + width] {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    index += width
    return value
  }

  /// Reads one to nine decimal places, as milliseconds.
  mutating func fraction() -> Int? {
    var value = 0
    var digits = 0
    while let digit = number(1) {
      if digits < 3 { value = value * 10 + digit }
      digits += 1
    }
    guard (1...9).contains(digits) else { return nil }
    for _ in digits..<max(digits, 3) { value *= 10 }
    return value
  }

  /// Reads `Z` or `±hh:mm`.
  mutating func offsetMinutes() -> Int? {
    if skip("Z") || skip("z") { return 0 }
    let sign = skip("+") ? 1 : skip("-") ? -1 : 0
    guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 60 + minutes)
  }
}

extension Timestamp: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let time = Timestamp(rfc3339: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 time")
    }
    self = time
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rfc3339)
  }
}

extension Timestamp: CustomStringConvertible {
  public var description: String { rfc3339 }
}
