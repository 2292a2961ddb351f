import ChatDomain
import ChatPrimitives
import EventStore
import GRDB
import Testing

@testable import ChatProjections

@Suite("Hidden direct rooms")
struct HiddenRoomTests {
  private static let room = RoomID.numbered(50)

  /// A direct room of this many users, the first of whom has sent a message. It tracks eight of them.
  private func script(members count: UInt64) -> (EventScript, [UserID]) {
    let users = (1...count).map { UserID.numbered($0) }
    var script = EventScript()
    for user in users { script.register(user, "user") }
    let creation = RoomCreation(kind: .direct, name: "", creator: users[0], participants: users)
    script.room(Self.room, .lifecycle(.created(creation)), by: users[0])
    for user in users { script.room(Self.room, .members(.added(user, role: .member)), by: users[0]) }
    script.send(1, to: Self.room, by: users[0], firstID: 100)
    return (script, users)
  }

  private struct Seen: Equatable {
    /// Those that have the room.
    var lists: [TrackedRoom.List]
    var badge: UInt64

    init(_ lists: [TrackedRoom.List], badge: UInt64) {
      self.lists = lists
      self.badge = badge
    }
  }

  private func seen(by user: UserID, _ script: EventScript) throws -> Seen {
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let lists = try [TrackedRoom.List.open, .archived, .hidden].filter {
        try !queries.roomList(of: user, in: [$0], limit: 10).rooms.isEmpty
      }
      let both = try queries.roomList(of: user, in: [.open, .hidden], limit: 10).rooms
      #expect(both.map(\.room.id) == [Self.room])
      #expect(both.first?.member?.isHidden == (lists == [.hidden]))
      return Seen(lists, badge: try queries.badge(of: user, at: script.last.time))
    }
  }

  private static let root = ThreadRoot(message: .numbered(100), ordinal: 1)

  @Test("are in their own list and not in the badge until the next message", arguments: [2, 9] as [UInt64])
  func hides(members: UInt64) throws {
    let (script, users) = script(members: members)
    for user in users {
      let unread: UInt64 = user == users[0] ? 0 : 1
      var script = script
      #expect(try seen(by: user, script) == Seen([.open], badge: unread))
      script.room(Self.room, .members(.hidden(user)), by: user)
      #expect(try seen(by: user, script) == Seen([.hidden], badge: 0))
      for other in users where other != user { #expect(try seen(by: other, script).lists == [.open]) }
      var shown = script
      shown.room(Self.room, .members(.shown(user)), by: user)
      #expect(try seen(by: user, shown) == Seen([.open], badge: unread))
      var sent = script
      sent.send(1, to: Self.room, by: users[0], firstID: 200)
      #expect(try seen(by: user, sent) == Seen([.open], badge: unread * 2))
      var replied = script
      replied.room(
        Self.room,
        .messages(
          .sent(
            .numbered(300), author: users[1],
            thread: ThreadLocation(root: Self.root, rootAuthor: users[0], ordinal: 1), .plain("reply"))), by: users[1])
      #expect(try seen(by: user, replied) == Seen([.open], badge: unread))
      var edited = script
      edited.room(Self.room, .messages(.edited(.numbered(100), at: .room(1), .plain("edited"))), by: users[0])
      #expect(try seen(by: user, edited) == Seen([.hidden], badge: 0))
    }
  }
}
