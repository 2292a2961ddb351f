import ChatPrimitives
import GRDB

/// The number of events in each stream, in a table of the read model that restores the stream's state.
struct StreamVersions {
  private var newest: [UUIDBytes: StreamVersion] = [:]

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE stream (
          id BLOB PRIMARY KEY NOT NULL,
          version INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  mutating func note(_ stream: UUIDBytes, _ version: StreamVersion) {
    newest[stream] = version
  }

  /// Writes each stream once, however many of its events the batch had.
  func flush(_ database: Database) throws {
    let statement = try CachedStatement(
      database,
      "INSERT INTO stream (id, version) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version")
    for (stream, version) in newest {
      try statement.run(stream, version.value)
    }
  }

  /// - Parameter table: if not nil, only streams whose ID is in the column `id` of this table.
  static func all(_ database: Database, of table: String? = nil) throws -> [UUIDBytes: StreamVersion] {
    var versions: [UUIDBytes: StreamVersion] = [:]
    versions.reserveCapacity(try database.rowCount(of: table ?? "stream"))
    let restriction = table.map { " WHERE id IN (SELECT id FROM \($0))" } ?? ""
    try CachedStatement(database, "SELECT id, version FROM stream" + restriction).forEach { row in
      versions[try row.uuid()] = StreamVersion(try row.unsigned())
    }
    return versions
  }
}
