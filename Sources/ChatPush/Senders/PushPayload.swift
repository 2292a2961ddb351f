import ChatDomain
import ChatPrimitives

/// What a notification says, in the form that all providers share. Each provider renders its request from it.
struct PushPayload: Sendable, Hashable {
  /// How the device shows it.
  enum Style: Sendable, Hashable {
    case alert(title: String, body: String)
    /// An alert with a text that the app has in its own language, so that no text leaves the server.
    case localizedAlert(key: String)
    /// Shows nothing. The badge is set if `setsBadge`.
    case silent(setsBadge: Bool)
  }

  var kind: PushKind
  /// The app's own type of the message.
  var type: String?
  var style: Style
  var room: RoomID?
  var message: MessageID?
  var thread: MessageID?
  var workspace: WorkspaceID?
  var sender: UserID?
  /// The kind of the first file: `image`, `video`, `audio` or `file`.
  var attachment: String?
  /// The reaction.
  var emoji: String?
  /// The newest message whose notification can be removed.
  var clearedThrough: MessageID?
  var position: LogPosition
  var deliveryKey: String
  var badge: UInt64
  /// When the notification expires.
  var expiresAt: Timestamp

  /// - Parameter templates: the operator's texts.
  init(_ notification: PushNotification, _ templates: PushTemplates = PushTemplates()) {
    let (content, delivery) = (notification.content, notification.delivery)
    kind = delivery.kind
    style = Self.style(of: notification, templates)
    room = content.room
    message = content.message
    thread = content.thread
    workspace = content.workspace
    sender = content.sender
    // What the user has sent, the user has read.
    clearedThrough = kind == .sent ? content.message : content.clearedThrough
    position = notification.key.position
    deliveryKey = notification.deliveryKey
    badge = notification.badge
    expiresAt = content.time.adding(milliseconds: RetryPolicy.lifetimeMilliseconds)
    // Without previews only IDs leave the server.
    guard delivery.showsPreview else { return }
    type = content.custom?.type
    attachment = content.attachment.map { AttachmentKind(contentType: $0.contentType).rawValue }
    emoji = content.emoji
  }

  private static func style(of notification: PushNotification, _ templates: PushTemplates) -> Style {
    let kind = notification.delivery.kind
    // A `roomChange` does not set the badge, because Apple allows no badge with the type `background`.
    guard notification.isAlert, let alert = kind.alert else { return .silent(setsBadge: kind != .roomChange) }
    guard notification.delivery.showsPreview else { return .localizedAlert(key: "push." + kind.name) }
    let (title, body) = PushTexts.texts(
      for: PushTextInput(notification.content, alert), language: notification.language, templates: templates)
    return .alert(title: title, body: body)
  }

  /// Of the notifications with the same ID, the newest replaces the others; nil if each is shown.
  var collapseID: String? {
    switch style {
    case .alert, .localizedAlert: nil
    case .silent:
      SilentGroup(
        kind, isQuiet: kind.alert != nil, room: room, thread: thread, message: message, clears: clearedThrough != nil
      )?.collapseID
    }
  }

  /// The first 16 bytes of the delivery key as a UUID, so that it is the same each time.
  var id: String {
    // Bytes, because characters take several times as long.
    let digits = Array(deliveryKey.utf8.prefix(32))
    let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return groups.map { group in
      let digits = digits[min(group.lowerBound, digits.count)..<min(group.upperBound, digits.count)]
      return String(decoding: digits, as: UTF8.self)
    }.joined(separator: "-")
  }

  /// The seconds until the notification expires, at least 0.
  func secondsLeft(at now: Timestamp) -> Int64 { max((expiresAt.milliseconds - now.milliseconds) / 1000, 0) }

  /// The fields besides the text, in the order in which they are sent. Absent ones are left out.
  var fields: [(String, JSONValue)] {
    let texts: [(String, String?)] = [
      ("type", type), ("roomId", room?.description), ("messageId", message?.description),
      ("threadId", thread?.description), ("workspaceId", workspace?.description), ("senderId", sender?.description),
      ("attachment", attachment), ("emoji", emoji), ("clearedThrough", clearedThrough?.description),
    ]
    return [
      ("kind", .text(kind.name)), ("position", .number(position.value)), ("deliveryKey", .text(deliveryKey)),
      ("badge", .number(badge)),
    ] + texts.compactMap { name, text in text.map { (name, .text($0)) } }
  }

  /// The longest rendering that has at most `limit` bytes. The body is cut first, then the title, between characters.
  /// - Parameter render: the request's body for these texts; a shorter text must never make it longer.
  /// - Returns: nil if even a request without text is too long.
  func fitting(_ limit: Int, render: (Style) -> [UInt8]) -> [UInt8]? {
    let full = render(style)
    guard full.count > limit else { return full }
    guard case .alert(let title, let body) = style else { return nil }
    let cut = Self.longest(of: body, limit) { render(.alert(title: title, body: $0)) }
    if let cut { return cut }
    return Self.longest(of: title, limit) { render(.alert(title: $0, body: "")) }
  }

  private static func longest(of text: String, _ limit: Int, render: (String) -> [UInt8]) -> [UInt8]? {
    var best: [UInt8]?
    var (fits, fails) = (-1, text.utf8.count + 1)
    while fails - fits > 1 {
      let bytes = (fits + fails) / 2
      let rendered = render(text.beginning(ofBytes: bytes))
      if rendered.count <= limit {
        (fits, best) = (bytes, rendered)
      } else {
        fails = bytes
      }
    }
    return best
  }
}

extension PushPayload.Style {
  /// The texts as fields, for an app that shows them itself.
  var fields: [(String, JSONValue)] {
    switch self {
    case .alert(let title, let body): [("title", .text(title)), ("body", .text(body))]
    case .localizedAlert(let key): [("textKey", .text(key))]
    case .silent: []
    }
  }
}
