import GRDB

/// The tables of threads and mentions in `rooms`.
///
/// `threadFollower.seenActivity` is the thread's `activity` while the follower has come to the thread's end, and NULL
/// while the end lies beyond the marker, and for who does not follow. So a badge reads the threads alone in which
/// something may be unread, and a page of threads is a run of an index with those few beside it; and a reply changes
/// the rows of those alone who had read all before it. `behindSince` is the position at which the thread became unread
/// for the follower. A badge and a page read only the threads that became unread last (`RoomsQueries.unreadThreads`).
enum ThreadTables {
  static func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE thread (
          roomId BLOB NOT NULL,
          root INTEGER NOT NULL,
          rootId BLOB NOT NULL,
          lastOrdinal INTEGER NOT NULL,
          deletedCount INTEGER NOT NULL,
          activity INTEGER NOT NULL,
          PRIMARY KEY (roomId, root)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE threadFollower (
          roomId BLOB NOT NULL,
          root INTEGER NOT NULL,
          userId BLOB NOT NULL,
          follows INTEGER NOT NULL,
          marker INTEGER NOT NULL,
          seenActivity INTEGER,
          behindSince INTEGER NOT NULL,
          markerMessageId BLOB,
          markerTime INTEGER,
          PRIMARY KEY (roomId, root, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE mention (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          userId BLOB NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX follower_by_user ON threadFollower (userId, roomId, root);
        CREATE INDEX follower_at_end ON threadFollower (roomId, root) WHERE seenActivity IS NOT NULL;
        """)
  }

  /// Those alone that no batch reads by.
  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX follower_behind ON threadFollower (userId, behindSince) WHERE follows = 1 AND seenActivity IS NULL;
        CREATE INDEX follower_by_activity ON threadFollower (userId, seenActivity) WHERE seenActivity IS NOT NULL;
        """)
  }
}
