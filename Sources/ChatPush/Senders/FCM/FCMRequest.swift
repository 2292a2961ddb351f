import ChatPrimitives

/// A message of FCM's HTTP v1 API: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
enum FCMRequest {
  /// The maximum size of the message without the token, in bytes.
  static let messageBytes = 4096

  /// - Returns: nil if it does not fit without any text.
  static func body(_ payload: PushPayload, token: String, _ android: FCMAndroid, at now: Timestamp) -> [UInt8]? {
    // The limit applies to the message without its token, and a token can be long.
    let token = JSONValue.text(token)
    let data: [(String, JSONValue)] = payload.fields.map { ($0.0, .text($0.1.asText)) }
    // Firebase adds the topic and the authorization.
    let apnsHeaders = JSONValue.object(APNsRequest.options(payload).map { ($0.0, .text($0.1)) })
    return payload.fitting(messageBytes + token.bytes.count) { style in
      let message: [(String, JSONValue)] =
        [("token", token)] + shown(style, android)
        + [
          ("data", .object(data + (android.alerts == .data ? style.fields : []))),
          ("android", .object(self.android(payload, style, android, at: now))),
          ("apns", apns(payload, style, apnsHeaders, android)),
        ]
      return JSONValue.object([("message", .object(message))]).bytes
    }
  }

  /// What Android shows.
  private static func shown(_ style: PushPayload.Style, _ options: FCMAndroid) -> [(String, JSONValue)] {
    guard case (.alert, .notification) = (style, options.alerts), let alert = APNsRequest.alert(style) else {
      return []
    }
    return [("notification", alert)]
  }

  private static func android(
    _ payload: PushPayload, _ style: PushPayload.Style, _ options: FCMAndroid, at now: Timestamp
  ) -> [(String, JSONValue)] {
    var android: [(String, JSONValue)] = [("ttl", .text("\(payload.secondsLeft(at: now))s"))]
    if let collapse = payload.collapseID { android.append(("collapse_key", .text(collapse))) }
    if case .silent = style { return android + [("priority", .text("NORMAL"))] }
    android.append(("priority", .text("HIGH")))
    guard options.alerts == .notification else { return android }
    // A repeat has the same tag, so that it replaces the notification.
    var notification: [(String, JSONValue)] = [
      ("tag", .text(payload.id)), ("notification_count", .number(min(payload.badge, UInt64(Int32.max)))),
    ]
    if let channel = options.channel { notification.append(("channel_id", .text(channel))) }
    if case .localizedAlert(let key) = style { notification.append(("body_loc_key", .text(key))) }
    return android + [("notification", .object(notification))]
  }

  /// What FCM passes on to APNs for iOS apps that use Firebase. For these it takes the text from `notification`, if there
  /// is one.
  private static func apns(
    _ payload: PushPayload, _ style: PushPayload.Style, _ headers: JSONValue, _ options: FCMAndroid
  ) -> JSONValue {
    let alert = shown(style, options).isEmpty ? APNsRequest.alert(style) : nil
    let aps = APNsRequest.aps(payload, style, alert: alert)
    return .object([("headers", headers), ("payload", .object([("aps", .object(aps))]))])
  }
}

extension JSONValue {
  /// The value as a text, because FCM takes only texts as data.
  fileprivate var asText: String {
    if case .text(let text) = self { text } else { encoded }
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
