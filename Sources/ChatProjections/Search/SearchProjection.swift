package import ChatDomain
import ChatPrimitives
package import GRDB

/// The texts of all messages, indexed by word, with the memberships that authorise a search in the same snapshot.
///
/// An indexed text is identified by the position of its event, so indexed texts are only added at the end. An edit adds
/// a new indexed text, and the previous one is overwritten in place. The full-text index is divided into shards by
/// position; `SearchShard` describes how a text is removed from it.
package struct SearchProjection: Projection {
  package typealias Queries = SearchQueries

  package static let name = "search"
  package static let schemaVersion = 6
  package static let needsUpkeep = true
  /// Requests do not wait for it; a search returns the position that it has reached.
  package static let isAwaited = false
  /// Each transaction adds a segment to the full-text index, and segments are merged, so fewer and larger ones cost less.
  package static let gatheringMilliseconds = 250
  package static let longestGatheringMilliseconds = 1_000
  package static let gatheredEvents = 16_384

  private var upkeepPace = SearchUpkeepPace()

  package init() {}

  /// The tokenizer and the overwriting of deleted content are settings of a connection.
  package static func prepare(_ database: Database) throws {
    CharacterFolding.prepare()
    database.add(tokenizer: SearchTokenizer.self)
    try database.execute(sql: "PRAGMA secure_delete = ON")
  }

  /// In `wording`, the texts come last and are overwritten with the same number of zeros, so that no row ever moves.
  /// SQLite would leave copies of rows that it moves. `place` refers to the current indexed text of each message.
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
          type BLOB NOT NULL,
          nameBytes INTEGER NOT NULL,
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

  /// Creates the full-text index, which is much faster for all indexed texts at once. From then on, each batch updates
  /// it.
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

  // MARK: - Comparison

  package static func isFixed(_ table: String) -> Bool { !SearchShard.isOwn(table) }

  /// FTS5's layout of a shard depends on the batches in which it was written, and the time at which erased texts leave
  /// it depends on when there was time to rebuild it. Only what the shard contains for texts that are not erased
  /// depends on the events alone.
  package static func comparison(of table: String) -> TableComparison {
    if table == "erasure" { return .none }
    guard SearchShard.isOwn(table) else { return SearchBulkDeletion.comparison(of: table) }
    guard let positions = SearchShard(termTable: table)?.positions else { return .none }
    // Finds the texts that are erased, or are about to be, once for each table and not for each row.
    return .selected(
      """
      SELECT term, doc FROM \(table)
      WHERE doc NOT IN (
        SELECT position FROM wording
        WHERE position BETWEEN \(positions.lowerBound) AND \(positions.upperBound)
          AND (isGone = 1 OR room IN (SELECT room FROM closing)))
      """, key: 2)
  }
}

extension ReadModels {
  package var search: ProjectionRunner<SearchProjection> { self[SearchProjection.self] }
}
