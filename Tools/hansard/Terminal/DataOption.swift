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

  /// After a crash, only opening the log for writing, as a server does at its start, decides which records at its end
  /// count. The read models may contain events that count as durable only after that.
  func recoverLog(_ lock: DirectoryLock) throws {
    let log = try EmbeddedLog.open(directory: directory, options: LogOptions(preparesAhead: false), lock: lock)
    if let torn = log.recovery.tornTail {
      Terminal.printError(
        "hansard: the log had an incomplete tail of \(torn.bytes) bytes, which was moved to \(torn.savedAs)\n")
    }
    try log.close()
  }

  /// Does the same if no server is running. A running one records in the files how far the log is durable.
  func recoverLogUnlessInUse() throws {
    do {
      try recoverLog(try DirectoryLock(directory: directory))
    } catch let error as LogError where error.code == .locked {}
  }
}
