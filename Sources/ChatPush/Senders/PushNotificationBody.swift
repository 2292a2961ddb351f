import ChatDomain
import ChatPrimitives
import Foundation

/// A notification as JSON: the body of a webhook request, or a line of the notification file.
struct PushNotificationBody: Encodable {
  private let notification: PushNotification

  init(_ notification: PushNotification) {
    self.notification = notification
  }

  /// One line with sorted keys, so that the same notification always has the same bytes.
  func bytes() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self))
  }

  private enum CodingKeys: String, CodingKey {
    case deliveryKey
    case userId
    case deviceId
    case provider
    case token
    case roomId
    case roomName
    case messageId
    case threadId
    case senderId
    case senderNickname
    case text
    case badge
    case position
    case sentAt
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(notification.deliveryKey, forKey: .deliveryKey)
    try container.encode(notification.key.user, forKey: .userId)
    try container.encode(notification.key.device, forKey: .deviceId)
    try container.encode(notification.token.provider.name, forKey: .provider)
    try container.encode(notification.token.token, forKey: .token)
    try container.encode(notification.message.room, forKey: .roomId)
    try container.encode(notification.message.roomName, forKey: .roomName)
    try container.encode(notification.message.message, forKey: .messageId)
    try container.encodeIfPresent(notification.message.thread, forKey: .threadId)
    try container.encode(notification.message.sender, forKey: .senderId)
    try container.encode(notification.message.senderNickname, forKey: .senderNickname)
    try container.encode(notification.message.text, forKey: .text)
    try container.encode(notification.badge, forKey: .badge)
    try container.encode(notification.key.position, forKey: .position)
    try container.encode(notification.message.sentAt.rfc3339, forKey: .sentAt)
  }
}
