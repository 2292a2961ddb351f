package import ChatDomain
import ChatPrimitives
package import GRDB

/// What deciders need to know about single messages and earlier commands, which are too many to keep in memory. Also
/// contains the entries of the "never seen" filter, so that startup restores it without reading the log.
package struct IDIndexProjection: Projection {
  package typealias Queries = IDIndexQueries

  package static let name = "ids"
  package static let schemaVersion = 5
  /// The rows are spread over the whole file, so the more of them share a transaction, the fewer pages are written
  /// twice. Readers seldom wait for it, because the writer keeps newer events in memory.
  package static let gatheringMilliseconds = 1_000
  package static let secretColumns: Set<String> = [
    "message.fingerprint", "scheduled.fingerprint", "command.fingerprint",
  ]

  /// Nil until it is read from the file before the first batch.
  private var filter: FilterTail?

  package init() {}

  package static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE room (
          id BLOB PRIMARY KEY NOT NULL,
          lastOrdinal INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE message (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          author BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          sentPosition INTEGER NOT NULL,
          sentTime INTEGER NOT NULL,
          sentAt INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          revisedAt INTEGER,
          deleted INTEGER NOT NULL,
          parts INTEGER NOT NULL,
          fingerprint BLOB,
          PRIMARY KEY (roomId, messageId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reaction (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          userId BLOB NOT NULL,
          emoji BLOB NOT NULL,
          PRIMARY KEY (roomId, messageId, userId, emoji)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reactionKind (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          emoji BLOB NOT NULL,
          users INTEGER NOT NULL,
          PRIMARY KEY (roomId, messageId, emoji)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE threadEnd (
          roomId BLOB NOT NULL,
          root INTEGER NOT NULL,
          lastOrdinal INTEGER NOT NULL,
          PRIMARY KEY (roomId, root)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE scheduled (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          author BLOB NOT NULL,
          position INTEGER NOT NULL,
          time INTEGER NOT NULL,
          fingerprint BLOB,
          PRIMARY KEY (roomId, messageId)
        ) STRICT, WITHOUT ROWID;
        """)
    try createUserTables(database)
    try FilterTail.createTables(database)
    try BulkDeletion.createTable(database)
  }

  private static func createUserTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE command (
          actor BLOB NOT NULL,
          id BLOB NOT NULL,
          position INTEGER NOT NULL,
          time INTEGER NOT NULL,
          fingerprint BLOB,
          PRIMARY KEY (actor, id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE erasedUser (
          userId BLOB PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID;
        """)
  }

  package static func createIndexes(_ database: Database) throws {}

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var tail = try filter ?? FilterTail(database)
    // Drops the second reference to the bitmap, because the first insertion would otherwise copy it.
    filter = nil
    var batch = try IDIndexBatch(database)
    var entries: [UInt64] = []
    for recorded in events {
      if let entry = try batch.noteCommand(recorded) { entries.append(entry) }
      switch recorded.event {
      case .room(let room, let event):
        if let entry = try batch.apply(event, in: room, recorded) { entries.append(entry) }
      case .user(let user, .deletion(.deleted)): try batch.forget(user)
      case .user, .workspace, .server: break
      }
    }
    try batch.flush()
    try tail.append(entries, database)
    filter = tail
  }

  package static let bulkDeletedRows = [
    BulkDeletion.RowSet(scope: .room, table: "message", owner: "roomId", key: "messageId"),
    BulkDeletion.RowSet(scope: .room, table: "threadEnd", owner: "roomId", key: "root"),
    BulkDeletion.RowSet(scope: .room, table: "scheduled", owner: "roomId", key: "messageId"),
    BulkDeletion.RowSet(scope: .room, table: "reaction", owner: "roomId", key: "messageId, userId, emoji"),
    BulkDeletion.RowSet(scope: .room, table: "reactionKind", owner: "roomId", key: "messageId, emoji"),
  ]
}

extension ReadModels {
  package var ids: ProjectionRunner<IDIndexProjection> { self[IDIndexProjection.self] }
}
