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

  /// Sorts after every notification up to this position.
  static func last(at position: LogPosition) -> PushNotificationKey {
    let last = UUIDBytes(high: .max, low: .max)
    return PushNotificationKey(position: position, user: UserID(last), device: DeviceID(last))
  }

  package static func < (left: PushNotificationKey, right: PushNotificationKey) -> Bool {
    (left.position, left.user, left.device) < (right.position, right.user, right.device)
  }

  private static let hashedPrefix = Array("hansard-delivery-v1".utf8)

  /// Lets a receiver detect a repeated notification: it is the same for the same event and device, however often it is
  /// sent.
  ///
  /// 64 hexadecimal digits: SHA-256 over `hansard-delivery-v1`, the log's identity (16 bytes), the position (8 bytes,
  /// big-endian), the user (16 bytes) and the device (16 bytes).
  package func deliveryKey(logIdentity: UUIDBytes) -> String {
    let position = withUnsafeBytes(of: position.value.bigEndian) { Array($0) }
    // In one piece, because each update costs more than the hashing.
    return Hexadecimal.text(
      SHA256.hash(data: Self.hashedPrefix + logIdentity.bytes + position + user.uuid.bytes + device.uuid.bytes))
  }
}

/// The notification of one device about one event.
package struct PushNotification: Sendable, Hashable {
  package var key: PushNotificationKey
  package var deliveryKey: String
  package var token: PushToken
  package var content: PushContent
  package var delivery: FanOut.Delivery
  /// The badge of the user's devices when it is sent.
  package var badge: UInt64
  /// Where an APNs token is valid; nil for the server's default.
  package var apnsEnvironment: APNsEnvironment?
  /// The language of the device (BCP 47).
  package var language: String?

  package init(
    key: PushNotificationKey, deliveryKey: String, token: PushToken, content: PushContent, delivery: FanOut.Delivery,
    badge: UInt64, apnsEnvironment: APNsEnvironment? = nil, language: String? = nil
  ) {
    self.key = key
    self.deliveryKey = deliveryKey
    self.token = token
    self.content = content
    self.delivery = delivery
    self.badge = badge
    self.apnsEnvironment = apnsEnvironment
    self.language = language
  }

  /// Whether it shows something.
  package var isAlert: Bool { delivery.kind.alert != nil && !delivery.isQuiet }
}
