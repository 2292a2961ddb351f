import ArgumentParser
import ChatPrimitives
import EventLog
import EventStore

/// `hansard log stat`: prints statistics of the log.
struct LogStatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat", abstract: "Counts segments, blocks, events by type, and bytes per message.")

  @OptionGroup var data: DataOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      let log = try data.openLog()
      let bar = ProgressBar("reading", total: log.head.value, unit: .items("events"))
      defer { bar.finish() }
      let report = LogStatReport(try LogStatistics.gather(from: log) { done, _ in bar.update(done) })
      bar.finish()
      let output = ByteOutput()
      if json {
        try output.line(report.json)
      } else {
        for line in report.lines { try output.line(line) }
      }
      try output.flush()
    }
  }
}
