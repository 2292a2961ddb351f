import GRDB

/// The tables of push, besides those of `rooms`. A rebuild of the outbox needs the indexes that are created with the
/// tables.
enum PushTables {
  static func create(_ database: Database) throws {
    try database.execute(sql: recipients)
    try database.execute(sql: notifications)
  }

  private static let recipients = """
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
      PRIMARY KEY (userId, deviceId)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX pushDevice_for_room_changes ON pushDevice (userId) WHERE roomChanges = 1;

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

    CREATE TABLE crowdedChange (
      roomId BLOB PRIMARY KEY NOT NULL,
      period INTEGER NOT NULL,
      position INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE pushPreference (
      userId BLOB PRIMARY KEY NOT NULL,
      notifications INTEGER NOT NULL,
      mutedKinds INTEGER NOT NULL,
      quietFrom INTEGER,
      quietTo INTEGER,
      timeZone TEXT,
      showsPreviews INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  private static let notifications = """
    CREATE TABLE pushContent (
      position INTEGER PRIMARY KEY NOT NULL,
      time INTEGER NOT NULL,
      roomId BLOB,
      workspaceId BLOB,
      messageId BLOB,
      threadId BLOB,
      thread INTEGER,
      ordinal INTEGER,
      sender BLOB,
      clearedThrough BLOB,
      isDeleted INTEGER NOT NULL,
      spaceName TEXT NOT NULL,
      senderNickname TEXT NOT NULL,
      emoji TEXT,
      fileType TEXT,
      fileName TEXT,
      customType TEXT,
      customBody TEXT,
      text TEXT NOT NULL
    ) STRICT;

    CREATE INDEX pushContent_by_message ON pushContent (roomId, messageId);

    CREATE TABLE outbox (
      position INTEGER NOT NULL,
      userId BLOB NOT NULL,
      deviceId BLOB NOT NULL,
      kind INTEGER NOT NULL,
      isQuiet INTEGER NOT NULL,
      showsPreview INTEGER NOT NULL,
      provider INTEGER NOT NULL,
      PRIMARY KEY (position, userId, deviceId)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX outbox_by_device ON outbox (userId, deviceId, position) WHERE kind < \(PushKind.firstSilent);

    CREATE TABLE settlement (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      settledThrough INTEGER NOT NULL
    ) STRICT;
    """

  static func createIndexes(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX recipient_by_user ON recipient (userId)")
  }
}
