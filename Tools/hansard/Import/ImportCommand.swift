import ArgumentParser
import Foundation

/// `hansard import`: sends a chat history to a server.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports a chat history (JSON lines) into a running server.",
    discussion: """
      Each line is {"at","room","type":"message|join|leave","user","text"}. Users and rooms are created when they \
      first appear; a user who writes or leaves without having joined is joined first. IDs are derived from the lines, \
      so a second run adds nothing and an interrupted one continues. The last line of the output is a JSON object of \
      counts. The exit code is 1 if lines were rejected, and 2 if the import could not be completed.
      """)

  @Option(help: ArgumentHelp("The server, such as http://127.0.0.1:8080.", valueName: "url"))
  var server: String

  @Option(
    help: ArgumentHelp("The file with a service token: admin-token in the data directory.", valueName: "file"))
  var tokenFile: String

  @Option(help: ArgumentHelp("Write the ID of each room and user to this file.", valueName: "file"))
  var report: String?

  @Option(help: ArgumentHelp("Append each result to this file as it arrives.", valueName: "file"))
  var results: String?

  @Argument(help: ArgumentHelp("The history; - for standard input.", valueName: "file|-"))
  var history: String

  func validate() throws {
    _ = try ServerAccess.url(server)
  }

  func run() async throws {
    try await ToolError.report {
      let client = IngestClient(
        server: try ServerAccess.url(server), token: try ServerAccess.token(inFile: tokenFile))
      let outcome: Result<ImportCounts, any Error>
      do {
        outcome = .success(try await importAll(through: client))
      } catch {
        outcome = .failure(error)
      }
      try await client.shutdown()
      let counts = try outcome.get()
      if counts.failed > 0 { throw ExitCode(ToolExit.found.rawValue) }
    }
  }

  private func importAll(through client: IngestClient) async throws -> ImportCounts {
    let input = try InputFile(path: history)
    let source = BatchSource(input.descriptor)
    let results = try results.map(ResultsFile.init)
    let bar = ProgressBar("importing", total: input.size, unit: .bytes)
    var run = ImportRun(source: source, client: client, results: results, bar: bar)
    defer { bar.finish() }
    let sent = try await run.run()
    bar.finish()
    let planned = await source.result
    var counts = planned.counts
    counts.recorded = sent.recorded
    counts.repeated = sent.repeated
    counts.failed += sent.failed
    if let report { try planned.report.write(counts, to: report) }
    let output = ByteOutput()
    try output.line(counts.json)
    try output.flush()
    return counts
  }
}

/// The file or stream from which the history is read.
private struct InputFile {
  let descriptor: Int32
  /// The size in bytes. Nil if it is not a regular file.
  let size: UInt64?

  /// - Parameter path: `-` means standard input. A file stays open until the process ends.
  init(path: String) throws {
    descriptor = path == "-" ? Terminal.standardInput : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ToolError("the history \(path) cannot be opened", because: SystemError.text(errno))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw ToolError("the history \(path) cannot be examined", because: SystemError.text(errno))
    }
    size = status.st_mode & S_IFMT == S_IFREG ? UInt64(exactly: status.st_size) : nil
  }
}
