import ChatPrimitives

/// The form of a message's parts. Each rule has its own rejection. Lengths are in bytes of UTF-8.
enum MessageRules {
  static func message(_ message: NewMessage) throws(Rejection) {
    if message.isPlain { return try TextRules.message(message.text) }
    try text(message.text, hasParts: !message.attachments.isEmpty || message.custom != nil)
    try mentions(message.mentions)
    guard message.attachments.count <= Limits.attachmentsPerMessage else { throw .tooManyAttachments }
    for attachment in message.attachments {
      if let name = attachment.name { try TextRules.attachmentName(name) }
    }
    if let custom = message.custom { try self.custom(custom) }
  }

  /// No edit adds or removes attachments or a custom part.
  static func edit(_ edit: MessageEdit, of message: KnownMessage) throws(Rejection) {
    if let text = edit.text { try self.text(text, hasParts: message.hasParts) }
    try mentions(edit.mentions)
    if let customBody = edit.customBody {
      guard message.isCustom else { throw .customTypeMissing }
      try self.customBody(customBody)
    }
  }

  /// A message must not be empty: without attachments or a custom part, it needs a text.
  static func text(_ text: String, hasParts: Bool) throws(Rejection) {
    if text.isEmpty, hasParts { return }
    try TextRules.message(text)
  }

  static func mentions(_ mentions: Mentions) throws(Rejection) {
    guard mentions.users.count <= Limits.mentionsPerMessage else { throw .tooManyMentions }
  }

  private static func custom(_ custom: CustomPart) throws(Rejection) {
    guard !custom.type.isEmpty, custom.type.utf8.count <= Limits.customTypeBytes,
      custom.type.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw .customTypeMalformed }
    try customBody(custom.body)
  }

  private static func customBody(_ body: String) throws(Rejection) {
    guard body.utf8.count <= Limits.customBodyBytes else { throw .customBodyTooLong }
  }

  /// One visible grapheme, or a name between colons such as `:party_parrot:`. Whether a grapheme is an emoji is not
  /// checked, because that changes with every version of Unicode.
  static func emoji(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.emojiBytes, isGrapheme(text) || isShortCode(text) else { throw .emojiMalformed }
  }

  private static func isGrapheme(_ text: String) -> Bool {
    guard text.count == 1 else { return false }
    let isBlank = text.unicodeScalars.contains { scalar in
      scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
    }
    return !isBlank && text.unicodeScalars.contains(where: \.shows)
  }

  private static func isShortCode(_ text: String) -> Bool {
    guard text.utf8.count > 2, text.hasPrefix(":"), text.hasSuffix(":") else { return false }
    return text.utf8.dropFirst().dropLast().allSatisfy { byte in
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      return isLetter || isDigit || "_-+".utf8.contains(byte)
    }
  }
}
