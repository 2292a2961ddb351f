import GRDB

/// The tables of threads and mentions in `rooms`.
///
/// `threadFollower.seenActivity` is the thread's `activity` while the follower has read the thread to its end. It is
/// NULL while there are replies after the marker, and for users who do not follow. So a badge only reads threads that
/// may have unread replies, a page of threads is one range of an index plus those few threads, and a reply only changes
/// the rows of followers who had read everything before it. `behindSince` is the position at which the thread became
/// unread for the follower. Badges and pages only read the threads that became unread last
/// (`RoomsQueries.unreadThreads`).
///
/// `thread.hasErasedReplies` is 1 if a service deleted a reply, as an erasure does. Whom the reply mentioned follows the
/// thread, but a rebuilt file may not know that any more, so these threads' followers are not compared. They say nothing
/// of what was erased, except that somebody may have been mentioned.
///
/// `thread.changed` is where a reply was last sent, edited or deleted; `threadFollower.changed`, where the user's marker
/// or following last changed.
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
          changed INTEGER NOT NULL,
          hasErasedReplies INTEGER NOT NULL,
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
          changed INTEGER NOT NULL,
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

  /// Only the indexes that applying events does not use.
  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX thread_by_change ON thread (roomId, changed);
        CREATE INDEX follower_by_change ON threadFollower (userId, changed);
        CREATE INDEX follower_behind ON threadFollower (userId, behindSince) WHERE follows = 1 AND seenActivity IS NULL;
        CREATE INDEX follower_by_activity ON threadFollower (userId, seenActivity) WHERE seenActivity IS NOT NULL;
        """)
  }
}
