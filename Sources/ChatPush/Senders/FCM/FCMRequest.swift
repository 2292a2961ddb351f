import ChatPrimitives

/// A message of FCM's HTTP v1 API: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
enum FCMRequest {
  /// The maximum size of the message without the token, in bytes.
  static let messageBytes = 4096

  /// - Returns: nil if it does not fit without any text.
  static func body(
    _ payload: PushPayload, token: String, _ android: FCMAndroid, at now: Timestamp
  ) throws -> [UInt8]? {
    // The limit applies to the message without its token, and a token can be long.
    let tokenBytes = try PayloadValue.text(token).bytes().count
    return try payload.fitting(messageBytes + tokenBytes) { style in
      var message = message(payload, style, android, at: now)
      message["token"] = .text(token)
      return try PayloadValue.object(["message": .object(message)]).bytes()
    }
  }

  private static func message(
    _ payload: PushPayload, _ style: PushPayload.Style, _ options: FCMAndroid, at now: Timestamp
  ) -> [String: PayloadValue] {
    var data = payload.fields.mapValues { PayloadValue.text($0.asText) }
    var message: [String: PayloadValue] = [
      "android": .object(android(payload, style, options, at: now)), "apns": .object(apns(payload, style, options)),
    ]
    switch (style, options.alerts) {
    case (.alert(let title, let body), .notification):
      message["notification"] = .object(["title": .text(title), "body": .text(body)])
    case (.alert(let title, let body), .data):
      data["title"] = .text(title)
      data["body"] = .text(body)
    case (.localizedAlert(let key), .data): data["textKey"] = .text(key)
    case (.localizedAlert, .notification), (.silent, _): break
    }
    message["data"] = .object(data)
    return message
  }

  private static func android(
    _ payload: PushPayload, _ style: PushPayload.Style, _ options: FCMAndroid, at now: Timestamp
  ) -> [String: PayloadValue] {
    var android: [String: PayloadValue] = ["ttl": .text("\(payload.secondsLeft(at: now))s")]
    if let collapse = payload.collapseID { android["collapse_key"] = .text(collapse) }
    // A repeat has the same tag, so that it replaces the notification.
    var notification: [String: PayloadValue] = [
      "tag": .text(payload.id), "notification_count": .number(min(payload.badge, UInt64(Int32.max))),
    ]
    if let channel = options.channel { notification["channel_id"] = .text(channel) }
    switch style {
    case .alert: break
    case .localizedAlert(let key): notification["body_loc_key"] = .text(key)
    case .silent:
      android["priority"] = .text("NORMAL")
      return android
    }
    android["priority"] = .text("HIGH")
    if options.alerts == .notification { android["notification"] = .object(notification) }
    return android
  }

  /// What FCM passes on to APNs for iOS apps that use Firebase.
  private static func apns(
    _ payload: PushPayload, _ style: PushPayload.Style, _ options: FCMAndroid
  ) -> [String: PayloadValue] {
    // Firebase adds the topic and the authorization.
    let names = ["apns-push-type", "apns-priority", "apns-id", "apns-expiration", "apns-collapse-id"]
    let headers = APNsRequest.headers(payload, topic: "", authorization: nil).compactMap {
      name, value -> (String, PayloadValue)? in
      names.contains(name) ? (name, PayloadValue.text(value)) : nil
    }
    var aps = APNsRequest.aps(payload, style)
    // Firebase takes the text from `notification`.
    if case (.alert, .notification) = (style, options.alerts) { aps["alert"] = nil }
    return [
      "headers": .object(Dictionary(uniqueKeysWithValues: headers)), "payload": .object(["aps": .object(aps)]),
    ]
  }
}

/// How Android devices get alerts.
package struct FCMAndroid: Sendable, Hashable {
  package enum Alerts: String, Sendable, CaseIterable {
    /// Android shows the alert while the app is in the background.
    case notification
    /// The app gets the alert as data, and shows it.
    case data
  }

  /// The channel in which Android shows an alert; nil for the app's default.
  package var channel: String?
  package var alerts: Alerts

  package init(channel: String? = nil, alerts: Alerts = .notification) {
    self.channel = channel
    self.alerts = alerts
  }
}
