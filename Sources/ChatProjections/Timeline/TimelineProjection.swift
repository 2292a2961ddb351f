package import ChatDomain
import ChatPrimitives
package import GRDB

/// All messages in the order of their room or thread, with the memberships that authorise a read in the same snapshot.
package struct TimelineProjection: Projection {
  package typealias Queries = TimelineQueries

  package static let name = "timeline"
  package static let schemaVersion = 7

  package static let needsUpkeep = true
  /// Each active room changes about as many pages in one transaction for its events as in one for each.
  package static let longestGatheringMilliseconds = 250

  private var log = WALTruncation()

  package init() {}

  package static func createTables(_ database: Database) throws {
    try Profiles.createTable(database)
    try Blocks.createTable(database)
    try TimelineTables.create(database)
  }

  package static func createIndexes(_ database: Database) throws {
    try TimelineTables.createIndexes(database)
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    var batch = try TimelineBatch(database)
    for recorded in events {
      switch recorded.event {
      case .user(let user, let event): try batch.apply(event, of: user, at: recorded.position)
      case .room(let room, let event):
        try batch.apply(event, in: room, recorded)
        log.note(event)
      case .workspace, .server: break
      }
    }
    try batch.flush()
  }

  package mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome {
    try log.step(database)
  }

  package static let bulkDeletedRows = [
    BulkDeletion.RowSet(scope: .room, table: "member", owner: "roomId", key: "userId"),
    BulkDeletion.RowSet(scope: .room, table: "message", owner: "roomId", key: "thread, ordinal"),
    BulkDeletion.RowSet(scope: .room, table: "thread", owner: "roomId", key: "root"),
    BulkDeletion.RowSet(scope: .room, table: "threadParticipant", owner: "roomId", key: "root, userId"),
    BulkDeletion.RowSet(scope: .room, table: "typedMessage", owner: "roomId", key: "thread, type, ordinal"),
    BulkDeletion.RowSet(scope: .room, table: "revision", owner: "roomId", key: "thread, ordinal, position"),
    BulkDeletion.RowSet(scope: .room, table: "reaction", owner: "roomId", key: "thread, ordinal, emoji, userId"),
    BulkDeletion.RowSet(scope: .room, table: "reactionCount", owner: "roomId", key: "thread, ordinal, emoji"),
    BulkDeletion.RowSet(scope: .room, table: "pin", owner: "roomId", key: "thread, ordinal"),
    BulkDeletion.RowSet(scope: .room, table: "messageChange", owner: "roomId", key: "thread, ordinal"),
  ]
}

extension ReadModels {
  package var timeline: ProjectionRunner<TimelineProjection> { self[TimelineProjection.self] }
}
