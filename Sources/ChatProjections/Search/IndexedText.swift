import ChatDomain
import ChatPrimitives

/// The text of a message as of one event, which is its sending or an edit.
struct IndexedText {
  /// The position of that event. It identifies the text in the index.
  var position: LogPosition
  /// The room's number in this file.
  var room: Int64
  var location: MessageLocation
  var sender: UserID
  /// The time that clients see. An edit does not change it.
  var sentAt: Timestamp
  var hasMedia: Bool
  var type: TypeHash
  /// The message's text, in UTF-8.
  var text: [UInt8]
  /// Other content that is searched: the names of the files, and the values in the custom part. An edit does not change
  /// it.
  var extra: [UInt8]

  static let betweenParts = UInt8(ascii: "\n")

  var isEmpty: Bool { text.isEmpty && extra.isEmpty }

  /// The content of a message, besides its text, that is searched.
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
