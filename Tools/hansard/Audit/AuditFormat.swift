import ArgumentParser
import ChatPrimitives

enum AuditFormat: String, CaseIterable, ExpressibleByArgument {
  case table
  case jsonl
  case csv
}

/// Writes rows in one of the output formats.
protocol AuditWriter {
  mutating func begin() throws
  mutating func write(_ row: AuditRow) throws
  mutating func end() throws
}

extension AuditFormat {
  func writer(to output: ByteOutput) -> any AuditWriter {
    switch self {
    case .table: AuditTable(output)
    case .jsonl: AuditJSONLines(output)
    case .csv: AuditCSV(output)
    }
  }
}

/// One JSON object per line.
struct AuditJSONLines: AuditWriter {
  private let output: ByteOutput

  init(_ output: ByteOutput) {
    self.output = output
  }

  mutating func begin() {}

  mutating func write(_ row: AuditRow) throws {
    try output.line(.object(row.fields))
  }

  mutating func end() throws {
    try output.flush()
  }
}

/// Comma-separated values (RFC 4180) with a header line. The `detail` column is JSON text.
struct AuditCSV: AuditWriter {
  static let names = [
    "position", "time", "originalTime", "type", "stream", "actor", "service", "device", "subject", "command", "detail",
  ]

  private let output: ByteOutput

  init(_ output: ByteOutput) {
    self.output = output
  }

  mutating func begin() throws {
    try output.write(Self.line(Self.names))
  }

  mutating func write(_ row: AuditRow) throws {
    try output.write(Self.line(row.fields.map { Self.cell($0.1) }))
  }

  mutating func end() throws {
    try output.flush()
  }

  private static func cell(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .text(let text): text
    case .bool, .number, .signed, .decimal, .list, .object: value.encoded
    }
  }

  private static func line(_ cells: [String]) -> String {
    cells.map(quoted).joined(separator: ",") + "\r\n"
  }

  private static func quoted(_ cell: String) -> String {
    // Scalars are compared because Swift treats a carriage return and its line feed as one character that equals
    // neither.
    let needsQuotes = cell.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\r" || $0 == "\n" }
    return needsQuotes ? "\"" + cell.replacing("\"", with: "\"\"") + "\"" : cell
  }
}
