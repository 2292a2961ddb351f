package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import GRDB

/// What can be asked of the outbox.
package struct PushQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// The position up to which every notice is settled, as the log says; nil when push was never switched on.
  package func settledThrough() throws -> LogPosition? {
    try CachedStatement(database, "SELECT settledThrough FROM settlement WHERE id = 1").first { try $0.position() }
  }

  /// The next notices in the order of their events.
  package func pending(after key: NoticeKey, limit: Int) throws -> [NoticeKey] {
    try CachedStatement(
      database,
      """
      SELECT position, userId, deviceId FROM outbox WHERE (position, userId, deviceId) > (?, ?, ?)
      ORDER BY position, userId, deviceId LIMIT ?
      """
    ).all({
      $0.add(key.position)
      $0.add(key.user)
      $0.add(key.device)
      $0.add(limit)
    }) { row in
      try NoticeKey(position: row.position(), user: row.id(), device: row.id())
    }
  }

  /// What stands in the way of a notice, or the notice.
  package enum Found: Sendable, Hashable {
    case ready(token: PushToken, NoticeMessage, badge: UInt64)
    /// The device was removed since, or no provider can reach it any more.
    case unreachable
    /// It is settled.
    case settled
  }

  /// The notice with the token that its device has now: a token that was replaced since is dead.
  package func notice(_ key: NoticeKey) throws -> Found {
    try CachedStatement(
      database,
      """
      SELECT message.roomId, message.roomName, message.messageId, message.sender, message.senderNickname, message.text,
        message.sentAt, outbox.badge, outbox.deviceId, device.apnsToken, device.fcmToken
      FROM outbox CROSS JOIN noticeMessage AS message ON message.position = outbox.position
      LEFT JOIN pushDevice AS device ON device.userId = outbox.userId AND device.deviceId = outbox.deviceId
      WHERE outbox.position = ? AND outbox.userId = ? AND outbox.deviceId = ?
      """
    ).first(
      {
        $0.add(key.position)
        $0.add(key.user)
        $0.add(key.device)
      }, Self.readNotice) ?? .settled
  }

  private static func readNotice(_ row: inout ColumnReader) throws -> Found {
    let message = try NoticeMessage(
      room: row.id(), roomName: row.text(), message: row.id(), sender: row.id(), senderNickname: row.text(),
      text: row.text(), sentAt: row.time())
    let badge = try row.unsigned()
    guard let token = try readDevice(&row).token else { return .unreachable }
    return .ready(token: token, message, badge: badge)
  }

  /// A device's ID and its two tokens. A device that has both is told through APNs alone, or it would be told twice.
  static func readDevice(_ row: inout ColumnReader) throws -> FanOut.Device {
    let id: DeviceID = try row.id()
    let apns = try row.optional { PushToken(provider: .apns, token: try $0.text()) }
    let fcm = try row.optional { PushToken(provider: .fcm, token: try $0.text()) }
    return FanOut.Device(id: id, token: apns ?? fcm)
  }
}
