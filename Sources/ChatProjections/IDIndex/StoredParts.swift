import ChatDomain

/// What the ID index stores about the parts that a message was sent with. The raw values are in the table.
enum StoredParts: UInt8 {
  /// Neither attachments nor a custom part.
  case none = 0
  case attachments = 1
  /// A custom part, with or without attachments.
  case custom = 2

  init(_ content: MessageContent?) {
    let details = content?.details
    self = details?.custom != nil ? .custom : details?.attachments.isEmpty == false ? .attachments : .none
  }
}
