import ChatPrimitives

/// A message of FCM's HTTP v1 API: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
enum FCMRequest {
  /// The maximum size of the message without the token, in bytes.
  static let messageBytes = 4096

  /// - Parameters:
  ///   - channel: the Android channel of alerts; nil for the app's default.
  /// - Returns: nil if it does not fit without any text.
  static func body(
    _ payload: PushPayload, token: String, channel: String?, at now: Timestamp
  ) throws -> [UInt8]? {
    // The limit concerns the content, and a token may be longer than all of it.
    let tokenBytes = try PayloadValue.text(token).bytes().count
    return try payload.fitting(messageBytes + tokenBytes) { style in
      var message = message(payload, style, channel: channel, at: now)
      message["token"] = .text(token)
      return try PayloadValue.object(["message": .object(message)]).bytes()
    }
  }

  private static func message(
    _ payload: PushPayload, _ style: PushPayload.Style, channel: String?, at now: Timestamp
  ) -> [String: PayloadValue] {
    var message: [String: PayloadValue] = [
      "data": .object(payload.fields.mapValues { .text($0.asText) }),
      "android": .object(android(payload, style, channel: channel, at: now)),
      "apns": .object(apns(payload, style)),
    ]
    switch style {
    case .alert(let title, let body):
      message["notification"] = .object(["title": .text(title), "body": .text(body)])
    case .localizedAlert, .silent: break
    }
    return message
  }

  private static func android(
    _ payload: PushPayload, _ style: PushPayload.Style, channel: String?, at now: Timestamp
  ) -> [String: PayloadValue] {
    var android: [String: PayloadValue] = ["ttl": .text("\(payload.secondsLeft(at: now))s")]
    if let collapse = payload.collapseID { android["collapse_key"] = .text(collapse) }
    // The tag replaces the notification if it arrives twice.
    var notification: [String: PayloadValue] = [
      "tag": .text(payload.id), "notification_count": .number(min(payload.badge, UInt64(Int32.max))),
    ]
    if let channel { notification["channel_id"] = .text(channel) }
    switch style {
    case .alert: break
    case .localizedAlert(let key): notification["body_loc_key"] = .text(key)
    case .silent:
      android["priority"] = .text("NORMAL")
      return android
    }
    android["priority"] = .text("HIGH")
    android["notification"] = .object(notification)
    return android
  }

  /// What FCM passes on to APNs for iOS apps that use Firebase.
  private static func apns(_ payload: PushPayload, _ style: PushPayload.Style) -> [String: PayloadValue] {
    // Firebase adds the topic and the authorization.
    let names = ["apns-push-type", "apns-priority", "apns-id", "apns-expiration", "apns-collapse-id"]
    let headers = APNsRequest.headers(payload, topic: "", authorization: nil).compactMap {
      name, value -> (String, PayloadValue)? in
      names.contains(name) ? (name, PayloadValue.text(value)) : nil
    }
    var aps = APNsRequest.aps(payload, style)
    switch style {
    // The text is in `notification`.
    case .alert: aps["alert"] = nil
    case .localizedAlert, .silent: break
    }
    return [
      "headers": .object(Dictionary(uniqueKeysWithValues: headers)), "payload": .object(["aps": .object(aps)]),
    ]
  }
}
