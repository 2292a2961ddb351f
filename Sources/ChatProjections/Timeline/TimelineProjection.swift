package import ChatDomain
import ChatPrimitives
package import GRDB

/// Every message in its room's order, with the memberships that a read is authorised by in the same snapshot.
package struct TimelineProjection: Projection {
  package typealias Queries = TimelineQueries

  package static let name = "timeline"
  package static let schemaVersion = 1

  package init() {}

  package static func createTables(_ database: Database) throws {
    try Profiles.createTable(database)
    try database.execute(
      sql: """
        CREATE TABLE room (
          id BLOB PRIMARY KEY NOT NULL,
          lastOrdinal INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE member (
          roomId BLOB NOT NULL,
          userId BLOB NOT NULL,
          PRIMARY KEY (roomId, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE message (
          roomId BLOB NOT NULL,
          ordinal INTEGER NOT NULL,
          messageId BLOB NOT NULL,
          sender BLOB NOT NULL,
          sentAt INTEGER NOT NULL,
          position INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          editedAt INTEGER,
          deletedAt INTEGER,
          text TEXT NOT NULL,
          PRIMARY KEY (roomId, ordinal)
        ) STRICT, WITHOUT ROWID;
        """)
  }

  package static func createIndexes(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX message_by_time ON message (roomId, sentAt, ordinal)")
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var batch = try TimelineBatch(database)
    for recorded in events {
      switch recorded.event {
      case .user(let user, let event): try batch.apply(event, of: user)
      case .room(let room, let event): try batch.apply(event, in: room, recorded)
      case .workspace, .server: break
      }
    }
    try batch.flush()
  }
}
