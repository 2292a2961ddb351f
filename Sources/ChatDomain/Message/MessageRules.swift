import ChatPrimitives

/// The form of a message's parts. Each rule has its own rejection. Lengths are in bytes of UTF-8.
enum MessageRules {
  static func message(_ message: NewMessage) throws(Rejection) {
    if message.isPlain { return try TextRules.message(message.text) }
    try flaws(of: message).requireNone()
  }

  static func flaws(of message: NewMessage) -> [FieldFlaw] {
    var fields = FieldCheck()
    fields.check("/text") { () throws(Rejection) in
      try text(message.text, hasParts: !message.attachments.isEmpty || message.custom != nil)
    }
    fields.check("/mentions/users") { () throws(Rejection) in try mentions(message.mentions) }
    fields.check("/attachments") { () throws(Rejection) in
      guard message.attachments.count <= Limits.attachmentsPerMessage else { throw .tooManyAttachments }
    }
    for (index, attachment) in message.attachments.prefix(Limits.attachmentsPerMessage).enumerated() {
      guard let name = attachment.name else { continue }
      fields.check("/attachments/\(index)/name") { () throws(Rejection) in try TextRules.attachmentName(name) }
    }
    if let custom = message.custom {
      fields.check("/type") { () throws(Rejection) in try customType(custom.type) }
      fields.check("/data") { () throws(Rejection) in try customBody(custom.body) }
    }
    return fields.flaws
  }

  /// No edit adds or removes attachments or a custom part.
  static func edit(_ edit: MessageEdit, of message: KnownMessage) throws(Rejection) {
    if let text = edit.text { try self.text(text, hasParts: message.hasParts) }
    try flaws(of: edit).requireNone()
    guard edit.customBody == nil || message.isCustom else { throw .customTypeMissing }
  }

  /// Whether the text may be empty depends on the message.
  static func flaws(of edit: MessageEdit) -> [FieldFlaw] {
    var fields = FieldCheck()
    if let text = edit.text {
      fields.check("/text") { () throws(Rejection) in try self.text(text, hasParts: true) }
    }
    fields.check("/mentions/users") { () throws(Rejection) in try mentions(edit.mentions) }
    if let body = edit.customBody {
      fields.check("/data") { () throws(Rejection) in try customBody(body) }
    }
    return fields.flaws
  }

  /// A scheduled message is sent in the future, within a year.
  static func sendingTime(_ sendAt: Timestamp, at time: Timestamp) throws(Rejection) {
    guard sendAt > time, sendAt <= time.adding(milliseconds: Limits.schedulingAheadMilliseconds) else {
      throw .sendingTimeOutOfRange
    }
  }

  /// Whether the text may be empty depends on the message.
  static func flaws(of edit: ScheduledMessageEdit) -> [FieldFlaw] {
    var fields = FieldCheck()
    if let text = edit.text {
      fields.check("/text") { () throws(Rejection) in try self.text(text, hasParts: true) }
    }
    if let mentions = edit.mentions {
      fields.check("/mentions/users") { () throws(Rejection) in try self.mentions(mentions) }
    }
    if let body = edit.customBody {
      fields.check("/data") { () throws(Rejection) in try customBody(body) }
    }
    return fields.flaws
  }

  /// A message must not be empty: without attachments or a custom part, it needs a text.
  static func text(_ text: String, hasParts: Bool) throws(Rejection) {
    if text.isEmpty, hasParts { return }
    try TextRules.message(text)
  }

  static func mentions(_ mentions: Mentions) throws(Rejection) {
    guard mentions.users.count <= Limits.mentionsPerMessage else { throw .tooManyMentions }
  }

  private static func customType(_ type: String) throws(Rejection) {
    guard !type.isEmpty, type.utf8.count <= Limits.customTypeBytes,
      type.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw .customTypeMalformed }
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
