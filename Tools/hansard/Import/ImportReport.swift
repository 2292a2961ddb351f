import ChatPrimitives
import Foundation

/// The IDs on the server of all rooms and users of the history, by name.
struct ImportReport: Sendable {
  private let rooms: [(name: String, id: String)]
  private let users: [(name: String, id: String)]

  init(_ plan: ImportPlan) {
    rooms = Self.sorted(plan.rooms.map { ($0.value, $0.key.description) })
    users = Self.sorted(plan.users.map { ($0.value, $0.key.description) })
  }

  /// Sorted by bytes, so that the same history always gives the same report.
  private static func sorted(_ names: [(name: String, id: String)]) -> [(name: String, id: String)] {
    names.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  func json(_ counts: ImportCounts) -> JSONValue {
    .object([
      ("rooms", .object(rooms.map { ($0.name, .text($0.id)) })),
      ("users", .object(users.map { ($0.name, .text($0.id)) })),
      ("counts", counts.json),
    ])
  }

  /// Writes the report atomically: an existing file is replaced only by a complete one.
  func write(_ counts: ImportCounts, to path: String) throws {
    do {
      try Data((json(counts).encoded + "\n").utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw ToolError("the report \(path) cannot be written", because: error.localizedDescription)
    }
  }
}
