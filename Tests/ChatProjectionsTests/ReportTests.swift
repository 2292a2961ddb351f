import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct ReportTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let carol: UserID = .numbered(3)
  private let room: RoomID = .numbered(9)
  private let channel: RoomID = .numbered(10)
  private let office: WorkspaceID = .numbered(20)

  private func report(_ user: UserID, _ comment: String = "") -> Report {
    Report(subject: .user(user), reason: .spam, comment: comment)
  }

  /// Alice's room with bob and carol, and a private channel of carol's in alice's workspace.
  private func script() -> EventScript {
    var script = EventScript()
    for (user, name) in [(alice, "alice"), (bob, "bob"), (carol, "carol")] { script.register(user, name) }
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .administrator)), by: alice)
    script.room(room, .members(.added(carol, role: .member)), by: alice)
    script.add(
      .workspace(office, .lifecycle(.created(WorkspaceCreation(name: "office", creator: alice)))), actor: alice)
    script.add(.workspace(office, .members(.joined(alice, role: .owner, by: .service))), actor: alice)
    script.add(.workspace(office, .members(.joined(carol, role: .member, by: .service))), actor: carol)
    let creation = RoomCreation(kind: .channel, name: "news", creator: carol, workspace: office)
    script.room(channel, .lifecycle(.created(creation)), by: carol)
    script.room(channel, .members(.joined(carol, role: .owner, invite: nil)), by: carol)
    return script
  }

  private func ids(
    _ database: Database, _ scope: ReportScope, isOpen: Bool = true, for viewer: UserID? = nil
  ) throws -> [ReportID] {
    try RoomsQueries(database).reports(in: scope, isOpen: isOpen, for: viewer, limit: 100).reports.map(\.id)
  }

  @Test("a report has what was filed, and its last resolution; an erased one has only its reporter")
  func rows() throws {
    var script = script()
    let photo = Media(hash: [UInt8](repeating: 9, count: 32), contentType: "image/png", size: 3)
    let details = MessageDetails(attachments: [Attachment(media: .numbered(7), content: photo, name: "tea.png")])
    let message = ReportedMessage(
      id: .numbered(50), author: bob, sentAt: script.last.time, content: MessageContent(text: "buy", details: details))
    let full = Report(subject: .message(message), reason: .violence, comment: "look")
    let resolution = ReportResolution(outcome: .userWarned, note: "warned")
    let filed = script.room(room, .reports(.filed(.numbered(1), reporter: carol, full)), by: carol)
    let erased = script.room(room, .reports(.filed(.numbered(2), reporter: carol, nil)), by: carol)
    let resolved = script.room(room, .reports(.resolved(.numbered(1), resolution)), by: alice)
    let ended = script.room(room, .reports(.resolved(.numbered(2), nil)))
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let queries = RoomsQueries(database)
      let first = ReportRow(
        room: room, id: .numbered(1), reporter: carol, report: full, filed: filed, revised: resolved,
        resolution: ReportRow.Resolution(end: .resolved(resolution), resolver: alice))
      let second = ReportRow(
        room: room, id: .numbered(2), reporter: carol, report: nil, filed: erased, revised: ended,
        resolution: ReportRow.Resolution(end: .erased, resolver: nil))
      #expect(try queries.report(.numbered(1), of: room) == first)
      #expect(try queries.report(.numbered(1), of: channel) == nil)
      #expect(try queries.reports(in: .room(room), isOpen: false, for: nil, limit: 5).reports == [second, first])
      for (viewer, seen) in [(alice, [first]), (bob, []), (carol, [second, first])] {
        #expect(try queries.reports(in: .room(room), isOpen: false, for: viewer, limit: 5).reports == seen)
        #expect([second, first].filter { !$0.isHidden(from: viewer) } == seen)
      }
      let keys = (1...3).map { ReportKey(room: room, report: .numbered($0)) }
      let known = try queries.knownReports(keys)
      #expect(known.count == 2)
      #expect(known[keys[0]]?.fingerprint == .report(full, by: carol) && known[keys[0]]?.reportedUser == bob)
      #expect(known[keys[0]]?.resolution == .reportResolution(.numbered(1), resolution))
      #expect(known[keys[1]]?.fingerprint == nil && known[keys[1]]?.resolution == nil)
      #expect(known[keys[1]]?.isOpen == false && known[keys[1]]?.revised == ended)
    }
  }

  @Test("an outcome that this version does not know is damage, wherever it is read")
  func unknownOutcome() throws {
    var script = script()
    script.room(room, .reports(.filed(.numbered(1), reporter: carol, report(bob))), by: carol)
    script.room(room, .reports(.resolved(.numbered(1), nil)))
    let queue = try build(RoomsProjection.self, script.events)
    try queue.write { try $0.execute(sql: "UPDATE report SET outcome = 99") }
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      #expect(throws: ProjectionError.self) { try queries.report(.numbered(1), of: room) }
      #expect(throws: ProjectionError.self) {
        try queries.knownReports([ReportKey(room: room, report: .numbered(1))])
      }
    }
  }

  @Test("a report of a deleted message has no content; an empty message has one")
  func deleted() throws {
    var script = script()
    let contents: [MessageContent?] = [nil, .plain("")]
    for (number, content) in contents.enumerated() {
      let message = ReportedMessage(id: .numbered(50), author: bob, sentAt: script.last.time, content: content)
      let report = Report(subject: .message(message), reason: .spam, comment: "")
      script.room(room, .reports(.filed(.numbered(UInt64(number)), reporter: carol, report)), by: carol)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      for (number, content) in contents.enumerated() {
        let row = try RoomsQueries(database).report(.numbered(UInt64(number)), of: room)
        #expect(try #require(row?.report?.subject.message).content == content)
      }
    }
  }

  @Test("a page looks at a bounded number of reports, also if all of them are about the viewer")
  func bounded() throws {
    var script = script()
    for number in 1...25 as ClosedRange<UInt64> {
      let about = [5, 6, 14].contains(number) ? carol : bob
      script.room(room, .reports(.filed(.numbered(number), reporter: alice, report(about))), by: alice)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      func sizes(for viewer: UserID?, limit: Int) throws -> [Int] {
        var (sizes, cursor): ([Int], LogPosition?) = ([], nil)
        repeat {
          let page = try RoomsQueries(database).reports(
            in: .room(room), isOpen: true, for: viewer, before: cursor, limit: limit, lookingAt: 10)
          sizes.append(page.reports.count)
          cursor = page.next
        } while cursor != nil
        return sizes
      }
      #expect(try sizes(for: bob, limit: 9) == [0, 2, 1])
      #expect(try sizes(for: bob, limit: 1) == [0, 1, 1, 1])
      #expect(try sizes(for: nil, limit: 20) == [10, 10, 5])
      #expect(try sizes(for: carol, limit: 6).reduce(0, +) == 22)
    }
  }

  @Test("a step that takes the workspace from reports costs the same however many have lost it")
  func clearing() throws {
    var script = script()
    for number in 1...300 as ClosedRange<UInt64> {
      script.room(channel, .reports(.filed(.numbered(number), reporter: alice, report(carol))), by: alice)
    }
    let queue = try build(RoomsProjection.self, script.events)
    try queue.write { (database) throws in
      try BulkDeletion.note(channel, .room, database)
      let rowSets = RoomsProjection.bulkDeletedRows.filter { $0.table == "report" }
      var costs: [Int] = []
      for _ in 1...30 {
        costs.append(try steps(database) { _ = try BulkDeletion.step(rowSets, database, rows: 10) })
      }
      #expect(costs[0] > 0 && costs[28] <= costs[0] + costs[0] / 4)
    }
  }

  @Test("leaving out a report costs a page a few steps")
  func cost() throws {
    func cost(_ count: UInt64) throws -> Int {
      var script = script()
      for number in 1...count {
        script.room(room, .reports(.filed(.numbered(number), reporter: alice, report(bob))), by: alice)
      }
      return try build(RoomsProjection.self, script.events).read { (database) throws in
        try steps(database) {
          _ = try RoomsQueries(database).reports(in: .room(room), isOpen: true, for: bob, limit: 5, lookingAt: 50)
        }
      }
    }
    let (few, many) = (try cost(50), try cost(1_000))
    #expect(few > 0 && many <= few + few / 10)
  }

  @Test("who moderates a room: its administrators, and those of its workspace in private channels too")
  func moderators() throws {
    try build(RoomsProjection.self, script().events).read { (database) throws in
      let queries = RoomsQueries(database)
      let cases: [(UserID, RoomID, ModerationRole)] = [
        (alice, room, .moderator), (bob, room, .moderator), (carol, room, .member), (.numbered(4), room, .outsider),
        (alice, channel, .moderator), (carol, channel, .moderator), (bob, channel, .outsider),
        (alice, .numbered(99), .outsider),
      ]
      for (user, room, role) in cases { #expect(try queries.moderationRole(of: user, in: room) == role) }
    }
  }

  @Test("a deleted room's reports stay for services: the open ones end, and the workspace no longer lists them")
  func deletion() throws {
    var script = script()
    for number in 1...4 as ClosedRange<UInt64> {
      script.room(channel, .reports(.filed(.numbered(number), reporter: alice, report(carol, "kept"))), by: alice)
    }
    script.room(channel, .reports(.resolved(.numbered(1), ReportResolution(outcome: .other, note: ""))), by: alice)
    script.room(room, .reports(.filed(.numbered(5), reporter: carol, report(bob))), by: carol)
    let before = script.events
    let deleted = script.room(channel, .lifecycle(.deleted), by: carol)
    try build(RoomsProjection.self, before).read { (database) throws in
      #expect(try ids(database, .workspace(office)) == [.numbered(4), .numbered(3), .numbered(2)])
      #expect(try ids(database, .server).count == 4)
    }
    // Before and after the rows have lost their workspace.
    let queue = try build(RoomsProjection.self, before)
    var projection = RoomsProjection()
    try queue.write { (database) throws in
      _ = try ProjectionBatch.apply(
        [script.events[before.count]], after: LogPosition(UInt64(before.count)), with: &projection, to: database)
    }
    func check(_ database: Database) throws {
      for isOpen in [true, false] { #expect(try ids(database, .workspace(office), isOpen: isOpen).isEmpty) }
      #expect(try ids(database, .server) == [.numbered(5)])
      #expect(try ids(database, .room(channel), isOpen: false) == (1...4).reversed().map { .numbered($0) })
      let row = try RoomsQueries(database).report(.numbered(2), of: channel)
      #expect(row?.report == report(carol, "kept") && row?.revised == deleted)
      #expect(row?.resolution == ReportRow.Resolution(end: .roomDeleted, resolver: carol))
      let first = try RoomsQueries(database).report(.numbered(1), of: channel)
      #expect(first?.resolution?.end == .resolved(ReportResolution(outcome: .other, note: "")))
    }
    try queue.read(check)
    var steps = 0
    try queue.write { (database) throws in
      while try BulkDeletion.step(RoomsProjection.bulkDeletedRows, database, rows: 3) { steps += 1 }
      #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM report WHERE workspaceId IS NOT NULL") == 0)
    }
    #expect(steps > 1)
    try queue.read(check)
  }

  @Test("a page ends where its contents are too large for one response")
  func pages() throws {
    var script = script()
    let comment = String(repeating: "\u{1}", count: Limits.reportCommentBytes)
    for number in 1...100 as ClosedRange<UInt64> {
      script.room(room, .reports(.filed(.numbered(number), reporter: carol, report(bob, comment))), by: carol)
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      var (sizes, cursor): ([Int], LogPosition?) = ([], nil)
      repeat {
        let page = try RoomsQueries(database).reports(
          in: .room(room), isOpen: true, for: alice, before: cursor, limit: 200)
        sizes.append(page.reports.count)
        cursor = page.next
      } while cursor != nil
      #expect(sizes.reduce(0, +) == 100 && sizes.count > 1)
    }
  }
}
