import ArgumentParser
import Foundation

/// `hansard import`: sends a chat history to a server.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports a chat history in JSON lines through a running server.",
    discussion: """
      Each line is {"at","room","type":"message|join|leave","user","text"}. Users and rooms are created as they \
      appear; speaking or leaving implies having joined. IDs follow from the lines, so that a second run adds nothing \
      and an interrupted one goes on. The last line of the output is a JSON object of counts. Ends with 1 when lines \
      were refused, with 2 when it could not be done.
      """)

  @Option(help: ArgumentHelp("The server, such as http://127.0.0.1:8080.", valueName: "url"))
  var server: String

  @Option(
    help: ArgumentHelp("A file that holds a service's token: admin-token in the data directory.", valueName: "file"))
  var tokenFile: String

  @Option(help: ArgumentHelp("Write which ID each room and user got to this file.", valueName: "file"))
  var report: String?

  @Option(help: ArgumentHelp("Append every result to this file as it comes.", valueName: "file"))
  var results: String?

  @Argument(help: ArgumentHelp("The history; - for standard input.", valueName: "file|-"))
  var history: String

  func validate() throws {
    _ = try serverURL()
  }

  func run() async throws {
    try await ToolError.report {
      let client = IngestClient(server: try serverURL(), token: try token())
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

  private func serverURL() throws -> URL {
    guard let url = URL(string: server), let scheme = url.scheme, ["http", "https"].contains(scheme.lowercased()),
      url.host != nil
    else { throw ValidationError("--server \(server) is not an http or https URL.") }
    return url
  }

  private func token() throws -> String {
    let text: String
    do {
      text = try String(contentsOfFile: tokenFile, encoding: .utf8)
    } catch {
      throw ToolError(
        "the token file \(tokenFile) cannot be read", because: error.localizedDescription,
        next: "the server writes it to admin-token in its data directory when it first starts")
    }
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let isOneWord = !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isOneWord else { throw ToolError("the token file \(tokenFile) does not hold a token") }
    return token
  }
}

/// The history as it is read.
private struct InputFile {
  let descriptor: Int32
  /// In bytes; nil when it is no regular file.
  let size: UInt64?

  /// - Parameter path: `-` for standard input. A file stays open to the process's end.
  init(path: String) throws {
    descriptor = path == "-" ? Terminal.standardInput : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ToolError("the history \(path) cannot be opened", because: SystemError.text(errno))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw ToolError("the history \(path) cannot be looked at", because: SystemError.text(errno))
    }
    size = status.st_mode & S_IFMT == S_IFREG ? UInt64(exactly: status.st_size) : nil
  }
}
