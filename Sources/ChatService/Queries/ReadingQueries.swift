package import ChatDomain
package import ChatPrimitives
package import ChatProjections

extension ChatService {
  package func preferences(of user: UserID) async throws(ServiceError) -> UserPreferences {
    guard let preferences = try await accounts({ try $0.preferences(of: user) }) else {
      throw .rejected(.userNotFound)
    }
    return preferences
  }

  /// How far members have read, as far as the user may see it.
  package func receipts(
    of room: RoomID, for user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ReceiptPage {
    let page: ReceiptPage? = try await rooms { rooms in
      guard try rooms.member(user, of: room) != nil else { return nil }
      return try rooms.receipts(of: room, for: user, after: cursor, limit: limit)
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  // MARK: Scheduled messages

  /// The user's scheduled messages in one room, the earliest sending time first.
  package func scheduledMessages(
    of user: UserID, in room: RoomID, after cursor: ScheduledPlace? = nil
  ) async throws(ServiceError) -> ScheduledRoomPage {
    let page: ScheduledRoomPage? = try await rooms { rooms in
      guard try rooms.member(user, of: room) != nil else { return nil }
      return try rooms.scheduledMessages(of: user, in: room, after: cursor)
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  /// One of the user's scheduled messages. The user may have left the room.
  package func scheduledMessage(
    _ message: MessageID, of room: RoomID, for user: UserID
  ) async throws(ServiceError) -> ScheduledRow {
    let found: Result<ScheduledRow, Rejection> = try await rooms { rooms in
      guard try rooms.room(room) != nil else { return .failure(.roomNotFound) }
      if let row = try rooms.scheduledMessage(message, of: room), row.message.author == user { return .success(row) }
      return .failure(try rooms.member(user, of: room) == nil ? .roomNotFound : .scheduledMessageNotFound)
    }
    do {
      return try found.get()
    } catch {
      throw .rejected(error)
    }
  }

  /// The user's scheduled messages in all rooms, in the order in which they were scheduled. Includes rooms that the
  /// user has left: their messages will fail, and the author should see that.
  package func scheduledMessages(
    of user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ScheduledPage {
    try await rooms { try $0.scheduledMessages(of: user, after: cursor, limit: limit) }
  }
}
