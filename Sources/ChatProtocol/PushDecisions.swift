public import ChatPrimitives

/// `GET /v1/admin/push/explain` and `hansard push explain --json`: which devices were notified of an event.
public struct PushDecisions: ResponseObject {
  /// That of the event.
  public var position: LogPosition
  /// When the event happened.
  public var time: Timestamp
  /// The IDs that the event names; the others are absent.
  public var roomId: RoomID?
  public var workspaceId: WorkspaceID?
  public var messageId: MessageID?
  /// The user whom the event concerns, such as the one who was added.
  public var memberId: UserID?
  /// The user who caused the event.
  public var senderId: UserID?
  public var devices: [PushDecision]
  /// Whether there are more devices.
  public var more: Bool
  /// The position up to which outcomes are included.
  public var head: LogPosition

  /// - Parameter position: that of the event.
  public init(position: LogPosition, time: Timestamp, devices: [PushDecision], more: Bool, head: LogPosition) {
    self.position = position
    self.time = time
    self.devices = devices
    self.more = more
    self.head = head
  }
}

/// Whether one device was notified, how, and with what outcome.
public struct PushDecision: Codable, Sendable, Hashable {
  public var userId: UserID
  public var deviceId: DeviceID
  /// `notify` or `silent`.
  public var verdict: String
  /// With `silent`: the first reason that applies.
  public var reason: String?
  /// With `notify`: through which provider, `apns`, `apnsSandbox`, `fcm` or `webPush`.
  public var provider: String?
  /// With `notify`: the kind that was decided on.
  public var kind: String?
  /// With `notify`: whether the alert shows nothing, because of the user's quiet hours.
  public var quiet: Bool?
  /// With `notify`: whether the notification may have texts. If previews were switched off before it was sent, it has none.
  public var preview: Bool?
  /// With `notify`: the badge right after the event. The notification has the badge of when it is sent.
  public var badge: Int?
  /// With `notify`, if push was on: `waiting`, `delivered` (the provider responded with 200, or another 2xx), `token_invalid`
  /// or `abandoned`.
  public var outcome: String?
  /// With `abandoned`.
  public var outcomeReason: String?
  /// What the provider responded, if the notification was not delivered. If it expired or its attempts are used up: why the
  /// last attempt failed.
  public var response: String?
  /// When the outcome was recorded.
  public var recordedAt: Timestamp?

  public init(userId: UserID, deviceId: DeviceID, verdict: String) {
    self.userId = userId
    self.deviceId = deviceId
    self.verdict = verdict
  }
}
