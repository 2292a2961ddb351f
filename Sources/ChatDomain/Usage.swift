package import ChatPrimitives

/// How much of one day's quotas a user has used.
package struct Usage: Sendable, Hashable {
  package var messages: UInt64
  /// Bytes of uploaded files.
  package var mediaBytes: UInt64
  package var rooms: UInt64
  package var workspaces: UInt64
  /// Invites to rooms and workspaces, and users who were invited by name.
  package var invites: UInt64
  /// Bytes of scheduled messages and of changes to them.
  package var scheduledBytes: UInt64
  package var events: UInt64
  /// See `ChatEvent.chargedBytes`.
  package var bytes: UInt64

  package init(
    messages: UInt64 = 0, mediaBytes: UInt64 = 0, rooms: UInt64 = 0, workspaces: UInt64 = 0, invites: UInt64 = 0,
    scheduledBytes: UInt64 = 0, events: UInt64 = 0, bytes: UInt64 = 0
  ) {
    self.messages = messages
    self.mediaBytes = mediaBytes
    self.rooms = rooms
    self.workspaces = workspaces
    self.invites = invites
    self.scheduledBytes = scheduledBytes
    self.events = events
    self.bytes = bytes
  }

  /// What an event uses. An event of a service uses nothing, because services belong to the operator.
  package init(of recorded: RecordedEvent) {
    self.init()
    if recorded.service == nil { self = Usage(ofAnyone: recorded) }
  }

  /// The same, but an event of a service uses what that of a user would.
  package init(ofAnyone recorded: RecordedEvent) {
    self = Usage(of: recorded.event)
    // The payload of an event in another user's stream is erased with that user, and the usage must not depend on that.
    if case .user(let owner, _) = recorded.event, owner != recorded.actor { bytes = ChatEvent.chargedBytesOfRecord }
  }

  /// A scheduled message counts when it is scheduled. Sending it uses nothing, because the server does that.
  package init(of event: ChatEvent) {
    self.init(events: 1, bytes: event.chargedBytes)
    switch event {
    case .user(_, let event): count(event)
    case .room(_, let event): count(event)
    case .workspace(_, let event): count(event)
    case .server: break
    }
  }

  private mutating func count(_ event: UserEvent) {
    switch event {
    case .media(.uploaded(_, let media, _)): mediaBytes = media.size
    case .account, .logins, .sessions, .devices, .blocks, .deletion, .erased: break
    }
  }

  private mutating func count(_ event: RoomEvent) {
    switch event {
    case .messages(.sent): messages = 1
    case .scheduling(.scheduled):
      messages = 1
      scheduledBytes = bytes
    case .scheduling(.changed): scheduledBytes = bytes
    case .lifecycle(.created): rooms = 1
    case .sharing(.inviteCreated): invites = 1
    case .messages(.edited), .messages(.deleted), .scheduling(.cancelled), .scheduling(.failed), .lifecycle(.edited),
      .lifecycle(.archived), .lifecycle(.restored), .lifecycle(.deleted), .sharing(.inviteRevoked), .members,
      .annotations, .reading, .threads, .reports, .erased:
      break
    }
  }

  private mutating func count(_ event: WorkspaceEvent) {
    switch event {
    case .lifecycle(.created): workspaces = 1
    case .sharing(.inviteCreated), .invitations(.invited): invites = 1
    case .lifecycle(.edited), .lifecycle(.deleted), .sharing(.inviteRevoked), .invitations(.withdrawn),
      .members, .erased:
      break
    }
  }

  package var isNothing: Bool { self == Usage() }

  package static func + (left: Usage, right: Usage) -> Usage {
    Usage(
      messages: left.messages &+ right.messages, mediaBytes: left.mediaBytes &+ right.mediaBytes,
      rooms: left.rooms &+ right.rooms, workspaces: left.workspaces &+ right.workspaces,
      invites: left.invites &+ right.invites, scheduledBytes: left.scheduledBytes &+ right.scheduledBytes,
      events: left.events &+ right.events, bytes: left.bytes &+ right.bytes)
  }
}

/// A day in UTC, as its number since 1970.
package struct UsageDay: Sendable, Hashable, Comparable {
  package let number: Int64

  private static let milliseconds: Int64 = 86_400_000

  package init(number: Int64) {
    self.number = number
  }

  package init(of time: Timestamp) {
    // Rounded down, also before 1970.
    number =
      (time.milliseconds - ((time.milliseconds % Self.milliseconds) + Self.milliseconds) % Self.milliseconds)
      / Self.milliseconds
  }

  /// Seconds until the day ends, rounded up.
  package func secondsLeft(at time: Timestamp) -> Int {
    Int(clamping: ((number + 1) * Self.milliseconds - time.milliseconds + 999) / 1000)
  }

  package static func < (left: UsageDay, right: UsageDay) -> Bool { left.number < right.number }
}

/// What every user has used on the day of the last event that used something. The day is that of the event's time, so a
/// day on which the clock was ahead does not block the days before it.
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

  /// - Parameter purpose: how quotas treat the events that are to be recorded.
  /// - Throws: `quotaExceeded` if the user may not use that much more on the day of `time`.
  package func check(
    _ wanted: Usage, for purpose: QuotaPurpose = .adding, by user: UserID, at time: Timestamp, under quotas: Quotas
  ) throws(Rejection) {
    let used = used(by: user, on: UsageDay(of: time))
    guard quotas.allow(wanted, for: purpose, after: used) else { throw .quotaExceeded }
  }

  /// Adds what was used. The first use on another day clears the day before.
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
