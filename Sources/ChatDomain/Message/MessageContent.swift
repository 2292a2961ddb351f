package import ChatPrimitives

/// What a message says.
package struct MessageContent: Sendable, Hashable {
  /// May be empty where there are attachments or a custom part.
  package var text: String
  /// What few messages have; nil for a plain one, which so stays small.
  package var details: MessageDetails?

  package init(text: String, details: MessageDetails? = nil) {
    self.text = text
    self.details = details
  }

  /// Whether there is something beside which the text may be empty.
  package var hasParts: Bool { details.map { !$0.attachments.isEmpty || $0.custom != nil } ?? false }

  /// Nothing but a text.
  package static func plain(_ text: String) -> MessageContent { MessageContent(text: text) }
}

/// What a message may have beside its text. Behind a reference, and never changed.
package final class MessageDetails: Sendable {
  /// The message of the same room that this one answers.
  package let replyTo: MessageID?
  package let mentions: Mentions
  package let attachments: [Attachment]
  package let custom: CustomPart?

  package init(
    replyTo: MessageID? = nil, mentions: Mentions = Mentions(), attachments: [Attachment] = [],
    custom: CustomPart? = nil
  ) {
    self.replyTo = replyTo
    self.mentions = mentions
    self.attachments = attachments
    self.custom = custom
  }
}

extension MessageDetails {
  /// The details of a message whose mentions an edit replaced; nil when nothing is left that a plain message lacks.
  package static func edited(_ details: MessageDetails?, _ mentions: Mentions) -> MessageDetails? {
    guard let details else { return mentions.isEmpty ? nil : MessageDetails(mentions: mentions) }
    if mentions.isEmpty, details.replyTo == nil, details.attachments.isEmpty, details.custom == nil { return nil }
    return MessageDetails(
      replyTo: details.replyTo, mentions: mentions, attachments: details.attachments, custom: details.custom)
  }
}

extension MessageDetails: Hashable {
  package static func == (left: MessageDetails, right: MessageDetails) -> Bool {
    left.replyTo == right.replyTo && left.mentions == right.mentions && left.attachments == right.attachments
      && left.custom == right.custom
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(replyTo)
    hasher.combine(mentions)
    hasher.combine(attachments)
    hasher.combine(custom)
  }
}

/// Whom a message mentions.
package struct Mentions: Sendable, Hashable {
  /// In the order of their IDs, each once.
  package var users: [UserID]
  /// All who are members of the room.
  package var everyone: Bool

  package init(users: [UserID] = [], everyone: Bool = false) {
    self.users = users
    self.everyone = everyone
  }

  package var isEmpty: Bool { users.isEmpty && !everyone }
}

/// An uploaded file that a message holds, with all that a client needs to show a place for it.
package struct Attachment: Sendable, Hashable {
  package var media: MediaID
  package var content: Media
  /// The file's name, as the sender calls it.
  package var name: String?

  package init(media: MediaID, content: Media, name: String?) {
    self.media = media
    self.content = content
    self.name = name
  }
}

/// What is known of an uploaded file.
package struct Media: Sendable, Hashable {
  /// SHA-256 of the bytes.
  package var hash: [UInt8]
  /// As found in the bytes themselves.
  package var contentType: String
  /// In bytes.
  package var size: UInt64
  /// In pixels; nil where it is no image.
  package var width: UInt32?
  package var height: UInt32?

  package init(hash: [UInt8], contentType: String, size: UInt64, width: UInt32? = nil, height: UInt32? = nil) {
    self.hash = hash
    self.contentType = contentType
    self.size = size
    self.width = width
    self.height = height
  }
}

/// What an app says in its own language: an order shipped, an appointment moved.
package struct CustomPart: Sendable, Hashable {
  /// The app's own name for it, such as `order.shipped`.
  package var type: String
  /// A JSON value, as text.
  package var body: String

  package init(type: String, body: String) {
    self.type = type
    self.body = body
  }
}

/// What an edit puts in the place of a message's text and mentions. All else stays.
package struct MessageEdit: Sendable, Hashable {
  package var text: String
  package var mentions: Mentions

  package init(text: String, mentions: Mentions = Mentions()) {
    self.text = text
    self.mentions = mentions
  }

  package static func plain(_ text: String) -> MessageEdit { MessageEdit(text: text) }
}
