package import ChatDomain
import ChatPrimitives
package import GRDB

/// Rooms with their members, invites, markers and last messages, and what unread counts are made of.
///
/// An erased first fact makes a room without a name, as the deciders see it; any other erased fact leaves no trace. A
/// message whose text was erased still takes its ordinal.
package struct RoomsProjection: Projection {
  package typealias Queries = RoomsQueries

  package static let name = "rooms"
  package static let schemaVersion = 1
  package static let secretColumns: Set<String> = ["invite.tokenHash", "room.fingerprint"]

  package init() {}

  /// In `room` the text stands last, so that counting reads no overflow page of a long one.
  package static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE room (
          id BLOB PRIMARY KEY NOT NULL,
          kind INTEGER NOT NULL,
          lastOrdinal INTEGER NOT NULL,
          memberCount INTEGER NOT NULL,
          deletedCount INTEGER NOT NULL,
          activity INTEGER NOT NULL,
          archivedPosition INTEGER,
          archivedTime INTEGER,
          creator BLOB,
          fingerprint BLOB,
          createdPosition INTEGER NOT NULL,
          createdTime INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          name TEXT NOT NULL,
          lastMessageId BLOB,
          lastMessageSender BLOB,
          lastMessageSentAt INTEGER,
          lastMessagePosition INTEGER,
          lastMessageRevision INTEGER,
          lastMessageEditedAt INTEGER,
          lastMessageDeletedAt INTEGER,
          lastMessageText TEXT
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
          PRIMARY KEY (roomId, userId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE invite (
          roomId BLOB NOT NULL,
          id BLOB NOT NULL,
          tokenHash BLOB NOT NULL,
          role INTEGER NOT NULL,
          expiresAt INTEGER NOT NULL,
          maximumUses INTEGER,
          uses INTEGER NOT NULL,
          createdPosition INTEGER NOT NULL,
          createdTime INTEGER NOT NULL,
          creator BLOB,
          revokedPosition INTEGER,
          revokedTime INTEGER,
          PRIMARY KEY (roomId, id)
        ) STRICT, WITHOUT ROWID;
        """)
    try Profiles.createTable(database)
    try DeletionTree.createTable(database)
    try StreamVersions.createTable(database)
  }

  package static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX member_by_user ON member (userId, roomId);
        CREATE INDEX member_by_join ON member (roomId, joinedPosition);
        CREATE INDEX invite_by_token ON invite (tokenHash);
        """)
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var batch = RoomsBatch(database)
    var versions = StreamVersions()
    for recorded in events {
      switch recorded.event {
      case .user(let user, let event): try batch.apply(event, of: user)
      case .room(let room, let event):
        try batch.apply(event, in: room, recorded)
        versions.note(room.uuid, recorded.version)
      case .workspace, .server: break
      }
    }
    try batch.flush()
    try versions.flush(database)
  }
}
