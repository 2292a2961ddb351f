package import ChatDomain
import ChatPrimitives
package import GRDB

/// Uploaded files, what refers to them, and the memberships that decide who may see them. So a read is authorised by
/// the same snapshot.
///
/// An upload whose payload was erased has no row, even if something refers to it.
package struct MediaProjection: Projection {
  package typealias Queries = MediaQueries

  package static let name = "media"
  package static let schemaVersion = 4
  /// Most events are messages, which only move the checkpoint here.
  package static let gatheringMilliseconds = 250

  package static let bulkDeletedRows = [
    BulkDeletion.RowSet(scope: .room, table: "attachment", owner: "roomId", key: "messageId, mediaId"),
    BulkDeletion.RowSet(scope: .room, table: "scheduled", owner: "roomId", key: "messageId, mediaId"),
    BulkDeletion.RowSet(scope: .room, table: "member", owner: "roomId", key: "userId"),
    BulkDeletion.RowSet(scope: .workspace, table: "workspaceMember", owner: "workspaceId", key: "userId"),
  ]

  package init() {}

  package static func createTables(_ database: Database) throws {
    try BulkDeletion.createTable(database)
    try database.execute(
      sql: """
        CREATE TABLE media (
          id BLOB PRIMARY KEY NOT NULL,
          uploader BLOB NOT NULL,
          hash BLOB NOT NULL,
          contentType TEXT NOT NULL,
          size INTEGER NOT NULL,
          width INTEGER,
          height INTEGER,
          name TEXT,
          uploadedPosition INTEGER NOT NULL,
          uploadedTime INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE attachment (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          mediaId BLOB NOT NULL,
          PRIMARY KEY (roomId, messageId, mediaId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE scheduled (
          roomId BLOB NOT NULL,
          messageId BLOB NOT NULL,
          mediaId BLOB NOT NULL,
          author BLOB NOT NULL,
          failedPosition INTEGER,
          PRIMARY KEY (roomId, messageId, mediaId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE reported (
          roomId BLOB NOT NULL,
          reportId BLOB NOT NULL,
          mediaId BLOB NOT NULL,
          PRIMARY KEY (roomId, reportId, mediaId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE picture (
          owner INTEGER NOT NULL,
          ownerId BLOB NOT NULL,
          mediaId BLOB NOT NULL,
          PRIMARY KEY (owner, ownerId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE member (
          userId BLOB NOT NULL,
          roomId BLOB NOT NULL,
          PRIMARY KEY (userId, roomId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE workspaceMember (
          userId BLOB NOT NULL,
          workspaceId BLOB NOT NULL,
          role INTEGER NOT NULL,
          PRIMARY KEY (userId, workspaceId)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE publicChannel (
          roomId BLOB PRIMARY KEY NOT NULL,
          workspaceId BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """)
  }

  package static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX media_by_hash ON media (hash);
        CREATE INDEX media_by_uploader ON media (uploader, size);
        CREATE INDEX attachment_by_media ON attachment (mediaId, roomId);
        CREATE INDEX scheduled_by_media ON scheduled (mediaId);
        CREATE INDEX scheduled_by_failure ON scheduled (author, roomId, failedPosition) WHERE failedPosition IS NOT NULL;
        CREATE INDEX reported_by_media ON reported (mediaId);
        CREATE INDEX picture_by_media ON picture (mediaId);
        CREATE INDEX member_by_room ON member (roomId);
        CREATE INDEX workspaceMember_by_workspace ON workspaceMember (workspaceId);
        """)
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var writer = try MediaWriter(database)
    for recorded in events {
      switch recorded.event {
      case .user(let user, let event): try writer.apply(event, of: user, recorded.stamp)
      case .room(let room, let event): try writer.apply(event, in: room, at: recorded.position)
      case .workspace(let workspace, let event): try writer.apply(event, in: workspace)
      case .server: break
      }
    }
  }
}

extension ReadModels {
  package var media: ProjectionRunner<MediaProjection> { self[MediaProjection.self] }
}

/// The kind of owner of a picture. The raw values are stored in the table.
enum PictureOwner: Int64, Sendable {
  case user = 1
  case room = 2
  case workspace = 3
}
