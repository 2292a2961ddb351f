public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/read-marker`
public struct MoveReadMarkerRequest: RequestObject {
  /// The last message that the user has read.
  public let messageId: MessageID

  public init(messageId: MessageID) {
    self.messageId = messageId
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case messageId
  }
}

/// `PUT /v1/rooms/{roomId}/unread-mark`
public struct MarkUnreadRequest: RequestObject {
  /// The first message that is to be shown as unread.
  public let messageId: MessageID

  public init(messageId: MessageID) {
    self.messageId = messageId
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case messageId
  }
}

/// How far a user has read in a room.
public struct ReadMarker: ResponseObject {
  public var roomId: RoomID
  /// The message that the request named.
  public var messageId: MessageID
  /// The position of the event that moved the marker. If the marker was already there or later, that of the message.
  public var position: LogPosition

  public init(roomId: RoomID, messageId: MessageID, position: LogPosition) {
    self.roomId = roomId
    self.messageId = messageId
    self.position = position
  }
}

/// The receipt for marking messages as unread.
public struct UnreadMark: ResponseObject {
  public var roomId: RoomID
  public var messageId: MessageID
  public var position: LogPosition

  public init(roomId: RoomID, messageId: MessageID, position: LogPosition) {
    self.roomId = roomId
    self.messageId = messageId
    self.position = position
  }
}

/// The last message that a user has read, and when.
public struct ReadPoint: Codable, Sendable, Hashable {
  public var messageId: MessageID
  public var readAt: Timestamp

  public init(messageId: MessageID, readAt: Timestamp) {
    self.messageId = messageId
    self.readAt = readAt
  }
}

/// How far one member has read.
public struct ReadReceipt: Codable, Sendable, Hashable {
  public var user: User
  public var messageId: MessageID
  public var readAt: Timestamp

  public init(user: User, messageId: MessageID, readAt: Timestamp) {
    self.user = user
    self.messageId = messageId
    self.readAt = readAt
  }
}

/// `GET /v1/rooms/{roomId}/read-markers`: the members who have read or sent something since they joined, without those
/// who hide it from others, in the order in which they joined.
public struct ReadReceiptList: ListObject {
  public var readMarkers: [ReadReceipt]
  @Nullable public var nextCursor: String?

  public init(readMarkers: [ReadReceipt], nextCursor: String?) {
    self.readMarkers = readMarkers
    self.nextCursor = nextCursor
  }
}
