package import ChatPrimitives

/// The content of a message.
package struct MessageContent: Sendable, Hashable {
  /// May be empty if there are attachments or a custom part.
  package var text: String
  /// What few messages have. Nil for a plain message, which keeps it small.
  package var details: MessageDetails?

  package init(text: String, details: MessageDetails? = nil) {
    self.text = text
    self.details = details
  }

  /// Whether it has attachments or a custom part. If so, its text may be empty.
  package var hasParts: Bool { details.map { !$0.attachments.isEmpty || $0.custom != nil } ?? false }

  /// A message with a text and nothing else.
  package static func plain(_ text: String) -> MessageContent { MessageContent(text: text) }
}

/// What a message may have besides its text. It is never changed and is shared by reference.
package final class MessageDetails: Sendable {
  /// The message of the same room that this one replies to.
  package let replyTo: MessageID?
  /// Where that message is, from which readers get the text that they quote. The decider sets it when the message is sent.
  /// Nil in a scheduled message, and in messages that were sent before the log had it.
  package let replyLocation: MessageLocation?
  package let mentions: Mentions
  package let attachments: [Attachment]
  package let custom: CustomPart?

  package init(
    replyTo: MessageID? = nil, at replyLocation: MessageLocation? = nil, mentions: Mentions = Mentions(),
    attachments: [Attachment] = [], custom: CustomPart? = nil
  ) {
    self.replyTo = replyTo
    self.replyLocation = replyLocation
    self.mentions = mentions
    self.attachments = attachments
    self.custom = custom
  }
}

extension MessageDetails {
  /// The details after an edit has replaced the mentions; nil if the message is plain now.
  package static func mentioning(_ details: MessageDetails?, _ mentions: Mentions) -> MessageDetails? {
    guard let details else { return mentions.isEmpty ? nil : MessageDetails(mentions: mentions) }
    if mentions.isEmpty, details.replyTo == nil, details.attachments.isEmpty, details.custom == nil { return nil }
    return details.replacing(mentions: mentions)
  }

  /// The details after an edit has replaced the body of the custom part. A message without a custom part gets none.
  func replacing(customBody: String) -> MessageDetails {
    replacing(custom: custom.map { CustomPart(type: $0.type, body: customBody, isSilent: $0.isSilent) })
  }

  /// A copy in which the parts that are not nil here replace its own.
  fileprivate func replacing(
    replyLocation: MessageLocation? = nil, mentions: Mentions? = nil, custom: CustomPart? = nil
  ) -> MessageDetails {
    MessageDetails(
      replyTo: replyTo, at: replyLocation ?? self.replyLocation, mentions: mentions ?? self.mentions,
      attachments: attachments, custom: custom ?? self.custom)
  }
}

extension MessageContent {
  /// Whether the message neither counts as unread nor notifies.
  package var isSilent: Bool { details?.custom?.isSilent ?? false }

  /// The content after an edit. An erased edit leaves neither a text nor mentions.
  package func edited(by edit: MessageEdit?) -> MessageContent {
    guard let edit else { return MessageContent(text: "", details: .mentioning(details, Mentions())) }
    var content = self
    if let text = edit.text { content = MessageContent(text: text, details: .mentioning(details, edit.mentions)) }
    if let customBody = edit.customBody { content.details = content.details?.replacing(customBody: customBody) }
    return content
  }

  /// The content of a reply, with the location of the message that it replies to.
  func replying(at location: MessageLocation?) -> MessageContent {
    guard let location, let details else { return self }
    return MessageContent(text: text, details: details.replacing(replyLocation: location))
  }
}

extension MessageDetails: Hashable {
  package static func == (left: MessageDetails, right: MessageDetails) -> Bool {
    left.replyTo == right.replyTo && left.replyLocation == right.replyLocation && left.mentions == right.mentions
      && left.attachments == right.attachments && left.custom == right.custom
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(replyTo)
    hasher.combine(replyLocation)
    hasher.combine(mentions)
    hasher.combine(attachments)
    hasher.combine(custom)
  }
}

/// The users whom a message mentions.
package struct Mentions: Sendable, Hashable {
  /// In the order of their IDs, without duplicates.
  package var users: [UserID]
  /// Every member of the room.
  package var everyone: Bool

  package init(users: [UserID] = [], everyone: Bool = false) {
    self.users = users
    self.everyone = everyone
  }

  package var isEmpty: Bool { users.isEmpty && !everyone }
}

/// An uploaded file in a message, with everything that a client needs to lay it out before it loads.
package struct Attachment: Sendable, Hashable {
  package var media: MediaID
  package var content: Media
  /// The file's name, from the sender.
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
  /// Detected from the bytes.
  package var contentType: String
  /// In bytes.
  package var size: UInt64
  /// In pixels; nil if the file is not an image.
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

/// Content in a format that the app defines: an order was shipped, an appointment was moved.
package struct CustomPart: Sendable, Hashable {
  /// The app's name for the format, such as `order.shipped`.
  package var type: String
  /// A JSON value, as text.
  package var body: String
  /// Whether the message neither counts as unread nor notifies. Never changes.
  package var isSilent: Bool

  package init(type: String, body: String, isSilent: Bool = false) {
    self.type = type
    self.body = body
    self.isSilent = isSilent
  }
}

/// What replaces parts of a message. Everything else stays.
package struct MessageEdit: Sendable, Hashable {
  /// Nil if the text and the mentions stay.
  package var text: String?
  /// They are replaced together with the text.
  package var mentions: Mentions
  /// The new body of the custom part; nil if it stays.
  package var customBody: String?

  package init(text: String?, mentions: Mentions = Mentions(), customBody: String? = nil) {
    self.text = text
    self.mentions = mentions
    self.customBody = customBody
  }

  package static func plain(_ text: String) -> MessageEdit { MessageEdit(text: text) }
}
