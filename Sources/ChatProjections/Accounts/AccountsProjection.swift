package import ChatDomain
import ChatPrimitives
package import GRDB

/// Users with their credentials, external logins, sessions and devices; deleted accounts and their erasure; legal holds;
/// and the history of the keys that sign access tokens.
///
/// A registration whose payload was erased leaves a user without a name, which is also how the deciders treat it. Any
/// other erased event has no effect.
package struct AccountsProjection: Projection {
  package typealias Queries = AccountsQueries

  package static let name = "accounts"
  package static let schemaVersion = 10
  /// Most events are messages, which only move the checkpoint here.
  package static let gatheringMilliseconds = 250
  package static let secretColumns: Set<String> = [
    "user.email", "user.emailCompared", "user.credentialHash", "user.fingerprint", "identity.subject",
    "device.apnsToken", "device.fcmToken", "device.webPushToken",
  ]

  package init() {}

  package static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE user (
          id BLOB PRIMARY KEY NOT NULL,
          nickname TEXT NOT NULL,
          nicknameCompared TEXT NOT NULL,
          picture BLOB,
          email TEXT,
          emailCompared TEXT,
          externalId TEXT,
          credentialVersion INTEGER,
          credentialHash BLOB,
          credentialLogRounds INTEGER,
          credentialBlockSize INTEGER,
          credentialParallelism INTEGER,
          credentialPosition INTEGER,
          credentialTime INTEGER,
          disabledPosition INTEGER,
          disabledTime INTEGER,
          deletedPosition INTEGER,
          deletedTime INTEGER,
          sharesReadMarkers INTEGER NOT NULL,
          acceptsDirectMessages INTEGER NOT NULL,
          sharesPresence INTEGER NOT NULL,
          notifications INTEGER NOT NULL,
          mutedKinds INTEGER NOT NULL,
          quietFrom INTEGER,
          quietTo INTEGER,
          quietTimeZone TEXT,
          showsPreviews INTEGER NOT NULL,
          directRooms INTEGER NOT NULL,
          groupAdditions INTEGER NOT NULL,
          fingerprint BLOB,
          registeredPosition INTEGER NOT NULL,
          registeredTime INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          custom TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE identity (
          issuer TEXT NOT NULL,
          subject TEXT NOT NULL,
          userId BLOB NOT NULL,
          linkedPosition INTEGER NOT NULL,
          linkedTime INTEGER NOT NULL,
          PRIMARY KEY (issuer, subject)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE signingKey (
          generation INTEGER PRIMARY KEY NOT NULL,
          position INTEGER NOT NULL,
          time INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """)
    try Erasures.createTable(database)
    try LegalHoldRows.createTable(database)
    try createSessionTables(database)
    try BlockedUsers.createTable(database)
    try Changes.createTable(database)
    try StreamVersions.createTable(database)
  }

  private static func createSessionTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE session (
          userId BLOB NOT NULL,
          id BLOB NOT NULL,
          deviceId BLOB,
          generation INTEGER NOT NULL,
          startedPosition INTEGER NOT NULL,
          startedTime INTEGER NOT NULL,
          pairPosition INTEGER NOT NULL,
          pairTime INTEGER NOT NULL,
          newestTokenTime INTEGER NOT NULL,
          endedReason INTEGER,
          endedPosition INTEGER,
          endedTime INTEGER,
          PRIMARY KEY (userId, id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE device (
          userId BLOB NOT NULL,
          id BLOB NOT NULL,
          name TEXT,
          type TEXT,
          osVersion TEXT,
          apnsToken TEXT,
          fcmToken TEXT,
          webPushToken TEXT,
          notifications INTEGER NOT NULL,
          apnsEnvironment INTEGER,
          language TEXT,
          roomChanges INTEGER NOT NULL,
          registeredPosition INTEGER NOT NULL,
          registeredTime INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          updatedTime INTEGER NOT NULL,
          PRIMARY KEY (userId, id)
        ) STRICT, WITHOUT ROWID;
        """)
  }

  package static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX user_by_email ON user (emailCompared) WHERE emailCompared IS NOT NULL;
        CREATE UNIQUE INDEX user_by_external_id ON user (externalId) WHERE externalId IS NOT NULL;
        CREATE INDEX user_by_nickname ON user (nicknameCompared, id)
          WHERE disabledPosition IS NULL AND deletedPosition IS NULL;
        CREATE INDEX identity_by_user ON identity (userId);
        CREATE INDEX session_by_device ON session (userId, deviceId) WHERE deviceId IS NOT NULL;
        CREATE INDEX session_open ON session (userId) WHERE endedReason IS NULL;
        CREATE INDEX session_by_last_token ON session (max(endedTime, newestTokenTime)) WHERE endedTime IS NOT NULL;
        """)
    try Erasures.createIndexes(database)
    try Changes.createIndex(database)
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    let writer = AccountsWriter(database)
    var versions = StreamVersions()
    for recorded in events {
      switch recorded.event {
      case .user(let user, let event):
        try writer.apply(event, of: user, recorded.stamp, under: recorded.command)
        try writer.noteChanges(event, of: user, at: recorded.position, under: recorded.command)
        versions.note(user.uuid, recorded.version)
      case .server(let event):
        try writer.apply(event, recorded.stamp)
        versions.note(.zero, recorded.version)
      case .room, .workspace: break
      }
    }
    try versions.flush(database)
  }
}

extension ReadModels {
  package var accounts: ProjectionRunner<AccountsProjection> { self[AccountsProjection.self] }
}
