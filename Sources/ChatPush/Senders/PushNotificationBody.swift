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
    case kind
    case silent
    case userId
    case deviceId
    case provider
    case token
    case roomId
    case roomName
    case workspaceId
    case workspaceName
    case messageId
    case threadId
    case senderId
    case senderNickname
    case text
    case type
    case attachment
    case emoji
    case clearedThrough
    case badge
    case position
    case sentAt
  }

  func encode(to encoder: any Encoder) throws {
    let (content, payload) = (notification.content, PushPayload(notification))
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(notification.deliveryKey, forKey: .deliveryKey)
    try container.encode(payload.kind.name, forKey: .kind)
    try container.encode(!notification.isAlert, forKey: .silent)
    try container.encode(notification.key.user, forKey: .userId)
    try container.encode(notification.key.device, forKey: .deviceId)
    try container.encode(notification.token.provider.name, forKey: .provider)
    try container.encode(notification.token.token, forKey: .token)
    try container.encodeIfPresent(payload.room, forKey: .roomId)
    try container.encodeIfPresent(payload.workspace, forKey: .workspaceId)
    try container.encodeIfPresent(payload.message, forKey: .messageId)
    try container.encodeIfPresent(payload.thread, forKey: .threadId)
    try container.encodeIfPresent(payload.sender, forKey: .senderId)
    try container.encodeIfPresent(payload.type, forKey: .type)
    try container.encodeIfPresent(payload.attachment, forKey: .attachment)
    try container.encodeIfPresent(payload.emoji, forKey: .emoji)
    try container.encodeIfPresent(payload.clearedThrough, forKey: .clearedThrough)
    try container.encode(payload.badge, forKey: .badge)
    try container.encode(payload.position, forKey: .position)
    try container.encode(content.time.rfc3339, forKey: .sentAt)
    guard notification.isAlert, notification.delivery.showsPreview else { return }
    try container.encode(content.spaceName, forKey: content.workspace == nil ? .roomName : .workspaceName)
    try container.encode(content.senderNickname, forKey: .senderNickname)
    try container.encode(content.text, forKey: .text)
  }
}
