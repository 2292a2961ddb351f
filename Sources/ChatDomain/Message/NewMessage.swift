package import ChatPrimitives

/// A message as a client sends it. It names the files that it attaches; the server looks up their content.
package struct NewMessage: Sendable, Hashable {
  package var text: String
  package var replyTo: MessageID?
  /// The root of the thread that it is sent to; nil for the room's timeline.
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

  /// - Parameter mentions: in any order, possibly with duplicates.
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

  /// Whether it has a text and nothing else. It may be in a thread.
  package var isPlain: Bool { replyTo == nil && mentions.isEmpty && attachments.isEmpty && custom == nil }
}

extension NewMessage {
  /// The message as the client sent or scheduled it.
  init(_ content: MessageContent, thread: MessageID?) {
    self.init(
      text: content.text, replyTo: content.details?.replyTo, thread: thread,
      attachments: content.details?.attachments.map { AttachedMedia(media: $0.media, name: $0.name) } ?? [],
      custom: content.details?.custom)
    // Not normalized: fingerprints of messages in the log must not change.
    if let details = content.details { mentions = details.mentions }
  }

  /// The message with the content of its files.
  /// - Throws: `mediaNotFound` if one of the files is not known.
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
  /// Without duplicates and in the order of their IDs, so that the same mentions have the same bytes.
  package var normalized: Mentions {
    users.isEmpty ? self : Mentions(users: Set(users).sorted(), everyone: everyone)
  }
}
