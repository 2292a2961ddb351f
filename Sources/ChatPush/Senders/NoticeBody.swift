import ChatDomain
import ChatPrimitives
import Foundation

/// A notice as JSON: the body of a webhook request, and a line of the file sink.
struct NoticeBody: Encodable {
  private let notice: Notice

  init(_ notice: Notice) {
    self.notice = notice
  }

  /// One line, its keys sorted, so that the same notice gives the same bytes.
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
    try container.encode(notice.deliveryKey, forKey: .deliveryKey)
    try container.encode(notice.key.user, forKey: .userId)
    try container.encode(notice.key.device, forKey: .deviceId)
    try container.encode(notice.token.provider.name, forKey: .provider)
    try container.encode(notice.token.token, forKey: .token)
    try container.encode(notice.message.room, forKey: .roomId)
    try container.encode(notice.message.roomName, forKey: .roomName)
    try container.encode(notice.message.message, forKey: .messageId)
    try container.encodeIfPresent(notice.message.thread, forKey: .threadId)
    try container.encode(notice.message.sender, forKey: .senderId)
    try container.encode(notice.message.senderNickname, forKey: .senderNickname)
    try container.encode(notice.message.text, forKey: .text)
    try container.encode(notice.badge, forKey: .badge)
    try container.encode(notice.key.position, forKey: .position)
    try container.encode(notice.message.sentAt.rfc3339, forKey: .sentAt)
  }
}
