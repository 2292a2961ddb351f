package import ChatDomain
package import ChatPrimitives

extension RoomsQueries {
  static let reportColumns = """
    roomId, reportId, reporter, filedPosition, filedTime, revisedPosition, revisedTime, \(resolutionColumns),
    reportedUser, reason, messageId, sentAt, comment, details, text
    """

  private static let resolutionColumns = "isOpen, outcome, resolver, note"

  /// One report, without a check of rights; nil if the room has none with this ID. Also finds reports of deleted rooms.
  package func report(_ id: ReportID, of room: RoomID) throws -> ReportRow? {
    try CachedStatement(database, "SELECT \(Self.reportColumns) FROM report WHERE roomId = ? AND reportId = ?")
      .first(room, id, read: Self.readReport)
  }

  /// How many reports a page looks at, at most. Those about the viewer are left out.
  static let reportsLookedAt = 2_000

  /// A page can have fewer reports than the limit although there is a next page.
  /// - Parameters:
  ///   - viewer: reports about this user are left out; nil for a service.
  ///   - cursor: `next` of the page before; nil for the first.
  package func reports(
    in scope: ReportScope, isOpen: Bool, for viewer: UserID?, before cursor: LogPosition? = nil, limit: Int,
    lookingAt: Int = reportsLookedAt
  ) throws -> ReportPage {
    let end = cursor.map { Int64(clamping: $0.value) } ?? Int64.max
    // The position of the last report that the page looks at; nil if fewer are left.
    let last = try CachedStatement(
      database,
      """
      SELECT filedPosition FROM report WHERE \(scope.condition) isOpen = ?2 AND filedPosition < ?3
      ORDER BY filedPosition DESC LIMIT 1 OFFSET ?4
      """
    ).first(scope.owner, isOpen, end, lookingAt - 1) { try $0.position() }
    // The rows of a deleted room lose their workspace little by little.
    let exists =
      switch scope {
      case .room, .server: ""
      case .workspace: "EXISTS (SELECT 1 FROM room WHERE room.id = report.roomId) AND"
      }
    // Reads the index only, so that leaving out a report does not read its row.
    let keys = try CachedStatement(
      database,
      """
      SELECT roomId, reportId FROM report
      WHERE \(scope.condition) \(exists) isOpen = ?2 AND filedPosition < ?3 AND filedPosition >= ?4
        AND (?5 IS NULL OR CASE WHEN reportedUser IS NULL THEN reporter = ?5 ELSE reportedUser <> ?5 END)
      ORDER BY filedPosition DESC LIMIT ?6
      """
    ).all(scope.owner, isOpen, end, last ?? .origin, viewer, limit + 1) { row in
      try (row.id(RoomID.self), row.id(ReportID.self))
    }
    var (rows, budget): ([ReportRow], PageBudget) = ([], PageBudget())
    for (room, id) in keys.prefix(limit) {
      guard let row = try report(id, of: room), budget.take(row.contentBytes) else { break }
      rows.append(row)
    }
    let next = rows.count < keys.count ? rows.last?.filed.position : last
    return ReportPage(reports: rows, profiles: try profiles(of: rows.flatMap(\.users)), next: next)
  }

  /// The user's role for the reports of a room.
  package func moderationRole(of user: UserID, in id: RoomID) throws -> ModerationRole {
    guard let room = try room(id) else { return .outsider }
    if let workspace = room.workspace, let member = try member(user, of: workspace), member.role >= .administrator {
      return .moderator
    }
    guard let member = try member(user, of: id) else { return .outsider }
    return member.role >= .administrator ? .moderator : .member
  }

  /// Whether the room exists or was deleted.
  package func hasExisted(_ room: RoomID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM room WHERE id = ?").exists(room) || isDeleted(room)
  }

  /// What decisions need to know about these reports.
  func knownReports(_ keys: some Sequence<ReportKey>) throws -> [ReportKey: KnownReport] {
    var known: [ReportKey: KnownReport] = [:]
    for key in keys where known[key] == nil {
      known[key] = try CachedStatement(
        database,
        """
        SELECT reporter, reportedUser, filedPosition, filedTime, fingerprint, revisedPosition, revisedTime,
          \(Self.resolutionColumns)
        FROM report WHERE roomId = ? AND reportId = ?
        """
      ).first(key.room, key.report) { try Self.readKnownReport(key.report, &$0) }
    }
    return known
  }

  private static func readKnownReport(_ id: ReportID, _ row: inout RowReader) throws -> KnownReport {
    let (reporter, reportedUser) = try (row.id(UserID.self), row.optional { try $0.id(UserID.self) })
    let (filed, fingerprint, revised) = try (row.stamp(), row.optional { try $0.fingerprint() }, row.stamp())
    let resolution = try readResolution(&row)
    var known = KnownReport(
      reporter: reporter, reportedUser: reportedUser, filed: filed, fingerprint: fingerprint,
      isOpen: resolution == nil, revised: revised)
    if case .resolved(let resolution)? = resolution?.end { known.resolution = .reportResolution(id, resolution) }
    return known
  }

  static func readReport(_ row: inout RowReader) throws -> ReportRow {
    let (room, id, reporter) = try (row.id(RoomID.self), row.id(ReportID.self), row.id(UserID.self))
    let (filed, revised) = try (row.stamp(), row.stamp())
    let resolution = try readResolution(&row)
    return ReportRow(
      room: room, id: id, reporter: reporter, report: try readContent(&row), filed: filed, revised: revised,
      resolution: resolution)
  }

  /// Reads `resolutionColumns`.
  private static func readResolution(_ row: inout RowReader) throws -> ReportRow.Resolution? {
    let isOpen = try row.number() == 1
    let outcome = try row.optional { try $0.narrow(UInt8.self) }
    let resolver = try row.optional { try $0.id(UserID.self) }
    let note = try row.optional { try $0.text() }
    if isOpen { return nil }
    let end: ReportRow.End =
      switch outcome {
      case nil: .erased
      case UInt8(ReportRows.roomDeletedOutcome)?: .roomDeleted
      case let raw?:
        if let outcome = ReportOutcome(rawValue: raw) {
          .resolved(ReportResolution(outcome: outcome, note: note ?? ""))
        } else {
          throw ProjectionError(.damagedRow, "column outcome: unknown value \(raw); rebuild this projection")
        }
      }
    return ReportRow.Resolution(end: end, resolver: resolver)
  }

  private static func readContent(_ row: inout RowReader) throws -> Report? {
    guard let user = try row.optional({ try $0.id(UserID.self) }) else { return nil }
    let reason = try row.choice(ReportReason.self)
    let messageID = try row.optional { try $0.id(MessageID.self) }
    let sentAt = try row.optional { try $0.time() }
    let comment = try row.text()
    guard let messageID, let sentAt else { return Report(subject: .user(user), reason: reason, comment: comment) }
    let details = try row.optionalDetails()
    let content = try row.optional { try $0.text() }.map { MessageContent(text: $0, details: details) }
    let message = ReportedMessage(id: messageID, author: user, sentAt: sentAt, content: content)
    return Report(subject: .message(message), reason: reason, comment: comment)
  }
}

/// Who a user is to the reports of a room.
package enum ModerationRole: Sendable {
  /// An owner or administrator of the room or of its workspace, who sees the reports.
  case moderator
  /// Another member of the room.
  case member
  /// A user who is neither in the room nor an administrator of its workspace. Every user, if the room does not exist.
  case outsider
}

extension ReportScope {
  /// Of a row in `report`, with `owner` as the first parameter.
  fileprivate var condition: String {
    switch self {
    case .room: "roomId = ?1 AND"
    case .workspace: "workspaceId = ?1 AND"
    case .server: "?1 IS NULL AND"
    }
  }

  fileprivate var owner: UUIDBytes? {
    switch self {
    case .room(let room): room.uuid
    case .workspace(let workspace): workspace.uuid
    case .server: nil
    }
  }
}

extension ReportRow {
  package func isHidden(from user: UserID) -> Bool {
    KnownReport.isHidden(from: user, reporter: reporter, reportedUser: report?.subject.user)
  }

  /// The users whose names are in a response.
  package var users: [UserID] { [reporter, report?.subject.user, resolution?.resolver].compactMap { $0 } }

  /// Roughly the number of bytes that it adds to a response.
  var contentBytes: Int {
    let content = report?.subject.message?.content
    var bytes =
      (report?.comment.jsonBytes ?? 0) + (content?.text.jsonBytes ?? 0) + (content?.details?.contentBytes ?? 0)
    if case .resolved(let resolution)? = resolution?.end { bytes += resolution.note.jsonBytes }
    return bytes
  }
}
