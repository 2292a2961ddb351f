import ArgumentParser
import ChatDomain
import ChatPrimitives
import EventLog
import EventStore

/// Reads and decodes every event once, as a rebuild of the read models does.
struct DecodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode", abstract: "Read and decode every event of a log, and print how long it took.")

  /// About as many events as a rebuild reads at once.
  private static let batchEvents = 8192

  @Option(help: "A data directory.")
  var data: String

  struct Report: Encodable {
    let events: UInt64
    let milliseconds: Double
  }

  func run() throws {
    let start = ContinuousClock.now
    let log = StoredEvents(try LogReader.open(directory: data))
    var position = LogPosition.origin
    while position < log.head, let last = try log.events(after: position, limit: Self.batchEvents).last {
      position = last.position
    }
    try printReport(
      Report(events: position.value, milliseconds: (ContinuousClock.now - start) / .milliseconds(1)))
  }
}
