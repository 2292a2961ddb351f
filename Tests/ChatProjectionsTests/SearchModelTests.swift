import ChatDomain
import ChatPrimitives
import EventLogSimulation
import Foundation
import GRDB
import Testing

@testable import ChatProjections

/// Compares the search with a scan of all messages that shares no code with it.
@Suite struct SearchModelTests {
  private static let users: [UserID] = (1...5).map { .numbered($0) }
  private static let rooms: [RoomID] = (100...103).map { .numbered($0) }
  private static let latin = ["tea", "Milk", "CRÈME", "kettle", "42", "tea-time"]
  private static let korean = ["회의", "회의실", "안녕하세요", "집", "집에", "우리집", "시간", "ㅋㅋ"]

  /// Messages, edits, deletions, and users who join and leave.
  private func history(seed: UInt64, steps: Int) -> (SearchScript, SeededRandom) {
    var random = SeededRandom(seed: seed)
    var script = SearchScript()
    for (index, room) in Self.rooms.enumerated() { script.open(room, Self.users[index], Self.users[4]) }
    for _ in 0..<steps { step(&script, &random) }
    return (script, random)
  }

  private func step(_ script: inout SearchScript, _ random: inout SeededRandom) {
    guard let room = Self.rooms.randomElement(using: &random), let user = Self.users.randomElement(using: &random),
      !script.closed.contains(room)
    else {
      return
    }
    let isMember = script.members[room]?.contains(user) == true
    switch random.next() % 16 {
    case 0: if !isMember { script.join(user, room) }
    case 1:
      if isMember {
        script.leave(
          user, room,
          [.members(.left(user)), .members(.removed(user)), .members(.banned(user))].randomElement(using: &random))
      }
    case 2, 3:
      if let index = script.said.indices.randomElement(using: &random), script.said[index].text != nil {
        script.edit(index, text(&random))
      }
    case 4:
      if let index = script.said.indices.randomElement(using: &random), script.said[index].text != nil {
        script.delete(index)
      }
    case 5:
      if random.next() % 60 == 0 { script.close(room) }
    default:
      let time =
        random.next() % 4 == 0 ? script.script.last.time.adding(milliseconds: -Int64(random.next() % 9_000_000)) : nil
      let root =
        random.next() % 5 == 0
        ? script.said.indices.filter { script.said[$0].room == room && script.said[$0].location.thread == 0 }
          .randomElement(using: &random) : nil
      let details = random.next() % 6 == 0 ? picture("x.png") : nil
      script.say(text(&random), in: room, by: user, at: time, inThread: root, details: details)
    }
  }

  private func text(_ random: inout SeededRandom) -> String {
    let words = (0..<(1 + random.next() % 6)).compactMap { _ in (Self.latin + Self.korean).randomElement(using: &random)
    }
    let text = words.joined(separator: [" ", ", ", "\n", "… "].randomElement(using: &random) ?? " ")
    return random.next() % 3 == 0 ? text.decomposedStringWithCanonicalMapping : text
  }

  /// Whether a reader would say that the text contains each piece.
  private func holds(_ query: String, _ said: String, hasMedia: Bool) -> Bool {
    let plain = (said + (hasMedia ? "\nx.png" : "")).precomposedStringWithCanonicalMapping
      .folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).precomposedStringWithCanonicalMapping
    let words = plain.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    return query.split(separator: " ").allSatisfy { piece in
      let wanted = piece.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      if wanted == "tea-time" {
        return zip(words, words.dropFirst()).contains { $0 == "tea" && $1 == "time" }
      }
      if wanted.utf8.first.map({ $0 < 0x80 }) == true {
        return wanted.hasSuffix("*")
          ? words.contains { $0.hasPrefix(wanted.dropLast()) } : words.contains(wanted)
      }
      let composed = wanted.precomposedStringWithCanonicalMapping
      return composed.count == 1 ? words.contains { $0.hasPrefix(composed) } : words.contains { $0.contains(composed) }
    }
  }

  private static let queries = [
    "tea", "milk tea", "creme", "Crème*", "ket*", "42", "회의", "회의실", "의실", "녕하세", "집", "tea 회의", "ㅋㅋ", "tea-time",
    "nothing",
    "x png",
  ]

  @Test(
    "a search finds what a scan finds, with any filter, however the events were cut",
    arguments: [81, 82, 83, 84] as [UInt64])
  func scan(seed: UInt64) throws {
    var (script, random) = history(seed: seed, steps: 1200)
    let queue = try build(SearchProjection.self, script.events, batch: [1, 13, 500, 4096][Int(seed % 4)])
    var found = 0
    for query in Self.queries {
      for user in Self.users {
        let room = random.next() % 3 == 0 ? Self.rooms.randomElement(using: &random) : nil
        let sender = random.next() % 3 == 0 ? Self.users.randomElement(using: &random) : nil
        let middle = script.script.last.time.adding(milliseconds: -Int64(random.next() % 3_000_000))
        let (since, until) = (random.next() % 4 == 0 ? middle : nil, random.next() % 4 == 0 ? middle : nil)
        let hasMedia: Bool? = [nil, nil, nil, true, false].randomElement(using: &random) ?? nil
        let expected = script.said.filter { message in
          guard let text = message.text, script.members[message.room]?.contains(user) == true else { return false }
          return (room == nil || message.room == room) && (sender == nil || message.sender == sender)
            && (since.map { message.sentAt >= $0 } ?? true) && (until.map { message.sentAt < $0 } ?? true)
            && (hasMedia == nil || message.hasMedia == hasMedia) && holds(query, text, hasMedia: message.hasMedia)
        }
        let positions = try find(query, as: user, queue) {
          ($0.room, $0.sender, $0.since, $0.until, $0.hasMedia) = (room, sender, since, until, hasMedia)
        }
        #expect(
          positions == expected.map(\.position).sorted(by: >), "\(query) by \(user), seed \(seed)")
        found += positions.count
      }
    }
    #expect(found > 500)
  }

  // MARK: - Pages

  /// Follows a search to its end. `between` runs between pages and may write events.
  private func pages(
    _ query: String, _ user: UserID, _ queue: DatabaseQueue, limit: Int, windowHits: Int, pageCost: Int = 30_000,
    between: () throws -> Void = {}
  ) throws -> [[SearchHit]] {
    let request = SearchRequest(words: try #require(SearchWords(query)), user: user)
    var pages: [[SearchHit]] = []
    var place: SearchPlace?
    repeat {
      let page = try queue.read {
        try SearchQueries($0).page(request, from: place, limit: limit, windowHits: windowHits, pageCost: pageCost)
      }
      #expect(page.hits.count <= limit)
      pages.append(page.hits)
      place = page.next
      try between()
      #expect(pages.count < 2_000, "the pages do not end")
    } while place != nil && pages.count < 2_000
    return pages
  }

  @Test(
    "pages together are the whole, each hit once, whatever the window and the cost that a page may have",
    arguments: [(1, 1, 30_000), (3, 7, 30_000), (50, 20, 30_000), (7, 1000, 30_000), (10, 100, 1), (5, 3, 40)])
  func wholePages(limit: Int, windowHits: Int, pageCost: Int) throws {
    let (script, _) = history(seed: 91, steps: 900)
    let queue = try build(SearchProjection.self, script.events)
    let user = Self.users[4]
    for query in ["tea", "회의", "집"] {
      let found = try pages(query, user, queue, limit: limit, windowHits: windowHits, pageCost: pageCost)
      let all = try find(query, as: user, queue)
      #expect(found.joined().map(\.order.position).sorted(by: >) == all && all.count > 20)
      if windowHits >= all.count, pageCost >= 30_000 {
        #expect(found.joined().map(\.order) == found.joined().map(\.order).sorted())
      }
    }
  }

  @Test("pages neither repeat nor skip while messages arrive, are edited and deleted")
  func pagesWhileWriting() throws {
    var (script, random) = history(seed: 92, steps: 900)
    let user = Self.users[4]
    for room in Self.rooms where script.members[room]?.contains(user) == false { script.join(user, room) }
    let queue = try build(SearchProjection.self, script.events)
    var written = script.events.count
    let before = try find("tea", as: user, queue)
    let found = try pages("tea", user, queue, limit: 4, windowHits: 25) {
      for _ in 0..<15 { step(&script, &random) }
      // The reader stays in all rooms.
      for room in Self.rooms where script.members[room]?.contains(user) == false { script.join(user, room) }
      try apply(SearchProjection.self, script.events, from: written, to: queue)
      written = script.events.count
    }
    let positions = found.joined().map(\.order.position)
    #expect(Set(positions).count == positions.count && Set(positions).isSubset(of: before))
    // The missing messages were edited or deleted before their page was shown.
    let current = Set(script.said.filter { $0.text != nil }.map(\.position))
    #expect(Set(before).subtracting(positions).intersection(current).isEmpty)
    #expect(positions.count > 20 && written > 1000)
  }

  @Test("a window that was widened is not read beyond what a page may cost, nor beyond its hits")
  func widenedWindow() throws {
    let (script, _) = history(seed: 94, steps: 900)
    let queue = try build(SearchProjection.self, script.events)
    let user = Self.users[4]
    let request = SearchRequest(words: try #require(SearchWords("tea")), user: user)
    let all = try find("tea", as: user, queue)
    let (hits, head) = (all.count, script.script.last.position)
    func page(from place: SearchPlace, windowHits: Int, pageCost: Int) throws -> SearchPage {
      try queue.read {
        try SearchQueries($0).page(request, from: place, limit: 1, windowHits: windowHits, pageCost: pageCost)
      }
    }
    let widened = SearchPlace(bound: head, newest: head, oldest: .first, after: nil)
    #expect(hits > 40)
    #expect(throws: SearchPlaceOutgrown.self) {
      try page(from: widened, windowHits: (hits - 1) / 2, pageCost: 30_000)
    }
    #expect(throws: SearchPlaceOutgrown.self) { try page(from: widened, windowHits: 1000, pageCost: (hits - 1) / 2) }
    let meter = SearchMeter()
    #expect(throws: SearchPlaceOutgrown.self) {
      try queue.read { try SearchQueries($0).page(request, from: widened, limit: 1, windowHits: 5, meter: meter) }
    }
    #expect(meter.spent >= 10, "what was read until then is counted")
    // A window that has grown up to the limit is shown.
    #expect(try page(from: widened, windowHits: hits / 2 + 1, pageCost: 30_000).hits.count == 1)
  }

  @Test("looking for a word in shards that do not hold it counts too")
  func emptyShards() throws {
    var script = SearchScript()
    script.open(Self.rooms[0], Self.users[0])
    script.say("nothing", in: Self.rooms[0], by: Self.users[0])
    let queue = try build(SearchProjection.self, script.events)
    // Shards as in a log of 80 × 65,536 events.
    try queue.write { database in
      for number in 1...80 {
        let shard = SearchShard(number: UInt64(number))
        try shard.create(database)
        try database.execute(
          sql: "INSERT INTO shard (number, earliest, latest) VALUES (?, 0, 9e15)", arguments: [number])
      }
      try database.execute(sql: "UPDATE checkpoint SET position = ?", arguments: [81 << 16])
    }
    let request = SearchRequest(words: try #require(SearchWords("tea")), user: Self.users[0])
    var (place, pages): (SearchPlace?, Int) = (nil, 0)
    repeat {
      let page = try queue.read { try SearchQueries($0).page(request, from: place, limit: 5, pageCost: 10) }
      #expect(page.hits.isEmpty)
      (place, pages) = (page.next, pages + 1)
    } while place != nil && pages < 100
    #expect((9...81).contains(pages))
  }

  @Test("a place that no page gave is harmless")
  func forgedPlaces() throws {
    let (script, _) = history(seed: 93, steps: 300)
    let queue = try build(SearchProjection.self, script.events)
    let request = SearchRequest(words: try #require(SearchWords("tea")), user: Self.users[4])
    let all = Set(try find("tea", as: Self.users[4], queue))
    let positions: [LogPosition] = [
      .origin, .first, LogPosition(150), LogPosition(1 << 40), LogPosition(UInt64(Int64.max)),
    ]
    for bound in positions {
      for newest in positions {
        for oldest in [nil] + positions.map(Optional.some) {
          let place = SearchPlace(
            bound: bound, newest: newest, oldest: oldest, after: SearchHit.Order(rank: .max, position: newest))
          let page = try queue.read { try SearchQueries($0).page(request, from: place, limit: 5) }
          #expect(all.isSuperset(of: page.hits.map(\.order.position)))
          if let next = page.next { #expect(next.newest <= script.script.last.position) }
        }
      }
    }
  }
}
