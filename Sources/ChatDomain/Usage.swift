package import ChatPrimitives

/// What a user has used of a day's quota.
package struct Usage: Sendable, Hashable {
  package var messages: UInt64
  /// Of media that were uploaded.
  package var mediaBytes: UInt64

  package init(messages: UInt64 = 0, mediaBytes: UInt64 = 0) {
    self.messages = messages
    self.mediaBytes = mediaBytes
  }

  /// What a fact uses, and nothing for what a service did: that is the operator's own doing.
  package init(of recorded: RecordedEvent) {
    self.init()
    if recorded.service == nil { self = Usage(of: recorded.event) }
  }

  /// A scheduled message is used when it is scheduled; the server sends it, which is then free.
  package init(of event: ChatEvent) {
    self.init()
    switch event {
    case .room(_, .messageSent), .room(_, .messageScheduled): messages = 1
    case .user(_, .mediaUploaded(_, let media, _)): mediaBytes = media.size
    case .room, .user, .workspace, .server: break
    }
  }

  package var isNothing: Bool { messages == 0 && mediaBytes == 0 }

  package static func + (left: Usage, right: Usage) -> Usage {
    Usage(messages: left.messages &+ right.messages, mediaBytes: left.mediaBytes &+ right.mediaBytes)
  }
}

/// How much a user may use on one day. Nil stands for no limit.
package struct Quotas: Sendable, Hashable {
  package var messagesPerDay: UInt64?
  package var mediaBytesPerDay: UInt64?

  package init(messagesPerDay: UInt64? = nil, mediaBytesPerDay: UInt64? = nil) {
    self.messagesPerDay = messagesPerDay
    self.mediaBytesPerDay = mediaBytesPerDay
  }

  package var areOff: Bool { messagesPerDay == nil && mediaBytesPerDay == nil }

  /// Only what is asked for is held against its limit: who has no bytes left may still send a text.
  func allow(_ wanted: Usage, after used: Usage) -> Bool {
    Self.fits(wanted.messages, after: used.messages, under: messagesPerDay)
      && Self.fits(wanted.mediaBytes, after: used.mediaBytes, under: mediaBytesPerDay)
  }

  private static func fits(_ wanted: UInt64, after used: UInt64, under limit: UInt64?) -> Bool {
    guard let limit, wanted > 0 else { return true }
    let (sum, overflow) = used.addingReportingOverflow(wanted)
    return !overflow && sum <= limit
  }
}

/// A day in UTC, by its number since 1970.
package struct UsageDay: Sendable, Hashable, Comparable {
  package let number: Int64

  private static let milliseconds: Int64 = 86_400_000

  package init(number: Int64) {
    self.number = number
  }

  package init(of time: Timestamp) {
    // Rounded down, before 1970 too.
    number =
      (time.milliseconds - ((time.milliseconds % Self.milliseconds) + Self.milliseconds) % Self.milliseconds)
      / Self.milliseconds
  }

  /// Until the day is over, rounded up.
  package func secondsLeft(at time: Timestamp) -> Int {
    Int(clamping: ((number + 1) * Self.milliseconds - time.milliseconds + 999) / 1000)
  }

  package static func < (left: UsageDay, right: UsageDay) -> Bool { left.number < right.number }
}

/// What every user has used on the day of the last event that used anything. Days are those of the events' times, so a
/// day that the clock was ahead on does not hold up the days before it.
package struct DailyUsage: Sendable, Hashable {
  package private(set) var day: UsageDay
  package private(set) var users: [UserID: Usage]

  package init(day: UsageDay = UsageDay(number: .min), users: [UserID: Usage] = [:]) {
    self.day = day
    self.users = users
  }

  package func used(by user: UserID, on day: UsageDay) -> Usage {
    day == self.day ? users[user] ?? Usage() : Usage()
  }

  /// - Throws: `quotaExceeded` when the user may not use so much more on the day of `time`.
  package func check(_ wanted: Usage, by user: UserID, at time: Timestamp, under quotas: Quotas) throws(Rejection) {
    guard quotas.allow(wanted, after: used(by: user, on: UsageDay(of: time))) else { throw .quotaExceeded }
  }

  /// Notes what was used. Another day forgets the one before.
  package mutating func charge(_ used: Usage, to user: UserID, at time: Timestamp) {
    let day = UsageDay(of: time)
    guard !used.isNothing else { return }
    if day != self.day {
      self.day = day
      users.removeAll(keepingCapacity: true)
    }
    users[user] = users[user, default: Usage()] + used
  }
}
