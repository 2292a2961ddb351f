package import ChatDomain
package import ChatPrimitives
import Crypto

/// Identifies a notification: one event on one device. It includes the user, because two users can give their devices
/// the same ID.
package struct PushNotificationKey: Sendable, Hashable, Comparable {
  package let position: LogPosition
  package let user: UserID
  package let device: DeviceID

  package init(position: LogPosition, user: UserID, device: DeviceID) {
    self.position = position
    self.user = user
    self.device = device
  }

  /// Sorts before every notification.
  package static let origin = PushNotificationKey(position: .origin, user: UserID(.zero), device: DeviceID(.zero))

  /// Sorts after every other notification up to this position.
  static func last(at position: LogPosition) -> PushNotificationKey {
    let last = UUIDBytes(high: .max, low: .max)
    return PushNotificationKey(position: position, user: UserID(last), device: DeviceID(last))
  }

  package static func < (left: PushNotificationKey, right: PushNotificationKey) -> Bool {
    (left.position, left.user, left.device) < (right.position, right.user, right.device)
  }

  /// Lets a receiver detect a repeated notification: it is the same for the same event and device, however often it is
  /// sent.
  ///
  /// 64 hexadecimal digits: SHA-256 over `hansard-delivery-v1`, the log's identity (16 bytes), the position (8 bytes,
  /// big-endian), the user (16 bytes) and the device (16 bytes).
  package func deliveryKey(logIdentity: UUIDBytes) -> String {
    var hash = SHA256()
    hash.update(data: Array("hansard-delivery-v1".utf8))
    hash.update(data: logIdentity.bytes)
    withUnsafeBytes(of: position.value.bigEndian) { hash.update(bufferPointer: $0) }
    hash.update(data: user.uuid.bytes)
    hash.update(data: device.uuid.bytes)
    return Hexadecimal.text(hash.finalize())
  }
}

/// The notification of one device about one message.
package struct PushNotification: Sendable, Hashable {
  /// The maximum length of a message's text in a notification, in bytes of UTF-8. Longer texts are truncated.
  package static let textBytes = 1024

  package var key: PushNotificationKey
  package var deliveryKey: String
  package var token: PushToken
  package var message: PushNotificationMessage
  /// The badge of the device after this message.
  package var badge: UInt64
  /// Where an APNs token is valid; nil for the server's default.
  package var apnsEnvironment: APNsEnvironment?

  package init(
    key: PushNotificationKey, deliveryKey: String, token: PushToken, message: PushNotificationMessage, badge: UInt64,
    apnsEnvironment: APNsEnvironment? = nil
  ) {
    self.key = key
    self.deliveryKey = deliveryKey
    self.token = token
    self.message = message
    self.badge = badge
    self.apnsEnvironment = apnsEnvironment
  }
}

/// The part that all notifications of one message share, from when the message was sent. The text follows its edits.
package struct PushNotificationMessage: Sendable, Hashable {
  package var room: RoomID
  package var roomName: String
  package var message: MessageID
  package var sender: UserID
  package var senderNickname: String
  /// At most `PushNotification.textBytes` long.
  package var text: String
  package var sentAt: Timestamp
  /// The root of the message's thread; nil in the room's own timeline.
  package var thread: MessageID?

  package init(
    room: RoomID, roomName: String, message: MessageID, sender: UserID, senderNickname: String, text: String,
    sentAt: Timestamp, thread: MessageID? = nil
  ) {
    self.room = room
    self.roomName = roomName
    self.message = message
    self.sender = sender
    self.senderNickname = senderNickname
    self.text = text
    self.sentAt = sentAt
    self.thread = thread
  }

  /// The longest prefix of whole characters that has at most `bytes` bytes.
  package static func beginning(of text: String, bytes: Int) -> String {
    guard text.utf8.count > bytes else { return text }
    var end = text.startIndex
    var used = 0
    for index in text.indices {
      let next = text.index(after: index)
      used += text[index..<next].utf8.count
      guard used <= bytes else { break }
      end = next
    }
    return String(text[..<end])
  }
}
