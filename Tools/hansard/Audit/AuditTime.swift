import ArgumentParser
import ChatPrimitives

/// A time from the command line: RFC 3339, or a date, which means the whole day in UTC.
struct AuditTime: ExpressibleByArgument {
  /// The day's first millisecond, or the time itself.
  let earliest: Timestamp
  /// The day's last millisecond, or the time itself.
  let latest: Timestamp

  private static let dayMilliseconds: Int64 = 24 * 60 * 60 * 1000

  init?(argument: String) {
    if let time = Timestamp(rfc3339: argument) {
      earliest = time
      latest = time
    } else if let day = Timestamp(rfc3339: argument + "T00:00:00Z") {
      earliest = day
      latest = day.adding(milliseconds: Self.dayMilliseconds - 1)
    } else {
      return nil
    }
  }
}
