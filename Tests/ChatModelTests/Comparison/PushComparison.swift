import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatPush
import GRDB

/// Compares the push outbox, built from the whole log, with a small model: who is to be notified of what on which
/// device, how, the badge, and which notifications may still be sent at the end.
///
/// Push counts as switched on before the first event, and nothing is ever settled.
struct PushComparison {
  let events: [RecordedEvent]

  /// When the notifications may be sent.
  private var end: Timestamp { events.last?.stamp.time ?? Timestamp(milliseconds: 0) }

  /// The state of a notification at the end.
  enum DeliveryStatus: Equatable {
    /// With the badge that it would show.
    case text(String, token: String, badge: UInt64, showsPreview: Bool)
    case withdrawn(PushAbandonment)
    case unreachable
  }

  struct Row: Equatable {
    var kind: PushKind
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
    let kind: PushKind
    let showsPreview: Bool
    let time: Timestamp
    let about: Subject
  }

  /// What must still exist for the notification to be sent.
  private struct Subject {
    var actor: UserID?
    var room: RoomID?
    var message: MessageID?
    /// The emoji of a reaction of the actor.
    var reaction: String?
    var workspace: WorkspaceID?
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
      if let mismatch = Mismatch("the outbox", expected: rows, found: try found(database)) { throw mismatch }
    }
    return notifications.count
  }

  // MARK: - The model

  private func expected() -> ([Notification], ChatModel) {
    var model = ChatModel()
    var expected: [Notification] = []
    for event in events {
      var wasScheduled = false
      var deleted: ModelMessage?
      if case .room(let room, .messages(let change)) = event.event {
        switch change {
        case .sent(let id, _, _, _): wasScheduled = model.rooms[room]?.scheduled.contains { $0.id == id } ?? false
        case .deleted(let id, _): deleted = model.rooms[room]?.message(id)
        default: break
        }
      }
      model.take(event)
      guard event.originalTime == nil else { continue }
      let candidates = Candidates(event: event, wasScheduled: wasScheduled, deleted: deleted, model: model)
      for (user, kinds) in candidates.kinds {
        expected += notifications(of: event, kinds, to: user, candidates.subject, model)
      }
    }
    return (expected, model)
  }

  /// - Parameter kinds: what the event is to the user; the first that a device shows is used.
  private func notifications(
    of event: RecordedEvent, _ kinds: [PushKind], to id: UserID, _ subject: Subject, _ model: ChatModel
  ) -> [Notification] {
    guard let user = model.users[id], user.disabled == nil else { return [] }
    let isBlocked = subject.actor.map(user.blocks) ?? false
    return user.devices.compactMap { device in
      guard !device.description.tokens.isEmpty, !(device.id == event.device && id == event.actor) else { return nil }
      let kind = kinds.first { kind in
        (kind == .update || !isBlocked) && shows(kind, device, user, subject.room, at: event.stamp.time, model)
      }
      guard let kind else { return nil }
      return Notification(
        key: PushNotificationKey(position: event.position, user: id, device: device.id), kind: kind,
        showsPreview: user.preferences.showsPreviews, time: event.stamp.time, about: subject)
    }
  }

  private func shows(
    _ kind: PushKind, _ device: ModelDevice, _ user: ModelUser, _ room: RoomID?, at time: Timestamp, _ model: ChatModel
  ) -> Bool {
    guard let alert = kind.alert else { return kind != .roomChange || device.description.roomChanges }
    let member = room.flatMap { model.rooms[$0]?.member(user.id) }
    if let muted = member?.mutedUntil, muted > time { return false }
    if user.preferences.mutedKinds.contains(alert) { return false }
    let levels = [member?.notifications ?? user.preferences.notifications, device.description.notifications]
    if levels.contains(.none) { return false }
    let isPersonal = [AlertKind.mention, .reply, .reminder, .invitation, .added].contains(alert)
    return isPersonal || !levels.contains(.mentions)
  }

  private func row(of notification: Notification, _ model: ChatModel) -> Row {
    Row(kind: notification.kind, status: status(notification, model))
  }

  private func status(_ notification: Notification, _ model: ChatModel) -> DeliveryStatus {
    let (id, kind, about) = (notification.key.user, notification.kind, notification.about)
    guard let user = model.users[id] else { return .unreachable }
    var text = ""
    if let workspace = about.workspace {
      let isOpen = model.workspaces[workspace].map { $0.exists && $0.invitations.contains { $0.user == id } } ?? false
      guard isOpen else { return .withdrawn(.deleted) }
    }
    let room = about.room.flatMap { model.rooms[$0] }
    if about.room != nil, room?.isDeleted != false { return .withdrawn(.deleted) }
    if let message = about.message {
      guard let message = room?.message(message) else { return .withdrawn(.deleted) }
      // The notification of a deletion is about a deleted message.
      if message.isDeleted, kind.alert != nil, message.revision != notification.key.position {
        return .withdrawn(.deleted)
      }
      let isRemoved = message.removedReactions.contains {
        $0.emoji == about.reaction && $0.user == about.actor && $0.position > notification.key.position
      }
      if isRemoved, kind.alert != nil { return .withdrawn(.deleted) }
      if message.sent.position == notification.key.position { text = message.text }
    }
    let member = room?.member(id)
    if ![.update, .invitation].contains(kind) {
      guard let member, member.joined.position <= notification.key.position else { return .withdrawn(.left) }
    }
    if kind != .update, about.actor.map(user.blocks) == true { return .withdrawn(.blocked) }
    if user.disabled != nil { return .withdrawn(.accountDisabled) }
    let device = user.device(notification.key.device)
    if let alert = kind.alert {
      if let message = about.message.flatMap({ room?.message($0) }),
        hasRead(message, member, since: notification.key.position)
      {
        return .withdrawn(.alreadyRead)
      }
      if let muted = member?.mutedUntil, muted > notification.time { return .withdrawn(.mutedRoom) }
      if user.preferences.mutedKinds.contains(alert) { return .withdrawn(.kindMuted) }
      let levels = [member?.notifications ?? user.preferences.notifications, device?.description.notifications ?? .all]
      if levels.contains(.none) { return .withdrawn(.notificationsOff) }
      if levels.contains(.mentions), [.message, .reaction].contains(alert) { return .withdrawn(.mentionsOnly) }
    } else if kind == .roomChange, device?.description.roomChanges == false {
      return .withdrawn(.roomChangesOff)
    }
    let tokens = device?.description.tokens ?? []
    let first = PushProvider.allCases.lazy.compactMap { provider in tokens.first { $0.provider == provider } }.first
    guard let token = first else { return .unreachable }
    return .text(
      text, token: token.token, badge: UInt64(model.badge(of: id, at: end)),
      showsPreview: notification.showsPreview && user.preferences.showsPreviews)
  }

  /// Whether a member has read a message of somebody else.
  /// - Parameter position: the event that the notification is about. Only that of the message itself is read with it.
  private func hasRead(_ message: ModelMessage, _ member: ModelMember?, since position: LogPosition) -> Bool {
    guard let member, message.sent.position == position, message.author != member.user else { return false }
    let readThrough = message.root.map { member.threads[$0]?.marker ?? 0 } ?? member.readThrough
    return message.location.ordinal <= readThrough
  }

  /// Which users an event may concern, and what it is to each.
  private struct Candidates {
    private(set) var kinds: [(UserID, [PushKind])] = []
    private(set) var subject = Subject()

    init(event: RecordedEvent, wasScheduled: Bool, deleted: ModelMessage?, model: ChatModel) {
      subject.actor = event.actor
      switch event.event {
      case .room(let id, let change):
        guard let room = model.rooms[id] else { return }
        subject.room = id
        take(change, in: room, by: event.actor, wasScheduled: wasScheduled, deleted: deleted)
      case .workspace(let id, .invitations(.invited(let user, _))):
        subject.workspace = id
        kinds = [(user, [.invitation])]
      case .user(let user, .blocks): kinds = [(user, [.update])]
      case .workspace, .user, .server: break
      }
    }

    /// - Parameter deleted: the message as it was, if the event deletes one.
    private mutating func take(
      _ change: RoomEvent, in room: ModelRoom, by actor: UserID?, wasScheduled: Bool, deleted: ModelMessage?
    ) {
      let members = room.members.map(\.user)
      switch change {
      case .messages(.sent(let id, let author, _, let content)):
        guard content != nil, let message = room.message(id) else { return }
        (subject.actor, subject.message) = (author, id)
        kinds = members.compactMap { user in
          let kind = kind(of: message, in: room, for: user, wasScheduled: wasScheduled)
          return kind.map { (user, user == author ? [$0, .sent] : [$0]) }
        }
      case .messages(.deleted(let id, let location)):
        subject.message = id
        let root = room.message(id)?.root
        kinds = room.members.map { member in
          let wasMentioned = deleted.map { $0.mentions.everyone || $0.mentioned.contains(member.user) } ?? false
          let isUnread =
            root.map { room.kind == .direct || member.threads[$0]?.follows == true || wasMentioned }
            ?? (location.ordinal > max(member.readThrough, member.joinedOrdinal))
          return (member.user, isUnread ? [.update, .roomChange] : [.roomChange])
        }
      case .annotations(.reactionAdded(let id, _, let user, let emoji, _)):
        (subject.message, subject.reaction, subject.actor) = (id, emoji, user)
        let author = room.message(id)?.author
        kinds = members.map { ($0, $0 == author && $0 != user ? [.reaction, .roomChange] : [.roomChange]) }
      case .messages(.edited(let id, _, _)), .annotations(.reactionRemoved(let id, _, _, _)),
        .annotations(.pinned(let id, _)), .annotations(.unpinned(let id, _)):
        subject.message = id
        kinds = members.map { ($0, [.roomChange]) }
      case .members(.added(let user, _)):
        kinds = members.map { ($0, $0 == user && user != actor ? [.added, .roomChange] : [.roomChange]) }
      case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
        kinds = members.map { ($0, [.roomChange]) } + [(user, [.update])]
      case .members(.joined), .members(.roleChanged), .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored):
        kinds = members.map { ($0, [.roomChange]) }
      case .reading(.markerMoved(let user, _, _)), .reading(.markedUnread(let user, _, _)),
        .threads(.markerMoved(let user, _, _)), .members(.muted(let user, _)):
        kinds = [(user, [.update])]
      default: break
      }
    }

    private func kind(
      of message: ModelMessage, in room: ModelRoom, for user: UserID, wasScheduled: Bool
    ) -> PushKind? {
      if user == message.author { return wasScheduled ? .reminder : .sent }
      if room.kind == .direct || message.isMention(of: user) { return .mention }
      if let root = message.root { return room.member(user)?.threads[root]?.follows == true ? .reply : nil }
      return wasScheduled ? .reminder : .message
    }
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

  private func found(_ database: Database) throws -> [PushNotificationKey: Row] {
    let queries = PushQueries(database)
    let keys = try CachedStatement(database, "SELECT position, userId, deviceId, kind FROM outbox").all { row in
      (
        PushNotificationKey(position: try row.position(), user: try row.id(), device: try row.id()),
        try row.choice(PushKind.self)
      )
    }
    var rows: [PushNotificationKey: Row] = [:]
    for (key, kind) in keys {
      let status: DeliveryStatus
      switch try queries.notification(key, at: end) {
      case .ready(let ready):
        status = .text(
          ready.content.text, token: ready.token.token, badge: ready.badge,
          showsPreview: ready.delivery.showsPreview)
      case .withdrawn(let reason): status = .withdrawn(reason)
      case .unreachable: status = .unreachable
      case .settled: throw Mismatch("the outbox", ["  \(key) has a row and is settled"])
      }
      rows[key] = Row(kind: kind, status: status)
    }
    return rows
  }
}
