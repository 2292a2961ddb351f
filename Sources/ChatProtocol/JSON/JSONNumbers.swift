import Foundation

/// JSON numbers: their canonical form, and their values in Swift's types.
///
/// The canonical form of a number is an integer's digits where it is one of 64 bits, else its digits without an exponent
/// where they are at most 38 (`Decimal`), else what a double is written as. The logs of the first versions hold it, and
/// retries are compared by it, so it stays.
enum JSONNumbers {
  /// - Returns: false when a double cannot hold it.
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

  /// A number as `digits` times ten to the power of `exponent`, without zeros at either end: nearly every number can be
  /// written from its text alone, at a fraction of what `Decimal` costs.
  private struct Parts {
    /// What a `Decimal` holds exactly, whatever the digits are.
    static let mostDigits = 38
    static let exponents = -128...127
    /// So many digits a double holds exactly.
    static let doubleDigits = 15
    /// No exponent beyond this is of a number that can be kept exactly, and sums of smaller ones cannot overflow.
    static let largestExponent = 1000

    var isNegative = false
    var digits: [UInt8] = []
    var exponent = 0

    /// Nil for a number that is too long or too large for this.
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

    /// - Parameter text: the same number, as it came.
    func write(_ text: String, to bytes: inout [UInt8]) {
      guard !digits.isEmpty else { return bytes.append(UInt8(ascii: "0")) }
      let point = digits.count + exponent
      // The first versions took a number for an integer where its double is one, and cut off the rest of digits that fit
      // 64 bits.
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

  /// An integer, also where it is written with a fraction of zeros or an exponent; nil for any other number.
  static func integer<Integer: FixedWidthInteger>(_ text: String, as type: Integer.Type) -> Integer? {
    if let integer = Integer(text) { return integer }
    if let double = Double(text) {
      guard let integer = Integer(exactly: double) else { return nil }
      // Beyond, two integers may be the same double.
      if double.magnitude < 0x1p53 { return integer }
    }
    guard let decimal = Decimal(string: text), decimal.isFinite else { return nil }
    return Integer(decimal.description)
  }

  /// As JSON has it: without a fraction of zero.
  static func write(_ double: Double, to bytes: inout [UInt8]) {
    let text = double.description
    bytes.append(contentsOf: (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8)
  }
}
