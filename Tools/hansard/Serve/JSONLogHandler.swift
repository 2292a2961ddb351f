import ChatPrimitives
import ChatService
import Foundation
import Logging

/// Writes each entry of the log as one line of JSON: its time, level, logger and message, then its metadata.
struct JSONLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info
  var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let output: LogOutput

  init(label: String, output: LogOutput) {
    self.label = label
    self.output = output
  }

  /// Fields that every line has. Metadata with such a name gets an underscore.
  private static let ownFields: Set = ["time", "level", "logger", "message"]
  /// Hummingbird's name for the ID of a request, and that of the contract.
  private static let otherNames = ["hb.request.id": "requestId"]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var all = metadata
    all.merge(metadataProvider?.get() ?? [:]) { _, new in new }
    all.merge(event.metadata ?? [:]) { _, new in new }
    if all["error"] == nil, let error = event.error { all["error"] = "\(type(of: error))" }
    output.write(line(event, all))
  }

  func line(_ event: LogEvent, _ metadata: Logger.Metadata, at time: Timestamp = ChatService.now()) -> String {
    var fields = [
      #""time":\#(Self.quoted(time.rfc3339))"#, #""level":\#(Self.quoted(event.level.rawValue))"#,
      #""logger":\#(Self.quoted(label))"#, #""message":\#(Self.quoted(event.message.description))"#,
    ]
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      let name = Self.otherNames[key] ?? (Self.ownFields.contains(key) ? key + "_" : key)
      fields.append("\(Self.quoted(name)):\(Self.json(value))")
    }
    return "{\(fields.joined(separator: ","))}\n"
  }

  private static func json(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let text): quoted(text)
    case .stringConvertible(let value): quoted(value.description)
    case .array(let values): "[\(values.map(json).joined(separator: ","))]"
    case .dictionary(let values):
      "{\(values.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\(json($0.value))" }.joined(separator: ","))}"
    }
  }

  private static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // A string always encodes.
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }
}
