import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct ReceiptTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let room: RoomID = .numbered(9)

  /// Alice and Bob, and three messages from Alice.
  private func script() -> EventScript {
    var script = EventScript()
    script.register(alice, "alice")
    script.register(bob, "bob")
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    script.send(3, to: room, by: alice, firstID: 100)
    return script
  }

  private func receipts(_ script: EventScript, for reader: UserID, limit: Int = 10) throws -> ReceiptPage {
    try build(RoomsProjection.self, script.events).read {
      try RoomsQueries($0).receipts(of: room, for: reader, limit: limit)
    }
  }

  @Test("the marker keeps its message and time, where it moved and not where it stayed")
  func keeps() throws {
    var script = script()
    let stamp = script.room(room, .reading(.markerMoved(bob, to: .numbered(101), ordinal: 2)), by: bob)
    script.room(room, .reading(.markedUnread(bob, from: .numbered(100), ordinal: 1)), by: bob)
    script.room(room, .reading(.markerMoved(bob, to: .numbered(100), ordinal: 1)), by: bob)
    let page = try receipts(script, for: alice)
    #expect(page.receipts.map(\.user) == [alice, bob])
    #expect(page.receipts[0].read.message == .numbered(102))
    #expect(page.receipts[1].read == ReadPoint(message: .numbered(101), time: stamp.time))
    #expect(page.profiles == [alice: Profile(nickname: "alice"), bob: Profile(nickname: "bob")])
    let first = try receipts(script, for: alice, limit: 1)
    #expect(first.receipts.map(\.user) == [alice] && first.next == first.receipts[0].joined)
  }

  @Test("hidden markers are not listed for others until they are shown again")
  func hides() throws {
    var script = script()
    script.room(room, .reading(.markerMoved(bob, to: .numbered(101), ordinal: 2)), by: bob)
    script.user(bob, .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false))))
    #expect(try receipts(script, for: alice).receipts.map(\.user) == [alice])
    #expect(try receipts(script, for: bob).receipts.map(\.user) == [alice, bob])
    script.user(bob, .erased(kind: 9))
    #expect(try receipts(script, for: alice).receipts.map(\.user) == [alice])
    script.user(bob, .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: true))))
    #expect(try receipts(script, for: alice).receipts.map(\.user) == [alice, bob])
  }
}

@Suite struct ScheduledRowTests {
  private let alice: UserID = .numbered(1)
  private let room: RoomID = .numbered(9)
  private let start = Timestamp(milliseconds: EventScript.start)

  private func message(_ text: String = "x", at milliseconds: Int64) -> ScheduledMessage {
    ScheduledMessage(author: alice, content: .plain(text), sendAt: start.adding(milliseconds: milliseconds))
  }

  @Test("due messages are ordered by their time, then by their scheduling, and the next one's time is known")
  func due() throws {
    var script = EventScript()
    script.create(room, by: alice)
    for (number, time) in [(1, 50), (2, 30), (3, 30), (4, 90), (5, 80), (6, 10)] as [(UInt64, Int64)] {
      script.room(room, .scheduling(.scheduled(.numbered(number), message(at: time))), by: alice)
    }
    script.room(room, .scheduling(.cancelled(.numbered(6))), by: alice)
    script.room(room, .scheduling(.failed(.numbered(1), .silenced)), by: alice)
    script.room(
      room, .scheduling(.changed(.numbered(4), ScheduledMessageEdit(sendAt: start.adding(milliseconds: 20)))),
      by: alice)
    let queue = try build(RoomsProjection.self, script.events)
    func due(_ time: Int64, _ limit: Int = 10) throws -> DueMessages {
      try queue.read { try RoomsQueries($0).dueMessages(at: start.adding(milliseconds: time), limit: limit) }
    }
    #expect(try due(19) == DueMessages(due: [], next: start.adding(milliseconds: 20)))
    #expect(try due(30).due.map(\.id) == [.numbered(4), .numbered(2), .numbered(3)])
    #expect(try due(30).next == start.adding(milliseconds: 80))
    #expect(try due(80, 2).due.map(\.id) == [.numbered(4), .numbered(2)])
    #expect(try due(80).next == nil)
  }

  @Test(
    "no more is due at once than so many bytes, but always one", arguments: [(1, 1), (300, 1), (2_500, 2), (9_000, 3)])
  func dueBytes(bytes: Int, count: Int) throws {
    var script = EventScript()
    script.create(room, by: alice)
    for number: UInt64 in 1...3 {
      let text = String(repeating: "x", count: 1_000)
      script.room(room, .scheduling(.scheduled(.numbered(number), message(text, at: 1))), by: alice)
    }
    let queue = try build(RoomsProjection.self, script.events)
    let later = start.adding(milliseconds: 5)
    #expect(try queue.read { try RoomsQueries($0).dueMessages(at: later, limit: 9, bytes: bytes).due.count } == count)
  }

  @Test("the newest failures are kept, as many as may wait, and each author's by itself")
  func failures() throws {
    var script = EventScript()
    script.create(room, by: alice)
    let most = UInt64(Limits.scheduledMessagesPerUserAndRoom)
    let other = ScheduledMessage(author: .numbered(2), content: .plain("x"), sendAt: start)
    script.room(room, .scheduling(.scheduled(.numbered(5_000), other)), by: .numbered(2))
    script.room(room, .scheduling(.failed(.numbered(5_000), .notAMember)), by: .numbered(2))
    for number in 1...(most + 2) {
      script.room(room, .scheduling(.scheduled(.numbered(number), message(at: 1))), by: alice)
      script.room(room, .scheduling(.failed(.numbered(number), .notAMember)), by: alice)
    }
    let queue = try build(RoomsProjection.self, script.events)
    let rows = try queue.read { try RoomsQueries($0).scheduledMessages(of: alice, in: room).messages }
    #expect(rows.map(\.id) == (3...(most + 2)).map { .numbered($0) })
    #expect(rows.allSatisfy { $0.failure?.reason == .notAMember })
    #expect(try queue.read { try RoomsQueries($0).scheduledMessages(of: .numbered(2), in: room).messages.count } == 1)
  }

  @Test("a sent message leaves no row, and the waiting messages of a deleted room are invisible and then deleted")
  func leaves() throws {
    var script = EventScript()
    script.create(room, by: alice)
    script.room(room, .scheduling(.scheduled(.numbered(1), message("one", at: 1))), by: alice)
    script.room(room, .scheduling(.scheduled(.numbered(2), message("two", at: 2))), by: alice)
    script.room(room, .messages(.sent(.numbered(1), author: alice, thread: nil, .plain("one"))), by: alice)
    let later = start.adding(milliseconds: 5)
    func rows(_ queue: DatabaseQueue) throws -> Int? {
      try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM scheduled") }
    }
    let before = try build(RoomsProjection.self, script.events)
    #expect(try rows(before) == 1)
    #expect(try before.read { try RoomsQueries($0).dueMessages(at: later, limit: 9).due.map(\.id) } == [.numbered(2)])
    script.room(room, .lifecycle(.deleted), by: alice)
    let after = try build(RoomsProjection.self, script.events)
    #expect(try after.read { try RoomsQueries($0).dueMessages(at: later, limit: 9) } == DueMessages(due: [], next: nil))
    #expect(try after.read { try RoomsQueries($0).scheduledMessages(of: alice, limit: 9).messages.isEmpty })
    while try after.write({ try BulkDeletion.step(RoomsProjection.bulkDeletedRows, $0) }) {}
    #expect(try rows(after) == 0)
  }

  @Test("a message for a thread, and a reply, are found with the messages that they refer to")
  func references() throws {
    var script = EventScript()
    script.create(room, by: alice)
    let content = MessageContent(text: "x", details: MessageDetails(replyTo: .numbered(8)))
    let message = ScheduledMessage(author: alice, content: content, thread: .numbered(7), sendAt: start)
    script.room(room, .scheduling(.scheduled(.numbered(1), message)), by: alice)
    let queue = try build(RoomsProjection.self, script.events)
    let due = try queue.read { try RoomsQueries($0).dueMessages(at: start, limit: 9).due }
    #expect(due == [DueMessage(room: room, id: .numbered(1))])
    #expect(try queue.read { try RoomsQueries($0).scheduledMessage(.numbered(1), of: room)?.message } == message)
  }
}

@Suite struct WorkspaceBadgeTests {
  @Test("the counts of workspaces and of the whole badge agree")
  func counts() throws {
    let (alice, bob): (UserID, UserID) = (.numbered(1), .numbered(2))
    let (guild, club): (WorkspaceID, WorkspaceID) = (.numbered(50), .numbered(51))
    var script = EventScript()
    for (number, workspace, messages) in [(10, guild, 3), (11, guild, 2), (12, club, 4), (13, nil, 5)]
      as [(UInt64, WorkspaceID?, Int)]
    {
      let room: RoomID = .numbered(number)
      script.room(
        room, .lifecycle(.created(RoomCreation(kind: .channel, name: "c", creator: alice, workspace: workspace))),
        by: alice)
      script.room(room, .members(.joined(alice, role: .owner, invite: nil)), by: alice)
      script.room(room, .members(.added(bob, role: .member)), by: alice)
      script.send(messages, to: room, by: alice, firstID: number * 100)
      let mentioning = MessageContent(text: "hey", details: MessageDetails(mentions: Mentions(users: [bob])))
      script.room(
        room, .messages(.sent(.numbered(number * 100 + 50), author: alice, thread: nil, mentioning)), by: alice)
    }
    script.room(.numbered(11), .reading(.markedUnread(bob, from: .numbered(1150), ordinal: 3)), by: bob)
    script.room(.numbered(10), .reading(.markerMoved(bob, to: .numbered(1001), ordinal: 2)), by: bob)
    let queue = try build(RoomsProjection.self, script.events)
    let now = script.last.time
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      #expect(
        try queries.workspaceBadges(of: bob, in: [guild, club], at: now) == [
          guild: BadgeRow(unread: 5, mentions: 2), club: BadgeRow(unread: 5, mentions: 1),
        ])
      #expect(try queries.badges(of: bob, at: now) == BadgeRow(unread: 16, mentions: 4))
      #expect(try queries.badge(of: bob, at: now) == 16)
      #expect(try queries.workspaceBadges(of: alice, in: [guild, club], at: now).isEmpty)
      #expect(try queries.workspaceBadge(of: bob, in: guild, at: now) == BadgeRow(unread: 5, mentions: 2))
      #expect(try queries.workspaceBadge(of: bob, in: club, at: now) == BadgeRow(unread: 5, mentions: 1))
      #expect(try queries.workspaceBadge(of: bob, in: .numbered(52), at: now) == BadgeRow())
      #expect(try queries.workspaceBadge(of: alice, in: guild, at: now) == BadgeRow())
    }
  }

  @Test("the counts of some workspaces cost the same however many rooms are elsewhere")
  func cost() throws {
    let (alice, guild): (UserID, WorkspaceID) = (.numbered(1), .numbered(50))
    func statements(elsewhere: Int, _ count: (RoomsQueries) throws -> Void) throws -> Int {
      var script = EventScript()
      for number in 0..<UInt64(elsewhere + 1) {
        let creation = RoomCreation(
          kind: .channel, name: "c", creator: .numbered(2), workspace: number == 0 ? guild : .numbered(60 + number))
        script.room(.numbered(100 + number), .lifecycle(.created(creation)), by: .numbered(2))
        script.room(.numbered(100 + number), .members(.added(alice, role: .member)), by: .numbered(2))
        script.room(.numbered(100 + number), .members(.added(.numbered(2), role: .member)), by: .numbered(2))
        script.send(1, to: .numbered(100 + number), by: .numbered(2), firstID: 1000 * (number + 1))
      }
      return try build(RoomsProjection.self, script.events).read { (database) throws in
        let counter = StatementCounter()
        database.trace { _ in counter.count += 1 }
        defer { database.trace(options: []) }
        try count(RoomsQueries(database))
        return counter.count
      }
    }
    let now = Timestamp(milliseconds: EventScript.start)
    func one(_ queries: RoomsQueries) throws {
      #expect(try queries.workspaceBadge(of: alice, in: guild, at: now).unread == 1)
    }
    #expect(try statements(elsewhere: 0, one) == statements(elsewhere: 20, one))
    func all(_ queries: RoomsQueries) throws {
      _ = try queries.workspaceBadges(of: alice, in: [guild, .numbered(61)], at: now)
    }
    #expect(try statements(elsewhere: 1, all) == statements(elsewhere: 20, all))
  }
}

private final class StatementCounter {
  var count = 0
}
