package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension ChatService {
  /// A place in a room, as a client may name it.
  package enum Anchor: Sendable {
    /// What a cursor holds.
    case ordinal(UInt64)
    case message(MessageID)
    case time(Timestamp)
  }

  /// Which page of a room.
  package enum PageRequest: Sendable {
    case newest
    case before(Anchor)
    case after(Anchor)
    case around(Anchor)
  }

  package func messages(
    of room: RoomID, for user: UserID, _ request: PageRequest, limit: Int
  )
    async throws(ServiceError) -> TimelinePage
  {
    let page: TimelinePage?
    switch request {
    case .newest: page = try await timeline { try $0.page(of: room, for: user, at: .newest, limit: limit) }
    case .before(let anchor):
      let ordinal = try await ordinal(of: anchor, in: room, for: user)
      page = try await timeline { try $0.page(of: room, for: user, at: .before(ordinal), limit: limit) }
    case .after(let anchor):
      var ordinal = try await ordinal(of: anchor, in: room, for: user)
      // "After a time" begins with the first message at that time or later.
      if case .time = anchor, ordinal > 0 { ordinal -= 1 }
      let after = ordinal
      page = try await timeline { try $0.page(of: room, for: user, at: .after(after), limit: limit) }
    case .around(let anchor):
      let ordinal = try await ordinal(of: anchor, in: room, for: user)
      page = try await timeline { try $0.page(of: room, for: user, at: .around(ordinal), limit: limit) }
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  package func message(_ message: MessageID, of room: RoomID, for user: UserID) async throws(ServiceError) -> MessageRow
  {
    let ordinal = try await ordinal(of: .message(message), in: room, for: user)
    guard let row = try await timeline({ try $0.message(ordinal, of: room, for: user) }) else {
      throw .rejected(.roomNotFound)
    }
    return row
  }

  /// A message's ordinal never changes, so the ID index and the timeline agree on it.
  private func ordinal(of anchor: Anchor, in room: RoomID, for user: UserID) async throws(ServiceError) -> UInt64 {
    switch anchor {
    case .ordinal(let ordinal): return ordinal
    case .time(let time):
      return try await timeline { try $0.ordinal(at: time, in: room) } ?? UInt64(Int64.max)
    case .message(let message):
      guard try await timeline({ try $0.isMember(user, of: room) }) else { throw .rejected(.roomNotFound) }
      let head = store.head
      let facts = try await failing {
        try await self.views.ids.wait(for: head)
        return try await self.views.ids.read {
          try $0.messageFacts([MessageKey(room: room, message: message)]).facts[0]
        }
      }
      guard let facts else { throw .rejected(.messageNotFound) }
      return facts.place.ordinal
    }
  }

  func timeline<T: Sendable>(
    _ body: @escaping @Sendable (TimelineQueries) throws -> T
  ) async throws(ServiceError)
    -> T
  {
    let head = store.head
    return try await failing {
      try await self.views.timeline.wait(for: head)
      return try await self.views.timeline.read(body)
    }
  }
}
