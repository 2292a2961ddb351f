package import ChatDomain
package import ChatPrimitives
package import ChatProjections

extension ChatService {
  package func workspaces(
    of user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> WorkspacePage {
    let now = now()
    return try await rooms { rooms in
      var page = try rooms.workspaces(of: user, after: cursor, limit: limit)
      let badges = try rooms.workspaceBadges(of: user, in: page.workspaces.map(\.workspace.id), at: now)
      for index in page.workspaces.indices {
        page.workspaces[index].badge = badges[page.workspaces[index].workspace.id] ?? BadgeRow()
      }
      return page
    }
  }

  package func workspace(_ workspace: WorkspaceID, for user: UserID) async throws(ServiceError) -> WorkspaceListRow {
    let now = now()
    let found: WorkspaceListRow? = try await rooms { rooms in
      guard var row = try rooms.workspaceListRow(workspace, for: user) else { return nil }
      row.badge = try rooms.workspaceBadge(of: user, in: workspace, at: now)
      return row
    }
    guard let found else { throw .rejected(.workspaceNotFound) }
    return found
  }

  /// A workspace without a user's own data, for a service that acts for itself.
  package func workspace(_ workspace: WorkspaceID) async throws(ServiceError) -> WorkspaceRow {
    guard let row = try await rooms({ try $0.workspace(workspace) }) else { throw .rejected(.workspaceNotFound) }
    return row
  }

  /// Guests see only members with whom they share a channel, so they cannot list all members.
  package func members(
    of workspace: WorkspaceID, for user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> WorkspaceMemberPage {
    let found: Result<WorkspaceMemberPage, Rejection> = try await rooms { rooms in
      guard let member = try rooms.member(user, of: workspace) else { return .failure(.workspaceNotFound) }
      guard member.role >= .member else { return .failure(.forbidden) }
      return .success(try rooms.members(of: workspace, after: cursor, limit: limit))
    }
    return try Self.settled(found)
  }

  package func channels(
    of workspace: WorkspaceID, for user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ChannelPage {
    let page = try await rooms { try $0.channels(of: workspace, for: user, after: cursor, limit: limit) }
    guard let page else { throw .rejected(.workspaceNotFound) }
    return page
  }

  // MARK: Invitations

  /// The user's invitations that are neither accepted nor declined.
  package func invitations(
    of user: UserID, before cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> InvitationPage {
    try await rooms { try $0.invitations(of: user, before: cursor, limit: limit) }
  }

  /// A workspace's invitations that are neither accepted nor declined. Only for its administrators.
  package func invitations(
    into workspace: WorkspaceID, for user: UserID, before cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> InvitationPage {
    try await administering(workspace, user) { try $0.invitations(into: workspace, before: cursor, limit: limit) }
  }
}
