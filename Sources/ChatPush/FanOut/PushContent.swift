package import ChatDomain
package import ChatPrimitives

/// What all notifications of one event share, as it was when the event happened. An edit of the message changes only the
/// text and the body of the app's own part.
package struct PushContent: Sendable, Hashable {
  /// The maximum length of a message's text in a notification, in bytes of UTF-8. Longer texts are truncated.
  package static let textBytes = 1024

  /// When the event happened.
  package var time: Timestamp
  package var room: RoomID?
  package var workspace: WorkspaceID?
  package var message: MessageID?
  /// The root of the message's thread, or of the thread that was read; nil in the room's own timeline.
  package var thread: MessageID?
  /// The location of the new message; nil for other events.
  package var location: MessageLocation?
  /// Who caused the event; for a message its author. Nil if a service did.
  package var sender: UserID?
  /// The newest message whose notification can be removed.
  package var clearedThrough: MessageID?
  /// The name of the room or the workspace; empty for a direct room.
  package var spaceName: String
  /// Empty if there is no sender.
  package var senderNickname: String
  /// At most `textBytes` long.
  package var text: String
  /// The app's own part of the message.
  package var custom: CustomPart?
  /// The first file of the message.
  package var attachment: File?
  /// The reaction.
  package var emoji: String?

  package struct File: Sendable, Hashable {
    package var contentType: String
    package var name: String?

    package init(contentType: String, name: String?) {
      self.contentType = contentType
      self.name = name
    }
  }

  package init(
    time: Timestamp, room: RoomID? = nil, workspace: WorkspaceID? = nil, message: MessageID? = nil,
    thread: MessageID? = nil, sender: UserID? = nil, clearedThrough: MessageID? = nil, spaceName: String = "",
    senderNickname: String = "", text: String = "", custom: CustomPart? = nil, attachment: File? = nil,
    emoji: String? = nil
  ) {
    self.time = time
    self.room = room
    self.workspace = workspace
    self.message = message
    self.thread = thread
    self.sender = sender
    self.clearedThrough = clearedThrough
    self.spaceName = spaceName
    self.senderNickname = senderNickname
    self.text = text
    self.custom = custom
    self.attachment = attachment
    self.emoji = emoji
  }

  /// - Parameters:
  ///   - spaceName: the name of the event's room or workspace.
  ///   - senderNickname: the nickname of the event's actor.
  init(_ event: PushEvent, spaceName: String, senderNickname: String) {
    self.init(
      time: event.time, room: event.room, sender: event.actor, spaceName: spaceName, senderNickname: senderNickname)
    switch event.change {
    case .message(_, let message):
      self.message = message.id
      thread = message.thread?.message
      text = (message.content?.text ?? "").beginning(ofBytes: Self.textBytes)
      custom = message.content?.details?.custom
      attachment = message.content?.details?.attachments.first.map {
        File(contentType: $0.content.contentType, name: $0.name)
      }
    case .reaction(_, let id, let emoji, _):
      message = id
      self.emoji = emoji
    case .deletion(_, let id, _): message = id
    case .reading(_, _, let through, _): clearedThrough = through
    case .invitation(let id, _): workspace = id
    case .room(_, let id): message = id
    case .added, .departed, .blocks: break
    }
  }
}
