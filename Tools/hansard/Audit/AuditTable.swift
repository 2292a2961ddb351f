import ChatPrimitives
import EventLog
import EventStore

/// Aligned columns for people. The detail is cut at the terminal's edge, but is complete in a file or a pipe.
struct AuditTable: AuditWriter {
  /// How many rows are measured together to find the column widths.
  private static let rowsTogether = 256
  /// Shown for a missing value.
  private static let none = "-"

  private let output: ByteOutput
  private let limit: Int?
  private var table = TextTable([
    .right("POSITION"), .left("TIME"), .left("TYPE"), .left("ACTOR"), .left("DEVICE"), .left("STREAM"), .left("DETAIL"),
  ])
  private var waiting: [[String]] = []
  private var hasTitles = false

  init(_ output: ByteOutput) {
    self.output = output
    limit = Terminal.columns(of: Terminal.standardOutput)
  }

  mutating func begin() {}

  mutating func write(_ row: AuditRow) throws {
    waiting.append(Self.cells(row))
    if waiting.count >= Self.rowsTogether { try print() }
  }

  mutating func end() throws {
    try print()
    try output.flush()
  }

  private mutating func print() throws {
    table.widen(for: waiting.map { $0.dropLast() })
    if !hasTitles { try output.line(table.titles()) }
    hasTitles = true
    for cells in waiting { try output.line(table.line(cells, limit: limit)) }
    waiting.removeAll(keepingCapacity: true)
  }

  private static func cells(_ row: AuditRow) -> [String] {
    let envelope = row.envelope
    let actor = envelope.actor?.text ?? envelope.service.map { "service \($0.text)" } ?? none
    return [
      row.position.description, envelope.time.rfc3339, row.type, actor, envelope.device?.text ?? none,
      row.stream ?? none, TextColumns.visible(detail(row)),
    ]
  }

  /// `name=value` for each field of the detail, then the fields of the envelope that no other column shows.
  private static func detail(_ row: AuditRow) -> String {
    let envelope = row.envelope
    var parts: [String] = []
    for (name, value) in row.detail {
      switch value {
      case .null: continue
      case .text(let text): parts.append("\(name)=\(text)")
      case .bool, .number, .signed, .decimal, .list, .object: parts.append("\(name)=\(value.encoded)")
      }
    }
    if let subject = envelope.subject, subject != envelope.actor { parts.append("subject=\(subject.text)") }
    if envelope.actor != nil, let service = envelope.service { parts.append("service=\(service.text)") }
    if let time = envelope.originalTime { parts.append("originalTime=\(time.rfc3339)") }
    return parts.joined(separator: " ")
  }
}
