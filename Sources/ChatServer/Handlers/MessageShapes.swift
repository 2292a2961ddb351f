import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService

// Conversions between the messages of the API and those of the domain.

extension SendMessageRequest {
  func message() throws -> NewMessage {
    guard text != nil || attachments?.isEmpty == false || type != nil else {
      throw Refusal.invalidField("The field \"text\" is missing.", at: "/text")
    }
    if replyTo == nil, threadId == nil, mentions == nil, attachments == nil, type == nil, data == nil, silent == nil {
      return .plain(text ?? "")
    }
    return NewMessage(
      text: text ?? "", replyTo: replyTo, thread: threadId, mentions: Mentions(mentions),
      attachments: NewMessage.attachments(attachments), custom: try CustomPart(type: type, data: data, silent: silent))
  }
}

extension NewMessage {
  static func attachments(_ list: [Strict<AttachmentRequest>]?) -> [AttachedMedia] {
    list?.map { AttachedMedia(media: $0.body.mediaId, name: $0.body.name) } ?? []
  }
}

extension CustomPart {
  /// Nil if there is no type.
  init?(type: String?, data: CanonicalJSON?, silent: Bool?) throws {
    guard let type else {
      guard data == nil else { throw Refusal.invalidField("The field \"data\" needs the field \"type\".", at: "/data") }
      guard silent != true else {
        throw Refusal.invalidField("The field \"silent\" needs the field \"type\".", at: "/silent")
      }
      return nil
    }
    self.init(type: type, body: (data ?? .null).canonicalText, isSilent: silent ?? false)
  }
}

extension MessageEdit {
  /// - Parameter data: nil if it stays.
  init(text: String?, mentions: Strict<MentionsRequest>?, data: CanonicalJSON?) throws(Refusal) {
    guard text != nil || data != nil else {
      throw Refusal.invalidField("Send text, data or both.", at: "/text")
    }
    guard text != nil || mentions == nil else {
      throw Refusal.invalidField("The field \"mentions\" needs the field \"text\".", at: "/mentions")
    }
    self.init(text: text, mentions: Mentions(mentions), customBody: data?.canonicalText)
  }
}

extension Mentions {
  init(_ request: Strict<MentionsRequest>?) {
    let mentions = Mentions(users: request?.body.users ?? [], everyone: request?.body.everyone ?? false)
    self = mentions.normalized
  }
}

extension Message {
  /// The receipt for a message that was sent.
  /// - Parameter details: nil if it is only a text.
  init(
    _ message: NewMessage, as id: MessageID, in room: RoomID, by sender: UserID, _ outcome: ChatOutcome,
    _ details: MessageDetails?
  ) {
    let position = outcome.stamp.position
    self.init(
      id: id, roomId: room, senderId: sender, text: message.text,
      sentAt: outcome.message?.sentAt ?? outcome.stamp.time, position: position, revision: position, editedAt: nil,
      deletedAt: nil)
    threadId = message.thread
    if let details { show(details) }
  }

  init(_ row: MessageRow) {
    self.init(
      id: row.id, roomId: row.room, senderId: row.sender, text: row.text, sentAt: row.sentAt, position: row.position,
      revision: row.revision, editedAt: row.editedAt, deletedAt: row.deletedAt)
    if let details = row.details { show(details) }
  }

  init(_ shown: ShownMessage) {
    self.init(shown.row)
    threadId = shown.threadID
    let annotations = shown.annotations
    quote = annotations.quote.map { MessageQuote($0) }
    thread = annotations.thread.map {
      MessageThread(
        replyCount: Int(clamping: $0.replyCount), lastReplyAt: $0.lastReplyAt, participants: $0.participants)
    }
    if !annotations.reactions.isEmpty {
      reactions = annotations.reactions.map {
        MessageReaction(emoji: $0.emoji, count: Int(clamping: $0.count), me: $0.isMine)
      }
    }
    if annotations.isPinned { pinned = true }
    if shown.isFromBlockedUser { isFromBlockedUser = true }
  }

  mutating func show(_ details: MessageDetails) {
    replyTo = details.replyTo
    mentions = MessageMentions(details.mentions)
    if !details.attachments.isEmpty { attachments = details.attachments.map { MessageAttachment($0) } }
    type = details.custom?.type
    data = details.custom.map { CanonicalJSON(unchecked: $0.body) }
    if details.custom?.isSilent == true { silent = true }
  }
}

extension MessageQuote {
  init(_ quoted: QuotedMessage) {
    self.init(
      senderId: quoted.sender, text: quoted.text, isCut: quoted.isCut,
      attachment: quoted.attachment.map { MessageAttachment($0) }, type: quoted.type)
  }
}

extension MessageMentions {
  /// Nil if the message mentions nobody.
  init?(_ mentions: Mentions) {
    guard !mentions.isEmpty else { return nil }
    self.init(users: mentions.users, everyone: mentions.everyone)
  }
}

extension MessageAttachment {
  init(_ attachment: Attachment) {
    let content = attachment.content
    self.init(
      mediaId: attachment.media, name: attachment.name, contentType: content.contentType, size: content.size,
      width: content.width.map { Int($0) }, height: content.height.map { Int($0) })
  }
}
