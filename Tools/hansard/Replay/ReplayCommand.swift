import ArgumentParser
import ChatPrimitives
import ChatProjections
import EventLog
import EventStore

/// `hansard replay`: rebuilds the read models from the log alone, or compares them with it.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Rebuilds the read models from the log, or compares them with it.",
    discussion: """
      A rebuild needs exclusive use of the data directory: stop the server first, or let the server do it (--server). \
      --verify works while a server runs and changes nothing; its exit code is 1 if a row differs. None of them sends \
      anything.
      """)

  @OptionGroup var data: DataOption

  @Option(help: ArgumentHelp("Only this read model.", valueName: "name"))
  var projection: String?

  @Flag(help: "Rebuild into temporary files and compare every row with the live ones.")
  var verify = false

  @Option(
    help: ArgumentHelp(
      "Let this running server rebuild them, one after the other, while it serves requests.", valueName: "url"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "With --server, the file with a service token; by default admin-token in the data directory.",
      valueName: "file"))
  var tokenFile: String?

  func validate() throws {
    if let server { _ = try ServerAccess.url(server) }
    if server != nil, verify { throw ValidationError("--verify does not need --server: it works beside a server.") }
    if server == nil, tokenFile != nil { throw ValidationError("--token-file is only used with --server.") }
  }

  func run() async throws {
    try await ToolError.report {
      if let server { return try await rebuild(on: server) }
      let projections = try projection.map { [try Projections.named($0)] } ?? Projections.all
      // Opened first, so that nothing is created in a directory without a log.
      let reader = try data.openLog()
      if verify {
        try compare(projections, reader)
      } else {
        try rebuild(projections, reader)
      }
    }
  }

  // MARK: - Rebuild

  private func rebuild(on server: String) async throws {
    let remote = RemoteRebuild(
      server: try ServerAccess.url(server),
      token: try ServerAccess.token(inFile: tokenFile ?? data.directory + "/admin-token"))
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await remote.run(projection) { try Self.print([$0]) })
    } catch {
      outcome = .failure(error)
    }
    try await remote.shutdown()
    try outcome.get()
  }

  private func rebuild(_ projections: [any Projection.Type], _ reader: LogReader) throws {
    let lock = try takeLock()
    defer { withExtendedLifetime(lock) {} }
    try data.recoverLog(lock)
    try reader.refresh()
    let rebuild = ProjectionRebuild(
      directory: data.readModelsDirectory, feed: StoredEvents(reader), logIdentity: reader.identity.bytes)
    let bar = ProgressBar(Self.title(projections), total: reader.head.value, unit: .items("events"))
    defer { bar.finish() }
    let report = try rebuild.rebuild(projections, progress: { bar.update($0.done) })
    bar.finish()
    try Self.print([
      "\(report.projections.joined(separator: ", ")): rebuilt, \(Self.pace(report.events, bar.seconds))"
    ])
  }

  private func takeLock() throws -> DirectoryLock {
    do {
      return try DirectoryLock(directory: data.directory)
    } catch {
      guard error.code == .locked else { throw error }
      throw ToolError(
        "the read models of \(data.directory) cannot be rebuilt now", because: "a server uses the directory",
        next: "let the server do it: hansard replay --server URL; or stop it first")
    }
  }

  // MARK: - Verify

  private func compare(_ projections: [any Projection.Type], _ reader: LogReader) throws {
    try data.recoverLogUnlessInUse()
    let rebuild = ProjectionRebuild(
      directory: data.readModelsDirectory, feed: FollowedLog(reader), logIdentity: reader.identity.bytes)
    let bar = ProgressBar(Self.title(projections), total: nil, unit: .items("events"))
    defer { bar.finish() }
    let reports = try rebuild.verify(projections) { bar.update($0.done, of: $0.total) }
    bar.finish()
    let seconds = bar.seconds
    try Self.print(reports.flatMap { DifferenceReport($0, pace: Self.pace($0.position.value, seconds)).lines })
    if !reports.allSatisfy(\.isEqual) {
      throw ToolError(
        "rows differ from the log", next: "run hansard replay to rebuild them",
        exit: .found)
    }
  }

  // MARK: -

  private static func title(_ projections: [any Projection.Type]) -> String {
    projections.count == 1 ? projections[0].name : "read models"
  }

  private static func print(_ lines: [String]) throws {
    let output = ByteOutput()
    for line in lines { try output.line(line) }
    try output.flush()
  }

  /// `1,234,567 events in 3.21 s, 384,600 events/s`
  private static func pace(_ events: UInt64, _ seconds: Double) -> String {
    let perSecond = seconds > 0 ? Quantity.decimal(Double(events) / seconds, digits: 0) : "-"
    let rate = UInt64(perSecond).map { Quantity.count($0) } ?? perSecond
    return "\(Quantity.count(events)) events in \(Quantity.seconds(seconds)), \(rate) events/s"
  }
}
