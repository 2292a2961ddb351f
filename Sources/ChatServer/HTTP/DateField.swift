import Foundation
import Synchronization

/// The value of the header field `Date` (RFC 9110, section 5.6.7). It is formatted at most once a second.
final class DateField: Sendable {
  private struct Formatted {
    var time: time_t
    var text: String
  }

  private let last = Mutex<Formatted?>(nil)

  /// - Parameter now: seconds since 1970.
  func text(at now: time_t = time(nil)) -> String {
    last.withLock { last in
      if let last, last.time == now { return last.text }
      let text = Self.format(now)
      last = Formatted(time: now, text: text)
      return text
    }
  }

  private static func format(_ time: time_t) -> String {
    var (time, parts) = (time, tm())
    gmtime_r(&time, &parts)
    // The names are English, because the program does not set a locale.
    var text = [CChar](repeating: 0, count: 32)
    let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
