import ChatProtocol
import Foundation

/// One import from beginning to end. Batches are sent one at a time, each only after the one before is complete.
struct ImportRun {
  /// How many rejected lines are printed. The user sees the first errors without flooding the terminal.
  static let shownFailures = 10
  /// How long to wait in total, per batch, for a server that accepts nothing, and the shortest and longest wait between
  /// two attempts, in seconds.
  private static let maximumWait = 60.0
  private static let shortestWait = 0.25
  private static let longestWait = 5.0

  private let source: BatchSource
  private let client: IngestClient
  private let results: ResultsFile?
  private let bar: ProgressBar
  private var counts = ImportCounts()
  private var shown = 0
  private var hasReceivedResponse = false

  init(source: BatchSource, client: IngestClient, results: ResultsFile?, bar: ProgressBar) {
    self.source = source
    self.client = client
    self.results = results
    self.bar = bar
  }

  /// - Returns: How many commands were recorded, repeated and rejected. Malformed lines are not included.
  mutating func run() async throws -> ImportCounts {
    let source = source
    var batch = try await source.next()
    while let current = batch {
      // The next batch is prepared while this one is in flight. If sending fails, the task is not awaited, because
      // reading from an idle pipe may block indefinitely.
      let next = Task { try await source.next() }
      for flaw in current.malformed { show(flaw.inputLine, flaw.reason) }
      if !current.lines.isEmpty { try await deliver(current) }
      bar.update(current.bytesRead, note: note(current))
      batch = try await next.value
    }
    return counts
  }

  private func note(_ batch: IngestBatch) -> String {
    let perSecond = bar.seconds > 0 ? UInt64(Double(batch.linesRead) / bar.seconds) : 0
    return "\(Quantity.count(batch.linesRead)) lines, \(Quantity.count(perSecond)) lines/s"
  }

  // MARK: - One batch

  /// Sends a batch until no line has status 503. Sending a line again changes nothing.
  private mutating func deliver(_ batch: IngestBatch) async throws {
    var outcomes = [IngestResult?](repeating: nil, count: batch.lines.count)
    var start = 0
    var waited = 0.0
    var wait = Self.shortestWait
    while true {
      let outcome = try await send(batch, from: start, &outcomes)
      var reason = "it responds with status 503"
      switch outcome {
      case .complete:
        guard let busy = outcomes.firstIndex(where: { $0?.status == 503 }) else { return try count(batch, outcomes) }
        start = busy
        if let detail = outcomes[busy]?.detail { reason = detail }
      case .busy(let problem, let seconds):
        if let problem { reason = "\(problem.code): \(problem.detail)" }
        if let seconds { wait = min(max(Double(seconds), Self.shortestWait), Self.longestWait) }
      }
      guard waited < Self.maximumWait else {
        throw ToolError(
          "the server accepts no data", because: reason,
          next: "check the server log; then run the same command again: it continues where it stopped")
      }
      try await Task.sleep(for: .seconds(wait))
      waited += wait
      wait = min(wait * 2, Self.longestWait)
    }
  }

  private mutating func send(
    _ batch: IngestBatch, from start: Int, _ outcomes: inout [IngestResult?]
  ) async throws -> IngestClient.IngestOutcome {
    var received = start
    do {
      let outcome = try await client.send(batch.body(from: start), lines: batch.lines.count - start) { portion in
        var matched: [(line: IngestBatch.Line, result: IngestResult)] = []
        for result in portion {
          guard received < batch.lines.count, result.line == received - start + 1 else {
            throw IngestClient.mismatch(because: "it sent a result for line \(result.line), which is not the next one")
          }
          matched.append((batch.lines[received], result))
          if !(outcomes[received].map(Self.isDone) ?? false) { outcomes[received] = result }
          received += 1
        }
        try results?.append(matched)
      }
      hasReceivedResponse = true
      if case .complete = outcome, received < batch.lines.count {
        throw Self.connectionLost("its response ended early")
      }
      return outcome
    } catch let error as ToolError {
      throw error
    } catch {
      throw hasReceivedResponse || received > start
        ? Self.connectionLost(ConnectionFailure.text(error))
        : ToolError(
          "\(client.server) cannot be reached", because: ConnectionFailure.text(error),
          next: "start it, or correct --server; then run the same command again")
    }
  }

  private static func isDone(_ result: IngestResult) -> Bool { (200..<300).contains(result.status) }

  private static func connectionLost(_ reason: String) -> ToolError {
    ToolError(
      "the connection to the server was lost", because: reason,
      next: "when the server runs again, run the same command again: it continues where it stopped")
  }

  private mutating func count(_ batch: IngestBatch, _ outcomes: [IngestResult?]) throws {
    for (line, outcome) in zip(batch.lines, outcomes) {
      guard let outcome else { throw Self.connectionLost("a result is missing") }
      if outcome.code == "service_only" {
        throw ToolError(
          "the token does not allow an import", because: outcome.detail,
          next: "use the token in the file admin-token of the data directory")
      }
      guard outcome.status < 500 else {
        // The server processed no line after this one. The next batch depends on these lines and must not be sent
        // before them.
        throw ToolError(
          "the server failed", because: outcome.detail,
          next: "check the server log; then run the same command again: it continues where it stopped")
      }
      switch outcome.status {
      case 200..<300 where outcome.replayed == true: counts.repeated += 1
      case 200..<300: counts.recorded += 1
      case let status:
        counts.failed += 1
        show(line.inputLine, "\(line.op): \(status) \(outcome.code ?? "") \(outcome.detail ?? "")")
      }
    }
  }

  private mutating func show(_ line: Int, _ reason: String) {
    shown += 1
    guard shown <= Self.shownFailures + 1 else { return }
    bar.finish()
    let text =
      shown <= Self.shownFailures
      ? "hansard: line \(line) was rejected. \(reason)"
      : "hansard: more lines were rejected; only the first ones are shown"
    Terminal.printError(TextColumns.visible(text) + "\n")
  }
}
