import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Testing

@testable import ChatProjections

/// For each event of random histories, compares the rows before and after it: what changed must be noted.
@Suite("rooms notes where each entity last changed")
struct RoomChangeTests {
  private let owner = UserID.numbered(1)
  private let bob = UserID.numbered(2)
  private let tea = RoomID.numbered(9)

  @Test("every row that an event changes is noted at that event", arguments: [31, 32, 33, 34] as [UInt64])
  func everyChange(seed: UInt64) throws {
    let rooms = try kinds(changedBy: RandomHistory(seed: seed, events: 400).events)
    let threads = try kinds(changedBy: ConversationHistory(seed: seed, events: 400).script.events)
    #expect(rooms.union(threads) == Set(Mirror.Kind.allCases))
  }

  /// Applies the events one by one, and checks that each change is noted.
  private func kinds(changedBy events: [RecordedEvent]) throws -> Set<Mirror.Kind> {
    let queue = try build(RoomsProjection.self, [])
    var projection = RoomsProjection()
    var before = try queue.read(Mirror.init)
    var found: Set<Mirror.Kind> = []
    for recorded in events {
      try queue.write { (database) throws in
        let previous = LogPosition(recorded.position.value - 1)
        _ = try ProjectionBatch.apply([recorded], after: previous, with: &projection, to: database)
      }
      let after = try queue.read(Mirror.init)
      // A bulk deletion removes the rows of a deleted room or workspace.
      if recorded.event.endedKey == nil {
        for kind in Mirror.Kind.allCases {
          let (old, new) = (before.rows[kind] ?? [:], after.rows[kind] ?? [:])
          for key in Set(old.keys).union(new.keys) where old[key]?.values != new[key]?.values {
            found.insert(kind)
            let position = after.position(of: kind, key, isNew: old[key] == nil)
            #expect(position == recorded.position, "\(kind): \(recorded.event)")
          }
        }
      }
      before = after
    }
    return found
  }

  @Test("a reaction, a pin and a reply change what is in the room, not the room as it is shown")
  func contents() throws {
    var script = EventScript()
    script.create(tea, by: owner)
    script.room(tea, .members(.added(bob, role: .member)), by: owner)
    script.send(1, to: tea, by: owner, firstID: 100)
    let sent = script.last.position
    let thread = ThreadLocation(root: ThreadRoot(message: .numbered(100), ordinal: 1), rootAuthor: owner, ordinal: 1)
    for event in [
      .annotations(.reactionAdded(.numbered(100), at: .room(1), by: bob, emoji: "+")),
      .annotations(.pinned(.numbered(100), at: .room(1))),
      .messages(.sent(.numbered(101), author: bob, thread: thread, .plain("reply"))),
    ] as [RoomEvent] {
      script.room(tea, event, by: bob)
      try build(RoomsProjection.self, script.events).read { (database) throws in
        let queries = RoomsQueries(database)
        #expect(try queries.room(tea)?.shown == sent)
        #expect(try queries.room(tea)?.changed == script.last.position)
        #expect(try queries.member(bob, of: tea)?.tracked?.changed == script.last.position)
      }
    }
  }

  @Test("others follow a marker until the room has more than 256 members", arguments: [256, 257])
  func largeRoom(members: UInt64) throws {
    var script = EventScript()
    script.create(tea, by: owner)
    for number in 1..<members { script.room(tea, .members(.added(.numbered(1000 + number), role: .member)), by: owner) }
    script.send(1, to: tea, by: owner, firstID: 100)
    let sent = script.last.position
    let reader: UserID = .numbered(1001)
    script.room(tea, .reading(.markerMoved(reader, to: .numbered(100), ordinal: 1)), by: reader)
    let read = script.last.position
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      #expect(try queries.room(tea)?.changed == (members == 256 ? read : sent))
      #expect(try (queries.room(tea)?.largeSince == nil) == (members == 256))
      #expect(try queries.member(reader, of: tea)?.own == read)
      #expect(try queries.member(reader, of: tea)?.markerPosition == read)
      #expect(try queries.member(reader, of: tea)?.tracked?.changed == read)
    }
  }

  @Test("changed rooms come in the order of their last changes, from tracked and other members alike")
  func changedRooms() throws {
    var script = EventScript()
    let rooms = (0..<6 as Range<UInt64>).map { RoomID.numbered(50 + $0) }
    for (index, room) in rooms.enumerated() {
      script.create(room, by: owner)
      // A room tracks its first eight members.
      for number in 0..<UInt64(index % 2 == 0 ? 0 : 8) {
        script.room(room, .members(.added(.numbered(1000 + number), role: .member)), by: owner)
      }
      script.room(room, .members(.added(bob, role: .member)), by: owner)
    }
    let start = script.last.position
    for room in [4, 1, 3, 0] { script.send(1, to: rooms[room], by: owner, firstID: UInt64(100 + room)) }
    script.room(rooms[5], .members(.muted(bob, until: nil)), by: bob)
    script.room(rooms[2], .members(.notificationsSet(owner, .mentions)), by: owner)
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let changed = [4, 1, 3, 0, 5].map { rooms[$0] }.sorted()
      #expect(try queries.changedRooms(of: bob, after: start, limit: 10) == changed)
      for number in changed.indices {
        let (before, rest) = (changed.prefix(number), changed.suffix(from: number))
        #expect(try queries.changedRooms(of: bob, after: start, limit: number) == Array(before))
        #expect(try queries.changedRooms(of: bob, after: start, beyond: before.last, limit: 10) == Array(rest))
        let through = Array(changed.prefix(number + 1))
        #expect(try queries.changedRooms(of: bob, after: start, through: changed[number], limit: 10) == through)
      }
      let third = LogPosition(start.value + 3)
      #expect(try queries.changedRooms(of: bob, after: third, limit: 10) == [rooms[0], rooms[5]].sorted())
      #expect(try queries.changedRooms(of: bob, after: script.last.position, limit: 10) == [])
    }
  }

  @Test("finding the changed rooms costs the same in 14 rooms as in 2,000")
  func cost() throws {
    func cost(_ count: UInt64) throws -> Int {
      var script = EventScript()
      for number in 0..<count {
        script.create(.numbered(10_000 + number), by: owner)
        script.room(.numbered(10_000 + number), .members(.added(bob, role: .member)), by: owner)
      }
      let start = script.last.position
      for number in 0..<3 as Range<UInt64> {
        script.send(1, to: .numbered(10_000 + number), by: owner, firstID: 100 + number)
      }
      return try build(RoomsProjection.self, script.events).read { (database) throws in
        var found: [RoomID] = []
        let steps = try steps(database) {
          found = try RoomsQueries(database).changedRooms(of: bob, after: start, limit: 200)
        }
        #expect(found.count == 3)
        return steps
      }
    }
    #expect(try cost(14) == cost(2000))
  }

  @Test("the changes of a room are removed with it; those of a user and of a room with the same ID stay")
  func deletion() throws {
    var script = EventScript()
    let user = UserID(tea.uuid)
    for room in [tea, .numbered(10)] {
      script.create(room, by: owner)
      script.room(room, .members(.added(user, role: .member)), by: owner)
      script.room(room, .members(.left(user)), by: user)
    }
    let left = script.last.position
    script.room(tea, .lifecycle(.deleted), by: owner)
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      func changes(_ scope: ChangeScope) throws -> [Change] {
        try queries.changes(in: scope, after: .after(.origin), through: script.last.position, limit: 10)
      }
      #expect(try changes(.room(tea)) == [])
      let member = ChangedEntity(type: .member, id: user.uuid)
      #expect(try changes(.room(.numbered(10))) == [Change(entity: member, position: left)])
      #expect(try changes(.user(user)).map(\.entity.id) == [tea.uuid, RoomID.numbered(10).uuid])
    }
  }

  @Test("pages of changes are cut anywhere, and a target leaves out what came later")
  func pages() throws {
    var script = EventScript()
    script.create(tea, by: owner)
    for number in 1...6 as ClosedRange<UInt64> {
      script.room(tea, .members(.added(.numbered(number + 1), role: .member)), by: owner)
      script.room(tea, .members(.left(.numbered(number + 1))), by: .numbered(number + 1))
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let end = script.last.position
      let whole = try queries.changes(in: .room(tea), after: .after(.origin), through: end, limit: 100)
      #expect(whole.count == 6 && whole.map(\.position) == whole.map(\.position).sorted())
      for size in 1...5 {
        var (found, start): ([Change], ChangeStart) = ([], .after(.origin))
        while let last = try queries.changes(in: .room(tea), after: start, through: end, limit: size).last {
          found += try queries.changes(in: .room(tea), after: start, through: end, limit: size)
          start = .after(last)
        }
        #expect(found == whole)
      }
      let target = LogPosition(end.value - 1)
      #expect(try queries.changes(in: .room(tea), after: .after(.origin), through: target, limit: 100).count == 5)
    }
  }

  @Test("the push outbox notes nothing")
  func counts() throws {
    let queue = try build(RoomsProjection.self, [])
    var projection = RoomsProjection(.counts)
    let events = RandomHistory(seed: 35, events: 400).events
    try queue.write { (database) throws in
      _ = try ProjectionBatch.apply(events, after: .origin, with: &projection, to: database)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM change") == 0)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM room WHERE changed <> createdPosition") == 0)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM member WHERE own <> joinedPosition") == 0)
    }
  }

  // MARK: - In a room

  /// Each query against a plain filter of the rows, for many positions.
  @Test(
    "joins, markers, threads and followed threads are found by where they changed", arguments: [61, 62] as [UInt64])
  func queries(seed: UInt64) throws {
    let history = ConversationHistory(seed: seed, events: 500)
    let (events, room) = (history.script.events, history.room)
    let end = LogPosition(UInt64(events.count))
    try build(RoomsProjection.self, events).read { (database) throws in
      let queries = RoomsQueries(database)
      func rows(_ sql: String) throws -> [(ids: [UInt8], number: UInt64, position: LogPosition)] {
        try Row.fetchAll(database, sql: sql).map {
          (ids: [UInt8]($0[0] as Data), number: $0[1] as UInt64, position: LogPosition($0[2] as UInt64))
        }.sorted { $0.position < $1.position }
      }
      let joined = try rows("SELECT userId, 0, joinedPosition FROM member")
      let moved = try rows("SELECT userId, 0, markerPosition FROM member WHERE markerPosition IS NOT NULL")
      let threads = try rows("SELECT roomId, root, changed FROM thread")
      #expect(joined.count > 3 && moved.count > 3 && threads.count > 1)
      for value in stride(from: 0, through: end.value, by: 7) {
        let (after, target) = (LogPosition(value), LogPosition(min(end.value, value + 150)))
        func ids(_ all: [(ids: [UInt8], number: UInt64, position: LogPosition)]) -> [[UInt8]] {
          all.filter { $0.position > after && $0.position <= target }.map(\.ids)
        }
        func ids(_ changes: [Change]) -> [[UInt8]] { changes.map(\.entity.id.bytes) }
        #expect(try ids(queries.joins(of: room, after: after, through: target, limit: 100)) == ids(joined))
        #expect(
          try ids(queries.joins(of: room, after: after, through: target, limit: 2)) == Array(ids(joined).prefix(2)))
        #expect(try ids(queries.markerMoves(in: room, after: after, through: target)) == ids(moved))
        let expected = threads.filter { $0.position > after && $0.position <= target }.map {
          ChangedThread(room: room, root: $0.number, position: $0.position)
        }
        #expect(try queries.changedThreads(of: room, after: after, through: target, limit: 100) == expected)
        for user in history.users {
          let own = try Row.fetchAll(
            database,
            sql:
              "SELECT root, changed FROM threadFollower WHERE userId = ? AND changed BETWEEN ? AND ? ORDER BY changed",
            arguments: [Data(user.uuid.bytes), Int64(after.value) + 1, Int64(target.value)]
          ).map { ChangedThread(room: room, root: $0[0] as UInt64, position: LogPosition($0[1] as UInt64)) }
          #expect(try queries.changedFollowing(of: user, after: after, through: target, limit: 100) == own)
        }
      }
    }
  }

  @Test("the members who joined a workspace after a position are found in the order in which they joined")
  func workspaceJoins() throws {
    let office: WorkspaceID = .numbered(70)
    var script = EventScript()
    script.add(
      .workspace(office, .lifecycle(.created(WorkspaceCreation(name: "office", creator: owner)))), actor: owner)
    for user in [owner, bob, .numbered(3)] as [UserID] {
      script.add(.workspace(office, .members(.joined(user, role: .member, by: .service))), actor: user)
    }
    script.add(.workspace(office, .members(.left(bob))), actor: bob)
    script.add(.workspace(office, .members(.joined(bob, role: .member, by: .service))), actor: bob)
    try build(RoomsProjection.self, script.events).read { (database) throws in
      func joins(_ after: UInt64, _ target: UInt64, _ limit: Int) throws -> [UInt64] {
        try RoomsQueries(database).joins(
          of: office, after: LogPosition(after), through: LogPosition(target), limit: limit
        ).map(\.position.value)
      }
      #expect(try joins(0, 6, 9) == [2, 4, 6])
      #expect(
        try joins(2, 6, 9) == [4, 6] && joins(2, 6, 1) == [4] && joins(0, 5, 9) == [2, 4] && joins(6, 6, 9) == [])
    }
  }

  // MARK: - Bulk deletions

  /// A room with tracked and other members and a scheduled message, and a workspace with members and an invitation. Both
  /// are deleted at the end. Some members leave or join just before.
  private func deletions() -> (script: EventScript, room: LogPosition, workspace: LogPosition) {
    var script = EventScript()
    let office: WorkspaceID = .numbered(70)
    script.create(tea, by: owner)
    for number in 1...20 as ClosedRange<UInt64> {
      script.room(tea, .members(.added(.numbered(100 + number), role: .member)), by: owner)
    }
    let later = ScheduledMessage(author: .numbered(101), content: .plain("later"), sendAt: script.last.time)
    script.room(tea, .scheduling(.scheduled(.numbered(60), later)), by: .numbered(101))
    for event in [
      .lifecycle(.created(WorkspaceCreation(name: "office", creator: owner))),
      .members(.joined(owner, role: .owner, by: .service)), .members(.joined(bob, role: .member, by: .service)),
      .invitations(.invited(.numbered(101), role: .member)),
    ] as [WorkspaceEvent] {
      script.add(.workspace(office, event), actor: owner)
    }
    for number in [102, 119] as [UInt64] {
      script.room(tea, .members(.left(.numbered(number))), by: .numbered(number))
    }
    for number in [121, 122] as [UInt64] {
      script.room(tea, .members(.added(.numbered(number), role: .member)), by: owner)
    }
    script.room(tea, .members(.left(.numbered(122))), by: .numbered(122))
    let room = script.room(tea, .lifecycle(.deleted), by: owner).position
    let workspace = script.add(.workspace(office, .lifecycle(.deleted)), actor: owner).position
    return (script, room, workspace)
  }

  @Test("a deletion is noted for every member, however the events are cut into batches", arguments: [1, 3, 5, 1000])
  func tombstones(batch: Int) throws {
    let (script, room, workspace) = deletions()
    try build(RoomsProjection.self, script.events, batch: batch).read { (database) throws in
      func changes(_ user: UInt64) throws -> [ChangeType: LogPosition] {
        let found = try RoomsQueries(database).changes(
          in: .user(.numbered(user)), after: .after(.origin), through: script.last.position, limit: 10)
        return Dictionary(uniqueKeysWithValues: found.map { ($0.entity.type, $0.position) })
      }
      #expect(try changes(1) == [.room: room, .workspace: workspace])
      #expect(try changes(2) == [.workspace: workspace])
      #expect(try changes(101) == [.room: room, .scheduledMessage: room, .invitation: workspace])
      for user in Array(103...118) + [120, 121] as [UInt64] { #expect(try changes(user) == [.room: room], "\(user)") }
      let left = try [102, 119, 122].map { try changes($0)[.room] }
      #expect(left == [5, 4, 1].map { LogPosition(room.value - $0) })
    }
  }

  private func fileBeforeBulkDeletion(_ events: [RecordedEvent]) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write { (database) throws in
      try ProjectionOpening.createSchema(of: RoomsProjection.self, logIdentity: testLog, database)
      try RoomsProjection.createIndexes(database)
      var projection = RoomsProjection()
      _ = try ProjectionBatch.apply(events, after: .origin, with: &projection, to: database)
    }
    return queue
  }

  @Test("what users lose by a deletion is known before, during and after the bulk deletion")
  func deletionsInProgress() throws {
    let (script, room, _) = deletions()
    let live = try fileBeforeBulkDeletion(script.events)
    func known(after position: LogPosition) throws -> [UserID: [ChangedEntity: LogPosition]] {
      try live.read { (database) throws in
        let queries = RoomsQueries(database)
        return try Dictionary(
          uniqueKeysWithValues: (1...122).map { UserID.numbered($0) }.map { user in
            let noted = try queries.changes(
              in: .user(user), after: .after(position), through: script.last.position, limit: 10)
            let open = try queries.deletionsInProgress(of: user, after: position, through: script.last.position)
            return (user, Dictionary((noted + open).map { ($0.entity, $0.position) }, uniquingKeysWith: max))
          })
      }
    }
    let (before, late) = (try known(after: .origin), try known(after: room))
    #expect(before.values.reduce(0) { $0 + $1.count } == 27)
    #expect(late.values.reduce(0) { $0 + $1.count } == 3)
    while try live.write({ try BulkDeletion.step(RoomsProjection.bulkDeletedRows, $0, rows: 5) }) {
      #expect(try known(after: .origin) == before)
      #expect(try known(after: room) == late)
    }
    #expect(try known(after: .origin) == before)
    let left = try live.read { try RoomsQueries($0).deletionsInProgress(of: bob, after: .origin, through: room) }
    #expect(left.isEmpty)
  }

  @Test("a file is equal to a rebuilt one before, during and after a bulk deletion")
  func comparison() throws {
    let events = deletions().script.events
    let rebuilt = try build(RoomsProjection.self, events)
    let live = try fileBeforeBulkDeletion(events)
    func differences() throws -> [RowDifference] {
      try live.read { (live) throws in
        try rebuilt.read { (rebuilt) throws in
          var comparison = DatabaseComparison(live: live, rebuilt: rebuilt, RoomsProjection.self)
          try comparison.run()
          return comparison.differences
        }
      }
    }
    var steps = 0
    repeat {
      #expect(try differences().isEmpty)
      steps += 1
    } while try live.write { try BulkDeletion.step(RoomsProjection.bulkDeletedRows, $0, rows: 5) }
    #expect(steps > 5)
    #expect(try differences().isEmpty)
    // Without the deletion in progress, each missing tombstone is a difference.
    try live.write {
      try $0.execute(sql: "DELETE FROM change WHERE type = ?", arguments: [ChangeType.invitation.rawValue])
    }
    #expect(try differences().count == 1)
  }
}

/// What clients mirror of `rooms`, and where a client finds that it changed.
private struct Mirror {
  enum Kind: CaseIterable {
    case room, member, counts, roleOrSilence, marker, thread, follower, workspace, workspaceMember, invitation,
      scheduled
  }

  typealias Key = [DatabaseValue]

  struct Entry {
    var position: LogPosition?
    var values: [DatabaseValue]
  }

  /// The columns of a key, of the position, and those that clients see.
  private static let queries: [Kind: (key: String, position: String, rest: String)] = [
    .room: (
      "id", "shown",
      """
      lastOrdinal, memberCount, deletedCount, activity, archivedPosition, picture, topic, name, lastMessageText,
      lastMessageDeletedAt, lastMessageDetails FROM room
      """
    ),
    .member: (
      "roomId, userId", "own",
      "role, mutedUntil, notifications, isHidden, silencedUntil, marker, unreadFrom FROM member"
    ),
    .counts: ("roomId, userId", "changed", "list, roomActivity, unreadCount, mentionCount FROM member"),
    .roleOrSilence: ("roomId, userId", "joinedPosition", "role, silencedUntil FROM member"),
    .marker: ("roomId, userId", "markerPosition", "marker FROM member WHERE markerPosition IS NOT NULL"),
    .thread: ("roomId, root", "changed", "lastOrdinal, deletedCount, activity FROM thread"),
    .follower: ("roomId, root, userId", "changed", "follows, marker FROM threadFollower"),
    .workspace: ("id", "changed", "memberCount, picture, topic, name FROM workspace"),
    .workspaceMember: ("workspaceId, userId", "joinedPosition", "role FROM workspaceMember"),
    .invitation: ("workspaceId, userId", "NULL", "role, madePosition FROM invitation"),
    .scheduled: ("roomId, messageId, author", "NULL", "sendAt, failure, content FROM scheduled"),
  ]

  var rows: [Kind: [Key: Entry]] = [:]
  /// The table `change`: the positions by scope, type and entity.
  private var changes: [Key: LogPosition] = [:]

  init(_ database: Database) throws {
    for (kind, query) in Self.queries {
      let keys = query.key.split(separator: ",").count
      for row in try Row.fetchAll(database, sql: "SELECT \(query.key), \(query.position), \(query.rest)") {
        let values = Array(row.databaseValues)
        rows[kind, default: [:]][Array(values.prefix(keys))] = Entry(
          position: Self.position(values[keys]), values: Array(values.dropFirst(keys + 1)))
      }
    }
    for row in try Row.fetchAll(database, sql: "SELECT scope, type, entity, position FROM change") {
      let values = Array(row.databaseValues)
      changes[Array(values.prefix(3))] = Self.position(values[3])
    }
  }

  private static func position(_ value: DatabaseValue) -> LogPosition? {
    UInt64.fromDatabaseValue(value).map { LogPosition($0) }
  }

  /// Where a client finds that a row was inserted, changed or removed.
  /// - Parameter isNew: whether the event inserted the row.
  func position(of kind: Kind, _ key: Key, isNew: Bool) -> LogPosition? {
    let row = rows[kind]?[key]
    switch kind {
    case .room, .thread, .workspace:
      return row?.position
    case .member, .counts, .follower:
      return row == nil ? change("u", key[key.count - 1], .room, [key[0]]) : row?.position
    case .marker:
      return row == nil ? change("r", key[0], .member, [key[1]]) : row?.position
    case .roleOrSilence:
      return isNew ? row?.position : change("r", key[0], .member, [key[1]])
    case .workspaceMember:
      guard !isNew else { return row?.position }
      let (own, others) = (change("u", key[1], .workspace, [key[0]]), change("w", key[0], .workspaceMember, [key[1]]))
      return own == others ? own : nil
    case .invitation:
      return change("u", key[1], .invitation, [key[0]])
    case .scheduled:
      return change("u", key[2], .scheduledMessage, [key[0], key[1]])
    }
  }

  private func change(
    _ letter: String, _ scope: DatabaseValue, _ type: ChangeType, _ entity: [DatabaseValue]
  ) -> LogPosition? {
    func data(_ value: DatabaseValue) -> Data { Data.fromDatabaseValue(value) ?? Data() }
    let entity = entity.reduce(Data()) { $0 + data($1) }
    return changes[[
      (Data(letter.utf8) + data(scope)).databaseValue, Int64(type.rawValue).databaseValue, entity.databaseValue,
    ]]
  }
}
