import ChatPrimitives

/// The counts that an import reports.
struct ImportCounts: Equatable {
  // Counts of the history.
  var lines: UInt64 = 0
  var messages: UInt64 = 0
  var joins: UInt64 = 0
  var leaves: UInt64 = 0
  var users: UInt64 = 0
  var rooms: UInt64 = 0
  // Counts of the commands sent: newly recorded, already known, rejected. `failed` also includes malformed lines.
  var recorded: UInt64 = 0
  var repeated: UInt64 = 0
  var failed: UInt64 = 0

  var json: JSONValue {
    .object([
      ("lines", .number(lines)),
      ("messages", .number(messages)),
      ("joins", .number(joins)),
      ("leaves", .number(leaves)),
      ("users", .number(users)),
      ("rooms", .number(rooms)),
      ("recorded", .number(recorded)),
      ("repeated", .number(repeated)),
      ("failed", .number(failed)),
    ])
  }
}
