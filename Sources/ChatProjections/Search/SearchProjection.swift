package import ChatDomain
import ChatPrimitives
package import GRDB

/// What was said, by its words, with the memberships that a search is authorised by in the same snapshot.
///
/// A indexed text is known by the position of the event that gave it, so that indexed texts are only ever added at the
/// end: an edit is a new indexed text, and the one before it is overwritten where it stands. The full-text index is cut
/// into shards by position; see `SearchShard` for how a text leaves it.
package struct SearchProjection: Projection {
  package typealias Queries = SearchQueries

  package static let name = "search"
  package static let schemaVersion = 4
  package static let needsUpkeep = true
  /// A search responds with the position that it has reached.
  package static let isAwaited = false

  private var upkeepPace = SearchUpkeepPace()

  package init() {}

  /// The tokenizer belongs to a connection, and so does the overwriting of what is deleted.
  package static func prepare(_ database: Database) throws {
    CharacterFolding.prepare()
    database.add(tokenizer: SearchTokenizer.self)
    try database.execute(sql: "PRAGMA secure_delete = ON")
  }

  /// In `wording` the texts stand last, and are overwritten by as many zeros, so that no row ever moves: SQLite leaves
  /// copies of what it moves. `place` says which indexed text of a message counts.
  package static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE room (
          number INTEGER PRIMARY KEY,
          id BLOB NOT NULL UNIQUE,
          lastOrdinal INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE member (
          userId BLOB NOT NULL,
          room INTEGER NOT NULL,
          PRIMARY KEY (userId, room)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX member_by_room ON member (room, userId);

        CREATE TABLE wording (
          position INTEGER PRIMARY KEY,
          isGone INTEGER NOT NULL,
          room INTEGER NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          sender BLOB NOT NULL,
          sentAt INTEGER NOT NULL,
          hasMedia INTEGER NOT NULL,
          text BLOB NOT NULL,
          extra BLOB NOT NULL
        ) STRICT;

        CREATE TABLE place (
          room INTEGER NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          wording INTEGER NOT NULL,
          PRIMARY KEY (room, thread, ordinal)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE shard (
          number INTEGER PRIMARY KEY,
          earliest INTEGER NOT NULL,
          latest INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE erasure (
          shard INTEGER PRIMARY KEY
        ) STRICT;

        CREATE TABLE closing (
          room INTEGER PRIMARY KEY
        ) STRICT;
        """)
  }

  /// The full text, which is far faster made of all indexed texts at once. From here on it is kept along.
  package static func createIndexes(_ database: Database) throws {
    while try SearchBulkDeletion.step(database) {}
    for shard in try SearchShard.all(database) {
      try shard.create(database)
      try shard.fill(database)
    }
    try database.execute(sql: "DELETE FROM erasure")
    try database.execute(sql: "PRAGMA user_version = 1")
  }

  static func isIndexed(_ database: Database) throws -> Bool {
    try CachedStatement(database, "PRAGMA user_version").first { try $0.number() } == 1
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var batch = try SearchBatch(database, isIndexed: Self.isIndexed(database))
    for recorded in events {
      switch recorded.event {
      case .room(let room, let event): try batch.apply(event, in: room, recorded)
      case .user, .workspace, .server: break
      }
    }
    try batch.flush()
  }

  package mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome {
    try upkeepPace.step(database, isIdle: isIdle)
  }

  // MARK: - Comparing

  package static func isFixed(_ table: String) -> Bool { !SearchShard.isOwn(table) }

  /// How FTS5 lays out a shard depends on the batches that it was written in, and when what is gone leaves it, on when
  /// there was time. What the shard says of indexed texts that are not gone depends on the events alone.
  package static func comparison(of table: String) -> TableComparison {
    if table == "erasure" { return .none }
    guard SearchShard.isOwn(table) else { return SearchBulkDeletion.comparison(of: table) }
    guard SearchShard.isTermTable(table) else { return .none }
    return .selected(
      """
      SELECT term, doc FROM \(table)
      WHERE EXISTS (
        SELECT 1 FROM wording WHERE position = doc AND isGone = 0 AND room NOT IN (SELECT room FROM closing))
      """, key: 2)
  }
}

extension ReadModels {
  package var search: ProjectionRunner<SearchProjection> { self[SearchProjection.self] }
}
