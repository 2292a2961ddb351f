package import ChatDomain
import ChatPrimitives
package import GRDB

/// Workspaces; rooms with their members, invites, bans, markers and last messages; and the sets from which unread
/// counts are computed.
///
/// An erased first event makes a room without a name, which is also how the deciders treat it. Any other erased event
/// has no effect. A message whose text was erased still takes its ordinal.
package struct RoomsProjection: Projection {
  package typealias Queries = RoomsQueries

  package static let name = "rooms"
  package static let schemaVersion = 10
  package static let secretColumns: Set<String> = [
    "invite.tokenHash", "invite.codeHash", "room.fingerprint", "deletedRoom.fingerprint", "workspaceInvite.tokenHash",
    "workspaceInvite.codeHash", "workspace.fingerprint", "report.fingerprint",
  ]

  package static let needsUpkeep = true
  /// Each active room changes about as many pages in one transaction for its events as in one for each.
  package static let longestGatheringMilliseconds = 250
  /// A batch reads and writes each member's row once, and most rooms have several messages in about 65,000 events.
  package static let joinedBatches = 8

  private var log = WALTruncation()
  private let contents: Contents

  /// What the tables contain.
  package enum Contents: Sendable {
    case everything
    /// What badges are computed from, for the push outbox: no reports, and not where something last changed.
    case counts
  }

  package init() { self.init(.everything) }

  package init(_ contents: Contents) { self.contents = contents }

  package static func createTables(_ database: Database) throws { try RoomsTables.create(database) }

  package static func createIndexes(_ database: Database) throws { try RoomsTables.createIndexes(database) }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var batch = RoomsBatch(database, contents)
    let workspaces = WorkspaceWriter(database, contents)
    var versions = StreamVersions()
    for recorded in events {
      switch recorded.event {
      case .user(let user, let event): try batch.apply(event, of: user, at: recorded.position)
      case .room(let room, let event):
        try batch.apply(event, in: room, recorded)
        versions.note(room.uuid, recorded.version)
        log.note(event)
      case .workspace(let workspace, let event): try workspaces.apply(event, in: workspace, recorded)
      case .server: break
      }
    }
    try batch.flush()
    try versions.flush(database)
  }

  package mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome {
    try log.step(database)
  }

  private static let roomDeletion = "(SELECT position FROM deletedRoom WHERE id = roomId)"
  private static let workspaceDeletion = "(SELECT deletedPosition FROM workspace WHERE id = workspaceId)"

  package static let bulkDeletedRows = [
    BulkDeletion.RowSet(
      scope: .room, table: "member", owner: "roomId", key: "userId",
      tombstone: BulkDeletion.Tombstone(type: .room, user: "userId", entity: "roomId", position: roomDeletion)),
    BulkDeletion.RowSet(scope: .room, table: "invite", owner: "roomId", key: "id"),
    BulkDeletion.RowSet(scope: .room, table: "ban", owner: "roomId", key: "userId"),
    BulkDeletion.RowSet(scope: .room, table: "silencedAway", owner: "roomId", key: "userId"),
    BulkDeletion.RowSet(scope: .room, table: "joinHistory", owner: "roomId", key: "position"),
    BulkDeletion.RowSet(scope: .room, table: "ordinalSet", owner: "owner", isPrefix: true, key: "owner, level, bucket"),
    BulkDeletion.RowSet(scope: .room, table: "thread", owner: "roomId", key: "root"),
    BulkDeletion.RowSet(scope: .room, table: "threadFollower", owner: "roomId", key: "root, userId"),
    BulkDeletion.RowSet(
      scope: .room, table: "scheduled", owner: "roomId", key: "messageId",
      tombstone: BulkDeletion.Tombstone(
        type: .scheduledMessage, user: "author", entity: "CAST(roomId || messageId AS BLOB)", position: roomDeletion)),
    BulkDeletion.RowSet(
      scope: .room, table: "report", owner: "roomId", key: "reportId",
      nulledColumn: BulkDeletion.NulledColumn(name: "workspaceId", index: "report_with_workspace")),
    BulkDeletion.RowSet(scope: .room, table: "mention", owner: "roomId", key: "thread, ordinal, userId"),
    BulkDeletion.RowSet(scope: .room, table: "leftOut", owner: "roomId", key: "thread, ordinal, scope"),
    BulkDeletion.RowSet(
      scope: .room, table: "change", owner: "scope", letter: ChangeScope.roomLetter, key: "type, entity"),
    BulkDeletion.RowSet(
      scope: .workspace, table: "workspaceMember", owner: "workspaceId", key: "userId",
      tombstone: BulkDeletion.Tombstone(
        type: .workspace, user: "userId", entity: "workspaceId", position: workspaceDeletion)),
    BulkDeletion.RowSet(scope: .workspace, table: "workspaceInvite", owner: "workspaceId", key: "id"),
    BulkDeletion.RowSet(
      scope: .workspace, table: "invitation", owner: "workspaceId", key: "userId",
      tombstone: BulkDeletion.Tombstone(
        type: .invitation, user: "userId", entity: "workspaceId", position: workspaceDeletion)),
    BulkDeletion.RowSet(
      scope: .workspace, table: "change", owner: "scope", letter: ChangeScope.workspaceLetter, key: "type, entity"),
  ]
}

extension RoomsProjection {
  /// See `ThreadTables`.
  package static func comparison(of table: String) -> TableComparison {
    let comparison = BulkDeletion.comparison(of: table, bulkDeletedRows)
    guard table == "threadFollower", case .exceptCleared(let owners, also: nil) = comparison else { return comparison }
    let ofErased = """
      EXISTS (
        SELECT 1 FROM thread
        WHERE thread.roomId = threadFollower.roomId AND thread.root = threadFollower.root AND hasErasedReplies)
      """
    return .exceptCleared(owners, also: ofErased)
  }
}

extension ReadModels {
  package var rooms: ProjectionRunner<RoomsProjection> { self[RoomsProjection.self] }
}
