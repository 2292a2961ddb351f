/// The range that a `Range` header requests (RFC 9110, section 14). Only one range of bytes is supported; any other
/// request gets the whole file, as the RFC allows.
enum ByteRange: Equatable {
  case whole
  case part(Range<Int>)
  /// The file has no byte in the range.
  case unsatisfiable

  /// - Parameter size: the size of the whole file in bytes.
  init(_ header: String?, size: Int) {
    guard let header, let bounds = Self.bounds(header) else {
      self = .whole
      return
    }
    switch bounds {
    case (let first?, let last):
      guard last.map({ $0 >= first }) ?? true else {
        self = .whole
        return
      }
      self = first < size ? .part(first..<min(last.map { $0 == .max ? $0 : $0 + 1 } ?? size, size)) : .unsatisfiable
    case (nil, let suffix?):
      self = suffix > 0 && size > 0 ? .part(max(0, size - suffix)..<size) : .unsatisfiable
    case (nil, nil):
      self = .whole
    }
  }

  /// `first-last`, `first-` or `-suffix`; nil for anything else.
  private static func bounds(_ header: String) -> (first: Int?, last: Int?)? {
    let parts = header.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    let bounds = parts[1].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let first = number(bounds[0]), let last = number(bounds[1]) else { return nil }
    return (first, last)
  }

  /// Returns `.some(nil)` if there are no digits, and nil if the text is not a number. A number that is too large
  /// becomes `Int.max`.
  private static func number(_ digits: Substring) -> Int?? {
    guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return .some(digits.isEmpty ? nil : Int(digits) ?? .max)
  }
}
