import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct RebuildTests {
  /// Creates and closes the live files of a history.
  private func live(_ seed: UInt64) async throws -> (TemporaryFolder, RandomHistory, ProjectionRebuild) {
    let history = RandomHistory(seed: seed, events: 3000)
    let folder = try TemporaryFolder()
    try await withModels(folder, MemoryFeed(history.events)) { _ in }
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(history.events), logIdentity: testLog)
    return (folder, history, rebuild)
  }

  private func change(_ folder: TemporaryFolder, _ projection: any Projection.Type, _ sql: String) throws {
    let queue = try DatabaseQueue(path: folder.file(projection).path)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test("a rebuild gives the rows of the live file, takes its place, and the server goes on from it")
  func rebuildEqualsLive() async throws {
    let (folder, history, rebuild) = try await live(71)
    for projection in Projections.all {
      let file = folder.file(projection)
      let before = try dump(file.openReadOnly(projection), projection)
      var progress: [RebuildProgress] = []
      let report = try rebuild.rebuild(projection) { progress.append($0) }
      #expect(report.events == 3000 && progress.last?.done == 3000 && progress.last?.total == 3000)
      #expect(try dump(file.openReadOnly(projection), projection) == before, "\(projection.name)")
      #expect(!file.sibling("rebuild").exists)
    }
    var script = history.script
    script.register(.numbered(5000), "late")
    try await withModels(folder, MemoryFeed(script.events)) { (models) throws in
      #expect(models.timeline.position == LogPosition(3001))
      let nickname = try await models.accounts.read { try $0.user(.numbered(5000))?.nickname }
      #expect(nickname == "late")
    }
    #expect(try rebuild.verifyAll(events: script.events, folder).allSatisfy(\.isEqual))
  }

  @Test("all read models are rebuilt and verified in one scan of the log")
  func allAtOnce() async throws {
    let (folder, history, _) = try await live(79)
    let feed = MemoryFeed(history.events)
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: feed, logIdentity: testLog)
    let before = try Projections.all.map { try dump(folder.file($0).openReadOnly($0), $0) }
    let report = try rebuild.rebuild(Projections.all)
    #expect(report.projections == Projections.all.map { $0.name } && report.events == 3000)
    #expect(try Projections.all.map { try dump(folder.file($0).openReadOnly($0), $0) } == before)
    let reports = try rebuild.verify(Projections.all)
    #expect(reports.map(\.projection) == Projections.all.map { $0.name } && reports.allSatisfy(\.isEqual))

    try change(folder, RoomsProjection.self, "INSERT INTO profile VALUES (x'00', 'nobody', NULL)")
    let changed = try rebuild.verify(Projections.all).filter { !$0.isEqual }
    #expect(changed.map(\.projection) == ["rooms"])
  }

  @Test("read models whose files have different checkpoints are verified in one scan")
  func differentCheckpoints() async throws {
    let (folder, history, _) = try await live(80)
    var script = history.script
    script.register(.numbered(5000), "late")
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    try rebuild.rebuild(AccountsProjection.self)
    let reports = try rebuild.verify(Projections.all)
    #expect(reports.map(\.position.value) == Projections.all.map { $0.name == "accounts" ? 3001 : 3000 })
    #expect(reports.allSatisfy { $0.isEqual })
  }

  @Test("a rebuild of all read models that fails leaves every live file as it was")
  func failedRebuildOfAll() async throws {
    let (folder, history, _) = try await live(81)
    let feed = MemoryFeed(history.events, failingFrom: LogPosition(2000))
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: feed, logIdentity: testLog)
    let before = try Projections.all.map { try dump(folder.file($0).openReadOnly($0), $0) }
    #expect(throws: MemoryFeed.Unreadable.self) { try rebuild.rebuild(Projections.all) }
    #expect(try Projections.all.map { try dump(folder.file($0).openReadOnly($0), $0) } == before)
    for projection in Projections.all { #expect(!folder.file(projection).sibling("rebuild").exists) }
  }

  @Test("verifying finds no differences in an unchanged file, even while a server runs")
  func equal() async throws {
    let (folder, history, _) = try await live(72)
    let feed = MemoryFeed(history.events)
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: feed, logIdentity: testLog)
    try await withModels(folder, feed) { _ in
      for projection in Projections.all {
        let report = try rebuild.verify(projection)
        #expect(report.isEqual && report.differences.isEmpty && report.position == LogPosition(3000))
        #expect(report.rowsByTable["checkpoint"] == 1)
        #expect(!folder.file(projection).sibling("verify").exists)
      }
    }
  }

  @Test("verifying looks at the events up to the live file's checkpoint only")
  func checkpointOnly() async throws {
    let (folder, history, _) = try await live(73)
    var script = history.script
    script.register(.numbered(5000), "late")
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(script.events), logIdentity: testLog)
    #expect(try rebuild.verify(AccountsProjection.self).isEqual)
  }

  @Test("a changed, a missing and an additional row are found and shown")
  func differences() async throws {
    let (folder, _, rebuild) = try await live(74)
    try change(
      folder, TimelineProjection.self,
      """
      UPDATE message SET text = 'forged'
      WHERE position = (SELECT MAX(position) FROM message WHERE deletedAt IS NULL AND text LIKE 'text %')
      """)
    var report = try rebuild.verify(TimelineProjection.self)
    #expect(!report.isEqual && report.differenceCount == 1)
    let shown = try #require(report.differences.first)
    #expect(shown.table == "message" && shown.description.contains("text is \"forged\", rebuilt \"text"))
    #expect(shown.key.contains("roomId x'") && shown.key.contains("ordinal "))

    try change(folder, RoomsProjection.self, "DELETE FROM profile WHERE nickname = (SELECT MAX(nickname) FROM profile)")
    try change(folder, RoomsProjection.self, "INSERT INTO profile VALUES (x'00', 'nobody', NULL)")
    report = try rebuild.verify(RoomsProjection.self)
    #expect(report.differenceCount == 2)
    #expect(Set(report.differences.map(\.kind)) == [.missing, .unexpected])

    try change(folder, IDIndexProjection.self, "UPDATE message SET ordinal = ordinal + 1")
    report = try rebuild.verify(IDIndexProjection.self)
    #expect(report.differences.count == DatabaseComparison.shownDifferences)
    #expect(report.differenceCount == report.rowsByTable["message"])
  }

  @Test("secrets are masked where they differ")
  func secrets() async throws {
    let (folder, _, rebuild) = try await live(75)
    try change(
      folder, AccountsProjection.self, "UPDATE user SET credentialHash = x'c0ffee' WHERE credentialHash IS NOT NULL")
    var report = try rebuild.verify(AccountsProjection.self)
    var text = report.differences.map(\.description).joined(separator: "\n")
    #expect(report.differences.contains { $0.table == "user" })
    #expect(text.contains("credentialHash is (secret), rebuilt (secret)") && !text.contains("c0ffee"))

    try change(folder, AccountsProjection.self, "UPDATE device SET apnsToken = 'stolen', fcmToken = 'stolen'")
    report = try rebuild.verify(AccountsProjection.self)
    text = report.differences.map(\.description).joined(separator: "\n")
    #expect(report.differences.contains { $0.table == "device" })
    for secret in ["stolen", "apns-", "fcm-"] { #expect(!text.contains(secret)) }
  }

  @Test("a changed schema and a lost index are differences too")
  func schema() async throws {
    let (folder, _, rebuild) = try await live(76)
    try change(folder, RoomsProjection.self, "DROP INDEX member_by_user; ALTER TABLE invite ADD COLUMN more TEXT")
    let report = try rebuild.verify(RoomsProjection.self)
    #expect(report.differences.map(\.key) == ["name \"invite\"", "name \"member_by_user\""])
  }

  @Test("a file that is not there, and one of another log, cannot be verified")
  func refusals() async throws {
    let (folder, history, rebuild) = try await live(77)
    let other = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(history.events), logIdentity: UUIDBytes(high: 1, low: 1))
    var error = #expect(throws: ProjectionError.self) { try other.verify(RoomsProjection.self) }
    #expect(error?.code == .foreignFile)
    let ended = MemoryFeed(history.events.dropLast())
    ended.close()
    let short = ProjectionRebuild(directory: folder.readModels, feed: ended, logIdentity: testLog)
    error = #expect(throws: ProjectionError.self) { try short.verify(RoomsProjection.self) }
    #expect(error?.code == .foreignFile)
    try folder.file(RoomsProjection.self).remove()
    error = #expect(throws: ProjectionError.self) { try rebuild.verify(RoomsProjection.self) }
    #expect(error?.code == .missingFile)
  }

  @Test("a rebuild that fails leaves the live file as it was")
  func failedRebuild() async throws {
    let (folder, history, _) = try await live(78)
    let feed = MemoryFeed(history.events, failingFrom: LogPosition(2000))
    let rebuild = ProjectionRebuild(directory: folder.readModels, feed: feed, logIdentity: testLog)
    let file = folder.file(RoomsProjection.self)
    let before = try dump(file.openReadOnly())
    #expect(throws: (any Error).self) { try rebuild.rebuild(RoomsProjection.self) }
    #expect(try dump(file.openReadOnly()) == before)
    #expect(!file.sibling("rebuild").exists)
  }
}

extension ProjectionRebuild {
  /// Verifies all read models in the folder against these events.
  fileprivate func verifyAll(events: [RecordedEvent], _ folder: TemporaryFolder) throws -> [VerificationReport] {
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(events), logIdentity: testLog)
    return try Projections.all.map { try rebuild.verify($0) }
  }
}
