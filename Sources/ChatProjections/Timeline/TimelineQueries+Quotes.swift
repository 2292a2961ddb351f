package import ChatDomain
package import ChatPrimitives

/// What a reply shows of the message that it replies to, as that message is now. It is the same for all readers.
package struct QuotedMessage: Sendable, Hashable {
  package var sender: UserID
  /// At most `Limits.quotedTextBytes` long.
  package var text: String
  package var isCut: Bool
  /// The first file of the message.
  package var attachment: Attachment?
  /// The app's own type.
  package var type: String?

  /// Nil if the message was deleted, or its content was erased.
  init?(_ message: MessageRow) {
    guard message.deletedAt == nil, !message.text.isEmpty || message.details != nil else { return nil }
    sender = message.sender
    text = message.text.beginning(ofBytes: Limits.quotedTextBytes)
    isCut = text.utf8.count < message.text.utf8.count
    attachment = message.details?.attachments.first
    type = message.details?.custom?.type
  }
}

extension TimelineQueries {
  /// The quotes in messages of one room, by the ordinals of the replies, without replies that have nothing to quote. Each
  /// quoted message is read once, because one with much data can have many replies.
  func quotes(in messages: [MessageRow]) throws -> [UInt64: QuotedMessage] {
    var known: [MessageLocation: QuotedMessage?] = [:]
    var quotes: [UInt64: QuotedMessage] = [:]
    for message in messages {
      guard let location = message.details?.replyLocation else { continue }
      let quote = try known[location] ?? self.quote(of: location, in: message.room)
      known[location] = .some(quote)
      quotes[message.ordinal] = quote
    }
    return quotes
  }

  /// The quote of a message, without a check of rights.
  private func quote(of location: MessageLocation, in room: RoomID) throws -> QuotedMessage? {
    try message(at: location, of: room).flatMap { QuotedMessage($0) }
  }

  /// What replies to a message show of it. Nil if there is nothing to quote, or the user may not see the room.
  package func quote(of location: MessageLocation, in room: RoomID, for user: UserID?) throws -> QuotedMessage? {
    guard try mayRead(room, user) else { return nil }
    return try quote(of: location, in: room)
  }
}
