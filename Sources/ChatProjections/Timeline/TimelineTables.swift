import GRDB

/// The tables of `timeline`.
enum TimelineTables {
  /// In `message`, the text comes last, so that finding a message does not read the overflow pages of long texts. In
  /// all tables, `thread` is the ordinal of the root of the message's thread, or zero in the room's own timeline.
  static func create(_ database: Database) throws {
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
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          messageId BLOB NOT NULL,
          sender BLOB NOT NULL,
          sentAt INTEGER NOT NULL,
          position INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          editedAt INTEGER,
          deletedAt INTEGER,
          details BLOB,
          text TEXT NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal)
        ) STRICT, WITHOUT ROWID;
        """)
    try createAdditions(database)
    try createTypes(database)
    try createChanges(database)
    try BulkDeletion.createTable(database)
  }

  /// Threads, earlier texts, reactions and pins. A deleted message has no rows here, except as the root of a thread.
  private static func createAdditions(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE thread (
          roomId BLOB NOT NULL,
          root INTEGER NOT NULL,
          lastOrdinal INTEGER NOT NULL,
          replies INTEGER NOT NULL,
          lastReplyAt INTEGER NOT NULL,
          PRIMARY KEY (roomId, root)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE threadParticipant (
          roomId BLOB NOT NULL,
          root INTEGER NOT NULL,
          userId BLOB NOT NULL,
          firstOrdinal INTEGER NOT NULL,
          replies INTEGER NOT NULL,
          PRIMARY KEY (roomId, root, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE revision (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          position INTEGER NOT NULL,
          writtenAt INTEGER NOT NULL,
          details BLOB,
          text TEXT NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal, position)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reaction (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          emoji TEXT NOT NULL,
          userId BLOB NOT NULL,
          position INTEGER NOT NULL,
          reactedAt INTEGER NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal, emoji, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reactionCount (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          emoji TEXT NOT NULL,
          firstPosition INTEGER NOT NULL,
          count INTEGER NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal, emoji)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE pin (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          messageId BLOB NOT NULL,
          position INTEGER NOT NULL,
          time INTEGER NOT NULL,
          pinnedAt INTEGER NOT NULL,
          pinnedBy BLOB,
          PRIMARY KEY (roomId, thread, ordinal)
        ) STRICT, WITHOUT ROWID;
        """)
  }

  /// The messages with an app's own type that are not deleted.
  private static func createTypes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE typedMessage (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          type TEXT NOT NULL,
          ordinal INTEGER NOT NULL,
          PRIMARY KEY (roomId, thread, type, ordinal)
        ) STRICT, WITHOUT ROWID
        """)
  }

  /// Where messages changed after they were sent. See `TimelineBatch+Changes`.
  private static func createChanges(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE messageChange (
          roomId BLOB NOT NULL,
          thread INTEGER NOT NULL,
          ordinal INTEGER NOT NULL,
          position INTEGER NOT NULL,
          PRIMARY KEY (roomId, thread, ordinal)
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX message_by_time ON message (roomId, thread, sentAt, ordinal);
        CREATE INDEX reply_by_position ON message (roomId, position) WHERE thread > 0;
        CREATE INDEX participant_by_ordinal ON threadParticipant (roomId, root, firstOrdinal);
        CREATE INDEX messageChange_by_position ON messageChange (roomId, position, thread, ordinal);
        CREATE INDEX reaction_by_position ON reaction (roomId, thread, ordinal, position);
        CREATE INDEX reaction_kind_by_position ON reactionCount (roomId, thread, ordinal, firstPosition);
        """)
  }
}
