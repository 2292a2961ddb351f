import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

/// Which messages do not count for a member who blocks the sender, and which are marked.
@Suite struct BlockTests {
  private let alice = UserID.numbered(1)
  private let bob = UserID.numbered(2)
  private let carol = UserID.numbered(3)
  private let room = RoomID.numbered(9)

  /// Alice's counts in the room, and in the thread of its first message.
  private struct Counts: Equatable, CustomStringConvertible {
    var unread: UInt64
    var mentions: UInt64
    var thread: UInt64?

    init(_ unread: UInt64, _ mentions: UInt64, thread: UInt64? = nil) {
      (self.unread, self.mentions, self.thread) = (unread, mentions, thread)
    }

    var description: String { "\(unread) unread, \(mentions) mentions, \(thread.map { "\($0)" } ?? "-") in thread" }
  }

  private func counts(of user: UserID, _ events: [RecordedEvent], batch: Int) throws -> Counts {
    try build(RoomsProjection.self, events, batch: batch).read { (database) throws in
      let queries = RoomsQueries(database)
      let row = try #require(try queries.roomListRow(room, for: user))
      // The stored counts of a tracked member equal those that are found in the sets.
      let counted = try queries.counted(try #require(row.member), in: row.room)
      #expect((counted.unread, counted.mentions) == (row.unreadCount, row.mentionCount))
      let badge = try queries.badges(of: user, at: .latest)
      #expect((badge.unread, badge.mentions) == (row.unreadCount, row.mentionCount))
      let thread = try queries.threadReading(1, in: room, of: user)
      #expect(
        try badge.threadUnread == queries.followedThreads(of: user, limit: 9).threads.map(\.unreadCount).reduce(0, +))
      return Counts(row.unreadCount, row.mentionCount, thread: thread?.unreadCount)
    }
  }

  /// Expects the same counts with batches of every size.
  private func expect(
    _ expected: Counts, of user: UserID? = nil, _ script: EventScript, location: SourceLocation = #_sourceLocation
  ) throws {
    for batch in [1, 3, 4096] {
      let found = try counts(of: user ?? alice, script.events, batch: batch)
      #expect(found == expected, "batches of \(batch)", sourceLocation: location)
    }
  }

  private func script(members: UserID...) -> EventScript {
    var script = EventScript()
    for (user, name) in [(alice, "alice"), (bob, "bob"), (carol, "carol")] { script.register(user, name) }
    script.create(room, by: carol)
    for member in members { script.room(room, .members(.added(member, role: .member)), by: carol) }
    return script
  }

  private func say(
    _ number: UInt64, by author: UserID, _ mentions: Mentions = Mentions(), in thread: ThreadLocation? = nil,
    to script: inout EventScript
  ) {
    let content = MessageContent(text: "\(number)", details: MessageDetails(mentions: mentions))
    script.room(room, .messages(.sent(.numbered(number), author: author, thread: thread, content)), by: author)
  }

  private var naming: Mentions { Mentions(users: [alice]) }
  private let everyone = Mentions(everyone: true)

  @Test("messages count if they were sent before the block or after it ended")
  func messages() throws {
    var script = script(members: alice, bob)
    say(101, by: bob, naming, to: &script)
    try expect(Counts(1, 1), script)
    script.user(alice, .blocks(.blocked(bob)))
    try expect(Counts(1, 1), script)
    say(102, by: bob, naming, to: &script)
    say(103, by: bob, everyone, to: &script)
    try expect(Counts(3, 1), of: carol, script)
    say(104, by: carol, everyone, to: &script)
    try expect(Counts(2, 2), script)
    script.user(alice, .blocks(.unblocked(bob)))
    try expect(Counts(2, 2), script)
    say(105, by: bob, naming, to: &script)
    say(106, by: bob, everyone, to: &script)
    try expect(Counts(4, 4), script)
    script.room(room, .reading(.markerMoved(alice, to: .numbered(106), ordinal: 6)), by: alice)
    script.room(room, .reading(.markedUnread(alice, from: .numbered(102), ordinal: 2)), by: alice)
    try expect(Counts(3, 3), script)
  }

  @Test("a deleted message is subtracted once, whether it counted or not")
  func deletions() throws {
    var script = script(members: alice, bob)
    say(101, by: bob, everyone, to: &script)
    script.user(alice, .blocks(.blocked(bob)))
    say(102, by: bob, everyone, to: &script)
    say(103, by: bob, to: &script)
    script.room(room, .messages(.deleted(.numbered(102), at: .room(2))), by: bob)
    try expect(Counts(1, 1), script)
    script.user(alice, .blocks(.unblocked(bob)))
    script.room(room, .messages(.deleted(.numbered(103), at: .room(3))), by: bob)
    script.room(room, .messages(.deleted(.numbered(101), at: .room(1))), by: bob)
    try expect(Counts(0, 0), script)
    let queue = try build(RoomsProjection.self, script.events)
    let rows = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM leftOut") }
    #expect(rows == 0)
  }

  @Test("an edit by a blocked user does not newly mention the blocker, and keeps earlier mentions")
  func edits() throws {
    var script = script(members: alice, bob)
    say(101, by: bob, naming, to: &script)
    say(102, by: bob, to: &script)
    say(103, by: bob, everyone, to: &script)
    func edit(_ number: UInt64, _ mentions: Mentions) {
      let edit = MessageEdit(text: "edited", mentions: mentions)
      script.room(room, .messages(.edited(.numbered(number), at: .room(number - 100), edit)), by: bob)
    }
    script.user(alice, .blocks(.blocked(bob)))
    edit(101, naming)
    edit(102, naming)
    edit(103, everyone)
    try expect(Counts(3, 2), script)
    edit(102, everyone)
    edit(103, naming)
    try expect(Counts(3, 1), script)
    edit(101, Mentions())
    try expect(Counts(3, 0), script)
    say(104, by: bob, to: &script)
    script.user(alice, .blocks(.unblocked(bob)))
    edit(104, naming)
    try expect(Counts(3, 0), script)
    edit(104, everyone)
    edit(101, everyone)
    try expect(Counts(3, 1), script)
  }

  @Test("a blocked user's replies do not count, and their mentions do not make the blocker follow the thread")
  func threads() throws {
    var script = script(members: alice, bob)
    say(101, by: carol, to: &script)
    let root = ThreadRoot(message: .numbered(101), ordinal: 1)
    func reply(_ number: UInt64, by author: UserID, _ mentions: Mentions = Mentions()) {
      let location = ThreadLocation(root: root, rootAuthor: carol, ordinal: number - 200)
      say(number, by: author, mentions, in: location, to: &script)
    }
    script.user(alice, .blocks(.blocked(bob)))
    reply(201, by: bob, naming)
    let edit = MessageEdit(text: "edited", mentions: naming)
    script.room(
      room, .messages(.edited(.numbered(201), at: MessageLocation(thread: 1, ordinal: 1), edit)), by: bob)
    try expect(Counts(1, 0), script)
    reply(202, by: carol, naming)
    reply(203, by: bob)
    reply(204, by: bob, everyone)
    try expect(Counts(1, 0, thread: 1), script)
    script.room(
      room, .messages(.deleted(.numbered(203), at: MessageLocation(thread: 1, ordinal: 3))), by: bob)
    try expect(Counts(1, 0, thread: 1), script)
    script.user(alice, .blocks(.unblocked(bob)))
    reply(205, by: bob)
    try expect(Counts(1, 0, thread: 2), script)
  }

  @Test("a reply makes the root's author follow the thread, unless that author blocks the sender")
  func rootAuthors() throws {
    var script = script(members: alice, bob)
    say(101, by: alice, to: &script)
    let root = ThreadRoot(message: .numbered(101), ordinal: 1)
    func reply(_ ordinal: UInt64, by author: UserID) {
      say(200 + ordinal, by: author, in: ThreadLocation(root: root, rootAuthor: alice, ordinal: ordinal), to: &script)
    }
    func followers() throws -> [UserID] {
      try build(RoomsProjection.self, script.events).read { (database) throws in
        try CachedStatement(database, "SELECT userId FROM threadFollower ORDER BY userId").all {
          try $0.id(UserID.self)
        }
      }
    }
    script.user(alice, .blocks(.blocked(bob)))
    reply(1, by: bob)
    #expect(try followers() == [bob])
    reply(2, by: carol)
    try expect(Counts(0, 0, thread: 1), script)
    #expect(try followers() == [alice, bob, carol])
  }

  @Test("messages are left out only for members at that time, even if they join, leave and block in one batch")
  func members() throws {
    var script = script(members: bob)
    script.user(alice, .blocks(.blocked(bob)))
    say(101, by: bob, to: &script)
    script.room(room, .members(.added(alice, role: .member)), by: carol)
    say(102, by: bob, to: &script)
    script.room(room, .members(.left(alice)), by: alice)
    say(103, by: bob, to: &script)
    script.room(room, .members(.added(alice, role: .member)), by: carol)
    say(104, by: bob, to: &script)
    say(105, by: carol, to: &script)
    try expect(Counts(1, 0), script)
    let queue = try build(RoomsProjection.self, script.events)
    let ordinals = try queue.read { try Int.fetchAll($0, sql: "SELECT ordinal FROM leftOut ORDER BY ordinal") }
    #expect(ordinals == [2, 4])
  }

  @Test("the list has the newest block first, and a repeated block does not move")
  func list() throws {
    var script = script()
    script.user(alice, .blocks(.blocked(bob)))
    let first = script.last
    script.user(alice, .blocks(.blocked(carol)))
    script.user(alice, .blocks(.blocked(bob)))
    try build(AccountsProjection.self, script.events).read { (database) throws in
      let queries = AccountsQueries(database)
      let page = try queries.blockedUsers(of: alice, limit: 1)
      #expect((page.blocked.map(\.user), page.profiles) == ([carol], [carol: Profile(nickname: "carol")]))
      let rest = try queries.blockedUsers(of: alice, after: page.next, limit: 1)
      #expect((rest.blocked, rest.next) == ([BlockedUserRow(user: bob, blocked: first)], nil))
      #expect(try queries.block(of: bob, by: alice) == first)
      #expect(try queries.block(of: alice, by: bob) == nil)
    }
  }

  @Test("messages are marked only for users who block the sender now")
  func marks() throws {
    var script = script(members: alice, bob)
    say(101, by: bob, to: &script)
    say(102, by: carol, to: &script)
    script.user(alice, .blocks(.blocked(bob)))
    func marked(_ user: UserID?) throws -> [Bool]? {
      try build(TimelineProjection.self, script.events).read { (database) throws in
        let queries = TimelineQueries(database)
        let page = try queries.page(of: room, for: user, limit: 9)?.shown.map(\.isFromBlockedUser)
        let single = try [1, 2].map { try queries.shown(at: .room($0), of: room, for: user)?.isFromBlockedUser }
        #expect(single == page)
        return page
      }
    }
    #expect(try marked(alice) == [true, false])
    for other in [bob, carol, nil] { #expect(try marked(other) == [false, false]) }
    script.user(alice, .blocks(.unblocked(bob)))
    #expect(try marked(alice) == [false, false])
  }

  // MARK: - Large rooms

  /// Bob's room with `members` members. The first `blockers` of the others block bob, in order, after `strangers` users
  /// who are not in the room.
  private func room(of members: UInt64, blockers: UInt64, strangers: UInt64 = 0) -> EventScript {
    var script = EventScript()
    script.register(bob, "bob")
    for number in 0..<strangers { script.user(.numbered(100_000 + number), .blocks(.blocked(bob))) }
    script.create(room, by: bob)
    for number in 1..<members { script.room(room, .members(.added(.numbered(1000 + number), role: .member)), by: bob) }
    for number in 1..<blockers + 1 { script.user(.numbered(1000 + number), .blocks(.blocked(bob))) }
    script.send(1, to: room, by: bob, firstID: 50)
    return script
  }

  private func leftOut(_ script: EventScript, batch: Int = 4096) throws -> Set<UserID> {
    try build(RoomsProjection.self, script.events, batch: batch).read { (database) throws in
      // One row for the message, whose size is that of the IDs.
      let rows = try CachedStatement(database, "SELECT userIds FROM leftOut").all { try $0.ids() as [UserID] }
      #expect(rows.count <= 1 && rows.allSatisfy { $0 == $0.sorted() })
      return Set(rows.joined())
    }
  }

  @Test(
    "a message is left out for all blockers in a room of up to 256 members, and for at most 256 in a larger one",
    arguments: [(255, 254, 254), (256, 255, 255), (257, 256, 256), (258, 257, 256), (300, 255, 255), (300, 299, 256)])
  func leftOutMembers(members: UInt64, blockers: UInt64, expected: UInt64) throws {
    let script = room(of: members, blockers: blockers)
    let found = try leftOut(script)
    #expect(found == Set((1...expected).map { UserID.numbered(1000 + $0) }))
    #expect(try leftOut(script, batch: 100) == found)
  }

  @Test(
    "a larger room checks the oldest 4,096 blocks; a room of up to 256 members checks every member",
    arguments: [
      (300, 4_095, 1), (300, 4_096, 0), (300, 4_097, 0), (256, 4_097, 2),
      // As many blockers as members, and one more.
      (10, 8, 2), (10, 9, 2), (257, 256, 2),
    ])
  func checkedBlocks(members: UInt64, strangers: UInt64, expected: Int) throws {
    #expect(try leftOut(room(of: members, blockers: 2, strangers: strangers)).count == expected)
  }

  @Test("finding one blocker costs the same whatever the size of the room")
  func cost() throws {
    func cost(members: UInt64) throws -> Int {
      let script = room(of: members, blockers: 1)
      return try build(RoomsProjection.self, script.events).write { (database) throws in
        let buffered = try BufferedRoom(room, database)
        var found: Set<UserID> = []
        let steps = try steps(database) { found = try Blockers.members(blocking: bob, in: buffered, database) }
        #expect(found == [.numbered(1001)])
        return steps
      }
    }
    let few = try cost(members: 3)
    for members in [256, 257, 1_000] as [UInt64] { #expect(try cost(members: members) <= few + few / 2) }
  }

  @Test("beyond the limit, the message counts for a blocker, but a mention by name does not")
  func beyondTheLimit() throws {
    var script = room(of: 300, blockers: 299)
    let last = UserID.numbered(1299)
    say(60, by: bob, Mentions(users: [last]), to: &script)
    let counts = try counts(of: last, script.events, batch: 4096)
    #expect(counts == Counts(2, 0))
  }

  @Test("the rows of a deleted room are removed")
  func deletedRoom() throws {
    var script = room(of: 3, blockers: 2)
    say(60, by: bob, everyone, to: &script)
    func rows(_ queue: DatabaseQueue) throws -> Int? {
      try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM leftOut") }
    }
    #expect(try rows(build(RoomsProjection.self, script.events)) == 3)
    script.room(room, .lifecycle(.deleted), by: bob)
    let queue = try build(RoomsProjection.self, script.events)
    try queue.write { (database) throws in
      while try BulkDeletion.step(RoomsProjection.bulkDeletedRows, database, rows: 1) {}
    }
    #expect(try rows(queue) == 0)
  }
}
