import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite("what a search reads has a limit, and pages together still find everything")
struct SearchCostTests {
  private let anna = UserID.numbered(1)
  private let room = RoomID.numbered(9)

  /// A room of long messages, each with "tea" and a word of its own.
  private func queue(messages: Int, bytes: Int) throws -> DatabaseQueue {
    var script = SearchScript()
    script.open(room, anna)
    let filling = String(repeating: "x ", count: bytes / 2)
    for number in 0..<messages { script.say("tea n\(number) " + filling, in: room, by: anna) }
    return try build(SearchProjection.self, script.events)
  }

  private func pages(_ query: String, _ queue: DatabaseQueue, cost: Int) throws -> [SearchPage] {
    let request = SearchRequest(words: try #require(SearchWords(query)), user: anna)
    var pages: [SearchPage] = []
    repeat {
      let place = pages.last?.next
      let page = try queue.read {
        try SearchQueries($0).page(request, from: place, limit: 50, pageCost: cost)
      }
      pages.append(page)
    } while pages.last?.next != nil && pages.count < 1000
    return pages
  }

  @Test("the bytes of long texts count, and a page that has read enough ends", arguments: [1, 20, 200, 5_000])
  func pagesByBytes(cost: Int) throws {
    let queue = try queue(messages: 60, bytes: 8_192)
    let found = try pages("tea", queue, cost: cost)
    #expect(found.flatMap(\.hits).count == 60)
    #expect(Set(found.flatMap(\.hits).map(\.order.position)).count == 60)
    // A page can exceed its limit by at most one text and one query of the shard's index.
    let text = 1 + 8_300 * 9 / 8 / SearchQueries.bytesPerCost
    let index = 20 * SearchQueries.bytesPerPage / SearchQueries.bytesPerCost
    #expect(found.allSatisfy { $0.cost <= cost + text + index })
    #expect(found.count >= min(60, 60 * text / (cost + text + index)))
  }

  /// Short messages with a unique word and alternately "even" or "odd"; this many of them in each of several shards.
  private func shards(_ count: UInt64, messages: Int) throws -> DatabaseQueue {
    var script = SearchScript()
    script.open(room, anna)
    for shard in 0..<count {
      script.pass(to: LogPosition(max(10, shard * SearchShard.span)), in: room)
      for number in 0..<messages {
        let syllable = Unicode.Scalar(0xAC00 + UInt32(number % 11_000)).map(String.init) ?? ""
        script.say("\(number % 2 == 0 ? "even" : "odd") 가\(syllable) q\(number)", in: room, by: anna)
      }
    }
    return try build(SearchProjection.self, script.events)
  }

  @Test("the lists that the index reads are charged, also when no message holds all words")
  func listsOfTheIndex() throws {
    let queue = try shards(1, messages: 20_000)
    func cost(_ query: String) throws -> Int {
      let pages = try pages(query, queue, cost: SearchQueries.pageCost)
      #expect(pages.count == 1 && pages[0].hits.isEmpty)
      return pages[0].cost
    }
    // Each message takes one byte in one of the two lists.
    #expect(try cost("odd even") - cost("absent") >= 20_000 / SearchQueries.bytesPerCost)
    // The index has a list for each first character, so it need not read the lists of 20,000 words.
    for query in ["q* absent", "가 absent"] { #expect(try cost(query) < 2 * cost("odd absent"), "\(query)") }
  }

  @Test("a page ends once the index has read enough, and goes on with the next shard")
  func shardsOfTheIndex() throws {
    let queue = try shards(3, messages: 4_000)
    let found = try pages("odd even", queue, cost: 20)
    #expect(found.count == 3 && found.allSatisfy { $0.hits.isEmpty })
    #expect(try pages("odd even", queue, cost: SearchQueries.pageCost).count == 1)
  }

  @Test("equal words are searched once")
  func equalWords() throws {
    let queue = try queue(messages: 3, bytes: 4_096)
    let one = try pages("tea x", queue, cost: SearchQueries.pageCost)
    let many = try pages("x tea " + String(repeating: "x TEA ", count: 30), queue, cost: SearchQueries.pageCost)
    #expect(one.map(\.cost) == many.map(\.cost))
    #expect(one[0].hits.map(\.order) == many[0].hits.map(\.order))
    #expect(SearchWords("a a* A á wi-fi Wi-Fi")?.pieces.count == 3)
  }

  @Test("more words cost more, for each is looked for in every text")
  func manyWords() throws {
    let queue = try queue(messages: 3, bytes: 4_096)
    func cost(_ query: String) throws -> Int { try pages(query, queue, cost: SearchQueries.pageCost)[0].cost }
    let words = (0..<64).map { _ in "x" }.enumerated().map { number, word in number == 0 ? word : "tea" }
    #expect(try cost(words.joined(separator: " ")) == cost("x tea"))
    let prefixes = ["t*", "te*", "tea*", "n*", "x*", "tea", "x", "t* te*"].joined(separator: " ")
    #expect(try cost(prefixes) > 3 * cost("x") / 2)
  }

  @Test("a search costs the same in ten rooms as in a thousand")
  func manyRooms() throws {
    func cost(_ rooms: UInt64, in room: RoomID?) throws -> Int {
      var script = SearchScript()
      for number in 0..<rooms {
        script.open(.numbered(100 + number), anna)
        script.say(number == 3 ? "zanzibar" : "tea", in: .numbered(100 + number), by: anna)
      }
      let request = SearchRequest(words: try #require(SearchWords("zanzibar")), user: anna, room: room)
      return try build(SearchProjection.self, script.events).read { (database) throws in
        try steps(database) { () throws in
          #expect(try SearchQueries(database).page(request, limit: 5).hits.count == 1)
        }
      }
    }
    #expect(try cost(600, in: nil) == cost(1200, in: nil))
    #expect(try cost(10, in: .numbered(103)) == cost(1200, in: .numbered(103)))
  }
}
