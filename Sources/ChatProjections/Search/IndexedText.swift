import ChatDomain
import ChatPrimitives

/// What a message says from one event on: its sending, or an edit.
struct IndexedText {
  /// Of that event. The index knows the indexed text by it.
  var position: LogPosition
  /// The room's number in this file.
  var room: Int64
  var place: MessageLocation
  var sender: UserID
  /// As clients see it; an edit does not change it.
  var sentAt: Timestamp
  var hasMedia: Bool
  /// The message's text, in UTF-8.
  var text: [UInt8]
  /// What else of it is searched: the files' names, and what an app's own part says. An edit does not change it.
  var extra: [UInt8]

  static let betweenParts = UInt8(ascii: "\n")

  var isEmpty: Bool { text.isEmpty && extra.isEmpty }

  /// What of a message is searched beside its text.
  static func extra(of content: MessageContent) -> [UInt8] {
    guard let details = content.details else { return [] }
    var bytes: [UInt8] = []
    for name in details.attachments.compactMap(\.name) {
      bytes.append(contentsOf: name.utf8)
      bytes.append(betweenParts)
    }
    if let custom = details.custom { bytes.append(contentsOf: JSONWords.values(of: custom.body)) }
    return bytes
  }
}
