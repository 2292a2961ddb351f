import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Testing

@testable import ChatProjections

/// Measures how fast `search` indexes messages and how fast it finds them. Run it by hand, in a release build, with
/// SEARCH_BENCH set to a file with one text per line. It only prints the results and has no limits.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SEARCH_BENCH"] != nil), .serialized) struct SearchBench {
  private static let rooms = 40

  private func script(_ texts: [String]) -> SearchScript {
    var script = SearchScript()
    let users: [UserID] = (1...200).map { .numbered($0) }
    for room in 0..<Self.rooms {
      script.open(.numbered(1000 + UInt64(room)), users[0])
    }
    for (index, text) in texts.enumerated() {
      let room: RoomID = .numbered(1000 + UInt64((index * 7) % Self.rooms))
      script.say(text, in: room, by: users[index % users.count])
    }
    return script
  }

  @Test func measure() async throws {
    let path = try #require(ProcessInfo.processInfo.environment["SEARCH_BENCH"])
    let texts = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    let script = script(texts)
    let folder = try TemporaryFolder()
    let feed = MemoryFeed(script.events)
    let clock = ContinuousClock()
    let runner = try ProjectionRunner<SearchProjection>.open(
      directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
    let following = try await clock.measure {
      runner.start()
      try await runner.wait(for: feed.head, timeoutMilliseconds: 600_000)
    }
    report("follow", texts.count, following)
    let size = try FileManager.default.attributesOfItem(atPath: folder.file(SearchProjection.self).path)[.size]
    print("bytes per message", (size as? Int ?? 0) / texts.count)
    for query in ["ubuntu", "install kernel", "the", "sudo apt*", "나 너", "사랑", "집", "qqqzzz"] {
      guard let words = SearchWords(query) else { continue }
      let request = SearchRequest(words: words, user: .numbered(1))
      var hits = 0
      let one = try await clock.measure {
        for _ in 0..<20 { hits = try await runner.read { try $0.page(request, limit: 30).hits.count } }
      }
      print("query \"\(query)\": \(hits) hits on the first page, \(one / 20)")
    }
    feed.close()
    try runner.stop()
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    report("rebuild", texts.count, try rebuild.rebuild(SearchProjection.self).elapsed)
    let queue = try folder.file(SearchProjection.self).openForUpkeep()
    let rewriting = try clock.measure { try queue.write { try SearchShard(number: 1).rewrite($0) } }
    report("rewriting a shard", Int(SearchShard.span), rewriting)
  }

  private func report(_ what: String, _ count: Int, _ time: Duration) {
    let rate = Double(count) / (time / .seconds(1))
    print("\(what): \(count) messages in \(time), \(Int(rate)) a second")
  }
}

extension ProjectionFile {
  fileprivate func openForUpkeep() throws -> DatabasePool { try openPool(SearchProjection.self) }
}
