import ChatPrimitives

/// The form of texts. Each rule has its own rejection. Lengths are in bytes of UTF-8.
package enum TextRules {
  static func nickname(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.nicknameBytes else { throw .nicknameTooLong }
    guard shows(text) else { throw .nicknameEmpty }
    guard !hasForbidden(text) else { throw .nameMalformed }
  }

  /// One `@` between two parts that are not empty, and no space or control character. Only sending mail can show
  /// whether an address works, so nothing else of RFC 5321 is checked.
  static func email(_ text: String) throws(Rejection) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard text.utf8.count <= Limits.emailBytes, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
      !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || isControl($0) })
    else { throw .emailMalformed }
  }

  static func externalID(_ text: String) throws(Rejection) {
    guard !text.isEmpty, text.utf8.count <= Limits.externalIDBytes, !text.unicodeScalars.contains(where: isControl)
    else { throw .externalIDMalformed }
  }

  /// A direct room may have no name: clients show the other user's name.
  static func roomName(_ text: String, of kind: RoomKind) throws(Rejection) {
    guard text.utf8.count <= Limits.roomNameBytes else { throw .roomNameTooLong }
    guard shows(text) || text.isEmpty && kind == .direct else { throw .roomNameEmpty }
    guard !hasForbidden(text) else { throw .nameMalformed }
  }

  static func workspaceName(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.workspaceNameBytes else { throw .workspaceNameTooLong }
    guard shows(text) else { throw .workspaceNameEmpty }
    guard !hasForbidden(text) else { throw .nameMalformed }
  }

  /// May be empty, which means no topic.
  static func topic(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.topicBytes else { throw .topicTooLong }
  }

  /// Canonical JSON. May be empty, which means no data.
  static func customData(_ json: String) throws(Rejection) {
    guard json.utf8.count <= Limits.customDataBytes else { throw .customDataTooLong }
  }

  static func message(_ text: String) throws(Rejection) {
    guard !text.isEmpty else { throw .emptyText }
    guard text.utf8.count <= Limits.messageTextBytes else { throw .textTooLong }
  }

  /// May be empty.
  static func reportComment(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.reportCommentBytes else { throw .reportCommentTooLong }
  }

  /// May be empty.
  static func legalHoldReason(_ text: String) throws(Rejection) {
    guard !text.isEmpty, text.utf8.count <= Limits.legalHoldReasonBytes else { throw .legalHoldReasonMalformed }
    guard shows(text), !hasForbidden(text) else { throw .legalHoldReasonMalformed }
  }

  static func reportNote(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.reportNoteBytes else { throw .reportNoteTooLong }
  }

  /// One of the texts that describe a device. May be empty.
  static func deviceText(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.deviceTextBytes else { throw .deviceTextTooLong }
    guard text.isEmpty || shows(text), !hasForbidden(text) else { throw .nameMalformed }
  }

  static func pushToken(_ token: String) throws(Rejection) {
    guard !token.isEmpty else { throw .pushTokenEmpty }
    guard token.utf8.count <= Limits.pushTokenBytes else { throw .pushTokenTooLong }
    guard !token.unicodeScalars.contains(where: isControl) else { throw .pushTokenMalformed }
  }

  /// The form that all language tags have (RFC 5646, section 2.1): subtags of one to eight letters or digits, of which
  /// the first has only letters. Whether a language exists is not checked.
  package static func languageTag(_ text: String) throws(Rejection) {
    let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard text.utf8.count <= Limits.languageTagBytes, subtags.allSatisfy({ (1...8).contains($0.count) }),
      subtags.joined().allSatisfy({ isLetter($0) || isDigit($0) }), subtags.first?.allSatisfy(isLetter) == true
    else { throw .languageMalformed }
  }

  package static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  package static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// May be empty.
  static func attachmentName(_ text: String) throws(Rejection) {
    guard text.utf8.count <= Limits.attachmentNameBytes else { throw .attachmentNameTooLong }
    guard text.isEmpty || shows(text), !hasForbidden(text) else { throw .nameMalformed }
  }

  /// The name of a file, without a path.
  static func mediaName(_ text: String) throws(Rejection) {
    try mediaNameForm(text)
    guard shows(text), !hasForbidden(text) else { throw .mediaNameMalformed }
  }

  /// The rules that have always applied to a file's name, so they also apply when a file is uploaded again.
  package static func mediaNameForm(_ text: String) throws(Rejection) {
    guard !text.isEmpty, text.utf8.count <= Limits.mediaNameBytes,
      !text.unicodeScalars.contains(where: { $0 == "/" || isControl($0) })
    else { throw .mediaNameMalformed }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control
  }
}
