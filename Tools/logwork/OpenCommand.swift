import ArgumentParser
import ChatPrimitives
import EventLog

/// Opens a log for writing, as a server does, and closes it.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open a log for writing, and print how much was read.")

  @Option(help: "The data directory.")
  var data: String

  struct Report: Encodable {
    let head: UInt64
    let blocksRead: Int
    let bytesRead: Int
    let milliseconds: Double
  }

  func run() throws {
    let start = ContinuousClock.now
    let log = try EmbeddedLog.open(
      directory: data, options: LogOptions(preparesAhead: false, sealsInBackground: false))
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    try printReport(
      Report(head: log.head.value, blocksRead: log.blocksRead, bytesRead: log.bytesRead, milliseconds: milliseconds))
    try log.close()
  }
}
