package import ChatDomain
package import ChatPrimitives
import EventStore
import GRDB

/// A report with its status.
package struct ReportRow: Sendable, Hashable {
  package var room: RoomID
  package var id: ReportID
  package var reporter: UserID
  /// Nil if the report was erased.
  package var report: Report?
  package var filed: Stamp
  /// Where and when the report was last filed, resolved or reopened, or ended with its room.
  package var revised: Stamp
  /// Nil if it is open.
  package var resolution: Resolution?

  package struct Resolution: Sendable, Hashable {
    package var end: End
    /// Nil if a service acted as itself.
    package var resolver: UserID?
  }

  /// How a report was ended.
  package enum End: Sendable, Hashable {
    case resolved(ReportResolution)
    /// The resolution was erased.
    case erased
    /// Its room was deleted while it was open.
    case roomDeleted
  }
}

/// Reports, the newest first.
package struct ReportPage: Sendable, Hashable {
  package var reports: [ReportRow]
  package var profiles: [UserID: Profile]
  /// Where the next page continues; nil if there is none.
  package var next: LogPosition?
}

/// Whose reports are listed.
package enum ReportScope: Sendable, Hashable {
  case room(RoomID)
  /// The channels of a workspace that are not deleted.
  case workspace(WorkspaceID)
  case server
}

/// Applies events to the rows of reports. When a room is deleted, its reports stay and services can still see them, so
/// that nobody can destroy evidence by deleting the room.
struct ReportRows {
  /// The stored outcome of a report whose room was deleted. No `ReportOutcome` has this raw value.
  static let roomDeletedOutcome: Int64 = 0

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// Long texts are in the last columns. `workspaceId` becomes NULL after the room is deleted. The index is created here,
  /// unlike other indexes, because `BulkDeletion` needs it during a rebuild too.
  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE report (
          roomId BLOB NOT NULL,
          reportId BLOB NOT NULL,
          workspaceId BLOB,
          isOpen INTEGER NOT NULL,
          reporter BLOB NOT NULL,
          reportedUser BLOB,
          filedPosition INTEGER NOT NULL,
          filedTime INTEGER NOT NULL,
          revisedPosition INTEGER NOT NULL,
          revisedTime INTEGER NOT NULL,
          fingerprint BLOB,
          reason INTEGER,
          outcome INTEGER,
          resolver BLOB,
          messageId BLOB,
          sentAt INTEGER,
          note TEXT,
          comment TEXT,
          details BLOB,
          text TEXT,
          PRIMARY KEY (roomId, reportId)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX report_with_workspace ON report (roomId, reportId, workspaceId) WHERE workspaceId IS NOT NULL;
        """)
  }

  /// Pages of reports read only an index for those about the viewer.
  static func createIndexes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE INDEX report_by_room ON report (roomId, isOpen, filedPosition, reportedUser, reporter);
        CREATE INDEX report_by_workspace ON report (workspaceId, isOpen, filedPosition, reportedUser, reporter)
          WHERE workspaceId IS NOT NULL;
        CREATE INDEX report_by_status ON report (isOpen, filedPosition, reportedUser, reporter);
        """)
  }

  func apply(
    _ event: RoomEvent.Reports, in room: RoomID, of workspace: WorkspaceID?, _ recorded: RecordedEvent
  ) throws {
    switch event {
    case .filed(let id, let reporter, let report):
      try insert(id, report, by: reporter, in: room, of: workspace, recorded.stamp)
    case .resolved(let id, let resolution):
      try CachedStatement(
        database,
        """
        UPDATE report SET isOpen = 0, outcome = ?, resolver = ?, note = ?, revisedPosition = ?, revisedTime = ?
        WHERE roomId = ? AND reportId = ?
        """
      ).run(
        resolution.map { Int64($0.outcome.rawValue) }, recorded.actor, resolution?.note, recorded.stamp, room, id)
    case .reopened(let id, _):
      try CachedStatement(
        database,
        """
        UPDATE report SET isOpen = 1, outcome = NULL, resolver = NULL, note = NULL, revisedPosition = ?, revisedTime = ?
        WHERE roomId = ? AND reportId = ?
        """
      ).run(recorded.stamp, room, id)
    }
  }

  /// Removes what a deleted user wrote, as if the user's events had been erased. Reports about the user stay.
  func forget(_ user: UserID) throws {
    try CachedStatement(
      database,
      """
      UPDATE report SET reportedUser = NULL, fingerprint = NULL, reason = NULL, messageId = NULL, sentAt = NULL,
        comment = NULL, details = NULL, text = NULL
      WHERE reporter = ?
      """
    ).run(user)
    try CachedStatement(
      database, "UPDATE report SET outcome = NULL, note = NULL WHERE resolver = ? AND isOpen = 0 AND outcome <> ?"
    ).run(user, Self.roomDeletedOutcome)
  }

  /// Ends the open reports of a deleted room. There are at most `Limits.openReportsPerRoom`.
  func close(_ room: RoomID, _ recorded: RecordedEvent) throws {
    try CachedStatement(
      database,
      """
      UPDATE report SET isOpen = 0, outcome = ?, resolver = ?, revisedPosition = ?, revisedTime = ?
      WHERE roomId = ? AND isOpen = 1
      """
    ).run(Self.roomDeletedOutcome, recorded.actor, recorded.stamp, room)
  }

  private func insert(
    _ id: ReportID, _ report: Report?, by reporter: UserID, in room: RoomID, of workspace: WorkspaceID?, _ stamp: Stamp
  ) throws {
    let message = report?.subject.message
    let details: [UInt8]? = try message?.content?.details.map(DetailsCodec.encode)
    try CachedStatement(
      database,
      """
      INSERT INTO report (
        roomId, reportId, workspaceId, isOpen, reporter, reportedUser, filedPosition, filedTime, revisedPosition,
        revisedTime, fingerprint, reason, messageId, sentAt, comment, details, text
      ) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (roomId, reportId) DO NOTHING
      """
    ).run(
      room, id, workspace, reporter, report?.subject.user, stamp, stamp,
      report.map { Fingerprint.report($0, by: reporter) }, report.map { Int64($0.reason.rawValue) }, message?.id,
      message?.sentAt, report?.comment, details, message?.content?.text)
  }
}
