public import ChatPrimitives

/// `PUT /v1/rooms/{roomId}/typing`
public struct SetTypingRequest: RequestObject {
  public let typing: Bool

  public init(typing: Bool) {
    self.typing = typing
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case typing
  }
}

/// Whether the caller types in a room.
public struct TypingStatus: ResponseObject {
  public var roomId: RoomID
  public var typing: Bool

  public init(roomId: RoomID, typing: Bool) {
    self.roomId = roomId
    self.typing = typing
  }
}

/// `PUT /v1/me/presence`
public struct SetPresenceRequest: RequestObject {
  /// `online` or `away`.
  public let presence: String

  public init(presence: String) {
    self.presence = presence
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case presence
  }
}

/// What the streams of a session say.
public struct PresenceStatus: ResponseObject {
  /// `online` or `away`; `offline` if the session has no open stream.
  public var presence: String

  public init(presence: String) {
    self.presence = presence
  }
}

/// `PUT /v1/me/open-rooms`
public struct SetOpenRoomsRequest: RequestObject {
  /// At most `Limits.openRoomsOfDevice`.
  public let roomIds: [RoomID]

  public init(roomIds: [RoomID]) {
    self.roomIds = roomIds
  }

  public enum CodingKeys: String, CodingKey, CaseIterable {
    case roomIds
  }
}

/// The rooms that the device of a session shows.
public struct OpenRoomList: ResponseObject {
  /// Empty if the device has no open stream.
  public var roomIds: [RoomID]

  public init(roomIds: [RoomID]) {
    self.roomIds = roomIds
  }
}

// MARK: - Streams

/// A frame of a stream: a user types in a room, or has stopped.
public struct StreamTyping: Codable, Sendable, Hashable {
  public var type = "typing"
  public var roomId: RoomID
  public var userId: UserID
  /// When the user has stopped, if nothing more is said; null if the user has stopped.
  @Nullable public var until: Timestamp?

  public init(roomId: RoomID, userId: UserID, until: Timestamp?) {
    self.roomId = roomId
    self.userId = userId
    self.until = until
  }
}

/// A frame of a stream: whether another user is online.
public struct StreamPresence: Codable, Sendable, Hashable {
  public var type = "presence"
  public var userId: UserID
  /// `online`, `away` or `offline`.
  public var presence: String

  public init(userId: UserID, presence: String) {
    self.userId = userId
    self.presence = presence
  }
}
