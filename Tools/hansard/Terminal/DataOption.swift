import ArgumentParser
import EventLog
import Foundation

/// The data directory that a tool works on.
struct DataOption: ParsableArguments {
  /// The environment variable that names the directory if the option does not.
  static let environmentName = "HANSARD_DATA"
  static let defaultDirectory = "./hansard-data"

  @Option(name: .customLong("data"), help: "The server's data directory (or HANSARD_DATA).")
  var directory: String = ProcessInfo.processInfo.environment[Self.environmentName] ?? Self.defaultDirectory

  /// The directory of the read models.
  var readModelsDirectory: String { directory + "/views" }

  /// Opens the log for reading, up to the last durable position. Also works while a server is running.
  func openLog() throws(LogError) -> LogReader {
    try LogReader.open(directory: directory)
  }
}
