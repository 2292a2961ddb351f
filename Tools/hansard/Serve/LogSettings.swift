import ChatServer
import Foundation
import Logging

/// The format of the server's log, and whether it has a line for each request.
struct LogSettings: Sendable {
  enum Format: String, Sendable {
    case text
    case json
  }

  let format: Format
  let logsAccess: Bool
  /// Shared by all loggers, so that their lines do not interleave.
  private let output = LogOutput()

  init(_ reader: inout SettingReader) {
    format =
      reader.text(
        "log.format", default: Format.text.rawValue, form: "text or json",
        "the format of the server's log on standard error: `text` or `json`, one object on each line",
        parse: { Format(rawValue: $0) }) ?? .text
    logsAccess = reader.flag("log.access", default: false, "whether the log has a line for each request")
  }

  /// Logs to standard error, by default from `notice` on, which includes each problem that a client gets. `LOG_LEVEL` changes the level.
  func logger() -> Logger {
    let level = ProcessInfo.processInfo.environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) }
    return logger("hansard", level ?? .notice)
  }

  /// Nil if requests are not logged. Its level does not depend on `LOG_LEVEL`.
  func accessLog() -> AccessLog? {
    logsAccess ? AccessLog(logger("hansard.access", .info)) : nil
  }

  private func logger(_ label: String, _ level: Logger.Level) -> Logger {
    var logger = Logger(label: label) { label in
      switch format {
      case .text: StreamLogHandler.standardError(label: label)
      case .json: JSONLogHandler(label: label, output: output)
      }
    }
    logger.logLevel = level
    return logger
  }
}
