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
  /// - Parameter provider: whose notifications are wanted; nil for all.
  package func pending(
    after key: PushNotificationKey, of provider: ProviderName? = nil, limit: Int
  ) throws -> [PushNotificationKey] {
    try CachedStatement(
      database,
      """
      SELECT position, userId, deviceId FROM outbox
      WHERE (position, userId, deviceId) > (?, ?, ?) AND provider BETWEEN ? AND ?
      ORDER BY position, userId, deviceId LIMIT ?
      """
    ).all(
      key.position, key.user, key.device, Int64(provider?.rawValue ?? 0), Int64(provider?.rawValue ?? .max), limit
    ) { row in
      try PushNotificationKey(position: row.position(), user: row.id(), device: row.id())
    }
  }

  /// The notification, or the reason why it may not be sent.
  package enum Found: Sendable, Hashable {
    case ready(token: PushToken, PushNotificationMessage, badge: UInt64, apnsEnvironment: APNsEnvironment? = nil)
    /// The device was removed, or has no token any more.
    case unreachable
    /// The message was deleted, or the user or device may no longer be notified of it.
    case withdrawn(PushAbandonment)
    /// The notification is already settled.
    case settled
  }

  /// The notification, if it may still be sent. It may not if the message was deleted, or if the user or the device
  /// would not be notified of it today. It has the device's current token, because a replaced token is invalid.
  package func notification(_ key: PushNotificationKey) throws -> Found {
    try CachedStatement(
      database,
      """
      SELECT outbox.position, outbox.badge, outbox.isMentioned,
        room.id, member.joinedPosition, member.mutedUntil, disabledUser.userId IS NOT NULL, block.blockerId IS NOT NULL,
        message.roomName, message.messageId, message.sender, message.senderNickname, message.text, message.sentAt,
        message.threadId, outbox.deviceId, device.apnsToken, device.fcmToken, device.webPushToken,
        IFNULL(device.notifications, ?), device.apnsEnvironment, device.language, IFNULL(device.roomChanges, 0)
      FROM outbox
      LEFT JOIN notificationMessage AS message ON message.position = outbox.position
      LEFT JOIN room ON room.id = message.roomId
      LEFT JOIN member ON member.roomId = room.id AND member.userId = outbox.userId
      LEFT JOIN block ON block.blockedId = message.sender AND block.blockerId = outbox.userId
      LEFT JOIN disabledUser ON disabledUser.userId = outbox.userId
      LEFT JOIN pushDevice AS device ON device.userId = outbox.userId AND device.deviceId = outbox.deviceId
      WHERE outbox.position = ? AND outbox.userId = ? AND outbox.deviceId = ?
      """
    ).first(Int64(NotificationLevel.all.rawValue), key.position, key.user, key.device, read: Self.readNotification)
      ?? .settled
  }

  private static func readNotification(_ row: inout RowReader) throws -> Found {
    let position = try row.position()
    let badge = try row.unsigned()
    let isMentioned = try row.number() != 0
    guard let room = try row.optional({ try $0.id(RoomID.self) }) else { return .withdrawn(.deleted) }
    // A user who left and returned has joined after the message, and is not notified of earlier ones.
    guard let joined = try row.optional({ try $0.position() }), joined < position else { return .withdrawn(.left) }
    let mutedUntil = try row.optional { try $0.time() }
    let (isDisabled, hasBlockedSender) = try (row.number() != 0, row.number() != 0)
    if hasBlockedSender { return .withdrawn(.blocked) }
    if isDisabled { return .withdrawn(.accountDisabled) }
    let message = try PushNotificationMessage(
      room: room, roomName: row.text(), message: row.id(), sender: row.id(), senderNickname: row.text(),
      text: row.text(), sentAt: row.time(), thread: row.optional { try $0.id() })
    if let mutedUntil, mutedUntil > message.sentAt { return .withdrawn(.mutedRoom) }
    let device = try readDevice(&row)
    switch device.level {
    case .none: return .withdrawn(.notificationsOff)
    case .mentions where !isMentioned: return .withdrawn(.mentionsOnly)
    case .mentions, .all: break
    }
    guard let token = device.token else { return .unreachable }
    return .ready(token: token, message, badge: badge, apnsEnvironment: device.apnsEnvironment)
  }

  static let deviceColumns =
    "pushDevice.deviceId, pushDevice.apnsToken, pushDevice.fcmToken, pushDevice.webPushToken, "
    + "pushDevice.notifications, pushDevice.apnsEnvironment, pushDevice.language, pushDevice.roomChanges"

  /// A device with several tokens is only notified through one of them, to avoid a second notification: the order is
  /// APNs, FCM, Web Push.
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
