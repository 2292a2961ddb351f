import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

/// A thread whose newest reply was erased, in rebuilt read models.
@Suite struct ErasedReplyTests {
  private static let alice: UserID = .numbered(1)
  private static let bob: UserID = .numbered(2)
  private static let room: RoomID = .numbered(9)
  private static let root: MessageID = .numbered(100)
  private static let erased: MessageID = .numbered(203)
  private static let location = MessageLocation(thread: 1, ordinal: 3)

  /// Events about the newest reply that may have been recorded before it was erased.
  static let events: [RoomEvent] = [
    .messages(.edited(erased, at: location, MessageEdit(text: "edited", mentions: Mentions()))),
    .messages(.deleted(erased, at: location)),
    .annotations(.reactionAdded(erased, at: location, by: alice, emoji: "👍")),
    .annotations(.reactionRemoved(erased, at: location, by: alice, emoji: "👍")),
    .annotations(.pinned(erased, at: location)),
    .annotations(.unpinned(erased, at: location)),
    .threads(.markerMoved(alice, to: erased, at: location)),
  ]

  /// Bob replies to Alice three times; the third reply is erased.
  private func script(_ event: RoomEvent?, then more: UInt64? = nil) -> EventScript {
    var script = EventScript()
    script.create(Self.room, by: Self.alice)
    script.room(Self.room, .members(.added(Self.bob, role: .member)), by: Self.alice)
    script.room(Self.room, .messages(.sent(Self.root, author: Self.alice, thread: nil, .plain("root"))), by: Self.alice)
    func reply(_ ordinal: UInt64) {
      let thread = ThreadLocation(
        root: ThreadRoot(message: Self.root, ordinal: 1), rootAuthor: Self.alice, ordinal: ordinal)
      script.room(
        Self.room, .messages(.sent(.numbered(200 + ordinal), author: Self.bob, thread: thread, .plain("x"))),
        by: Self.bob)
    }
    for ordinal in 1...2 as ClosedRange<UInt64> { reply(ordinal) }
    script.room(Self.room, .erased(kind: 137), by: Self.bob)
    if let event { script.room(Self.room, event, by: Self.alice) }
    if let more { reply(more) }
    return script
  }

  private func replies(_ events: [RecordedEvent]) throws -> UInt64? {
    let key = MessageKey(room: Self.room, message: Self.root)
    return try build(IDIndexProjection.self, events).read { try IDIndexQueries($0).messages([key])[key]?.replies }
  }

  @Test("its ordinal stays taken where anything else names it", arguments: events)
  func taken(event: RoomEvent) throws {
    let events = script(event).events
    #expect(try replies(events) == 3)
    let queue = try build(RoomsProjection.self, events)
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      let thread = try #require(try queries.followedThreads(of: Self.alice, limit: 5).threads.first)
      #expect(thread.lastOrdinal == 3)
      // Two replies are left. The erased one counts as deleted, and a marker at it is after the other two.
      let isRead = if case .threads(.markerMoved) = event { true } else { false }
      #expect(thread.unreadCount == (isRead ? 0 : 2))
    }
    for projection in [RoomsProjection.self, TimelineProjection.self, IDIndexProjection.self] as [any Projection.Type] {
      #expect(try dump(build(projection, events, batch: 1)) == dump(build(projection, events)), "\(projection.name)")
    }
  }

  @Test("the next reply counts beside it", arguments: events)
  func next(event: RoomEvent) throws {
    let events = script(event, then: 4).events
    #expect(try replies(events) == 4)
    try build(RoomsProjection.self, events).read { (database) throws in
      let reading = try RoomsQueries(database).threadReading(1, in: Self.room, of: Self.alice)
      let isRead = if case .threads(.markerMoved) = event { true } else { false }
      #expect(reading?.unreadCount == (isRead ? 1 : 3))
    }
  }

  @Test("where nothing names it, nothing is known of it, and the next reply takes its ordinal")
  func unnamed() throws {
    #expect(try replies(script(nil).events) == 2)
    let events = script(nil, then: 3).events
    #expect(try replies(events) == 3)
    try build(RoomsProjection.self, events).read { (database) throws in
      #expect(try RoomsQueries(database).threadReading(1, in: Self.room, of: Self.alice)?.unreadCount == 3)
    }
  }
}
