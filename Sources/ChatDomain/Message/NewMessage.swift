package import ChatPrimitives

/// A message as a client asks for it: it names files that it attaches, of which the server knows the content.
package struct NewMessage: Sendable, Hashable {
  package var text: String
  package var replyTo: MessageID?
  /// The root of the thread that it goes into; nil for the room's own timeline.
  package var thread: MessageID?
  package var mentions: Mentions
  package var attachments: [AttachedMedia]
  package var custom: CustomPart?

  package struct AttachedMedia: Sendable, Hashable {
    package var media: MediaID
    package var name: String?

    package init(media: MediaID, name: String?) {
      self.media = media
      self.name = name
    }
  }

  /// - Parameter mentions: in any order, and each as often as the client said it.
  package init(
    text: String, replyTo: MessageID? = nil, thread: MessageID? = nil, mentions: Mentions = Mentions(),
    attachments: [AttachedMedia] = [], custom: CustomPart? = nil
  ) {
    self.text = text
    self.replyTo = replyTo
    self.thread = thread
    self.mentions = mentions.normalized
    self.attachments = attachments
    self.custom = custom
  }

  package static func plain(_ text: String) -> NewMessage { NewMessage(text: text) }

  /// Whether there is nothing but a text.
  package var isPlain: Bool { replyTo == nil && mentions.isEmpty && attachments.isEmpty && custom == nil }
}

extension NewMessage {
  /// What was asked for when this message was sent or scheduled.
  init(_ content: MessageContent, thread: MessageID?) {
    self.init(
      text: content.text, replyTo: content.details?.replyTo, thread: thread,
      attachments: content.details?.attachments.map { AttachedMedia(media: $0.media, name: $0.name) } ?? [],
      custom: content.details?.custom)
    // As they are in the log, whose fingerprints must stay what they were.
    if let details = content.details { mentions = details.mentions }
  }

  /// The message with the content of its files.
  /// - Throws: `mediaNotFound` if one of them is not known.
  package func content(with media: [MediaID: Media]) throws(Rejection) -> MessageContent {
    if isPlain { return .plain(text) }
    var known: [Attachment] = []
    for attachment in attachments {
      guard let content = media[attachment.media] else { throw .mediaNotFound }
      known.append(Attachment(media: attachment.media, content: content, name: attachment.name))
    }
    return MessageContent(
      text: text,
      details: MessageDetails(replyTo: replyTo, mentions: mentions, attachments: known, custom: custom))
  }
}

extension Mentions {
  /// Each user once, in the order of their IDs, so that the same mentions are the same bytes.
  package var normalized: Mentions {
    users.isEmpty ? self : Mentions(users: Set(users).sorted(), everyone: everyone)
  }
}
