public import ChatPrimitives

/// `PUT /v1/devices/{deviceId}`: replaces the whole description.
public struct PutDeviceRequest: RequestObject {
  public let name: String?
  /// For example `ios` or `android`.
  public let type: String?
  public let osVersion: String?
  public let apnsToken: String?
  public let fcmToken: String?
  /// `all`, `mentions` or `none`; `all` if absent.
  public let notifications: String?

  public init(
    name: String? = nil, type: String? = nil, osVersion: String? = nil, apnsToken: String? = nil,
    fcmToken: String? = nil, notifications: String? = nil
  ) {
    self.name = name
    self.type = type
    self.osVersion = osVersion
    self.apnsToken = apnsToken
    self.fcmToken = fcmToken
    self.notifications = notifications
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case name
    case type
    case osVersion
    case apnsToken
    case fcmToken
    case notifications
  }
}

/// One of the caller's devices. Push tokens are never returned.
public struct Device: ResponseObject {
  public var id: DeviceID
  @Nullable public var name: String?
  @Nullable public var type: String?
  @Nullable public var osVersion: String?
  /// `apns`, `fcm`: the providers for which it has a token.
  public var pushProviders: [String]
  /// Which notifications it gets: `all`, `mentions` or `none`.
  public var notifications: String
  /// The position of the last write to it.
  public var position: LogPosition
  /// The same as `position`. `If-Match` uses it.
  public var revision: LogPosition

  public init(
    id: DeviceID, name: String?, type: String?, osVersion: String?, pushProviders: [String],
    notifications: String, position: LogPosition, revision: LogPosition
  ) {
    self.id = id
    self.name = name
    self.type = type
    self.osVersion = osVersion
    self.pushProviders = pushProviders
    self.notifications = notifications
    self.position = position
    self.revision = revision
  }
}

/// `GET /v1/devices`
public struct DeviceList: ResponseObject {
  public var devices: [Device]

  public init(devices: [Device]) {
    self.devices = devices
  }
}
