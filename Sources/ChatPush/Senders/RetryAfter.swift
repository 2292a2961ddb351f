import Foundation

/// The header `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// The longest delay that is obeyed, in seconds: a notification is of no use after a day.
  static let longestSeconds: Int64 = RetryPolicy.lifetimeMilliseconds / 1000

  /// - Parameter text: seconds, or a date.
  /// - Returns: nil if the text is neither.
  static func delay(_ text: String, at now: Date) -> Duration? {
    let text = text.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(min(Int64(text) ?? longestSeconds, longestSeconds))
    }
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    guard let date = format.date(from: text) else { return nil }
    return .seconds(min(max(Int64(date.timeIntervalSince(now).rounded(.up)), 0), longestSeconds))
  }
}
