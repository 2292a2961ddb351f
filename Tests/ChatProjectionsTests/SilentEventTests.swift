import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

/// An app's own events that neither count as unread nor notify.
@Suite struct SilentEventTests {
  private let alice = UserID.numbered(1)
  private let bob = UserID.numbered(2)
  private let room = RoomID.numbered(9)
  private let naming = Mentions(users: [.numbered(1)], everyone: false)
  private let everyone = Mentions(everyone: true)

  private struct Counts: Equatable {
    var unread: UInt64
    var mentions: UInt64
    var thread: UInt64?
  }

  /// Alice's counts: the stored ones, those that are found in the sets, and the badge, which must agree.
  private func counts(_ events: [RecordedEvent], batch: Int) throws -> Counts {
    try build(RoomsProjection.self, events, batch: batch).read { (database) throws in
      let queries = RoomsQueries(database)
      let row = try #require(try queries.roomListRow(room, for: alice))
      let counted = try queries.counted(try #require(row.member), in: row.room)
      #expect((counted.unread, counted.mentions) == (row.unreadCount, row.mentionCount))
      let badge = try queries.badges(of: alice, at: .latest)
      #expect((badge.unread, badge.mentions) == (row.unreadCount, row.mentionCount))
      return Counts(
        unread: row.unreadCount, mentions: row.mentionCount,
        thread: try queries.threadReading(1, in: room, of: alice)?.unreadCount)
    }
  }

  private func expect(
    _ unread: UInt64, _ mentions: UInt64, thread: UInt64? = nil, _ script: EventScript,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let expected = Counts(unread: unread, mentions: mentions, thread: thread)
    for batch in [1, 3, 4096] {
      let found = try counts(script.events, batch: batch)
      #expect(found == expected, "batches of \(batch)", sourceLocation: location)
    }
  }

  private func script() -> EventScript {
    var script = EventScript()
    script.register(alice, "alice")
    script.register(bob, "bob")
    script.create(room, by: bob)
    script.room(room, .members(.added(alice, role: .member)), by: bob)
    return script
  }

  private func say(
    _ number: UInt64, isSilent: Bool, _ mentions: Mentions = Mentions(), in thread: ThreadLocation? = nil,
    to script: inout EventScript
  ) {
    let part = CustomPart(type: "position", body: "{}", isSilent: isSilent)
    let content = MessageContent(text: "\(number)", details: MessageDetails(mentions: mentions, custom: part))
    script.room(room, .messages(.sent(.numbered(number), author: bob, thread: thread, content)), by: bob)
  }

  @Test("a silent event does not count, and neither do its mentions, also after an edit")
  func messages() throws {
    var script = script()
    say(101, isSilent: true, naming, to: &script)
    try expect(0, 0, script)
    say(102, isSilent: false, naming, to: &script)
    say(103, isSilent: true, everyone, to: &script)
    say(104, isSilent: true, to: &script)
    try expect(1, 1, script)
    let edit = MessageEdit(text: "edited", mentions: everyone, customBody: "1")
    script.room(room, .messages(.edited(.numbered(104), at: .room(4), edit)), by: bob)
    try expect(1, 1, script)
    script.room(room, .reading(.markerMoved(alice, to: .numbered(104), ordinal: 4)), by: alice)
    try expect(0, 0, script)
    script.room(room, .reading(.markedUnread(alice, from: .numbered(101), ordinal: 1)), by: alice)
    try expect(1, 1, script)
  }

  @Test("an edit of the data alone keeps the mentions")
  func edits() throws {
    var script = script()
    say(101, isSilent: false, naming, to: &script)
    let edit = MessageEdit(text: nil, customBody: "1")
    script.room(room, .messages(.edited(.numbered(101), at: .room(1), edit)), by: bob)
    try expect(1, 1, script)
    let last = try build(RoomsProjection.self, script.events).read { try RoomsQueries($0).room(room)?.lastMessage }
    #expect(last?.text == "101" && last?.details?.custom?.body == "1" && last?.details?.mentions == naming)
  }

  @Test("a deleted silent event is subtracted once, and the room shows its deletion")
  func deletions() throws {
    var script = script()
    say(101, isSilent: false, to: &script)
    say(102, isSilent: true, to: &script)
    script.room(room, .messages(.deleted(.numbered(102), at: .room(2))), by: bob)
    try expect(1, 0, script)
    let last = try build(RoomsProjection.self, script.events).read { try RoomsQueries($0).room(room)?.lastMessage }
    #expect(last?.id == .numbered(102) && last?.deletedAt != nil && last?.details == nil)
    script.room(room, .messages(.deleted(.numbered(101), at: .room(1))), by: bob)
    try expect(0, 0, script)
  }

  @Test("a silent reply does not count in the thread, and makes nobody follow it by a mention")
  func threads() throws {
    var script = script()
    say(101, isSilent: false, to: &script)
    func reply(_ ordinal: UInt64, isSilent: Bool, _ mentions: Mentions = Mentions()) {
      let root = ThreadRoot(message: .numbered(101), ordinal: 1)
      let location = ThreadLocation(root: root, rootAuthor: bob, ordinal: ordinal)
      say(200 + ordinal, isSilent: isSilent, mentions, in: location, to: &script)
    }
    reply(1, isSilent: true, naming)
    let edit = MessageEdit(text: "edited", mentions: naming)
    script.room(room, .messages(.edited(.numbered(201), at: MessageLocation(thread: 1, ordinal: 1), edit)), by: bob)
    try expect(1, 0, script)
    reply(2, isSilent: false, naming)
    reply(3, isSilent: true, everyone)
    try expect(1, 0, thread: 1, script)
    script.room(room, .messages(.deleted(.numbered(203), at: MessageLocation(thread: 1, ordinal: 3))), by: bob)
    try expect(1, 0, thread: 1, script)
    script.room(room, .messages(.deleted(.numbered(202), at: MessageLocation(thread: 1, ordinal: 2))), by: bob)
    try expect(1, 0, thread: 0, script)
  }

  @Test("nobody's block changes the count of a silent event")
  func blocks() throws {
    var script = script()
    script.user(alice, .blocks(.blocked(bob)))
    say(101, isSilent: true, everyone, to: &script)
    script.user(alice, .blocks(.unblocked(bob)))
    try expect(0, 0, script)
    script.room(room, .messages(.deleted(.numbered(101), at: .room(1))), by: bob)
    try expect(0, 0, script)
  }
}
