import ChatServer
import Logging

/// The format of the server's log, and whether it has a line for each request.
struct LogSettings: Sendable {
  enum Format: String, Sendable {
    case text
    case json
  }

  /// The environment variable of the level. It has no prefix, because it is the usual name for servers in Swift.
  static let levelVariable = "LOG_LEVEL"

  let format: Format
  let logsAccess: Bool
  private let level: Logger.Level
  /// Shared by all loggers, so that their lines do not interleave.
  private let output = LogOutput()

  init(_ reader: inout SettingReader) {
    format =
      reader.text(
        "log.format", default: Format.text.rawValue, form: "text or json",
        "the format of the server's log on standard error: `text` or `json`, one object on each line",
        parse: { Format(rawValue: $0) }) ?? .text
    logsAccess = reader.flag("log.access", default: false, "whether the log has a line for each request")
    level = Self.level(&reader)
  }

  private static func level(_ reader: inout SettingReader) -> Logger.Level {
    guard let name = reader.variable(levelVariable) else { return .notice }
    if let level = Logger.Level(rawValue: name) { return level }
    let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
    reader.record(
      ToolError(
        "the variable \(levelVariable) cannot be used", because: "\"\(name)\" is not a level of the log",
        next: "write one of \(names)"))
    return .notice
  }

  /// Logs to standard error, by default from `notice` on, which includes each problem that a client gets. `LOG_LEVEL`
  /// changes the level.
  func logger() -> Logger { logger("hansard", level) }

  /// Nil if requests are not logged. Its level does not depend on `LOG_LEVEL`.
  func accessLog() -> AccessLog? {
    logsAccess ? AccessLog(logger("hansard.access", .info)) : nil
  }

  private func logger(_ label: String, _ level: Logger.Level) -> Logger {
    var logger = Logger(label: label) { label in
      switch format {
      case .text: TextLogHandler(.standardError(label: label))
      case .json: JSONLogHandler(label: label, output: output)
      }
    }
    logger.logLevel = level
    return logger
  }
}
