import ChatPrimitives

/// How many bytes of the log an event is charged for. The charge depends only on the event, so the writer need not
/// encode it, and the read model computes the same sum. It is never less than the record's size before compression
/// (`ChargedBytesTests`).
extension ChatEvent {
  /// Covers everything in a record except texts and lists: the envelope, IDs, times, hashes and numbers.
  package static let chargedBytesOfRecord: UInt64 = 256
  /// The charge for each entry of a list, without its texts.
  fileprivate static let chargedBytesOfEntry = 96

  package var chargedBytes: UInt64 {
    let content: Int
    switch self {
    case .user(_, let event): content = event.textBytes
    case .room(_, let event): content = event.textBytes
    case .workspace(_, let event): content = event.textBytes
    case .server(let event): content = event.textBytes
    }
    return Self.chargedBytesOfRecord + UInt64(clamping: content)
  }
}

/// The charge for a list, without its texts.
func entryBytes(_ list: [some Any]) -> Int { list.count * ChatEvent.chargedBytesOfEntry }

extension MessageContent {
  var textBytes: Int {
    guard let details else { return text.byteCount }
    var count = text.byteCount + entryBytes(details.mentions.users) + entryBytes(details.attachments)
    for attachment in details.attachments {
      count += attachment.content.contentType.byteCount + attachment.name.byteCount
    }
    if let custom = details.custom { count += custom.type.byteCount + custom.body.byteCount }
    return count
  }
}

extension Identity {
  var textBytes: Int { issuer.byteCount + subject.byteCount }
}

extension DeviceDescription {
  var textBytes: Int {
    name.byteCount + type.byteCount + osVersion.byteCount + language.byteCount + entryBytes(tokens)
      + tokens.reduce(0) { $0 + $1.token.byteCount }
  }
}

extension String {
  /// In UTF-8.
  var byteCount: Int { utf8.count }
}

extension String? {
  /// In UTF-8; zero for nil.
  var byteCount: Int { self?.utf8.count ?? 0 }
}
