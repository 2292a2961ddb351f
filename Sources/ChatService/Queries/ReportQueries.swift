package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// Reports, with the checks of who may see them. The reported user gets `reportNotFound`. An erased report does not say who
/// was reported, so it exists only for services and its reporter.
extension ChatService {
  /// A report with the nicknames of its users.
  package struct ViewedReport: Sendable {
    package let row: ReportRow
    package let nicknames: [UserID: String]
    /// Whether the viewer filed it and does not moderate the room.
    package let isForReporter: Bool
  }

  /// - Parameter user: a moderator of the room or the reporter; nil for a service, which sees reports of deleted rooms
  ///   too.
  package func report(
    _ id: ReportID, of room: RoomID, for user: UserID?
  ) async throws(ServiceError) -> ViewedReport {
    let found: Result<ViewedReport, Rejection> = try await rooms { rooms in
      let row = try rooms.report(id, of: room)
      var isForReporter = false
      if let user {
        guard try rooms.room(room) != nil else { return .failure(.roomNotFound) }
        let moderates = try rooms.moderates(room, user)
        isForReporter = moderates != true
        // A reporter who has left the room can still see how the report was resolved.
        if isForReporter, row?.reporter != user {
          return .failure(moderates == nil ? .roomNotFound : .reportNotFound)
        }
      } else if try !rooms.hasExisted(room) {
        return .failure(.roomNotFound)
      }
      guard let row, user.map({ !row.isHidden(from: $0) }) ?? true else { return .failure(.reportNotFound) }
      let nicknames = try rooms.nicknames(of: row.users)
      return .success(ViewedReport(row: row, nicknames: nicknames, isForReporter: isForReporter))
    }
    return try Self.settled(found)
  }

  /// A report that the caller has just filed or changed. Rights are not checked again.
  /// - Parameter users: other users whose nicknames are needed.
  package func recordedReport(
    _ id: ReportID, of room: RoomID, naming users: [UserID] = []
  ) async throws(ServiceError) -> (row: ReportRow, nicknames: [UserID: String]) {
    let found: (ReportRow, [UserID: String])? = try await rooms { rooms in
      guard let row = try rooms.report(id, of: room) else { return nil }
      return (row, try rooms.nicknames(of: row.users + users))
    }
    guard let found else { throw .rejected(.reportNotFound) }
    return found
  }

  /// The reports of a room.
  /// - Parameter user: nil for a service, which also sees the reports of a deleted room.
  package func reports(
    of room: RoomID, for user: UserID?, isOpen: Bool, before cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ReportPage {
    let found: Result<ReportPage, Rejection> = try await rooms { rooms in
      if let user {
        switch try rooms.moderates(room, user) {
        case nil: return .failure(.roomNotFound)
        case false?: return .failure(.forbidden)
        case true?: break
        }
      } else if try !rooms.hasExisted(room) {
        return .failure(.roomNotFound)
      }
      return .success(try rooms.reports(in: .room(room), isOpen: isOpen, for: user, before: cursor, limit: limit))
    }
    return try Self.settled(found)
  }

  /// The reports of all channels of a workspace.
  /// - Parameter user: nil for a service.
  package func reports(
    of workspace: WorkspaceID, for user: UserID?, isOpen: Bool, before cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ReportPage {
    let page: @Sendable (RoomsQueries) throws -> ReportPage = { rooms in
      try rooms.reports(in: .workspace(workspace), isOpen: isOpen, for: user, before: cursor, limit: limit)
    }
    if let user { return try await administering(workspace, user, page) }
    let found: ReportPage? = try await rooms { try $0.workspace(workspace) == nil ? nil : page($0) }
    guard let found else { throw .rejected(.workspaceNotFound) }
    return found
  }

  /// The reports of all rooms, for services.
  package func reports(
    isOpen: Bool, before cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ReportPage {
    try await rooms { try $0.reports(in: .server, isOpen: isOpen, for: nil, before: cursor, limit: limit) }
  }
}
