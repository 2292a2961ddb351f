import Logging
import Synchronization

/// Captures the lines that are logged with its logger.
final class CapturedLog: Sendable {
  struct Line: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]

    var text: String { "\(message) \(metadata)" }
  }

  private let kept = Mutex<[Line]>([])

  var lines: [Line] { kept.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: CapturedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    func log(event: LogEvent) {
      let all = metadata.merging(event.metadata ?? [:]) { $1 }
      let line = Line(
        level: event.level, message: event.message.description, metadata: all.mapValues { $0.description })
      log.kept.withLock { $0.append(line) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
  }
}
