import GRDB

/// The tables of push, besides those of `rooms`.
enum PushTables {
  static func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE pushDevice (
          userId BLOB NOT NULL,
          deviceId BLOB NOT NULL,
          apnsToken TEXT,
          fcmToken TEXT,
          webPushToken TEXT,
          notifications INTEGER NOT NULL,
          apnsEnvironment INTEGER,
          language TEXT,
          roomChanges INTEGER NOT NULL,
          registeredPosition INTEGER NOT NULL,
          PRIMARY KEY (userId, deviceId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE disabledUser (
          userId BLOB PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE recipient (
          roomId BLOB NOT NULL,
          userId BLOB NOT NULL,
          PRIMARY KEY (roomId, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE formerMember (
          roomId BLOB NOT NULL,
          userId BLOB NOT NULL,
          leftPosition INTEGER NOT NULL,
          PRIMARY KEY (roomId, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notificationMessage (
          position INTEGER PRIMARY KEY NOT NULL,
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          sender BLOB NOT NULL,
          threadId BLOB,
          sentAt INTEGER NOT NULL,
          roomName TEXT NOT NULL,
          senderNickname TEXT NOT NULL,
          text TEXT NOT NULL
        ) STRICT;

        CREATE INDEX notificationMessage_by_message ON notificationMessage (roomId, messageId);

        CREATE TABLE outbox (
          position INTEGER NOT NULL,
          userId BLOB NOT NULL,
          deviceId BLOB NOT NULL,
          badge INTEGER NOT NULL,
          isMentioned INTEGER NOT NULL,
          provider INTEGER NOT NULL,
          PRIMARY KEY (position, userId, deviceId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE settlement (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          settledThrough INTEGER NOT NULL
        ) STRICT;
        """)
  }

  static func createIndexes(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX recipient_by_user ON recipient (userId)")
  }
}
