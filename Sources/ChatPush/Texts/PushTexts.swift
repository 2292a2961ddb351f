import ChatDomain
import ChatPrimitives

/// Renders the title and the body of an alert.
package enum PushTexts {
  /// The maximum length of a title, in bytes of UTF-8. Longer ones are cut off.
  package static let titleBytes = 256
  /// The maximum length of a body, in bytes of UTF-8. Longer ones are cut off.
  package static let bodyBytes = PushContent.textBytes
  /// The body of a message without a text and without a file.
  static let messageSymbol = "💬"

  /// - Parameter language: the language of the device (BCP 47); nil if it is not known.
  /// - Returns: the texts of the template that applies, otherwise the built-in ones. A text that comes out empty is
  ///   replaced by the built-in one, so that no alert is empty.
  package static func texts(
    for input: PushTextInput, language: String?, templates: PushTemplates
  ) -> (title: String, body: String) {
    var texts = builtIn(input)
    if let template = templates.template(type: input.type, kind: input.kind, language: language) {
      let members = AppDataTexts(of: input.data, at: template.dataPaths)
      let title = template.title.rendered(input, members, bytes: titleBytes)
      let body = template.body.rendered(input, members, bytes: bodyBytes)
      if !title.isEmpty { texts.title = title }
      if !body.isEmpty { texts.body = body }
    }
    return (
      texts.title.beginning(ofBytes: titleBytes),
      texts.body.beginning(ofBytes: bodyBytes)
    )
  }

  // MARK: - Built-in texts

  private static func builtIn(_ input: PushTextInput) -> (title: String, body: String) {
    switch input.kind {
    case .message, .mention, .reply, .reminder:
      (input.shownRoom, attributed(input.content.isEmpty ? messageSymbol : input.content, input))
    case .reaction: (input.shownRoom, attributed(input.emoji ?? "", input))
    case .invitation:
      (
        input.workspaceName.isEmpty ? input.senderNickname : input.workspaceName,
        input.senderNickname.isEmpty ? "You were invited" : "\(input.senderNickname) invited you"
      )
    case .added:
      (
        input.shownRoom,
        input.senderNickname.isEmpty ? "You were added" : "\(input.senderNickname) added you"
      )
    }
  }

  /// In a direct room, the title already names the sender.
  private static func attributed(_ text: String, _ input: PushTextInput) -> String {
    input.roomName.isEmpty ? text : "\(input.senderNickname): \(text)"
  }
}
