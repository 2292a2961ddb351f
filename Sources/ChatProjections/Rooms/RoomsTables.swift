import GRDB

/// The tables of `rooms`. The texts of a room come last in its row, so that counting does not read the overflow pages
/// of long ones.
enum RoomsTables {
  static func create(_ database: Database) throws {
    try database.execute(sql: rooms)
    // Created before the rows are inserted, unlike most other indexes, because the push projection, which has these
    // tables too, reads badges during its rebuild.
    try database.execute(
      sql: """
        CREATE INDEX member_by_mute ON member (userId, mutedUntil) WHERE mutedUntil IS NOT NULL AND unreadCount > 0
        """)
    try database.execute(sql: moderation)
    try database.execute(sql: workspaces)
    // Applying an event looks for the user's rooms and workspaces.
    try database.execute(
      sql: """
        CREATE INDEX member_by_user_join ON member (userId, joinedPosition);
        CREATE INDEX workspaceMember_by_user ON workspaceMember (userId, joinedPosition);
        CREATE INDEX deletedRoom_by_creator ON deletedRoom (creator) WHERE creator IS NOT NULL;
        CREATE INDEX workspace_by_creator ON workspace (creator) WHERE creator IS NOT NULL;
        """)
    try Profiles.createTable(database)
    try RoomCustom.createTable(database)
    try Changes.createTable(database)
    try Changes.createProfileIndex(database)
    try HiddenReaders.createTable(database)
    try Blockers.createTables(database)
    try LeftOutMessages.createTable(database)
    try ScheduledRows.createTable(database)
    try ReportRows.createTable(database)
    try OrdinalSet.createTable(database)
    try ThreadTables.create(database)
    try BadgeTotals.createTable(database)
    try StreamVersions.createTable(database)
    try BulkDeletion.createTable(database)
  }

  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX member_by_user ON member (userId, list, roomActivity);
        CREATE INDEX member_by_change ON member (userId, changed) WHERE changed IS NOT NULL;
        CREATE INDEX member_by_join ON member (roomId, joinedPosition);
        CREATE INDEX invite_by_token ON invite (tokenHash);
        CREATE INDEX invite_by_code ON invite (codeHash) WHERE codeHash IS NOT NULL;
        CREATE INDEX invite_by_creation ON invite (roomId, createdPosition);
        CREATE INDEX ban_by_position ON ban (roomId, position);
        CREATE INDEX channel_by_workspace ON room (workspaceId, createdPosition)
          WHERE workspaceId IS NOT NULL AND kind <> 2;
        CREATE INDEX workspaceMember_by_join ON workspaceMember (workspaceId, joinedPosition);
        CREATE INDEX workspaceInvite_by_token ON workspaceInvite (tokenHash);
        CREATE INDEX workspaceInvite_by_code ON workspaceInvite (codeHash) WHERE codeHash IS NOT NULL;
        CREATE INDEX workspaceInvite_by_creation ON workspaceInvite (workspaceId, createdPosition);
        CREATE INDEX invitation_by_user ON invitation (userId, madePosition);
        CREATE INDEX invitation_by_workspace ON invitation (workspaceId, madePosition);
        """)
    try Changes.createIndex(database)
    try ThreadTables.createIndexes(database)
    try ScheduledRows.createIndexes(database)
    try ReportRows.createIndexes(database)
  }

  /// `room.tracked` has the IDs of the room's tracked members. In a tracked member's row, the last five columns are
  /// computed from the room and the member's marker; in other rows they are NULL. See `TrackedRoom`. The columns `changed`,
  /// `shown`, `largeSince`, `own` and `markerPosition` say where something last changed. See `RoomsBatch+Changes`.
  private static let rooms = """
    CREATE TABLE room (
      id BLOB PRIMARY KEY NOT NULL,
      kind INTEGER NOT NULL,
      lastOrdinal INTEGER NOT NULL,
      memberCount INTEGER NOT NULL,
      deletedCount INTEGER NOT NULL,
      activity INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      shown INTEGER NOT NULL,
      largeSince INTEGER,
      archivedPosition INTEGER,
      archivedTime INTEGER,
      creator BLOB,
      fingerprint BLOB,
      createdPosition INTEGER NOT NULL,
      createdTime INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      workspaceId BLOB,
      isPublic INTEGER NOT NULL,
      hasHadOwner INTEGER NOT NULL,
      tracked BLOB NOT NULL,
      picture BLOB,
      topic TEXT,
      name TEXT NOT NULL,
      lastMessageId BLOB,
      lastMessageSender BLOB,
      lastMessageSentAt INTEGER,
      lastMessagePosition INTEGER,
      lastMessageRevision INTEGER,
      lastMessageEditedAt INTEGER,
      lastMessageDeletedAt INTEGER,
      lastMessageDetails BLOB,
      lastMessageText TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE deletedRoom (
      id BLOB PRIMARY KEY NOT NULL,
      fingerprint BLOB,
      creator BLOB,
      position INTEGER NOT NULL,
      time INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE member (
      roomId BLOB NOT NULL,
      userId BLOB NOT NULL,
      role INTEGER NOT NULL,
      joinedPosition INTEGER NOT NULL,
      joinedTime INTEGER NOT NULL,
      joinedOrdinal INTEGER NOT NULL,
      marker INTEGER NOT NULL,
      mutedUntil INTEGER,
      notifications INTEGER,
      isHidden INTEGER NOT NULL,
      silencedUntil INTEGER,
      markerMessageId BLOB,
      markerTime INTEGER,
      unreadFrom INTEGER,
      unreadMessageId BLOB,
      own INTEGER NOT NULL,
      markerPosition INTEGER,
      list INTEGER,
      roomActivity INTEGER,
      changed INTEGER,
      unreadCount INTEGER,
      mentionCount INTEGER,
      PRIMARY KEY (roomId, userId)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE invite (
      roomId BLOB NOT NULL,
      id BLOB NOT NULL,
      tokenHash BLOB NOT NULL,
      codeHash BLOB,
      role INTEGER NOT NULL,
      expiresAt INTEGER,
      maximumUses INTEGER,
      uses INTEGER NOT NULL,
      createdPosition INTEGER NOT NULL,
      createdTime INTEGER NOT NULL,
      creator BLOB,
      revokedPosition INTEGER,
      revokedTime INTEGER,
      PRIMARY KEY (roomId, id)
    ) STRICT, WITHOUT ROWID;
    """

  /// `silencedAway` only has users who are not members.
  private static let moderation = """
    CREATE TABLE ban (
      roomId BLOB NOT NULL,
      userId BLOB NOT NULL,
      position INTEGER NOT NULL,
      time INTEGER NOT NULL,
      banner BLOB,
      PRIMARY KEY (roomId, userId)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE silencedAway (
      roomId BLOB NOT NULL,
      userId BLOB NOT NULL,
      until INTEGER NOT NULL,
      PRIMARY KEY (roomId, userId)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE joinHistory (
      roomId BLOB NOT NULL,
      position INTEGER NOT NULL,
      time INTEGER NOT NULL,
      userId BLOB NOT NULL,
      change INTEGER NOT NULL,
      role INTEGER,
      actor BLOB,
      PRIMARY KEY (roomId, position)
    ) STRICT, WITHOUT ROWID;
    """

  /// The row of a deleted workspace stays without its texts, so that its ID stays taken.
  private static let workspaces = """
    CREATE TABLE workspace (
      id BLOB PRIMARY KEY NOT NULL,
      version INTEGER NOT NULL,
      fingerprint BLOB,
      creator BLOB,
      createdPosition INTEGER NOT NULL,
      createdTime INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      deletedPosition INTEGER,
      deletedTime INTEGER,
      memberCount INTEGER NOT NULL,
      picture BLOB,
      topic TEXT,
      name TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE workspaceMember (
      workspaceId BLOB NOT NULL,
      userId BLOB NOT NULL,
      role INTEGER NOT NULL,
      joinedPosition INTEGER NOT NULL,
      joinedTime INTEGER NOT NULL,
      PRIMARY KEY (workspaceId, userId)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE workspaceInvite (
      workspaceId BLOB NOT NULL,
      id BLOB NOT NULL,
      tokenHash BLOB NOT NULL,
      codeHash BLOB,
      role INTEGER NOT NULL,
      expiresAt INTEGER,
      maximumUses INTEGER,
      uses INTEGER NOT NULL,
      createdPosition INTEGER NOT NULL,
      createdTime INTEGER NOT NULL,
      creator BLOB,
      revokedPosition INTEGER,
      revokedTime INTEGER,
      PRIMARY KEY (workspaceId, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE invitation (
      workspaceId BLOB NOT NULL,
      userId BLOB NOT NULL,
      role INTEGER NOT NULL,
      madePosition INTEGER NOT NULL,
      madeTime INTEGER NOT NULL,
      inviter BLOB,
      PRIMARY KEY (workspaceId, userId)
    ) STRICT, WITHOUT ROWID;
    """
}
