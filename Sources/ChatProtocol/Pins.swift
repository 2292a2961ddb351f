public import ChatPrimitives

/// The receipt for pinning and unpinning.
public struct PinReceipt: ResponseObject {
  public var roomId: RoomID
  public var messageId: MessageID
  public var position: LogPosition

  public init(roomId: RoomID, messageId: MessageID, position: LogPosition) {
    self.roomId = roomId
    self.messageId = messageId
    self.position = position
  }
}

/// A pinned message.
public struct PinEntry: Codable, Sendable, Hashable {
  public var message: Message
  public var pinnedAt: Timestamp
  /// Null if a service pinned it for itself.
  @Nullable public var pinnedBy: UserID?

  public init(message: Message, pinnedAt: Timestamp, pinnedBy: UserID?) {
    self.message = message
    self.pinnedAt = pinnedAt
    self.pinnedBy = pinnedBy
  }
}

/// `GET /v1/rooms/{roomId}/pins`: newest pin first.
public struct PinList: ListObject {
  public var pins: [PinEntry]
  /// The senders, the users whom messages mention or quote, the participants of threads, and the users who pinned.
  public var users: [User]
  @Nullable public var nextCursor: String?

  public init(pins: [PinEntry], users: [User], nextCursor: String?) {
    self.pins = pins
    self.users = users
    self.nextCursor = nextCursor
  }
}
