package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// Who views a report.
package enum ReportViewer: Sendable {
  /// A moderator of the room, or a service.
  case moderator
  /// The user who filed the report. Does not see the moderator's note, or who resolved it.
  case reporter
}

/// Reports, with the checks of who may see them. The reported user gets `reportNotFound`. An erased report does not say who
/// was reported, so it exists only for services and its reporter.
extension ChatService {
  /// A report with the profiles of its users.
  package struct ViewedReport: Sendable {
    package let row: ReportRow
    package let profiles: [UserID: Profile]
    package let viewer: ReportViewer
  }

  /// - Parameter user: a moderator of the room or the reporter; nil for a service, which sees reports of deleted rooms
  ///   too.
  package func report(
    _ id: ReportID, of room: RoomID, for user: UserID?
  ) async throws(ServiceError) -> ViewedReport {
    let found: Result<ViewedReport, Rejection> = try await rooms { rooms in
      let row = try rooms.report(id, of: room)
      let viewer: ReportViewer
      if let user {
        guard try rooms.room(room) != nil else { return .failure(.roomNotFound) }
        switch (try rooms.moderationRole(of: user, in: room), row?.reporter == user) {
        case (.moderator, _): viewer = .moderator
        // A reporter who has left the room can still see how the report was resolved.
        case (.member, true), (.outsider, true): viewer = .reporter
        case (.member, false): return .failure(.reportNotFound)
        case (.outsider, false): return .failure(.roomNotFound)
        }
      } else {
        guard try rooms.hasExisted(room) else { return .failure(.roomNotFound) }
        viewer = .moderator
      }
      guard let row, user.map({ !row.isHidden(from: $0) }) ?? true else { return .failure(.reportNotFound) }
      return .success(ViewedReport(row: row, profiles: try rooms.profiles(of: row.users), viewer: viewer))
    }
    return try Self.settled(found)
  }

  /// A report that the caller has just filed or changed. Rights are not checked again.
  /// - Parameter users: other users whose profiles are needed.
  package func recordedReport(
    _ id: ReportID, of room: RoomID, naming users: [UserID] = []
  ) async throws(ServiceError) -> (row: ReportRow, profiles: [UserID: Profile]) {
    let found: (ReportRow, [UserID: Profile])? = try await rooms { rooms in
      guard let row = try rooms.report(id, of: room) else { return nil }
      return (row, try rooms.profiles(of: row.users + users))
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
        switch try rooms.moderationRole(of: user, in: room) {
        case .moderator: break
        case .member: return .failure(.forbidden)
        case .outsider: return .failure(.roomNotFound)
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
