import ChatDomain
import ChatPrimitives
import ChatProjections
import GRDB

/// The users whom an event may concern, with their devices.
struct RecipientQueries {
  /// Which devices are looked up.
  enum Selection {
    case all
    /// Only those that the event may notify. For an event that is only a change in a room, these are few.
    case notifiable
  }

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Whether the event may notify a device. For most events this is false, so their recipients are not looked up. It
  /// does not read the rooms' tables.
  func mayNotify(_ event: PushEvent) throws -> Bool {
    guard event.skipReason == nil else { return false }
    return switch event.change {
    case .message(let room, _), .deletion(let room, _, _): try hasRecipients(in: room)
    case .reading(_, let user, _, _), .invitation(_, let user), .blocks(let user):
      try hasDevice(user, besides: event.device)
    case .reaction(let room, _, _, let author):
      try author.map { try $0 != event.actor && hasDevice($0) } ?? false || mayNotifyChange(event, in: room)
    case .added(let room, let user), .departed(let room, let user):
      try hasDevice(user) || mayNotifyChange(event, in: room)
    case .room(let room, _): try mayNotifyChange(event, in: room)
    }
  }

  func hasDevice(_ user: UserID, besides device: DeviceID? = nil) throws -> Bool {
    try CachedStatement(database, "SELECT EXISTS (SELECT 1 FROM pushDevice WHERE userId = ? AND deviceId IS NOT ?)")
      .first(user, device) { try $0.number() == 1 } ?? false
  }

  private func hasRecipients(in room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT EXISTS (SELECT 1 FROM recipient WHERE roomId = ?)")
      .first(room) { try $0.number() == 1 } ?? false
  }

  private func mayNotifyChange(_ event: PushEvent, in room: RoomID) throws -> Bool {
    try wantsChanges(in: room) && !leavesOutChange(of: event)
  }

  /// Whether the event leads to no `roomChange`: too many devices would get it, and they got one of an earlier frequent
  /// event in the same period.
  func leavesOutChange(of event: PushEvent) throws -> Bool {
    guard event.isFrequent, let room = event.room else { return false }
    return try hasEarlierChange(than: event, in: room) && isCrowded(room)
  }

  /// Whether the devices of a crowded room get a `roomChange` of this event, and of no later frequent one in the same
  /// period.
  func isFirstInCrowdedRoom(_ event: PushEvent) throws -> Bool {
    guard event.isFrequent, event.skipReason == nil, let room = event.room else { return false }
    return try !hasEarlierChange(than: event, in: room) && isCrowded(room)
  }

  /// Whether an earlier frequent event of the same period was noted for the room (`RecipientsWriter.note`).
  private func hasEarlierChange(than event: PushEvent, in room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM crowdedChange WHERE roomId = ? AND period = ? AND position < ?")
      .exists(room, event.period, event.position)
  }

  /// Whether more than `FanOut.RoomContext.crowdedDevices` devices in the room have `roomChanges`.
  private func isCrowded(_ room: RoomID) throws -> Bool {
    let devices = try CachedStatement(
      database,
      """
      SELECT count(*) FROM (
        SELECT 1 FROM recipient CROSS JOIN pushDevice INDEXED BY pushDevice_for_room_changes
          ON pushDevice.userId = recipient.userId AND pushDevice.roomChanges = 1
        WHERE recipient.roomId = ? LIMIT ?)
      """
    ).first(room, FanOut.RoomContext.crowdedDevices + 1) { try $0.number() }
    return Int(devices ?? 0) > FanOut.RoomContext.crowdedDevices
  }

  /// Whether a member's device asked for changes of rooms. If no device of any user asked, it does not read the
  /// members.
  private func wantsChanges(in room: RoomID) throws -> Bool {
    try CachedStatement(
      database,
      """
      SELECT EXISTS (SELECT 1 FROM pushDevice WHERE roomChanges = 1) AND EXISTS (
        SELECT 1 FROM recipient CROSS JOIN pushDevice INDEXED BY pushDevice_for_room_changes
          ON pushDevice.userId = recipient.userId AND pushDevice.roomChanges = 1
        WHERE recipient.roomId = ?)
      """
    ).first(room) { try $0.number() == 1 } ?? false
  }

  // MARK: - Recipients

  /// The columns that `readUser` reads. `person` is the table with the user's ID.
  private static func userColumns(_ person: String) -> String {
    """
    \(person).userId, EXISTS (SELECT 1 FROM disabledUser WHERE disabledUser.userId = \(person).userId),
    EXISTS (SELECT 1 FROM block WHERE block.blockedId = ?1 AND block.blockerId = \(person).userId),
    preference.notifications, preference.mutedKinds, preference.quietFrom, preference.quietTo, preference.timeZone,
    preference.showsPreviews
    """
  }

  private static let memberColumns =
    "member.joinedOrdinal, \(RoomsQueries.readThrough), member.mutedUntil, member.notifications"

  /// The members who have a device, ordered by ID, and then the user who just left; all with their devices. The rooms'
  /// tables must include the event and nothing after it.
  ///
  /// - Parameter context: where the event happened.
  func recipients(
    of event: PushEvent, in context: FanOut.RoomContext, _ selection: Selection
  ) throws -> [FanOut.Recipient] {
    if let user = event.onlyUser { return [try recipient(user, of: event)] }
    guard let room = event.room else { return [] }
    var recipients: [FanOut.Recipient] = []
    let (only, wanted) = Self.subject(of: event, selection)
    // Then nobody gets a `roomChange`.
    if only, event.isFrequent, context.leavesOutChanges {
      let users = [wanted, event.departed].compactMap { $0 }
      return try users.map { try recipient($0, of: event) }
    }
    try CachedStatement(
      database,
      """
      SELECT \(Self.userColumns("recipient")), \(Self.memberColumns), \(PushQueries.deviceColumns)
      FROM recipient
      CROSS JOIN member ON member.roomId = recipient.roomId AND member.userId = recipient.userId
      CROSS JOIN pushDevice ON pushDevice.userId = recipient.userId
      LEFT JOIN pushPreference AS preference ON preference.userId = recipient.userId
      WHERE recipient.roomId = ?2 AND (?3 = 0 OR pushDevice.roomChanges = 1 OR pushDevice.userId = ?4)
      ORDER BY recipient.userId, pushDevice.deviceId
      """
    ).forEach(event.actor, room, only, wanted) { row in
      var recipient = try Self.readUser(&row)
      recipient.membership = .member(try Self.readMember(&row))
      recipient.devices = [try PushQueries.readDevice(&row)]
      if recipients.last?.user == recipient.user {
        recipients[recipients.count - 1].devices += recipient.devices
      } else {
        recipients.append(recipient)
      }
    }
    if let user = event.departed { recipients.append(try recipient(user, of: event)) }
    return recipients
  }

  /// Whether only devices that asked for changes of rooms can be notified, and the user all of whose devices can be.
  private static func subject(of event: PushEvent, _ selection: Selection) -> (only: Bool, besides: UserID?) {
    guard case .notifiable = selection else { return (false, nil) }
    return switch event.change {
    case .message, .deletion, .reading, .invitation, .blocks: (false, nil)
    case .reaction(_, _, _, let author): (true, author)
    case .added(_, let user): (true, user)
    case .departed, .room: (true, nil)
    }
  }

  /// The users who left the room before the event and did not return, with their devices.
  func formerMembers(for event: PushEvent) throws -> [FanOut.Recipient] {
    guard let room = event.room, event.onlyUser == nil else { return [] }
    return try CachedStatement(
      database, "SELECT userId FROM formerMember WHERE roomId = ? AND leftPosition < ? ORDER BY userId"
    ).all(room, event.position) { try $0.id(UserID.self) }.map { try recipient($0, of: event) }
  }

  /// One user with all devices, whether or not the user is a member.
  func recipient(_ user: UserID, of event: PushEvent) throws -> FanOut.Recipient {
    var recipient =
      try CachedStatement(
        database,
        """
        SELECT \(Self.userColumns("asked")) FROM (SELECT ?2 AS userId) AS asked
        LEFT JOIN pushPreference AS preference ON preference.userId = asked.userId
        """
      ).first(event.actor, user, read: Self.readUser) ?? FanOut.Recipient(user: user, membership: nil, devices: [])
    recipient.devices = try CachedStatement(
      database, "SELECT \(PushQueries.deviceColumns) FROM pushDevice WHERE userId = ? ORDER BY deviceId"
    ).all(user, read: PushQueries.readDevice)
    guard let room = event.room else { return recipient }
    let member = try CachedStatement(
      database, "SELECT \(Self.memberColumns) FROM member WHERE roomId = ? AND userId = ?"
    ).first(room, user, read: Self.readMember)
    if let member {
      recipient.membership = .member(member)
    } else {
      let left = try CachedStatement(database, "SELECT leftPosition FROM formerMember WHERE roomId = ? AND userId = ?")
        .first(room, user) { try $0.position() }
      recipient.membership = left.map { .left(at: $0) } ?? .joinsLater
    }
    return recipient
  }

  private static func readUser(_ row: inout RowReader) throws -> FanOut.Recipient {
    let user: UserID = try row.id()
    let (isDisabled, hasBlockedActor) = try (row.number() != 0, row.number() != 0)
    return FanOut.Recipient(
      user: user, membership: nil, isDisabled: isDisabled, hasBlockedActor: hasBlockedActor,
      preferences: try readPreferences(&row), devices: [])
  }

  /// Reads six columns, which are NULL if the user has never set a preference.
  static func readPreferences(_ row: inout RowReader) throws -> UserPreferences {
    guard !row.isNull else {
      row.skip(6)
      return UserPreferences()
    }
    let level: NotificationLevel = try row.choice()
    let kinds = AlertKinds(bits: try row.narrow())
    let from = try row.optional { TimeOfDay(minutes: try $0.narrow()) } ?? nil
    let to = try row.optional { TimeOfDay(minutes: try $0.narrow()) } ?? nil
    let zone = try row.optional { try $0.text() }
    var quietHours: QuietHours?
    if let from, let to, let zone { quietHours = QuietHours(from: from, to: to, timeZone: zone) }
    return UserPreferences(
      notifications: level, mutedKinds: kinds, quietHours: quietHours, showsPreviews: try row.number() != 0)
  }

  private static func readMember(_ row: inout RowReader) throws -> FanOut.Member {
    let (joined, readThrough) = try (row.unsigned(), row.unsigned())
    return FanOut.Member(
      mutedUntil: try row.optional { try $0.time() }, level: try row.optional { try $0.choice() },
      readThrough: max(readThrough, joined))
  }
}

extension PushEvent {
  /// The user who has just left the room.
  fileprivate var departed: UserID? {
    if case .departed(_, let user) = change { user } else { nil }
  }
}
