import Logging

/// Writes each entry of the log as one line of text, as `StreamLogHandler` does.
struct TextLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info
  var metadataProvider: Logger.MetadataProvider? {
    get { stream.metadataProvider }
    set { stream.metadataProvider = newValue }
  }
  private var stream: StreamLogHandler

  init(_ stream: StreamLogHandler) {
    self.stream = stream
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var stream = stream
    stream.metadata = LoggedName.renamed(metadata)
    var event = event
    event.metadata = event.metadata.map { LoggedName.renamed($0) }
    stream.log(event: event)
  }
}
