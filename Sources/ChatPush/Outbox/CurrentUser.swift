import ChatDomain
import ChatPrimitives
import ChatProjections

/// The state of a user at the time of an attempt. It decides whether the user is still notified of the event.
struct CurrentUser {
  /// Nil if the user is not a member of the room.
  var joined: LogPosition?
  /// The ordinal up to which the user has read the room, or the thread of the message. Nil if the user has no marker there.
  var readThrough: UInt64?
  var mutedUntil: Timestamp?
  var roomLevel: NotificationLevel?
  var isDisabled = false
  var hasBlockedSender = false
  var preferences = UserPreferences()

  static func read(_ row: inout RowReader) throws -> CurrentUser {
    CurrentUser(
      joined: try row.optional { try $0.position() }, readThrough: try row.optional { try $0.unsigned() },
      mutedUntil: try row.optional { try $0.time() },
      roomLevel: try row.optional { try $0.choice() }, isDisabled: try row.number() != 0,
      hasBlockedSender: try row.number() != 0, preferences: try RecipientQueries.readPreferences(&row))
  }

  /// Why the notification may no longer be sent; nil if it may.
  func withdrawal(
    of kind: PushKind, _ key: PushNotificationKey, _ content: PushContent, _ device: FanOut.Device?
  ) -> PushAbandonment? {
    if kind.needsMembership {
      // A user who left and returned has joined after the event, and is not notified of earlier ones.
      guard let joined, joined <= key.position else { return .left }
    }
    if hasBlockedSender, kind.isWithheldByBlock { return .blocked }
    if isDisabled { return .accountDisabled }
    guard let alert = kind.alert else {
      return kind == .roomChange && device?.roomChanges == false ? .roomChangesOff : nil
    }
    // What the user has sent is read, but the reminder of it is not seen yet.
    if let location = content.location, let readThrough, location.ordinal <= readThrough, key.user != content.sender {
      return .alreadyRead
    }
    let rules = AlertRules(mutedUntil: mutedUntil, levelInRoom: roomLevel, preferences: preferences)
    if rules.isRoomMuted(at: content.time) { return .mutedRoom }
    if rules.isMuted(alert) { return .kindMuted }
    return switch rules.levelRule(for: kind, on: device?.level) {
    case .notificationsOff: .notificationsOff
    case .mentionsOnly: .mentionsOnly
    case nil: nil
    }
  }
}

extension PushKind {
  /// Whether only members of the room may get it. An invitation belongs to no room, and a user who leaves a room gets
  /// an update about that.
  fileprivate var needsMembership: Bool {
    switch self {
    case .update, .invitation: false
    case .message, .mention, .reply, .reminder, .reaction, .added, .sent, .roomChange: true
    }
  }
}
