package import ChatPrimitives
package import GRDB

/// The log that a read model follows, and the last event that it has applied. Committed together with the rows, so that
/// they always match.
package struct Checkpoint: Sendable, Hashable {
  /// The position of the last applied event.
  package var position: LogPosition
  /// The time at which that event was recorded.
  package var time: Timestamp
  package var logIdentity: UUIDBytes

  package init(position: LogPosition, time: Timestamp, logIdentity: UUIDBytes) {
    self.position = position
    self.time = time
    self.logIdentity = logIdentity
  }

  /// The ID of the only row.
  private static let rowID: Int64 = 1

  static func createTable(_ database: Database, logIdentity: UUIDBytes) throws {
    try database.execute(
      sql: """
        CREATE TABLE checkpoint (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          position INTEGER NOT NULL,
          time INTEGER NOT NULL,
          logIdentity BLOB NOT NULL
        ) STRICT
        """)
    let origin = Timestamp(milliseconds: 0)
    try CachedStatement(database, "INSERT INTO checkpoint (id, position, time, logIdentity) VALUES (?, ?, ?, ?)")
      .run(rowID, LogPosition.origin, origin, logIdentity)
  }

  package static func read(_ database: Database) throws -> Checkpoint {
    let checkpoint = try CachedStatement(database, "SELECT position, time, logIdentity FROM checkpoint WHERE id = 1")
      .first { row in
        Checkpoint(position: try row.position(), time: try row.time(), logIdentity: try row.uuid())
      }
    guard let checkpoint else {
      throw ProjectionError(.damagedRow, "the checkpoint is missing; rebuild this projection")
    }
    return checkpoint
  }

  static func move(to position: LogPosition, at time: Timestamp, _ database: Database) throws {
    try CachedStatement(database, "UPDATE checkpoint SET position = ?, time = ? WHERE id = 1").run(position, time)
  }
}
