import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct TimelineTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let room: RoomID = .numbered(9)

  private func script(messages: Int) -> EventScript {
    var script = EventScript()
    script.register(alice, "alice")
    script.create(room, by: alice)
    script.send(messages, to: room, by: alice, firstID: 100)
    return script
  }

  @Test("each kind of page covers its ordinals and says what lies on either side")
  func anchors() throws {
    let queue = try build(TimelineProjection.self, script(messages: 100).events)
    let cases: [(TimelineAnchor, Int, ClosedRange<UInt64>?, Bool, Bool)] = [
      (.newest, 30, 71...100, true, false), (.newest, 100, 1...100, false, false),
      (.newest, 200, 1...100, false, false),
      (.before(71), 30, 41...70, true, true), (.before(2), 30, 1...1, false, true), (.before(1), 30, nil, false, true),
      (.before(500), 2, 99...100, true, false), (.after(70), 30, 71...100, true, false),
      (.after(0), 30, 1...30, false, true), (.after(99), 30, 100...100, true, false),
      (.after(100), 30, nil, true, false),
      (.after(.max), 30, nil, true, false), (.around(50), 10, 45...54, true, true),
      (.around(1), 10, 1...10, false, true),
      (.around(100), 10, 91...100, true, false), (.around(400), 3, 98...100, true, false),
      (.around(50), 1, 50...50, true, true), (.before(0), 5, nil, false, true),
    ]
    try queue.read { (database) throws in
      let queries = TimelineQueries(database)
      for (anchor, limit, range, hasOlder, hasNewer) in cases {
        let page = try #require(try queries.page(of: room, for: alice, at: anchor, limit: limit))
        #expect(page.messages.map(\.ordinal) == range.map(Array.init) ?? [], "\(anchor)")
        #expect((page.older != nil) == hasOlder && (page.newer != nil) == hasNewer, "\(anchor)")
        if let older = page.older {
          let before = try queries.page(of: room, for: alice, at: .before(older), limit: 1)
          #expect(before?.messages.map(\.ordinal) == [range.map { $0.lowerBound - 1 } ?? 100], "\(anchor)")
        }
        if let newer = page.newer {
          let after = try queries.page(of: room, for: alice, at: .after(newer), limit: 1)
          #expect(after?.messages.map(\.ordinal) == [range.map { $0.upperBound + 1 } ?? 1], "\(anchor)")
        }
        #expect(page.profiles == (range == nil ? [:] : [alice: Profile(nickname: "alice")]))
      }
    }
  }

  @Test(
    "an empty room has one empty page, whatever is asked",
    arguments: [.newest, .before(1), .after(0), .around(1)] as [TimelineAnchor])
  func emptyRoom(anchor: TimelineAnchor) throws {
    let queue = try build(TimelineProjection.self, script(messages: 0).events)
    let page = try queue.read { try TimelineQueries($0).page(of: room, for: alice, at: anchor, limit: 30) }
    #expect(page?.messages == [] && page?.older == nil && page?.newer == nil)
  }

  @Test("users who are not members get nothing, and services get everything")
  func rights() throws {
    let queue = try build(TimelineProjection.self, script(messages: 3).events)
    try queue.read { (database) throws in
      let queries = TimelineQueries(database)
      #expect(try queries.page(of: room, for: bob, limit: 30) == nil)
      #expect(try queries.message(1, of: room, for: bob) == nil)
      #expect(try queries.page(of: .numbered(77), for: nil, limit: 30) == nil)
      #expect(try queries.page(of: room, for: nil, limit: 30)?.messages.count == 3)
      #expect(try queries.message(2, of: room, for: alice)?.id == .numbered(101))
      #expect(try queries.message(4, of: room, for: alice) == nil)
      #expect(try queries.message(0, of: room, for: alice) == nil)
    }
  }

  @Test("walking back and forth while messages come in and go shows each once, in order")
  func stablePages() throws {
    var script = script(messages: 200)
    let queue = try build(TimelineProjection.self, script.events)
    var (seen, anchor): ([UInt64], TimelineAnchor) = ([], .newest)
    var applied = script.events.count
    func write(_ number: UInt64) throws {
      script.send(3, to: room, by: alice, firstID: 1000 + number * 10)
      script.room(room, .messages(.deleted(.numbered(100 + number), at: .room(number + 1))), by: alice)
      script.room(room, .messages(.edited(.numbered(250 - number), at: .room(151 - number), .plain("new"))), by: alice)
      try apply(TimelineProjection.self, script.events, from: applied, to: queue)
      applied = script.events.count
    }
    for number in 0...40 as ClosedRange<UInt64> {
      let page = try #require(
        try queue.read { try TimelineQueries($0).page(of: room, for: alice, at: anchor, limit: 7) })
      seen = page.messages.map(\.ordinal) + seen
      try write(number)
      guard let older = page.older else { break }
      anchor = .before(older)
    }
    #expect(seen == Array(1...200))
    anchor = .after(200)
    while true {
      let page = try #require(
        try queue.read { try TimelineQueries($0).page(of: room, for: alice, at: anchor, limit: 7) })
      seen += page.messages.map(\.ordinal)
      guard let newer = page.newer else { break }
      anchor = .after(newer)
    }
    let last = try queue.read { try TimelineQueries($0).page(of: room, for: nil, limit: 1)?.run?.upperBound }
    #expect(last.map { seen == Array(1...$0) } == true)
  }

  @Test("a deleted message keeps its place and loses its text; an edit after that changes nothing")
  func deletion() throws {
    var script = script(messages: 3)
    let edited = script.room(room, .messages(.edited(.numbered(100), at: .room(1), .plain("edited"))), by: alice)
    let deleted = script.room(room, .messages(.deleted(.numbered(101), at: .room(2))), by: alice)
    script.room(room, .messages(.edited(.numbered(101), at: .room(2), .plain("back"))), by: alice)
    let queue = try build(TimelineProjection.self, script.events)
    let page = try queue.read { try TimelineQueries($0).page(of: room, for: alice, limit: 30) }
    #expect(page?.messages.map(\.text) == ["edited", "", "text 102"])
    #expect(page?.messages[0].editedAt == edited.time && page?.messages[0].revision == edited.position)
    #expect(page?.messages[1].deletedAt == deleted.time && page?.messages[1].revision == deleted.position)
  }

  @Test("a time leads to the first message at or after it, imported ones by their original time")
  func byTime() throws {
    var script = script(messages: 0)
    for (number, time) in [300, 100, 200].enumerated() as EnumeratedSequence<[Int64]> {
      script.room(
        room, .messages(.sent(.numbered(UInt64(500 + number)), author: alice, thread: nil, .plain("x"))), by: alice,
        at: Timestamp(milliseconds: time))
    }
    let queue = try build(TimelineProjection.self, script.events)
    try queue.read { (database) throws in
      let queries = TimelineQueries(database)
      let cases: [(Int64, UInt64?)] = [(0, 2), (100, 2), (101, 3), (201, 1), (301, nil)]
      for (time, ordinal) in cases {
        #expect(try queries.ordinal(at: Timestamp(milliseconds: time), in: room) == ordinal, "\(time)")
      }
    }
  }

  @Test("rooms and timeline agree on every last message", arguments: [41, 42] as [UInt64])
  func agreesWithRooms(seed: UInt64) throws {
    let history = RandomHistory(seed: seed, events: 3000)
    let (timeline, rooms) = (
      try build(TimelineProjection.self, history.events), try build(RoomsProjection.self, history.events)
    )
    for room in history.roomIDs {
      let last = try timeline.read { try TimelineQueries($0).page(of: room, for: nil, limit: 1)?.messages.last }
      #expect(try rooms.read { try RoomsQueries($0).room(room)?.lastMessage } == last)
    }
  }
}
