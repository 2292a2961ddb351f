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
  /// How many bytes at the beginning of `extra` are the names of the files. An edit does not change them.
  var nameBytes: Int
  /// The message's text, in UTF-8.
  var text: [UInt8]
  /// Other content that is searched: the names of the files, and then the values in the custom part.
  var extra: [UInt8]

  static let betweenParts = UInt8(ascii: "\n")

  var isEmpty: Bool { text.isEmpty && extra.isEmpty }

  /// Replaces what the edit changes.
  mutating func edit(_ edit: MessageEdit?) {
    guard let edit else {
      text = []
      return
    }
    if let text = edit.text { self.text = Array(text.utf8) }
    if let customBody = edit.customBody { extra = extra.prefix(nameBytes) + JSONWords.values(of: customBody) }
  }

  /// The names of the files, of the content that is searched besides the text.
  static func names(in details: MessageDetails) -> [UInt8] {
    var bytes: [UInt8] = []
    for name in details.attachments.compactMap(\.name) {
      bytes.append(contentsOf: name.utf8)
      bytes.append(betweenParts)
    }
    return bytes
  }
}
