public import ChatPrimitives

/// `PUT /v1/devices/{deviceId}`: replaces the whole description.
public struct PutDeviceRequest: RequestObject {
  public let name: String?
  /// For example `ios` or `android`.
  public let type: String?
  public let osVersion: String?
  public let apnsToken: String?
  public let fcmToken: String?
  public let webPush: Strict<WebPushRequest>?
  /// `all`, `mentions` or `none`; `all` if absent.
  public let notifications: String?
  /// `production` or `sandbox`; the server's default if absent.
  public let apnsEnvironment: String?
  /// The language of its notifications, as a language tag (BCP 47).
  public let language: String?
  /// Whether it gets silent notifications of changes in rooms other than new messages.
  public let roomChanges: Bool?

  public init(
    name: String? = nil, type: String? = nil, osVersion: String? = nil, apnsToken: String? = nil,
    fcmToken: String? = nil, webPush: Strict<WebPushRequest>? = nil, notifications: String? = nil,
    apnsEnvironment: String? = nil, language: String? = nil, roomChanges: Bool? = nil
  ) {
    self.name = name
    self.type = type
    self.osVersion = osVersion
    self.apnsToken = apnsToken
    self.fcmToken = fcmToken
    self.webPush = webPush
    self.notifications = notifications
    self.apnsEnvironment = apnsEnvironment
    self.language = language
    self.roomChanges = roomChanges
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case name
    case type
    case osVersion
    case apnsToken
    case fcmToken
    case webPush
    case notifications
    case apnsEnvironment
    case language
    case roomChanges
  }
}

/// A Web Push subscription, as the browser returns it.
public struct WebPushRequest: RequestObject {
  /// The URL of the push service.
  public let endpoint: String
  /// The browser's public key, in base64url without padding.
  public let p256dh: String
  /// The secret that the browser shares with the sender, in base64url without padding.
  public let auth: String

  public init(endpoint: String, p256dh: String, auth: String) {
    self.endpoint = endpoint
    self.p256dh = p256dh
    self.auth = auth
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case endpoint
    case p256dh
    case auth
  }
}

/// One of the caller's devices. Push tokens are never returned.
public struct Device: ResponseObject {
  public var id: DeviceID
  @Nullable public var name: String?
  @Nullable public var type: String?
  @Nullable public var osVersion: String?
  /// `apns`, `fcm`, `webPush`: the providers for which it has a token.
  public var pushProviders: [String]
  /// Which notifications it gets: `all`, `mentions` or `none`.
  public var notifications: String
  /// `production` or `sandbox`; null for the server's default.
  @Nullable public var apnsEnvironment: String?
  /// The language of its notifications, as a language tag (BCP 47).
  @Nullable public var language: String?
  /// Whether it gets silent notifications of changes in rooms other than new messages.
  public var roomChanges: Bool
  /// The position of the last write to it.
  public var position: LogPosition
  /// The same as `position`. `If-Match` uses it.
  public var revision: LogPosition

  public init(
    id: DeviceID, name: String?, type: String?, osVersion: String?, pushProviders: [String],
    notifications: String, apnsEnvironment: String?, language: String?, roomChanges: Bool, position: LogPosition,
    revision: LogPosition
  ) {
    self.id = id
    self.name = name
    self.type = type
    self.osVersion = osVersion
    self.pushProviders = pushProviders
    self.notifications = notifications
    self.apnsEnvironment = apnsEnvironment
    self.language = language
    self.roomChanges = roomChanges
    self.position = position
    self.revision = revision
  }
}

/// `GET /v1/devices`
public struct DeviceList: ListObject {
  public var devices: [Device]

  public init(devices: [Device]) {
    self.devices = devices
  }
}
