package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import GRDB

/// The queries on the outbox.
package struct PushQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// The position up to which all notifications are settled according to the log. Nil if push was never switched on.
  package func settledThrough() throws -> LogPosition? {
    try CachedStatement(database, "SELECT settledThrough FROM settlement WHERE id = 1").first { try $0.position() }
  }

  /// The next notifications, in the order of their events.
  /// - Parameter provider: the provider whose notifications are wanted; nil for all.
  package func pending(
    after key: PushNotificationKey, of provider: ProviderName? = nil, limit: Int
  ) throws -> [PendingNotification] {
    try CachedStatement(
      database,
      """
      SELECT outbox.position, userId, deviceId, kind, isQuiet, roomId, threadId, messageId, clearedThrough IS NOT NULL
      FROM outbox LEFT JOIN pushContent ON pushContent.position = outbox.position
      WHERE (outbox.position, userId, deviceId) > (?, ?, ?) AND provider BETWEEN ? AND ?
      ORDER BY outbox.position, userId, deviceId LIMIT ?
      """
    ).all(
      key.position, key.user, key.device, Int64(provider?.rawValue ?? 0), Int64(provider?.rawValue ?? .max), limit
    ) { row in
      let key = try PushNotificationKey(position: row.position(), user: row.id(), device: row.id())
      let kind: PushKind = try row.choice()
      let group = try SilentGroup(
        kind, isQuiet: row.number() != 0, room: row.optional { try $0.id() }, thread: row.optional { try $0.id() },
        message: row.optional { try $0.id() }, clears: row.optional { try $0.number() } == 1)
      return PendingNotification(key, group)
    }
  }

  /// The next alerts of one device, in the order of their events, without those in quiet hours, which wait like silent
  /// notifications.
  func alerts(
    of device: DeviceID, of user: UserID, after position: LogPosition, of provider: ProviderName?, limit: Int
  ) throws -> [PushNotificationKey] {
    try CachedStatement(
      database,
      """
      SELECT position FROM outbox
      WHERE userId = ? AND deviceId = ? AND position > ? AND kind < \(PushKind.firstSilent) AND isQuiet = 0
        AND provider BETWEEN ? AND ?
      ORDER BY position LIMIT ?
      """
    ).all(user, device, position, Int64(provider?.rawValue ?? 0), Int64(provider?.rawValue ?? .max), limit) { row in
      PushNotificationKey(position: try row.position(), user: user, device: device)
    }
  }

  /// A notification that may be sent, with the current token and settings of the device.
  package struct Ready: Sendable, Hashable {
    package var token: PushToken
    package var content: PushContent
    package var delivery: FanOut.Delivery
    /// The user's current badge.
    package var badge: UInt64
    package var apnsEnvironment: APNsEnvironment?
    package var language: String?
  }

  /// The notification, or the reason why it may not be sent.
  package enum Lookup: Sendable, Hashable {
    case ready(Ready)
    /// The device was removed, or has no token any more.
    case unreachable
    /// The message was deleted, or the user or device may no longer be notified of it.
    case withdrawn(PushAbandonment)
    /// The notification is already settled.
    case settled
  }

  /// The columns of `PushContent`, in the order in which they are read.
  static let contentColumns = """
    time, roomId, workspaceId, messageId, threadId, thread, ordinal, sender, clearedThrough, spaceName, senderNickname,
    emoji, fileType, fileName, customType, customBody, text
    """

  /// What the notifications of one event share.
  private struct Event {
    let isDeleted: Bool
    let content: PushContent
    /// Whether it belongs to no room, or its room still exists.
    let hasRoom: Bool
  }

  /// The notification, if it may still be sent. It may not if the message was deleted, or if the user or the device
  /// would no longer be notified of it. It has the device's current token, because a replaced token is invalid. It has the
  /// user's current badge, not that of the event: the device may have shown a newer one, or the user may have read
  /// something on the device itself, which then gets no update.
  package func notification(_ key: PushNotificationKey, at now: Timestamp) throws -> Lookup {
    try notifications([key], at: now)[0]
  }

  /// The same for many notifications. Many are usually about the same event, which is read once, and some for several
  /// devices of a user, whose badge is counted once.
  func notifications(_ keys: [PushNotificationKey], at now: Timestamp) throws -> [Lookup] {
    var events: [LogPosition: Event?] = [:]
    var badges: [UserID: UInt64] = [:]
    return try keys.map { key in
      let event = try events[key.position] ?? self.event(at: key.position)
      events[key.position] = .some(event)
      return try notification(key, event) { user in
        let badge = try badges[user] ?? RoomsQueries(database).badge(of: user, at: now)
        badges[user] = badge
        return badge
      }
    }
  }

  private func event(at position: LogPosition) throws -> Event? {
    let found = try CachedStatement(
      database, "SELECT isDeleted, \(Self.contentColumns) FROM pushContent WHERE position = ?"
    ).first(position) { row in (isDeleted: try row.number() != 0, content: try Self.readContent(&row)) }
    return try found.map { isDeleted, content in
      let hasRoom = try content.room.map { try CachedStatement(database, "SELECT 1 FROM room WHERE id = ?").exists($0) }
      return Event(isDeleted: isDeleted, content: content, hasRoom: hasRoom ?? true)
    }
  }

  private func notification(
    _ key: PushNotificationKey, _ event: Event?, _ badge: (UserID) throws -> UInt64
  ) throws -> Lookup {
    guard let row = try row(of: key, event?.content) else { return .settled }
    guard let event, event.hasRoom, !event.isDeleted || row.delivery.kind.alert == nil,
      try isInvited(key.user, event.content)
    else { return .withdrawn(.deleted) }
    let content = event.content
    if let reason = row.user.withdrawal(of: row.delivery.kind, key, content, row.device) { return .withdrawn(reason) }
    guard let device = row.device, let token = device.token else { return .unreachable }
    var current = row.delivery
    current.showsPreview = current.showsPreview && row.user.preferences.showsPreviews
    return .ready(
      Ready(
        token: token, content: content, delivery: current, badge: try badge(key.user),
        apnsEnvironment: device.apnsEnvironment, language: device.language))
  }

  /// Whether the user's invitation still exists, if this is about one.
  private func isInvited(_ user: UserID, _ content: PushContent) throws -> Bool {
    guard let workspace = content.workspace else { return true }
    return try CachedStatement(database, "SELECT 1 FROM invitation WHERE workspaceId = ? AND userId = ?")
      .exists(workspace, user)
  }

  /// What differs between the notifications of an event: the notification, its user and its device.
  private struct OutboxRow {
    let delivery: FanOut.Delivery
    let user: CurrentUser
    /// Nil if the device was removed.
    let device: FanOut.Device?
  }

  /// One statement, because each one costs more than the rows that it reads.
  private static let rowQuery = """
    SELECT outbox.kind, outbox.isQuiet, outbox.showsPreview,
      member.joinedPosition, CASE WHEN ?6 = 0 THEN \(RoomsQueries.readThrough) ELSE (
        SELECT marker FROM threadFollower WHERE roomId = ?5 AND root = ?6 AND threadFollower.userId = ?2
      ) END, member.mutedUntil, member.notifications,
      EXISTS (SELECT 1 FROM disabledUser WHERE disabledUser.userId = ?2),
      EXISTS (SELECT 1 FROM block WHERE blockedId = ?4 AND blockerId = ?2),
      preference.notifications, preference.mutedKinds, preference.quietFrom, preference.quietTo, preference.timeZone,
      preference.showsPreviews, \(deviceColumns)
    FROM outbox
    LEFT JOIN member ON member.roomId = ?5 AND member.userId = outbox.userId
    LEFT JOIN pushPreference AS preference ON preference.userId = outbox.userId
    LEFT JOIN pushDevice ON pushDevice.userId = outbox.userId AND pushDevice.deviceId = outbox.deviceId
    WHERE outbox.position = ?1 AND outbox.userId = ?2 AND outbox.deviceId = ?3
    """

  /// - Returns: nil if the notification is settled.
  private func row(of key: PushNotificationKey, _ content: PushContent?) throws -> OutboxRow? {
    try CachedStatement(database, Self.rowQuery).first(
      key.position, key.user, key.device, content?.sender, content?.room, content?.location?.thread ?? 0
    ) { row in
      OutboxRow(
        delivery: try Self.readDelivery(&row), user: try CurrentUser.read(&row),
        device: row.isNull ? nil : try Self.readDevice(&row))
    }
  }

  private static func readDelivery(_ row: inout RowReader) throws -> FanOut.Delivery {
    FanOut.Delivery(
      kind: try row.choice(), isQuiet: try row.number() != 0, showsPreview: try row.number() != 0)
  }

  private static func readContent(_ row: inout RowReader) throws -> PushContent {
    var content = PushContent(time: try row.time())
    content.room = try row.optional { try $0.id() }
    content.workspace = try row.optional { try $0.id() }
    content.message = try row.optional { try $0.id() }
    content.thread = try row.optional { try $0.id() }
    let (thread, ordinal) = try (row.optional { try $0.unsigned() }, row.optional { try $0.unsigned() })
    if let thread, let ordinal { content.location = MessageLocation(thread: thread, ordinal: ordinal) }
    content.sender = try row.optional { try $0.id() }
    content.clearedThrough = try row.optional { try $0.id() }
    content.spaceName = try row.text()
    content.senderNickname = try row.text()
    content.emoji = try row.optional { try $0.text() }
    let type = try row.optional { try $0.text() }
    let name = try row.optional { try $0.text() }
    content.attachment = type.map { PushContent.File(contentType: $0, name: name) }
    let customType = try row.optional { try $0.text() }
    let customBody = try row.optional { try $0.text() }
    if let customType, let customBody { content.custom = CustomPart(type: customType, body: customBody) }
    content.text = try row.text()
    return content
  }

  static let deviceColumns =
    "pushDevice.deviceId, pushDevice.apnsToken, pushDevice.fcmToken, pushDevice.webPushToken, "
    + "pushDevice.notifications, pushDevice.apnsEnvironment, pushDevice.language, pushDevice.roomChanges"

  /// A device with several tokens is notified through one of them only: APNs before FCM before Web Push.
  static func readDevice(_ row: inout RowReader) throws -> FanOut.Device {
    let id: DeviceID = try row.id()
    let apns = try row.optional { PushToken(provider: .apns, token: try $0.text()) }
    let fcm = try row.optional { PushToken(provider: .fcm, token: try $0.text()) }
    let webPush = try row.optional { PushToken(provider: .webPush, token: try $0.text()) }
    let level: NotificationLevel = try row.choice()
    let apnsEnvironment: APNsEnvironment? = try row.optional { try $0.choice() }
    return try FanOut.Device(
      id: id, token: apns ?? fcm ?? webPush, level: level, apnsEnvironment: apnsEnvironment,
      language: row.optional { try $0.text() }, roomChanges: row.number() != 0)
  }
}
