/// Formats numbers for people.
enum Quantity {
  /// `1,234,567`
  static func count(_ value: UInt64) -> String {
    let digits = Array(String(value))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  static func count(_ value: Int) -> String {
    value < 0 ? "-" + count(value.magnitude.asUInt64) : count(value.magnitude.asUInt64)
  }

  /// `512 B`, `1.5 KiB`, `64.0 MiB`
  static func bytes(_ value: UInt64) -> String {
    guard value >= 1024 else { return "\(value) B" }
    var rest = Double(value) / 1024
    var unit = 0
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"]
    while rest >= 1024, unit < units.count - 1 {
      rest /= 1024
      unit += 1
    }
    return "\(decimal(rest, digits: 1)) \(units[unit])"
  }

  /// Formats a number with a fixed number of digits after the decimal point.
  static func decimal(_ value: Double, digits: Int) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return "-" }
    var scale: UInt64 = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = UInt64((value.magnitude * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  /// `12.3 %`, or a dash if the whole is zero.
  static func share(_ part: UInt64, of whole: UInt64) -> String {
    whole == 0 ? "-" : decimal(Double(part) / Double(whole) * 100, digits: 1) + " %"
  }

  /// `1.23 s`, `3 min 05 s`
  static func seconds(_ value: Double) -> String {
    guard value.isFinite, value >= 60, value < 1e9 else { return decimal(value, digits: 2) + " s" }
    let whole = Int(value.rounded())
    let rest = whole % 60
    return "\(whole / 60) min \(rest < 10 ? "0" : "")\(rest) s"
  }
}

extension UInt {
  fileprivate var asUInt64: UInt64 { UInt64(self) }
}
