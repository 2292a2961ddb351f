public import ChatPrimitives

// What a client says over a socket without waiting for a response. Each frame stands for a command.

/// A client's frame: the user types in a room, or has stopped.
public struct TypingFrame: RequestObject {
  public enum CodingKeys: String, CodingKey, CaseIterable {
    case type, roomId, typing
  }

  /// Absent in Socket.IO, where the name of the event says it. So it is in the other frames.
  public let type: String?
  public let roomId: RoomID
  public let typing: Bool
}

/// A client's frame: whether the user is active.
public struct PresenceFrame: RequestObject {
  public enum CodingKeys: String, CodingKey, CaseIterable {
    case type, presence
  }

  public let type: String?
  /// `online` or `away`.
  public let presence: String
}

/// A client's frame: the rooms that the device shows.
public struct OpenFrame: RequestObject {
  public enum CodingKeys: String, CodingKey, CaseIterable {
    case type, roomIds
  }

  public let type: String?
  public let roomIds: [RoomID]
}

extension CommandFrame {
  public init(_ frame: TypingFrame) throws {
    let path = Endpoints.setTyping.path.replacing("{roomId}", with: frame.roomId.description)
    try self.init(path, SetTypingRequest(typing: frame.typing))
  }

  public init(_ frame: PresenceFrame) throws {
    try self.init(Endpoints.setPresence.path, SetPresenceRequest(presence: frame.presence))
  }

  public init(_ frame: OpenFrame) throws {
    try self.init(Endpoints.setOpenRooms.path, SetOpenRoomsRequest(roomIds: frame.roomIds))
  }

  private init(_ path: String, _ body: some Encodable) throws {
    self.init(
      method: AnyEndpoint.Method.put.rawValue, path: path,
      body: CanonicalJSON(unchecked: String(decoding: try JSONWriter.bytes(of: body), as: UTF8.self)))
  }
}
