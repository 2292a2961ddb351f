package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension ChatService {
  /// A place in a room or a thread, as a client may name it.
  package enum Anchor: Sendable {
    /// What a cursor holds.
    case ordinal(UInt64)
    case message(MessageID)
    case time(Timestamp)
  }

  /// Which page of a room or a thread.
  package enum PageRequest: Sendable {
    case newest
    case before(Anchor)
    case after(Anchor)
    case around(Anchor)
  }

  /// A page of the room's own timeline. A message in a thread, named as an anchor, stands for the thread's root.
  package func messages(
    of room: RoomID, for user: UserID, _ request: PageRequest, limit: Int
  )
    async throws(ServiceError) -> TimelinePage
  {
    try await page(of: room, thread: 0, for: user, request, limit: limit)
  }

  /// A page of the thread that hangs from a message, and how the user reads it, nil for who never followed it. The root,
  /// named as an anchor, stands before the first reply.
  ///
  /// What is said of the reading is as new as the request at least, and no newer than the page, which is what authorises it.
  package func thread(
    _ root: MessageID, of room: RoomID, for user: UserID, _ request: PageRequest, limit: Int
  ) async throws(ServiceError) -> (page: TimelinePage, reading: ThreadReading?) {
    let thread = try await rootOrdinal(root, in: room, for: user)
    let reading = try await rooms { try $0.threadReading(thread, in: room, of: user) }
    return (try await page(of: room, thread: thread, for: user, request, limit: limit), reading)
  }

  private func page(
    of room: RoomID, thread: UInt64, for user: UserID, _ request: PageRequest, limit: Int
  ) async throws(ServiceError) -> TimelinePage {
    let anchor: TimelineAnchor
    switch request {
    case .newest: anchor = .newest
    case .before(.time(let time)):
      // The page ends with the last message at that time: a client that passes on the time of its oldest message, which
      // others may share, loses none of them.
      let last = try await timeline { try $0.lastOrdinal(at: time, in: room, thread: thread) }
      anchor = .before((last ?? 0) + 1)
    case .before(let place): anchor = .before(try await ordinal(of: place, in: room, thread, for: user))
    case .after(let place):
      var ordinal = try await ordinal(of: place, in: room, thread, for: user)
      // "After a time" begins with the first message at that time or later.
      if case .time = place, ordinal > 0 { ordinal -= 1 }
      anchor = .after(ordinal)
    case .around(let place): anchor = .around(try await ordinal(of: place, in: room, thread, for: user))
    }
    let page = try await timeline { try $0.page(of: room, thread: thread, for: user, at: anchor, limit: limit) }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  /// A message, in whatever thread it is, with what hangs from it. For nobody, as for a service that acts for itself.
  package func message(
    _ message: MessageID, of room: RoomID, for user: UserID?
  ) async throws(ServiceError) -> ShownMessage {
    let place = try await known(message, in: room, for: user).place
    guard let shown = try await timeline({ try $0.shown(at: place, of: room, for: user) }) else {
      throw .rejected(.roomNotFound)
    }
    return shown
  }

  /// A message's place never changes, so the ID index and the timeline agree on it.
  private func ordinal(
    of anchor: Anchor, in room: RoomID, _ thread: UInt64, for user: UserID
  ) async throws(ServiceError) -> UInt64 {
    switch anchor {
    case .ordinal(let ordinal): return ordinal
    case .time(let time):
      // What was sent while the clock was ahead marks no place.
      let latest = now().adding(milliseconds: Limits.clockJumpMilliseconds)
      return try await timeline { try $0.ordinal(at: time, notAfter: latest, in: room, thread: thread) }
        ?? UInt64(Int64.max)
    case .message(let message):
      let place = try await known(message, in: room, for: user).place
      if place.thread == thread { return place.ordinal }
      if thread == 0 { return place.thread }
      guard place == .room(thread) else { throw .rejected(.messageNotFound) }
      return 0
    }
  }

  /// The ordinal of a message that a thread hangs from, or may.
  func rootOrdinal(_ root: MessageID, in room: RoomID, for user: UserID) async throws(ServiceError) -> UInt64 {
    let place = try await known(root, in: room, for: user).place
    guard !place.isInThread else { throw .rejected(.notAThreadRoot) }
    return place.ordinal
  }

  /// What the ID index knows of a message, for a member of its room or for a service.
  func known(_ message: MessageID, in room: RoomID, for user: UserID?) async throws(ServiceError) -> KnownMessage {
    guard try await timeline({ try $0.mayRead(room, user) }) else { throw .rejected(.roomNotFound) }
    let head = store.head
    let key = MessageKey(room: room, message: message)
    let known = try await failing {
      try await self.views.ids.wait(for: head)
      return try await self.views.ids.read { try $0.messages([key]) }
    }
    guard let message = known[key] else { throw .rejected(.messageNotFound) }
    return message
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
