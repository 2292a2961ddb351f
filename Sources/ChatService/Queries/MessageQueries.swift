package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension ChatService {
  /// A position in a room or a thread, in the forms that a client may send.
  package enum Anchor: Sendable {
    /// The content of a cursor.
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

  /// A page of the room's timeline. If the anchor is a message in a thread, the thread's root is used.
  /// - Parameter type: only messages with this type; nil for all.
  package func messages(
    of room: RoomID, withType type: String? = nil, for user: UserID, _ request: PageRequest, limit: Int
  ) async throws(ServiceError) -> TimelinePage {
    try await page(of: room, thread: 0, withType: type, for: user, request, limit: limit)
  }

  /// A page of a thread, and the user's reading of it, which is nil if the user never followed it. If the anchor is the
  /// root, it counts as before the first reply.
  ///
  /// The reading is at least as new as the request, and no newer than the page, whose query checks the right to read.
  package func thread(
    _ root: MessageID, of room: RoomID, withType type: String? = nil, for user: UserID, _ request: PageRequest,
    limit: Int
  ) async throws(ServiceError) -> (page: TimelinePage, reading: ThreadReading?) {
    let thread = try await rootOrdinal(root, in: room, for: user)
    let reading = try await rooms { try $0.threadReading(thread, in: room, of: user) }
    let page = try await page(of: room, thread: thread, withType: type, for: user, request, limit: limit)
    return (page, reading)
  }

  private func page(
    of room: RoomID, thread: UInt64, withType type: String?, for user: UserID, _ request: PageRequest, limit: Int
  ) async throws(ServiceError) -> TimelinePage {
    let anchor: TimelineAnchor
    var limit = limit
    switch request {
    case .newest: anchor = .newest
    case .before(.time(let time)):
      // The page ends with the last message at that time. A client that sends the time of its oldest message misses
      // none of the others with the same time.
      let last = try await timeline { try $0.lastOrdinal(at: time, in: room, thread: thread) }
      anchor = .before((last ?? 0) + 1)
      limit = try await self.limit(limit, at: time, in: room, thread)
    case .before(let place): anchor = .before(try await ordinal(of: place, in: room, thread, for: user))
    case .after(let place):
      var ordinal = try await ordinal(of: place, in: room, thread, for: user)
      // A page "after a time" begins with the first message at that time or later.
      if case .time(let time) = place, ordinal > 0 {
        ordinal -= 1
        limit = try await self.limit(limit, at: time, in: room, thread)
      }
      anchor = .after(ordinal)
    case .around(let place): anchor = .around(try await ordinal(of: place, in: room, thread, for: user))
    }
    let page = try await timeline { [limit] timeline in
      if let type {
        try timeline.page(of: room, thread: thread, withType: type, for: user, at: anchor, limit: limit)
      } else {
        try timeline.page(of: room, thread: thread, for: user, at: anchor, limit: limit)
      }
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  /// The length of a page before or after a time. If several messages have that very time, the page has room for all of them
  /// and for one more. Otherwise, a client that asks for the time of its oldest message again and again would always
  /// get the same messages.
  private func limit(
    _ limit: Int, at time: Timestamp, in room: RoomID, _ thread: UInt64
  ) async throws(ServiceError) -> Int {
    let count = try await timeline { try $0.count(at: time, in: room, thread: thread, atMost: Limits.pageItems) }
    return count > 1 ? max(limit, min(count + 1, Limits.pageItems)) : limit
  }

  /// A message in any thread, with what belongs to it. Without a user for a service that acts for itself.
  package func message(
    _ message: MessageID, of room: RoomID, for user: UserID?
  ) async throws(ServiceError) -> ShownMessage {
    let location = try await known(message, in: room, for: user).location
    guard let shown = try await timeline({ try $0.shown(at: location, of: room, for: user) }) else {
      throw .rejected(.roomNotFound)
    }
    return shown
  }

  /// What a reply to a message shows of it. Nil if there is nothing to quote.
  package func quote(
    of message: MessageID, in room: RoomID, for user: UserID
  ) async throws(ServiceError) -> QuotedMessage? {
    let location = try await known(message, in: room, for: user).location
    return try await timeline { try $0.quote(of: location, in: room, for: user) }
  }

  /// A message's location never changes, so the ID index and the timeline agree on it.
  private func ordinal(
    of anchor: Anchor, in room: RoomID, _ thread: UInt64, for user: UserID
  ) async throws(ServiceError) -> UInt64 {
    switch anchor {
    case .ordinal(let ordinal): return ordinal
    case .time(let time):
      // Messages sent while the clock was ahead do not count.
      let latest = now().adding(milliseconds: Limits.clockJumpMilliseconds)
      return try await timeline { try $0.ordinal(at: time, notAfter: latest, in: room, thread: thread) }
        ?? UInt64(Int64.max)
    case .message(let message):
      let location = try await known(message, in: room, for: user).location
      if location.thread == thread { return location.ordinal }
      if thread == 0 { return location.thread }
      guard location == .room(thread) else { throw .rejected(.messageNotFound) }
      return 0
    }
  }

  /// The ordinal of a message that has a thread, or can get one.
  func rootOrdinal(_ root: MessageID, in room: RoomID, for user: UserID) async throws(ServiceError) -> UInt64 {
    let location = try await known(root, in: room, for: user).location
    guard !location.isInThread else { throw .rejected(.notAThreadRoot) }
    return location.ordinal
  }

  /// What the ID index knows of a message. For members of its room and services.
  func known(_ message: MessageID, in room: RoomID, for user: UserID?) async throws(ServiceError) -> KnownMessage {
    guard try await timeline({ try $0.mayRead(room, user) }) else { throw .rejected(.roomNotFound) }
    let head = store.head
    let key = MessageKey(room: room, message: message)
    let known = try await failing {
      try await self.readModels.ids.wait(for: head)
      return try await self.readModels.ids.read { try $0.messages([key]) }
    }
    guard let message = known[key] else { throw .rejected(.messageNotFound) }
    return message
  }

  /// - Parameter position: what the query reads has everything up to here. Nil for the head.
  func timeline<T: Sendable>(
    upTo position: LogPosition? = nil, _ body: @escaping @Sendable (TimelineQueries) throws -> T
  ) async throws(ServiceError) -> T {
    let position = position ?? store.head
    return try await failing {
      try await self.readModels.timeline.wait(for: position)
      return try await self.readModels.timeline.read(body)
    }
  }
}
