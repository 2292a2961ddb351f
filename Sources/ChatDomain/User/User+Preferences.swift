import ChatPrimitives

/// A user's own settings.
package struct UserPreferences: Sendable, Hashable {
  /// Whether others see how far the user has read.
  package var sharesReadMarkers: Bool
  /// Whether others can write to the user in direct rooms of two, and create direct rooms with the user.
  package var acceptsDirectMessages: Bool
  /// Whether others see that the user is online or typing.
  package var sharesPresence: Bool
  /// Which notifications the user wants in rooms without a level of their own.
  package var notifications: NotificationLevel
  /// The kinds of notifications that the user switched off.
  package var mutedKinds: AlertKinds
  /// When notifications arrive without an alert; nil for never.
  package var quietHours: QuietHours?
  /// Whether notifications contain texts and names.
  package var showsPreviews: Bool
  package var contacts: ContactRules

  package init(
    sharesReadMarkers: Bool = true, acceptsDirectMessages: Bool = true, sharesPresence: Bool = true,
    notifications: NotificationLevel = .all, mutedKinds: AlertKinds = [], quietHours: QuietHours? = nil,
    showsPreviews: Bool = true, contacts: ContactRules = ContactRules()
  ) {
    self.sharesReadMarkers = sharesReadMarkers
    self.acceptsDirectMessages = acceptsDirectMessages
    self.sharesPresence = sharesPresence
    self.notifications = notifications
    self.mutedKinds = mutedKinds
    self.quietHours = quietHours
    self.showsPreviews = showsPreviews
    self.contacts = contacts
  }
}

/// A change of a user's preferences. A preference that is nil does not change.
package struct PreferencesEdit: Sendable, Hashable {
  package var sharesReadMarkers: Bool?
  package var acceptsDirectMessages: Bool?
  package var sharesPresence: Bool?
  package var notifications: NotificationLevel?
  package var mutedKinds: AlertKinds?
  package var quietHours: QuietHoursEdit?
  package var showsPreviews: Bool?
  package var directRooms: ContactRule?
  package var groupAdditions: ContactRule?

  package init(
    sharesReadMarkers: Bool? = nil, acceptsDirectMessages: Bool? = nil, sharesPresence: Bool? = nil,
    notifications: NotificationLevel? = nil, mutedKinds: AlertKinds? = nil, quietHours: QuietHoursEdit? = nil,
    showsPreviews: Bool? = nil, directRooms: ContactRule? = nil, groupAdditions: ContactRule? = nil
  ) {
    self.sharesReadMarkers = sharesReadMarkers
    self.acceptsDirectMessages = acceptsDirectMessages
    self.sharesPresence = sharesPresence
    self.notifications = notifications
    self.mutedKinds = mutedKinds
    self.quietHours = quietHours
    self.showsPreviews = showsPreviews
    self.directRooms = directRooms
    self.groupAdditions = groupAdditions
  }

  package var isEmpty: Bool { self == PreferencesEdit() }

  var textBytes: Int { quietHours?.hours?.timeZone.byteCount ?? 0 }
}

extension UserPreferences {
  package mutating func apply(_ edit: PreferencesEdit) {
    if let sharesReadMarkers = edit.sharesReadMarkers { self.sharesReadMarkers = sharesReadMarkers }
    if let acceptsDirectMessages = edit.acceptsDirectMessages { self.acceptsDirectMessages = acceptsDirectMessages }
    if let sharesPresence = edit.sharesPresence { self.sharesPresence = sharesPresence }
    if let notifications = edit.notifications { self.notifications = notifications }
    if let mutedKinds = edit.mutedKinds { self.mutedKinds = mutedKinds }
    if let quietHours = edit.quietHours { self.quietHours = quietHours.hours }
    if let showsPreviews = edit.showsPreviews { self.showsPreviews = showsPreviews }
    if let directRooms = edit.directRooms { contacts.directRooms = directRooms }
    if let groupAdditions = edit.groupAdditions { contacts.groupAdditions = groupAdditions }
  }
}

// MARK: - Kinds

/// A kind of notification that shows an alert (decision 0033). The raw values are in the log; the names are in the API.
package enum AlertKind: UInt8, NamedValue {
  case message = 1
  case mention = 2
  case reply = 3
  case reminder = 4
  case reaction = 5
  case invitation = 6
  case added = 7

  package var name: String {
    switch self {
    case .message: "message"
    case .mention: "mention"
    case .reply: "reply"
    case .reminder: "reminder"
    case .reaction: "reaction"
    case .invitation: "invitation"
    case .added: "added"
    }
  }
}

/// A set of kinds in one byte, because one is kept in memory for each user.
package struct AlertKinds: Sendable, Hashable, ExpressibleByArrayLiteral {
  /// One bit for each kind; read models store it.
  package let bits: UInt8

  package init(bits: UInt8) { self.bits = bits }

  package init(_ kinds: some Sequence<AlertKind>) { bits = kinds.reduce(0) { $0 | Self.bit(of: $1) } }

  package init(arrayLiteral kinds: AlertKind...) { self.init(kinds) }

  package func contains(_ kind: AlertKind) -> Bool { bits & Self.bit(of: kind) != 0 }

  /// In the order of their raw values.
  package var kinds: [AlertKind] { AlertKind.allCases.filter(contains) }

  private static func bit(of kind: AlertKind) -> UInt8 { 1 << (kind.rawValue - 1) }
}

// MARK: - Quiet hours

/// A part of each day. It may span midnight.
package struct QuietHours: Sendable, Hashable {
  package var from: TimeOfDay
  /// Not included.
  package var to: TimeOfDay
  /// A name of the IANA time zone database. The domain checks only its form.
  package var timeZone: String

  package init(from: TimeOfDay, to: TimeOfDay, timeZone: String) {
    self.from = from
    self.to = to
    self.timeZone = timeZone
  }
}

package enum QuietHoursEdit: Sendable, Hashable {
  case set(QuietHours)
  case remove

  /// The quiet hours after the change.
  package var hours: QuietHours? {
    switch self {
    case .set(let hours): hours
    case .remove: nil
    }
  }
}

/// Hours and minutes on a clock.
package struct TimeOfDay: Sendable, Hashable {
  private static let minutesPerDay: UInt16 = 24 * 60

  /// Since midnight.
  package let minutes: UInt16

  /// Nil if a day does not have so many minutes.
  package init?(minutes: UInt16) {
    guard minutes < Self.minutesPerDay else { return nil }
    self.minutes = minutes
  }

  /// - Parameter text: `HH:MM`, from `00:00` to `23:59`.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), let hour = Self.number(bytes[0], bytes[1]),
      let minute = Self.number(bytes[3], bytes[4]), hour < 24, minute < 60
    else { return nil }
    minutes = hour * 60 + minute
  }

  /// `HH:MM`
  package var text: String { Self.digits(minutes / 60) + ":" + Self.digits(minutes % 60) }

  private static func number(_ tens: UInt8, _ ones: UInt8) -> UInt16? {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard digits.contains(tens), digits.contains(ones) else { return nil }
    return UInt16(tens - digits.lowerBound) * 10 + UInt16(ones - digits.lowerBound)
  }

  private static func digits(_ number: UInt16) -> String { (number < 10 ? "0" : "") + String(number) }
}

extension TextRules {
  /// The times differ, and the time zone has the form of a name: parts of letters, digits, `_`, `+` and `-`, separated
  /// by slashes.
  static func quietHours(_ hours: QuietHours) throws(Rejection) {
    let parts = hours.timeZone.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard hours.from != hours.to, hours.timeZone.utf8.count <= Limits.timeZoneBytes,
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isOfTimeZone) })
    else { throw .quietHoursMalformed }
  }

  private static func isOfTimeZone(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || [UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains(byte)
  }
}

// MARK: - Fingerprint

extension Fingerprint {
  /// Newer preferences that a change does not set are left out, so that older changes keep their fingerprints.
  static func preferenceSetting(_ edit: PreferencesEdit) -> Fingerprint {
    var fields: [Field] = [.text("preferences.set"), .number(edit.sharesReadMarkers.map { $0 ? 1 : 0 })]
    if edit.acceptsDirectMessages != nil || edit.sharesPresence != nil {
      fields.append(.number(edit.acceptsDirectMessages.map { $0 ? 1 : 0 }))
    }
    if let sharesPresence = edit.sharesPresence { fields.append(.number(sharesPresence ? 1 : 0)) }
    if let level = edit.notifications { fields += [.text("notifications"), .number(Int64(level.rawValue))] }
    if let kinds = edit.mutedKinds { fields += [.text("mutedKinds"), .number(Int64(kinds.bits))] }
    if let quiet = edit.quietHours {
      fields += [
        .text("quietHours"), .number((quiet.hours?.from.minutes).map { Int64($0) }),
        .number((quiet.hours?.to.minutes).map { Int64($0) }), .text(quiet.hours?.timeZone),
      ]
    }
    if let shows = edit.showsPreviews { fields += [.text("showsPreviews"), .number(shows ? 1 : 0)] }
    if let rule = edit.directRooms { fields += [.text("directRooms"), .number(Int64(rule.rawValue))] }
    if let rule = edit.groupAdditions { fields += [.text("groupAdditions"), .number(Int64(rule.rawValue))] }
    return Fingerprint(fields)
  }
}
