package import ChatDomain

/// Everything that the title and the body of an alert can contain.
package struct PushTextInput: Sendable, Hashable {
  package var kind: AlertKind
  /// The app's own type of the message; nil if it has none.
  package var type: String?
  /// The app's own JSON in the message; nil if it has none.
  package var data: String?
  /// Empty in a direct room.
  package var roomName: String
  /// The nickname of the user who caused the notification.
  package var senderNickname: String
  /// Empty if there is no workspace.
  package var workspaceName: String
  /// The text of the message. Empty if it has none, and for every kind that is not about a new message, such as a reaction.
  package var text: String
  /// The emoji of a reaction.
  package var emoji: String?
  /// The kind of the message's first file.
  package var attachment: AttachmentKind?
  /// The name of that file; empty if it has none.
  package var attachmentName: String

  package init(
    kind: AlertKind, type: String? = nil, data: String? = nil, roomName: String, senderNickname: String,
    workspaceName: String = "", text: String = "", emoji: String? = nil, attachment: AttachmentKind? = nil,
    attachmentName: String = ""
  ) {
    self.kind = kind
    self.type = type
    self.data = data
    self.roomName = roomName
    self.senderNickname = senderNickname
    self.workspaceName = workspaceName
    self.text = text
    self.emoji = emoji
    self.attachment = attachment
    self.attachmentName = attachmentName
  }

  init(_ content: PushContent, _ kind: AlertKind) {
    self.init(
      kind: kind, type: content.custom?.type, data: content.custom?.body,
      roomName: content.room == nil ? "" : content.spaceName, senderNickname: content.senderNickname,
      workspaceName: content.workspace == nil ? "" : content.spaceName, text: content.text, emoji: content.emoji,
      attachment: content.attachment.map { AttachmentKind(contentType: $0.contentType) },
      attachmentName: content.attachment?.name ?? "")
  }

  /// The text; without one, the symbol of the first file. Empty if there is neither.
  var content: String {
    guard text.isEmpty, let attachment else { return text }
    return attachment == .file && !attachmentName.isEmpty
      ? "\(attachment.symbol) \(attachmentName)" : attachment.symbol
  }

  /// The room's name; in a direct room, the sender's nickname.
  var shownRoom: String { roomName.isEmpty ? senderNickname : roomName }
}
