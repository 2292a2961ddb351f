import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatPush
import GRDB

/// Compares the push outbox, built from the whole log, with a small model: who is to be notified of what on which
/// device, the badge, and which notifications may still be sent at the end.
///
/// Push counts as switched on before the first event, and nothing is ever settled.
struct PushComparison {
  let events: [RecordedEvent]

  /// The state of a notification at the end.
  enum DeliveryStatus: Equatable {
    case text(String, token: String)
    case withdrawn(PushAbandonment)
    case unreachable
  }

  struct Row: Equatable {
    var badge: UInt64
    var status: DeliveryStatus
  }

  struct DeviceRow: Equatable {
    var apns: String?
    var fcm: String?
    var webPush: String?
    var level: NotificationLevel
    var apnsEnvironment: APNsEnvironment?
    var language: String?
    var roomChanges: Bool
  }

  struct DeviceName: Hashable {
    let user: UserID
    let device: DeviceID
  }

  private struct Notification {
    let key: PushNotificationKey
    let badge: UInt64
    let isMentioned: Bool
    let room: RoomID
    let message: MessageID
  }

  /// - Returns: the number of notifications.
  /// - Throws: `Mismatch`.
  func compare() throws -> Int {
    let (notifications, model) = expected()
    let queue = try outbox()
    let rows = Dictionary(uniqueKeysWithValues: notifications.map { ($0.key, row(of: $0, model)) })
    try queue.read { (database) throws in
      if let mismatch = Mismatch("push devices", expected: devices(model), found: try Self.devices(database)) {
        throw mismatch
      }
      if let mismatch = Mismatch("the outbox", expected: rows, found: try Self.rows(database)) { throw mismatch }
    }
    return notifications.count
  }

  // MARK: - The model

  private func expected() -> ([Notification], ChatModel) {
    var model = ChatModel()
    var expected: [Notification] = []
    for event in events {
      model.take(event)
      guard case .room(let id, .messages(.sent(let message, let author, _, let content))) = event.event,
        event.originalTime == nil, content != nil, let room = model.rooms[id], let sent = room.message(message)
      else { continue }
      for member in room.members where member.user != author {
        expected += notifications(of: sent, in: room, for: member, at: event.stamp, model)
      }
    }
    return (expected, model)
  }

  private func notifications(
    of message: ModelMessage, in room: ModelRoom, for member: ModelMember, at stamp: Stamp, _ model: ChatModel
  ) -> [Notification] {
    guard let user = model.users[member.user], user.disabled == nil, !user.blocks(message.author) else { return [] }
    if let muted = member.mutedUntil, muted > stamp.time { return [] }
    let isMentioned = room.kind == .direct || message.isMention(of: user.id)
    if let root = message.root, !isMentioned, member.threads[root]?.follows != true { return [] }
    let badge = UInt64(model.badge(of: user.id, at: stamp.time))
    return user.devices.filter { device in
      let level = device.description.notifications
      return !device.description.tokens.isEmpty && (level == .all || level == .mentions && isMentioned)
    }.map { device in
      Notification(
        key: PushNotificationKey(position: stamp.position, user: user.id, device: device.id), badge: badge,
        isMentioned: isMentioned, room: room.id, message: message.id)
    }
  }

  private func row(of notification: Notification, _ model: ChatModel) -> Row {
    Row(badge: notification.badge, status: status(notification, model))
  }

  private func status(_ notification: Notification, _ model: ChatModel) -> DeliveryStatus {
    guard let room = model.rooms[notification.room], !room.isDeleted, let message = room.message(notification.message),
      !message.isDeleted
    else { return .withdrawn(.deleted) }
    guard let member = room.member(notification.key.user), member.joined.position < notification.key.position else {
      return .withdrawn(.left)
    }
    if model.users[notification.key.user]?.blocks(message.author) == true { return .withdrawn(.blocked) }
    if model.users[notification.key.user]?.disabled != nil { return .withdrawn(.accountDisabled) }
    if let muted = member.mutedUntil, muted > message.sent.time { return .withdrawn(.mutedRoom) }
    guard let device = model.users[notification.key.user]?.device(notification.key.device) else { return .unreachable }
    if device.description.notifications == .none { return .withdrawn(.notificationsOff) }
    if device.description.notifications == .mentions, !notification.isMentioned { return .withdrawn(.mentionsOnly) }
    let tokens = device.description.tokens
    let first = PushProvider.allCases.lazy.compactMap { provider in tokens.first { $0.provider == provider } }.first
    guard let token = first else { return .unreachable }
    return .text(message.text, token: token.token)
  }

  private func devices(_ model: ChatModel) -> [DeviceName: DeviceRow] {
    var devices: [DeviceName: DeviceRow] = [:]
    for user in model.users.values {
      for device in user.devices {
        devices[DeviceName(user: user.id, device: device.id)] = DeviceRow(
          apns: device.description.tokens.first { $0.provider == .apns }?.token,
          fcm: device.description.tokens.first { $0.provider == .fcm }?.token,
          webPush: device.description.tokens.first { $0.provider == .webPush }?.token,
          level: device.description.notifications, apnsEnvironment: device.description.apnsEnvironment,
          language: device.description.language, roomChanges: device.description.roomChanges)
      }
    }
    return devices
  }

  // MARK: - The push outbox

  private func outbox() throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write { (database) throws in
      try PushProjection.createTables(database)
      try PushProjection.createIndexes(database)
      try database.execute(sql: "INSERT INTO settlement (id, settledThrough) VALUES (1, 0)")
      var projection = PushProjection()
      try projection.apply(events[...], to: database)
    }
    return queue
  }

  private static func devices(_ database: Database) throws -> [DeviceName: DeviceRow] {
    var devices: [DeviceName: DeviceRow] = [:]
    try CachedStatement(
      database,
      """
      SELECT userId, deviceId, apnsToken, fcmToken, webPushToken, notifications, apnsEnvironment, language, roomChanges
      FROM pushDevice
      """
    ).forEach { row in
      let name = DeviceName(user: try row.id(), device: try row.id())
      devices[name] = DeviceRow(
        apns: try row.optional { try $0.text() }, fcm: try row.optional { try $0.text() },
        webPush: try row.optional { try $0.text() }, level: try row.choice(),
        apnsEnvironment: try row.optional { try $0.choice() }, language: try row.optional { try $0.text() },
        roomChanges: try row.number() != 0)
    }
    return devices
  }

  private static func rows(_ database: Database) throws -> [PushNotificationKey: Row] {
    let queries = PushQueries(database)
    let badges = try CachedStatement(database, "SELECT position, userId, deviceId, badge FROM outbox").all { row in
      (PushNotificationKey(position: try row.position(), user: try row.id(), device: try row.id()), try row.unsigned())
    }
    var rows: [PushNotificationKey: Row] = [:]
    for (key, badge) in badges {
      switch try queries.notification(key) {
      case .ready(let token, let message, _, _):
        rows[key] = Row(badge: badge, status: .text(message.text, token: token.token))
      case .withdrawn(let reason): rows[key] = Row(badge: badge, status: .withdrawn(reason))
      case .unreachable: rows[key] = Row(badge: badge, status: .unreachable)
      case .settled: throw Mismatch("the outbox", ["  \(key) has a row and is settled"])
      }
    }
    return rows
  }
}
