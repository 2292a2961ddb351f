import Foundation

/// JSON numbers: their canonical form, and their conversion to Swift's types.
///
/// The canonical form of a number is the first of these that can represent it: the digits of a 64-bit integer; up to 38
/// digits without an exponent (`Decimal`); the text of a double. The logs of the first versions contain this form, and
/// retries are compared by it, so it must not change.
enum JSONNumbers {
  /// - Returns: false if the number is too large for a double.
  static func writeCanonical(_ number: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool {
    // Up to 18 digits fit 64 bits. Only zero has a second form, "-0".
    if number.count <= 18, number.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }),
      number.count != 2 || !number.elementsEqual("-0".utf8)
    {
      bytes.append(contentsOf: number)
      return true
    }
    let text = String(decoding: number, as: UTF8.self)
    if let parts = Parts(number) {
      parts.write(text, to: &bytes)
    } else if let integer = integer(text, as: Int64.self) {
      bytes.append(contentsOf: String(integer).utf8)
    } else if let decimal = Decimal(string: text), decimal.isFinite {
      bytes.append(contentsOf: decimal.description.utf8)
    } else if let double = Double(text), double.isFinite {
      write(double, to: &bytes)
    } else {
      return false
    }
    return true
  }

  /// A number as `digits` times ten to the power of `exponent`, without zeros at either end. Nearly every number can be
  /// written from these parts, at a fraction of the cost of `Decimal`.
  private struct Parts {
    /// The digits and exponents that a `Decimal` always stores exactly.
    static let mostDigits = 38
    static let exponents = -128...127
    /// The number of digits that a double always stores exactly.
    static let doubleDigits = 15
    /// A number with a larger exponent cannot be stored exactly, and sums of smaller exponents cannot overflow.
    static let largestExponent = 1000

    var isNegative = false
    var digits: [UInt8] = []
    var exponent = 0

    /// Nil for a number that has too many digits or too large an exponent.
    init?(_ number: ArraySlice<UInt8>) {
      var hasPoint = false
      var index = number.startIndex
      while index < number.endIndex {
        let byte = number[index]
        index += 1
        switch byte {
        case UInt8(ascii: "-"): isNegative = true
        case UInt8(ascii: "."): hasPoint = true
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          if hasPoint { exponent -= 1 }
          if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
        default:
          guard let written = Int(String(decoding: number[index...], as: UTF8.self)),
            (-Self.largestExponent...Self.largestExponent).contains(written)
          else { return nil }
          exponent += written
          index = number.endIndex
        }
      }
      guard digits.isEmpty || (digits.count <= Self.mostDigits && Self.exponents.contains(exponent)) else { return nil }
      while digits.last == UInt8(ascii: "0") {
        digits.removeLast()
        exponent += 1
      }
    }

    /// - Parameter text: the same number, as it was sent.
    func write(_ text: String, to bytes: inout [UInt8]) {
      guard !digits.isEmpty else { return bytes.append(UInt8(ascii: "0")) }
      let point = digits.count + exponent
      // The first versions treated a number as an integer if its double is one. From 2^53 on, they cut off the fraction
      // if the digits without the point fit 64 bits.
      if digits.count > Self.doubleDigits, exponent < 0, let double = Double(text),
        let integer = Int64(exactly: double)
      {
        if double.magnitude < 0x1p53 { return bytes.append(contentsOf: String(integer).utf8) }
        if UInt64(String(decoding: digits, as: UTF8.self)) != nil {
          if isNegative { bytes.append(UInt8(ascii: "-")) }
          return bytes.append(contentsOf: digits.prefix(point))
        }
      }
      if isNegative { bytes.append(UInt8(ascii: "-")) }
      if point <= 0 {
        bytes.append(contentsOf: "0.".utf8)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: -point))
        bytes.append(contentsOf: digits)
      } else if exponent < 0 {
        bytes.append(contentsOf: digits.prefix(point))
        bytes.append(UInt8(ascii: "."))
        bytes.append(contentsOf: digits.dropFirst(point))
      } else {
        bytes.append(contentsOf: digits)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: exponent))
      }
    }
  }

  // MARK: - Values

  /// Parses an integer, even if it is written with a fraction of zeros or an exponent; nil for any other number.
  static func integer<Integer: FixedWidthInteger>(_ text: String, as type: Integer.Type) -> Integer? {
    if let integer = Integer(text) { return integer }
    if let double = Double(text) {
      guard let integer = Integer(exactly: double) else { return nil }
      // From 2^53 on, two integers may have the same double.
      if double.magnitude < 0x1p53 { return integer }
    }
    guard let decimal = Decimal(string: text), decimal.isFinite else { return nil }
    return Integer(decimal.description)
  }

  /// Writes a double as JSON text, without a fraction if it is integral.
  static func write(_ double: Double, to bytes: inout [UInt8]) {
    let text = double.description
    bytes.append(contentsOf: (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8)
  }
}
