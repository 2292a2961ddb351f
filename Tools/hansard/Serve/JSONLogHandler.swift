import ChatPrimitives
import ChatProtocol
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
    var fields: [(String, Logger.MetadataValue)] = [
      ("time", "\(time.rfc3339)"), ("level", "\(event.level.rawValue)"), ("logger", "\(label)"),
      ("message", "\(event.message)"),
    ]
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      fields.append((Self.ownFields.contains(key) ? key + "_" : LoggedName.of(key), value))
    }
    var bytes: [UInt8] = []
    Self.write(fields, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func write(_ fields: [(String, Logger.MetadataValue)], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for (index, (name, value)) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONEscapes.write(name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      write(value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private static func write(_ value: Logger.MetadataValue, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): JSONEscapes.write(text, to: &bytes)
    case .stringConvertible(let value): JSONEscapes.write(value.description, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .dictionary(let values): write(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &bytes)
    }
  }
}
