import ChatPrimitives
import NIOHTTP1

/// A request to APNs: https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
enum APNsRequest {
  /// The maximum size of the body, in bytes.
  static let bodyBytes = 4096
  /// The maximum length of `apns-collapse-id`, in bytes.
  static let collapseIDBytes = 64

  /// - Returns: nil if the token contains characters that no token of APNs has.
  static func path(of token: String) -> String? {
    let isPlain = token.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isPlain && !token.isEmpty ? "/3/device/" + token : nil
  }

  static func headers(_ payload: PushPayload, topic: String, authorization: String?) -> HTTPHeaders {
    var headers = HTTPHeaders(options(payload))
    headers.add(name: "apns-topic", value: topic)
    headers.add(name: "content-type", value: "application/json")
    if let authorization { headers.add(name: "authorization", value: "bearer " + authorization) }
    return headers
  }

  /// The headers that FCM takes too, for iOS apps.
  ///
  /// If nothing is shown, Apple requires priority 5, and the type `background` unless the badge is set.
  static func options(_ payload: PushPayload) -> [(String, String)] {
    let (type, priority) =
      switch payload.style {
      case .alert, .localizedAlert: ("alert", "10")
      case .silent(let setsBadge): (setsBadge ? "alert" : "background", "5")
      }
    let options = [
      ("apns-push-type", type), ("apns-priority", priority), ("apns-id", payload.id),
      ("apns-expiration", String(payload.expiresAt.milliseconds / 1000)),
    ]
    guard let collapse = payload.collapseID else { return options }
    return options + [("apns-collapse-id", collapse.beginning(ofBytes: collapseIDBytes))]
  }

  /// - Returns: nil if it does not fit without any text.
  static func body(_ payload: PushPayload) -> [UInt8]? {
    let fields = payload.fields
    return payload.fitting(bodyBytes) { style in
      JSONValue.object([("aps", .object(aps(payload, style, alert: alert(style))))] + fields).bytes
    }
  }

  /// The part of the payload that the system interprets. FCM takes the same for iOS apps.
  /// - Parameter alert: what is shown; nil if nothing is, or if FCM adds it.
  static func aps(_ payload: PushPayload, _ style: PushPayload.Style, alert: JSONValue?) -> [(String, JSONValue)] {
    if case .silent(let setsBadge) = style {
      return [("content-available", .number(1))] + (setsBadge ? [("badge", .number(payload.badge))] : [])
    }
    var aps: [(String, JSONValue)] = alert.map { [("alert", $0)] } ?? []
    aps += [("badge", .number(payload.badge)), ("sound", .text("default")), ("category", .text(payload.kind.name))]
    if let room = payload.room { aps.append(("thread-id", .text(room.description))) }
    // A notification service extension can fetch the message before it is shown.
    if payload.message != nil { aps.append(("mutable-content", .number(1))) }
    return aps
  }

  /// What is shown; nil for a silent notification.
  static func alert(_ style: PushPayload.Style) -> JSONValue? {
    switch style {
    case .alert(let title, let body): .object([("title", .text(title)), ("body", .text(body))])
    case .localizedAlert(let key): .object([("loc-key", .text(key))])
    case .silent: nil
    }
  }
}
