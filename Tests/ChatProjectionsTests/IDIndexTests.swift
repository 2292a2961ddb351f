import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import ChatProjections

@Suite struct IDIndexTests {
  @Test("messages are found by their keys, and missing ones are left out")
  func messages() throws {
    let history = RandomHistory(seed: 51, events: 3000)
    let queue = try build(IDIndexProjection.self, history.events)
    let room = history.roomIDs[1]
    let messages = try #require(history.messages[room])
    let keys = messages.map { MessageKey(room: room, message: $0.id) }
    let absent = [
      MessageKey(room: room, message: .numbered(4_000_000)),
      // The same message ID in another room is a different message.
      MessageKey(room: history.roomIDs[0], message: messages[0].id),
    ]
    // The order does not matter, and one key is repeated.
    let asked = [keys[0], absent[0]] + keys.dropFirst() + [absent[1], keys[0]]
    let (found, position) = try queue.read { (database) throws in
      let queries = IDIndexQueries(database)
      return (try queries.messages(asked), try queries.checkpoint().position)
    }
    #expect(position == history.script.last.position)
    #expect(Set(found.keys) == Set(keys))
    for (index, message) in messages.enumerated() {
      let known = try #require(found[keys[index]])
      #expect(known.author == message.author && known.location == .room(UInt64(index + 1)))
      #expect(known.isDeleted == message.isDeleted)
      guard
        case .room(_, .messages(.sent(_, let author, _, let content))) =
          history.events[Int(known.sent.position.value) - 1].event
      else { return #expect(Bool(false), "not where it was sent") }
      #expect(known.fingerprint == content.map { .message($0, author: author) })
    }
  }

  @Test("a command is known by its first event only, under its actor")
  func commands() throws {
    let (alice, bob, room): (UserID, UserID, RoomID) = (.numbered(1), .numbered(2), .numbered(9))
    let service: ServiceID = .numbered(3)
    let key: CommandID = .numbered(70)
    var script = EventScript()
    script.create(room, by: alice)
    let first = script.room(room, .lifecycle(.edited(RoomEdit(name: "one"))), by: alice, command: key)
    script.room(room, .lifecycle(.edited(RoomEdit(name: "two"))), by: alice, command: key)
    let other = script.room(room, .lifecycle(.edited(RoomEdit(name: "two"))), by: bob, command: key)
    let own = script.add(.room(room, .lifecycle(.archived)), service: service, command: key)
    script.add(.room(room, .lifecycle(.edited(RoomEdit(name: "nobody")))), command: key)
    let queue = try build(IDIndexProjection.self, script.events)
    let actors = [alice.uuid, bob.uuid, service.uuid, UUIDBytes.zero]
    let keys = actors.map { CommandKey(actor: $0, command: key) }
    let found = try queue.read { try IDIndexQueries($0).commands(keys) }
    #expect(keys.map { found[$0]?.stamp } == [first, other, own, nil])
    #expect(found.count == 3)
    // Each command has one entry in the filter, however many events it has.
    #expect(try queue.read { try IDIndexQueries($0).restoreFilter().filter.count } == 3)
    #expect(
      found[keys[0]]?.fingerprint
        == ChatEvent.room(room, .lifecycle(.edited(RoomEdit(name: "one")))).commandFingerprint)
  }

  @Test("the restored filter knows every message and command, before and after further events")
  func restoredFilter() throws {
    let history = RandomHistory(seed: 52, events: 3000)
    let queue = try build(IDIndexProjection.self, Array(history.events.prefix(1500)))
    // A new value of the projection continues from the state of the file.
    try apply(IDIndexProjection.self, history.events, from: 1500, to: queue)
    let (filter, position) = try queue.read { try IDIndexQueries($0).restoreFilter() }
    #expect(position == history.script.last.position)
    var direct = KnownIDFilter()
    var commands: Set<CommandKey> = []
    for recorded in history.events {
      if let key = CommandKey(recorded), commands.insert(key).inserted {
        direct.insert(KnownIDFilter.entry(key.command, by: key.actor))
      }
      if case .room(let room, .messages(.sent(let message, _, _, _))) = recorded.event {
        direct.insert(KnownIDFilter.entry(message, in: room))
        #expect(filter.mayContain(KnownIDFilter.entry(message, in: room)))
      }
      if case .room(let room, .scheduling(.scheduled(let message, _))) = recorded.event {
        direct.insert(KnownIDFilter.entry(message, in: room))
      }
    }
    #expect(filter == direct && filter.count > 1000)
  }

  @Test("the reactions of a message are counted by kind and by user, each once, and are gone with it")
  func reactions() throws {
    var script = EventScript()
    let (alice, bob, room): (UserID, UserID, RoomID) = (.numbered(1), .numbered(2), .numbered(9))
    script.create(room, by: alice)
    let (first, second): (MessageID, MessageID) = (.numbered(20), .numbered(21))
    for id in [first, second] {
      script.room(room, .messages(.sent(id, author: alice, thread: nil, .plain("x"))), by: alice)
    }
    func react(_ user: UserID, _ emoji: String, to id: MessageID = first, isAdded: Bool = true) {
      let location = MessageLocation.room(id == first ? 1 : 2)
      script.room(
        room,
        isAdded
          ? .annotations(.reactionAdded(id, at: location, by: user, emoji: emoji))
          : .annotations(.reactionRemoved(id, at: location, by: user, emoji: emoji)), by: user)
    }
    for user in [alice, alice, bob] { react(user, "a") }
    for emoji in ["b", "c"] { react(bob, emoji) }
    react(bob, "c", isAdded: false)
    react(alice, "c", isAdded: false)
    react(bob, "a", to: second)
    script.room(room, .messages(.deleted(second, at: .room(2))), by: alice)
    let queue = try build(IDIndexProjection.self, script.events)
    let keys = [(first, alice, "a"), (first, alice, "b"), (first, bob, "b"), (first, bob, "c"), (second, bob, "a")].map
    {
      ReactionKey(message: MessageKey(room: room, message: $0.0), user: $0.1, emoji: $0.2)
    }
    let counts = try queue.read { try IDIndexQueries($0).reactions(keys) }
    #expect(
      keys.map { counts[$0, default: ReactionCounts.none] } == [
        ReactionCounts(kinds: 2, users: 2, ownKinds: 1, isOwn: true),
        ReactionCounts(kinds: 2, users: 1, ownKinds: 1, isOwn: false),
        ReactionCounts(kinds: 2, users: 1, ownKinds: 2, isOwn: true),
        ReactionCounts(kinds: 2, users: 0, ownKinds: 2, isOwn: false), .none,
      ])
  }

  @Test("a scheduled message is always known by its first content, whatever happened to it")
  func scheduled() throws {
    var script = EventScript()
    let (alice, room): (UserID, RoomID) = (.numbered(1), .numbered(9))
    script.create(room, by: alice)
    let message = ScheduledMessage(author: alice, content: .plain("x"), sendAt: Timestamp(milliseconds: 7))
    let stamps = (1...3).map { script.room(room, .scheduling(.scheduled(.numbered($0), message)), by: alice) }
    script.room(room, .scheduling(.cancelled(.numbered(1))), by: alice)
    script.room(room, .scheduling(.changed(.numbered(2), ScheduledMessageEdit(text: "y"))), by: alice)
    script.room(room, .messages(.sent(.numbered(2), author: alice, thread: nil, .plain("y"))), by: alice)
    script.room(room, .scheduling(.failed(.numbered(3), .silenced)), by: alice)
    let queue = try build(IDIndexProjection.self, script.events)
    try queue.read { (database) throws in
      let queries = IDIndexQueries(database)
      let keys = (1...4).map { MessageKey(room: room, message: .numbered($0)) }
      let scheduled = try queries.scheduled(keys)
      #expect(keys.map { scheduled[$0]?.scheduled } == stamps + [nil])
      #expect(keys.prefix(3).allSatisfy { scheduled[$0]?.author == alice })
      #expect(keys.prefix(3).allSatisfy { scheduled[$0]?.fingerprint == .scheduling(message) })
      #expect(Set(try queries.messages(keys).keys) == [keys[1]])
      let filter = try queries.restoreFilter().filter
      #expect((1...3).allSatisfy { filter.mayContain(KnownIDFilter.entry(.numbered($0), in: room)) })
    }
  }

  @Test("a batch writes each page about once, however small the page cache is")
  func writesPagesOnce() throws {
    var script = EventScript()
    let (alice, room): (UserID, RoomID) = (.numbered(1), .numbered(9))
    script.create(room, by: alice)
    for number in 0..<UInt64(12_000) {
      let id = MessageID(UUIDBytes(high: KnownIDFilter.mix(number), low: number))
      script.room(room, .messages(.sent(id, author: alice, thread: nil, .plain("x"))), by: alice)
    }
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let queue = try DatabaseQueue(path: folder.path + "/ids.sqlite")
    try queue.writeWithoutTransaction { (database) throws in
      try database.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
      try ProjectionOpening.createSchema(of: IDIndexProjection.self, logIdentity: testLog, database)
    }
    try apply(IDIndexProjection.self, Array(script.events.prefix(8_000)), from: 0, to: queue)
    _ = try queue.writeWithoutTransaction { (database) throws in
      try database.execute(sql: "PRAGMA cache_size = 32")
      return takePageWrites(database)
    }
    try apply(IDIndexProjection.self, script.events, from: 8_000, to: queue)
    let (writes, pages) = try queue.writeWithoutTransaction { (database) throws in
      (takePageWrites(database), try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0)
    }
    #expect(pages > 200)
    #expect(writes < 2 * pages, "\(writes) writes of \(pages) pages")
  }

  /// The number of pages that the connection has written since the last call.
  private func takePageWrites(_ database: Database) -> Int {
    var (count, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 1)
    return Int(count)
  }

  @Test("a full generation becomes a bitmap, and the filter survives it")
  func generations() throws {
    let queue = try DatabaseQueue()
    let total = UInt64(KnownIDFilter.generationEntries + 3)
    try queue.write { (database) throws in
      try FilterTail.createTables(database)
      var tail = try FilterTail(database)
      var number: UInt64 = 0
      // Reads the state again in the middle, within a row, and shortly before the boundary, as after a restart.
      for end in [total / 2, total / 2 + 3, total - 4, total] {
        tail = try FilterTail(database)
        try tail.append((number..<end).map { KnownIDFilter.mix($0) }, database)
        number = end
      }
    }
    let (generations, entryBytes) = try queue.read { (database) throws in
      (
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM filterGeneration"),
        try Int.fetchOne(database, sql: "SELECT SUM(length(hashes)) FROM filterTail")
      )
    }
    #expect(generations == 1 && entryBytes == 3 * 8)
    let filter = try queue.read(FilterTail.restore)
    #expect(filter.count == Int(total))
    var (missed, wrong) = (0, 0)
    for number in 0..<total where !filter.mayContain(KnownIDFilter.mix(number)) { missed += 1 }
    for number in total..<total + 100_000 where filter.mayContain(KnownIDFilter.mix(number)) { wrong += 1 }
    #expect(missed == 0, "a false negative would let a message in twice")
    #expect(wrong < 1000, "\(wrong) of 100,000 absent entries are not recognised as such")
  }

  @Test("the rows of the unfinished generation do not depend on how its entries were divided into batches")
  func filterRows() throws {
    let count = 2 * FilterTail.entriesPerRow + 5
    func rows(_ ends: [Int]) throws -> [Data] {
      let queue = try DatabaseQueue()
      return try queue.write { (database) throws in
        try FilterTail.createTables(database)
        var tail = try FilterTail(database)
        for (start, end) in zip([0] + ends, ends) {
          try tail.append((start..<end).map { KnownIDFilter.mix(UInt64($0)) }, database)
        }
        return try Data.fetchAll(database, sql: "SELECT hashes FROM filterTail ORDER BY number")
      }
    }
    let whole = try rows([count])
    #expect(whole.map(\.count) == [256 * 8, 256 * 8, 5 * 8])
    #expect(try rows([1, 2, 255, 256, 257, 512, count]) == whole)
    #expect(try rows(Array(1...count)) == whole)
    #expect(try rows([2 * FilterTail.entriesPerRow]) == Array(whole.prefix(2)))
  }

  @Test("a filter row of a wrong size is reported", arguments: [["010203"], [String(repeating: "0", count: 16), String(repeating: "1", count: 16)]])
  func damagedFilterRow(rows: [String]) throws {
    let queue = try DatabaseQueue()
    try queue.write { (database) throws in
      try FilterTail.createTables(database)
      for (number, hex) in rows.enumerated() {
        try database.execute(sql: "INSERT INTO filterTail (number, hashes) VALUES (?, x'\(hex)')", arguments: [number])
      }
    }
    let error = #expect(throws: ProjectionError.self) { try queue.read(FilterTail.restore) }
    #expect(error?.code == .damagedRow)
  }

  @Test("a full generation takes two bytes for each entry, and the next one begins when it is full")
  func bytes() {
    var filter = KnownIDFilter()
    for number in 0..<UInt64(KnownIDFilter.generationEntries) { filter.insert(number) }
    #expect(filter.byteCount == 2 * filter.count && filter.byteCount == 1_048_576)
    filter.insert(0)
    #expect(filter.byteCount == 2 * 1_048_576)
    #expect(KnownIDFilter.Generation().bytes.count == 1_048_576)
  }

  @Test("entries tell rooms, actors, messages and commands apart")
  func entries() {
    let (room, message): (RoomID, MessageID) = (.numbered(1), .numbered(2))
    let entries: Set<UInt64> = [
      KnownIDFilter.entry(message, in: room), KnownIDFilter.entry(MessageID(room.uuid), in: RoomID(message.uuid)),
      KnownIDFilter.entry(CommandID(message.uuid), by: room.uuid), KnownIDFilter.entry(message, in: .numbered(3)),
    ]
    #expect(entries.count == 4)
    // The hash is stored, so it must never change.
    #expect(KnownIDFilter.mix(0) == 0xe220_a839_7b1d_cdaf)
  }
}
