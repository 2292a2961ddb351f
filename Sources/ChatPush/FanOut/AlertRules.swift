import ChatDomain
import ChatPrimitives

/// What a user wants to see of a room. These rules apply twice: when an event happens (`FanOut`), and when its notification
/// is sent (`CurrentUser`).
struct AlertRules {
  /// When the user's mute of the room ends.
  let mutedUntil: Timestamp?
  /// The level in the room; nil for that of the preferences.
  let levelInRoom: NotificationLevel?
  let preferences: UserPreferences

  /// Why a level hides a notification.
  enum LevelRule {
    case notificationsOff
    case mentionsOnly
  }

  /// Whether the room was muted at the time of an event.
  func isRoomMuted(at time: Timestamp) -> Bool { mutedUntil.map { $0 > time } ?? false }

  func isMuted(_ kind: AlertKind) -> Bool { preferences.mutedKinds.contains(kind) }

  /// Nil if the notification is shown.
  /// - Parameter device: the level of the device, which can only lower that of the user; nil if the device was removed.
  func levelRule(for kind: PushKind, on device: NotificationLevel?) -> LevelRule? {
    let ofUser = levelInRoom ?? preferences.notifications
    return switch device.map({ NotificationLevel.lower(ofUser, $0) }) ?? ofUser {
    case .none: .notificationsOff
    case .mentions: kind.isPersonal ? nil : .mentionsOnly
    case .all: nil
    }
  }
}

extension NotificationLevel {
  /// The level that allows fewer notifications.
  static func lower(_ first: NotificationLevel, _ second: NotificationLevel) -> NotificationLevel {
    first.rawValue > second.rawValue ? first : second
  }
}
