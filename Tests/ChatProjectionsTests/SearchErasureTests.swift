import ChatDomain
import ChatPrimitives
import EventLogSimulation
import EventStore
import Foundation
import GRDB
import Testing

@testable import ChatProjections

/// Deleted texts leave the file. The tests search the bytes of the file and of its write-ahead log.
@Suite struct SearchErasureTests {
  private let anna: UserID = .numbered(1)
  private let room: RoomID = .numbered(100)

  private typealias Runner = ProjectionRunner<SearchProjection>

  private func open(_ folder: TemporaryFolder, _ feed: MemoryFeed) throws -> Runner {
    let runner = try Runner.open(directory: folder.readModels, feed: feed, logIdentity: testLog, logger: testLogger)
    runner.start()
    return runner
  }

  /// The bytes of the file and of its write-ahead log.
  private func bytes(_ folder: TemporaryFolder) throws -> Data {
    let file = folder.file(SearchProjection.self).path
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    if let log = try? Data(contentsOf: URL(fileURLWithPath: file + "-wal")) { bytes.append(log) }
    return bytes
  }

  /// Which of the words are in the bytes.
  private func found(_ words: [String], _ bytes: Data) -> [String] {
    let sought = Dictionary(grouping: words.map { Array($0.utf8) }) { word in
      word.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    var found: Set<[UInt8]> = []
    bytes.withUnsafeBytes { buffer in
      var last: UInt32 = 0
      for index in buffer.indices {
        last = last << 8 | UInt32(buffer[index])
        guard let candidates = sought[last] else { continue }
        for word in candidates where index + word.count - 3 <= buffer.count {
          if buffer[(index - 3)..<(index - 3 + word.count)].elementsEqual(word) { found.insert(word) }
        }
      }
    }
    return words.filter { found.contains(Array($0.utf8)) }
  }

  private func waitUntilGone(_ words: [String], _ folder: TemporaryFolder) async throws -> [String] {
    let deadline = ContinuousClock.now + .milliseconds(patienceMilliseconds)
    while true {
      let left = found(words, try bytes(folder))
      if left.isEmpty || ContinuousClock.now > deadline { return left }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// A word that shares no part with another. FTS5 only stores the part of a word that differs from the word before it.
  private func secret(_ number: Int) -> String {
    var random = SeededRandom(seed: UInt64(number + 1))
    let letters = Array("abcdefghijklmnopqrstuvwxyz")
    return String((0..<24).compactMap { _ in letters.randomElement(using: &random) })
  }

  /// The middle of a word, which is in the bytes even if the word shares its beginning with another.
  private func core(_ word: String) -> String { String(word.dropFirst(6).prefix(12)) }

  @Test("the words of deleted and edited messages are gone from the bytes of the file, and the others are there")
  func deletion() async throws {
    var script = SearchScript()
    script.open(room, anna)
    // Texts of different lengths, so that some fill whole pages.
    for number in 0..<3000 {
      let filler = String(repeating: "filler\(number % 50) ", count: number % 97 == 0 ? 900 : number % 7)
      script.say("\(filler)\(secret(number)) 회의 \(number)", in: room, by: anna)
    }
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(script.events.prefix(700)))
    let runner = try open(folder, feed)
    try await runner.wait(for: LogPosition(700))
    // Many batches, so that segments are merged in between.
    for start in stride(from: 700, to: script.events.count, by: 60) {
      feed.append(script.events[start..<min(script.events.count, start + 60)])
      try await runner.wait(for: feed.head)
    }
    let all = (0..<3000).map { core(secret($0)) }
    #expect(found(all, try bytes(folder)).count == 3000)

    var written = script.events.count
    for number in stride(from: 1, to: 3000, by: 3) { script.delete(number) }
    for number in stride(from: 2, to: 3000, by: 3) { script.edit(number, "harmless \(number)") }
    feed.append(script.events[written...])
    written = script.events.count
    try await runner.wait(for: feed.head)
    let gone = (0..<3000).filter { $0 % 3 != 0 }.map { core(secret($0)) }
    #expect(try await waitUntilGone(gone, folder) == [])
    let kept = (0..<3000).filter { $0 % 3 == 0 }
    #expect(found(kept.map { core(secret($0)) }, try bytes(folder)).count == kept.count)

    // The remaining texts are found, and the file equals a rebuilt one.
    let hits = try await runner.read {
      try SearchQueries($0.database).page(self.request("harmless"), limit: 5000).hits.count
    }
    #expect(hits == 1000)
    feed.close()
    try runner.stop()
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    let report = try rebuild.verify(SearchProjection.self)
    #expect(report.isEqual, "\(report.differences)")
    #expect(report.rowsByTable.contains { $0.key.hasPrefix("term_") && $0.value > 8000 })

    // A rebuilt file never contains erased texts.
    _ = try rebuild.rebuild(SearchProjection.self)
    #expect(found(gone, try bytes(folder)) == [])
    #expect(found(kept.map { core(secret($0)) }, try bytes(folder)).count == kept.count)
  }

  private func request(_ query: String) throws -> SearchRequest {
    SearchRequest(words: try #require(SearchWords(query)), user: anna)
  }

  @Test("a deleted room's texts are gone")
  func deletedRoom() async throws {
    var script = SearchScript()
    script.open(room, anna)
    for number in 0..<300 {
      script.say("\(secret(number))", in: room, by: anna, details: picture(secret(number + 500)))
    }
    script.close(room)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(script.events.dropLast()))
    let runner = try open(folder, feed)
    try await runner.wait(for: feed.head)
    let all = ((0..<300).map { $0 } + (500..<800)).map { core(secret($0)) }
    #expect(found(all, try bytes(folder)).count == 600)
    feed.append([script.events[script.events.count - 1]])
    try await runner.wait(for: feed.head)
    #expect(try await waitUntilGone(all, folder) == [])
    feed.close()
    try runner.stop()
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    let report = try rebuild.verify(SearchProjection.self)
    #expect(report.isEqual, "\(report.differences)")
  }

  @Test("a file with an unfinished bulk deletion equals a rebuilt one, and continues after a crash")
  func halfClosed() async throws {
    var script = SearchScript()
    script.open(room, anna)
    for number in 0..<50 { script.say(secret(number), in: room, by: anna) }
    script.close(room)
    let folder = try TemporaryFolder()
    try ProjectionFile.makeDirectory(folder.readModels)
    let pool = try folder.file(SearchProjection.self).openPool(SearchProjection.self)
    try await pool.write { [events = script.events] database in
      try ProjectionOpening.createSchema(of: SearchProjection.self, logIdentity: testLog, database)
      try SearchProjection.createIndexes(database)
      var projection = SearchProjection()
      _ = try ProjectionBatch.apply(events, after: .origin, with: &projection, to: database)
      try SearchBulkDeletion.step(database, rows: 20)
    }
    try pool.close()
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    let report = try rebuild.verify(SearchProjection.self)
    #expect(report.isEqual, "\(report.differences)")
    let words = (0..<50).map { core(secret($0)) }
    #expect(found(words, try bytes(folder)).count >= 30)
    let feed = MemoryFeed(script.events)
    let runner = try open(folder, feed)
    #expect(try await waitUntilGone(words, folder) == [])
    feed.close()
    try runner.stop()
  }

  @Test("unfinished upkeep is finished when the file is reopened")
  func afterwards() async throws {
    var script = SearchScript()
    script.open(room, anna)
    let index = script.say(secret(1), in: room, by: anna)
    script.say(secret(2), in: room, by: anna)
    script.delete(index)
    let folder = try TemporaryFolder()
    // The state after a crash directly after the deletion, without upkeep.
    try ProjectionFile.makeDirectory(folder.readModels)
    let pool = try folder.file(SearchProjection.self).openPool(SearchProjection.self)
    try await pool.write { [script] (database) throws in
      var projection = SearchProjection()
      try ProjectionOpening.createSchema(of: SearchProjection.self, logIdentity: testLog, database)
      try SearchProjection.createIndexes(database)
      _ = try ProjectionBatch.apply(script.events, after: .origin, with: &projection, to: database)
    }
    #expect(found([core(secret(1))], try bytes(folder)).count == 1)
    try pool.close()
    let feed = MemoryFeed(script.events)
    let runner = try open(folder, feed)
    #expect(try await waitUntilGone([core(secret(1))], folder) == [])
    #expect(found([core(secret(2))], try bytes(folder)).count == 1)
    feed.close()
    try runner.stop()
  }

  @Test("a reader in the way delays the emptying of the write-ahead log, and no more")
  func readerInTheWay() async throws {
    var script = SearchScript()
    script.open(room, anna)
    let index = script.say(secret(1), in: room, by: anna)
    let (folder, feed) = (try TemporaryFolder(), MemoryFeed(script.events))
    let runner = try open(folder, feed)
    try await runner.wait(for: feed.head)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: folder.file(SearchProjection.self).path, configuration: configuration)
    try reader.inDatabase { (database) throws in
      try database.execute(sql: "BEGIN")
      _ = try Checkpoint.read(database)
    }
    script.delete(index)
    feed.append([script.events[script.events.count - 1]])
    try await runner.wait(for: feed.head)
    try await Task.sleep(for: .milliseconds(600))
    #expect(found([core(secret(1))], try bytes(folder)).count == 1)
    try reader.inDatabase { try $0.execute(sql: "COMMIT") }
    #expect(try await waitUntilGone([core(secret(1))], folder) == [])
    #expect(runner.halted == nil)
    feed.close()
    try runner.stop()
  }

  /// The history after the payloads of Anna's messages and edits were erased from the log.
  private func erased(_ events: [RecordedEvent]) -> [RecordedEvent] {
    events.map { recorded in
      guard recorded.actor == anna, case .room(let room, .messages(let message)) = recorded.event
      else { return recorded }
      let event: RoomEvent =
        switch message {
        case .sent(let id, let author, let thread, _): .messages(.sent(id, author: author, thread: thread, nil))
        case .edited: .erased(kind: 131)
        case .deleted: .messages(message)
        }
      return RecordedEvent(
        stamp: recorded.stamp, version: recorded.version, actor: recorded.actor, service: recorded.service,
        device: recorded.device, command: recorded.command, originalTime: recorded.originalTime,
        event: .room(room, event))
    }
  }

  /// Anna edits messages, and a service deletes all that she wrote.
  private func history(bobSays text: String) -> [RecordedEvent] {
    let bob: UserID = .numbered(2)
    var script = SearchScript()
    script.open(room, bob, anna)
    let annas = (0..<3).map { script.say("word \($0)", in: room, by: anna) }
    script.say(text, in: room, by: bob)
    script.edit(annas[0], "an edit")
    // The second shard only has an edit that is erased.
    script.pass(to: LogPosition(SearchShard.span), in: room)
    script.edit(annas[1], "a later edit")
    for index in annas { script.delete(index, isByService: true) }
    return script.events
  }

  @Test("a file equals one that is rebuilt after the erasure of an author who edited messages")
  func erasedEdits() async throws {
    let folder = try TemporaryFolder()
    try ProjectionFile.makeDirectory(folder.readModels)
    let pool = try folder.file(SearchProjection.self).openPool(SearchProjection.self)
    try await pool.write { [events = history(bobSays: "another word")] database in
      try ProjectionOpening.createSchema(of: SearchProjection.self, logIdentity: testLog, database)
      try SearchProjection.createIndexes(database)
      var projection = SearchProjection()
      _ = try ProjectionBatch.apply(events, after: .origin, with: &projection, to: database)
    }
    try pool.close()

    func verify(_ events: [RecordedEvent]) throws -> VerificationReport {
      try ProjectionRebuild(directory: folder.readModels, feed: MemoryFeed(events), logIdentity: testLog)
        .verify(SearchProjection.self)
    }
    let report = try verify(erased(history(bobSays: "another word")))
    #expect(report.isEqual, "\(report.differences)")
    #expect(report.rowsByTable["place"] == 4 && report.rowsByTable["wording"] == 1)
    #expect(report.rowsByTable["shard"] == 1)
    #expect(try !verify(erased(history(bobSays: "something else"))).isEqual)
  }

  @Test("a changed and a missing word of the index are found by verifying")
  func tampering() async throws {
    var script = SearchScript()
    script.open(room, anna)
    for number in 0..<50 { script.say("word \(secret(number))", in: room, by: anna) }
    let folder = try TemporaryFolder()
    try await withModels(folder, MemoryFeed(script.events)) { _ in }
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    #expect(try rebuild.verify(SearchProjection.self).isEqual)
    let pool = try folder.file(SearchProjection.self).openPool(SearchProjection.self)
    try await pool.write { (database) throws in
      try database.execute(sql: "INSERT INTO text_0 (rowid, document) VALUES (7, '#r1' || char(10) || 'forged')")
    }
    try pool.close()
    let report = try rebuild.verify(SearchProjection.self)
    #expect(report.differenceCount == 1 && report.differences.first?.kind == .unexpected)
    #expect(report.differences.first?.description.contains("forged") == true)
  }
}
