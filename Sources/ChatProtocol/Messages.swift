public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/messages/{messageId}`
public struct SendMessageRequest: RequestObject {
  public let text: String

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case text
  }
}

/// `PATCH /v1/rooms/{roomId}/messages/{messageId}`
public struct EditMessageRequest: RequestObject {
  public let text: String

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case text
  }
}

/// `PUT /v1/rooms/{roomId}/read-marker`
public struct MoveReadMarkerRequest: RequestObject {
  /// The last message that the user has read.
  public let messageId: MessageID

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case messageId
  }
}

/// A message. A deleted one keeps its place, with an empty text.
public struct Message: Codable, Sendable, Hashable {
  public var id: MessageID
  public var roomId: RoomID
  public var senderId: UserID
  public var text: String
  public var sentAt: Timestamp
  /// Where it was sent; the order of a room is the order of positions.
  public var position: LogPosition
  /// Where it was last written: sent, edited or deleted.
  public var revision: LogPosition
  @Nullable public var editedAt: Timestamp?
  @Nullable public var deletedAt: Timestamp?

  public init(
    id: MessageID, roomId: RoomID, senderId: UserID, text: String, sentAt: Timestamp, position: LogPosition,
    revision: LogPosition, editedAt: Timestamp?, deletedAt: Timestamp?
  ) {
    self.id = id
    self.roomId = roomId
    self.senderId = senderId
    self.text = text
    self.sentAt = sentAt
    self.position = position
    self.revision = revision
    self.editedAt = editedAt
    self.deletedAt = deletedAt
  }
}

/// A page of a room, oldest first. `nextCursor` leads to older messages (pass it as `before`), `previousCursor` to newer ones
/// (pass it as `after`); each is null where there are none.
public struct MessagePage: Codable, Sendable, Hashable {
  public var messages: [Message]
  /// The senders.
  public var users: [User]
  @Nullable public var nextCursor: String?
  @Nullable public var previousCursor: String?

  public init(messages: [Message], users: [User], nextCursor: String?, previousCursor: String?) {
    self.messages = messages
    self.users = users
    self.nextCursor = nextCursor
    self.previousCursor = previousCursor
  }
}

/// How far a user has read in a room.
public struct ReadMarker: Codable, Sendable, Hashable {
  public var roomId: RoomID
  /// The message that the request named.
  public var messageId: MessageID
  /// Of the fact that moved the marker, or, when it stood there or beyond already, of the message.
  public var position: LogPosition

  public init(roomId: RoomID, messageId: MessageID, position: LogPosition) {
    self.roomId = roomId
    self.messageId = messageId
    self.position = position
  }
}
