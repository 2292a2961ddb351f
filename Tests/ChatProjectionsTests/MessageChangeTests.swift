import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Testing

@testable import ChatProjections

@Suite("timeline notes where messages changed after they were sent")
struct MessageChangeTests {
  private let owner = UserID.numbered(1)
  private let tea = RoomID.numbered(9)
  private let first = MessageID.numbered(100)

  private func changed(
    _ script: EventScript, after position: LogPosition = .origin, _ location: MessageLocation? = nil, limit: Int = 100
  ) throws -> [ChangedMessage] {
    try build(TimelineProjection.self, script.events).read { (database) throws in
      try TimelineQueries(database).changedMessages(
        of: tea, after: position, location, through: script.last.position, limit: limit)
    }
  }

  private func reply(_ number: UInt64) -> RoomEvent {
    let thread = ThreadLocation(root: ThreadRoot(message: first, ordinal: 1), rootAuthor: owner, ordinal: number)
    return .messages(.sent(.numbered(200 + number), author: owner, thread: thread, .plain("reply")))
  }

  @Test("each event notes the messages that it changes, and nothing if it has no effect")
  func events() throws {
    var script = EventScript()
    script.create(tea, by: owner)
    script.send(2, to: tea, by: owner, firstID: 100)
    #expect(try changed(script) == [])
    let (root, inThread): (MessageLocation, MessageLocation) = (.room(1), MessageLocation(thread: 1, ordinal: 1))
    let expected: [(RoomEvent, [MessageLocation])] = [
      (.messages(.edited(first, at: root, .plain("new"))), [root]),
      (.annotations(.reactionAdded(first, at: root, by: owner, emoji: "+")), [root]),
      (.annotations(.reactionAdded(first, at: root, by: owner, emoji: "+")), []),
      (.annotations(.reactionRemoved(first, at: root, by: owner, emoji: "+")), [root]),
      (.annotations(.reactionRemoved(first, at: root, by: owner, emoji: "+")), []),
      (.annotations(.pinned(first, at: root)), [root]), (.annotations(.pinned(first, at: root)), []),
      (.annotations(.unpinned(first, at: root)), [root]), (.annotations(.unpinned(first, at: root)), []),
      (reply(1), [root]),
      (.messages(.edited(.numbered(201), at: inThread, .plain("new"))), [inThread]),
      (.messages(.deleted(.numbered(201), at: inThread)), [root, inThread]),
      (.messages(.deleted(.numbered(201), at: inThread)), []),
      (.messages(.deleted(first, at: root)), [root]),
      (.messages(.edited(first, at: root, .plain("late"))), []),
      (.annotations(.pinned(first, at: root)), []),
      (reply(2), [root]),
    ]
    for (event, locations) in expected {
      let before = script.last.position
      script.room(tea, event, by: owner)
      let found = try changed(script, after: before)
      #expect(found.map(\.location) == locations, "\(event)")
      #expect(found.allSatisfy { $0.position == script.last.position })
    }
  }

  @Test("every message row that an event changes is noted at that event", arguments: [41, 42, 43] as [UInt64])
  func everyChange(seed: UInt64) throws {
    func rows(_ database: Database) throws -> [[DatabaseValue]: [DatabaseValue]] {
      var rows: [[DatabaseValue]: [DatabaseValue]] = [:]
      let sql = """
        SELECT roomId, thread, ordinal, position, text, deletedAt, details,
          (SELECT replies FROM thread WHERE thread.roomId = message.roomId AND root = ordinal AND message.thread = 0),
          (SELECT group_concat(emoji || count) FROM reactionCount AS r WHERE r.roomId = message.roomId
            AND r.thread = message.thread AND r.ordinal = message.ordinal),
          EXISTS (SELECT 1 FROM pin WHERE pin.roomId = message.roomId AND pin.thread = message.thread
            AND pin.ordinal = message.ordinal)
        FROM message
        """
      for row in try Row.fetchAll(database, sql: sql) {
        let values = Array(row.databaseValues)
        rows[Array(values.prefix(3))] = Array(values.dropFirst(3))
      }
      return rows
    }
    let queue = try build(TimelineProjection.self, [])
    var projection = TimelineProjection()
    var (before, changes) = (try queue.read(rows), 0)
    for recorded in RandomHistory(seed: seed, events: 500).events {
      try queue.write { (database) throws in
        let previous = LogPosition(recorded.position.value - 1)
        _ = try ProjectionBatch.apply([recorded], after: previous, with: &projection, to: database)
      }
      let after = try queue.read(rows)
      let noted = try queue.read { (database) throws in
        try Row.fetchAll(
          database, sql: "SELECT roomId, thread, ordinal FROM messageChange WHERE position = ?",
          arguments: [Int64(recorded.position.value)]
        ).map { Array($0.databaseValues) }
      }
      let changed = after.keys.filter { before[$0] != nil && before[$0] != after[$0] }
      #expect(Set(changed) == Set(noted), "\(recorded.event)")
      changes += changed.count
      before = after
    }
    #expect(changes > 40)
  }

  @Test("pages may end between two messages that changed at one position, and a target leaves out later changes")
  func pages() throws {
    var script = EventScript()
    script.create(tea, by: owner)
    script.send(3, to: tea, by: owner, firstID: 100)
    for number in 1...4 as ClosedRange<UInt64> { script.room(tea, reply(number), by: owner) }
    for number in 1...3 as ClosedRange<UInt64> {
      script.room(
        tea, .messages(.deleted(.numbered(200 + number), at: MessageLocation(thread: 1, ordinal: number))), by: owner)
    }
    let whole = try changed(script)
    #expect(whole.map(\.location.thread) == [1, 1, 0, 1])
    for size in 1...3 {
      var found: [ChangedMessage] = []
      while true {
        let page = try changed(
          script, after: found.last?.position ?? .origin, found.last?.location, limit: size)
        if page.isEmpty { break }
        found += page
      }
      #expect(found == whole)
    }
    let target = LogPosition(script.last.position.value - 1)
    try build(TimelineProjection.self, script.events).read { (database) throws in
      let found = try TimelineQueries(database).changedMessages(of: tea, after: .origin, through: target, limit: 9)
      #expect(found == Array(whole.prefix(2)))
    }
  }

  @Test("a deleted room's changes are removed")
  func deletion() throws {
    var script = EventScript()
    script.create(tea, by: owner)
    script.send(1, to: tea, by: owner, firstID: 100)
    script.room(tea, .messages(.edited(first, at: .room(1), .plain("new"))), by: owner)
    #expect(try changed(script).count == 1)
    script.room(tea, .lifecycle(.deleted), by: owner)
    #expect(try changed(script) == [])
  }

  @Test(
    "the messages sent after a position are found, in the room and in its threads", arguments: [51, 52, 53] as [UInt64])
  func sent(seed: UInt64) throws {
    let events = ConversationHistory(seed: seed, events: 700).script.events
    let room = RoomID.numbered(100)
    let end = events[events.count - 1].position
    try build(TimelineProjection.self, events).read { (database) throws in
      let queries = TimelineQueries(database)
      for isReply in [false, true] {
        let all = try Row.fetchAll(
          database, sql: "SELECT thread, ordinal, position FROM message WHERE (thread > 0) = ? ORDER BY position",
          arguments: [isReply]
        ).map { row in
          ChangedMessage(
            location: MessageLocation(thread: row[0] as UInt64, ordinal: row[1] as UInt64),
            position: LogPosition(row[2] as UInt64))
        }
        #expect(all.count > 20)
        for after in stride(from: 0, through: end.value, by: 3).map({ LogPosition($0) }) {
          let target = LogPosition(min(end.value, after.value + 200))
          let expected = all.filter { $0.position > after && $0.position <= target }
          for limit in [2, 1000] {
            let found = try isReply
              ? queries.sentReplies(to: room, after: after, through: target, limit: limit)
              : queries.sentMessages(to: room, after: after, through: target, limit: limit)
            #expect(found == Array(expected.prefix(limit)))
          }
        }
      }
    }
  }

  @Test("all messages of a room are listed, its own timeline first and each with its last change", arguments: [51, 52])
  func everyMessage(seed: UInt64) throws {
    let room = RoomID.numbered(100)
    let history = ConversationHistory(seed: seed, events: 700).script.events
    try build(TimelineProjection.self, history).read { (database) throws in
      let queries = TimelineQueries(database)
      let all = try Row.fetchAll(
        database,
        sql: """
          SELECT thread, ordinal, IFNULL((SELECT position FROM messageChange WHERE thread = message.thread
            AND ordinal = message.ordinal), position) FROM message ORDER BY thread, ordinal
          """
      ).map { (MessageLocation(thread: $0[0] as UInt64, ordinal: $0[1] as UInt64), LogPosition($0[2] as UInt64)) }
      var found: [MessageLocation] = []
      while true {
        let next = try queries.locations(in: room, after: found.last, limit: 7)
        found += next
        if next.count < 7 { break }
      }
      #expect(found == all.map(\.0))
      #expect(Set(found.map(\.thread)).count > 3)
      for (location, position) in all {
        let contents = try queries.changedContents(of: room, thread: location.thread, location.run, for: .numbered(1))
        #expect(contents.map(\.position) == [position])
        #expect(contents.map(\.message) == [try queries.shown(at: location, of: room, for: .numbered(1))])
      }
    }
  }

  @Test("finding three new messages costs the same among 20 as among 2,000")
  func costOfSent() throws {
    func cost(_ count: Int) throws -> Int {
      var script = EventScript()
      script.create(tea, by: owner)
      script.send(count, to: tea, by: owner, firstID: 100)
      let start = script.last.position
      script.send(3, to: tea, by: owner, firstID: 10_000)
      return try build(TimelineProjection.self, script.events).read { (database) throws in
        var found: [ChangedMessage] = []
        let steps = try steps(database) {
          found = try TimelineQueries(database).sentMessages(
            to: tea, after: start, through: script.last.position, limit: 100)
        }
        #expect(found.map(\.location.ordinal) == (1...3).map { UInt64(count + $0) })
        return steps
      }
    }
    #expect(try cost(20) == cost(2000))
  }
}
