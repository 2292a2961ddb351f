package import ChatDomain
package import ChatPrimitives
import Foundation

/// The time of an event, which is compared with quiet hours. It is converted to each time zone once.
package struct QuietTime {
  private let time: Timestamp
  /// The minutes since midnight, by the name of the zone. Nil for an unknown zone.
  private var minutes: [String: UInt16?] = [:]

  package init(of time: Timestamp) { self.time = time }

  /// Whether the moment is in these hours. In an unknown time zone it never is, so that no alert is lost.
  package mutating func isIn(_ hours: QuietHours?) -> Bool {
    guard let hours, let now = minutes(in: hours.timeZone) else { return false }
    let (from, to) = (hours.from.minutes, hours.to.minutes)
    return from < to ? from <= now && now < to : now >= from || now < to
  }

  private mutating func minutes(in zone: String) -> UInt16? {
    if let known = minutes[zone] { return known }
    let found = TimeZone(identifier: zone).map { zone in
      let seconds = time.milliseconds / 1000
      let date = Date(timeIntervalSince1970: Double(seconds))
      let local = (seconds + Int64(zone.secondsFromGMT(for: date))) % Self.secondsPerDay
      return UInt16((local + Self.secondsPerDay) % Self.secondsPerDay / 60)
    }
    minutes[zone] = .some(found)
    return found
  }

  private static let secondsPerDay: Int64 = 24 * 60 * 60
}
